"""What the owner is told of models that are of no use: each once, and once that it answers again."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import structlog

from bot.log import hidden
from bot.models.health import ModelState, needs_owner, remedy
from bot.news import LOOK_EVERY, TellOwner
from memory.store.errors import StoreError

log = structlog.get_logger(__name__)
CALM_SECONDS = 60.0
"""A model is back once it has been well for so long: one that comes and goes is told of once."""
TEXTS = {
    "key": (
        "模型 {name} 用不了：密钥无效、未付费或没有权限（{why}）。改好 llm 的设置之前不会再用它。",
        "Model {name} is of no use: its key is refused, unpaid or not allowed ({why}). It is not asked again until the "
        "settings of llm change.",
    ),
    "name": (
        "没有叫 {name} 的模型（{why}）。改好 llm 的设置之前不会再用它。",
        "There is no model {name} ({why}). It is not asked again until the settings of llm change.",
    ),
    "quota": (
        "模型 {name} 的额度用完了（{why}）。过一阵子会自动再试。",
        "Model {name} has reached its spending or plan limit ({why}). It is tried again after a while.",
    ),
    "wait": (
        "模型 {name} 一直没有回应（{why}）。会隔一段时间自动再试。",
        "Model {name} does not answer ({why}). It is tried again from time to time.",
    ),
}
SPARE = ("这期间由 {spare} 回答。", " Until then {spare} answers.")
OVER = ("模型 {name} 恢复正常了。", "Model {name} answers again.")


@dataclass(slots=True)
class ModelNews:
    """Looks at the states of all models again and again."""

    states: Callable[[], Sequence[ModelState]]
    tell_owner: TellOwner
    _told: set[str] = field(default_factory=set)

    async def watch(self) -> None:
        """Look for ever."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            try:
                await self.look()
            except StoreError as err:
                log.warning("owner not told", error=type(err).__name__)

    async def look(self) -> None:
        """Tell what is new.

        Raises:
            StoreError: it could not be told; the next look tells it.
        """
        states = self.states()
        self._told &= {state.name for state in states}
        for state in states:
            if state.name not in self._told and needs_owner(state):
                await self._say(_down(state, states))
                self._told.add(state.name)
            elif state.name in self._told and state.mood == "up" and state.seconds >= CALM_SECONDS:
                await self._say((OVER[0].format(name=state.name), OVER[1].format(name=state.name)))
                self._told.discard(state.name)

    async def _say(self, texts: tuple[str, str]) -> None:
        log.warning(texts[1])
        await self.tell_owner("", *texts)


def _down(state: ModelState, states: Sequence[ModelState]) -> tuple[str, str]:
    """What has happened, what becomes of it, and who answers meanwhile."""
    why = hidden(state.why)[:200]
    zh, en = (text.format(name=state.name, why=why) for text in TEXTS[remedy(state.error)])
    spare = next((other.name for other in states if other.use == "spare" and other.ready), "")
    if spare and state.use == "chosen":
        zh, en = zh + SPARE[0].format(spare=spare), en + SPARE[1].format(spare=spare)
    return zh, en
