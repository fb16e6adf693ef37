"""Asks a model for the texts of a fold: in one call where the range fits a prompt, else in chunks that are merged."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from memory.context import prompt
from memory.context.checking import Material
from memory.context.chunks import Chunk, Room
from memory.context.counter import Counter
from memory.context.digest import gist, language, log_of
from memory.context.prompt import Task, Texts

Complete = Callable[[str, str, int, str], Awaitable[str]]
"""Asks a model: system prompt, prompt, most tokens of the answer, id of the conversation it is for.
May raise anything, or never return."""

AT_ONCE = 4
"""Chunks of one fold that are asked for beside each other."""
CHUNKS_SHARE = 2 / 3
"""Of the deadline; the merge has the rest."""
DEFAULT_SUMMARY = 1_000
"""Tokens of a summary that is asked for but not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summariser:
    """Asks for the texts of one fold.

    conversation: whose, for the model's account. deadline: seconds for all calls together. prompt_tokens: most of one
    prompt. summary_tokens: most of the summary; 0 when only a log is wanted, and then nothing is merged.
    """

    complete: Complete
    conversation: str
    counter: Counter
    zone: tzinfo
    deadline: float
    prompt_tokens: int
    summary_tokens: int

    async def texts(self, material: Material) -> Texts | None:
        """A model's texts of the material; None when they are not to be had in time.

        Of a chunk that fails, its own digest stands in the log and goes into the merge. The summary is a model's: when
        the merge fails, or every chunk of the turns did, there are no texts.
        """
        until = asyncio.get_running_loop().time() + self.deadline
        room = await asyncio.to_thread(self._room, material)
        asked = await asyncio.to_thread(prompt.asked, material.before, material.earlier, material.turns, room)
        lang = language(material.messages)
        if asked.whole:
            return await self._ask(asked.whole, "whole", lang, until)
        earlier = asked.earlier if self.summary_tokens else ()
        parts = (*earlier, *asked.turns)
        found = await self._parts(parts, lang, until - self.deadline * (1 - CHUNKS_SHARE))
        answered = found[len(earlier) :]
        if not any(answered):
            return None
        logs = (_log(chunk, texts, self.zone) for chunk, texts in zip(asked.turns, answered, strict=True))
        summary = await self._merged(material.before, list(zip(parts, found, strict=True)), room, lang, until)
        return None if summary is None else Texts(log="\n".join(logs), summary=summary)

    async def _merged(
        self, before: str, parts: Sequence[tuple[Chunk, Texts | None]], room: Room, lang: str, until: float
    ) -> str | None:
        """The summary of all parts and of what was before; "" when none is wanted, None when it is not to be had."""
        if not self.summary_tokens:
            return ""
        wanted = min(self.summary_tokens, prompt.share(room, len(parts)))
        gists = [(chunk, texts.summary if texts else gist(chunk.said, self.counter, wanted)) for chunk, texts in parts]
        asked = await asyncio.to_thread(prompt.merge, before, gists, room)
        texts = await self._ask(asked, "merge", lang, until)
        return texts.summary if texts else None

    async def _parts(self, parts: Sequence[Chunk], lang: str, until: float) -> list[Texts | None]:
        places = asyncio.Semaphore(AT_ONCE)

        async def one(chunk: Chunk) -> Texts | None:
            async with places:
                return await self._ask(prompt.part(chunk), "part", lang, until)

        return await asyncio.gather(*map(one, parts))

    async def _ask(self, asked: str, task: Task, lang: str, until: float) -> Texts | None:
        """The texts of one call; None when it fails, is not there at that time of the loop, or is something else."""
        left = until - asyncio.get_running_loop().time()
        if left <= 0:
            return None
        system = prompt.system(lang, self.summary_tokens or DEFAULT_SUMMARY, task)
        answer = asyncio.ensure_future(self.complete(system, asked, prompt.MOST_ANSWER_TOKENS, self.conversation))
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody else may look at it
        try:
            await asyncio.wait((answer,), timeout=left)
        finally:
            answer.cancel()
        if not answer.done() or answer.cancelled() or answer.exception() is not None:
            return None
        return prompt.read(answer.result(), task)

    def _room(self, material: Material) -> Room:
        return Room(counter=self.counter, most=self.prompt_tokens, zone=self.zone, weights=material.weights())


def _log(chunk: Chunk, texts: Texts | None, zone: tzinfo) -> str:
    return texts.log if texts and texts.log.strip() else log_of(chunk.said, zone)
