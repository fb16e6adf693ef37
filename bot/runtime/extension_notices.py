"""Tells the owner, once, that a skill or a plug-in is off because a byte of it changed."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import structlog

log = structlog.get_logger(__name__)
# Sends the owner a notice: trouble's channel, Chinese text, English text, key.
Notify = Callable[[str, str, str, str], Awaitable[None]]
Spawn = Callable[[Coroutine[Any, Any, object]], None]


def notify_changed_skill(notify: Notify, spawn: Spawn, space: str) -> Callable[[str, str], None]:
    """Return what is called with a skill's key and new hash."""

    def changed(key: str, sha256: str) -> None:
        log.warning("a skill was changed, it is off", skill=key)
        on = f"mnema skills on {key.rpartition('/')[2]}{f' --space {space}' if space else ''}"
        zh = f"技能 {key} 的内容变了，已经停用。看过之后用 {on} 重新启用。"
        en = f"The skill {key} was changed and is off. Look at it, then enable it with {on}."
        spawn(_send(notify, zh, en, f"skill:{key}:{sha256}"))

    return changed


def notify_changed_plugin(notify: Notify, spawn: Spawn) -> Callable[[str, str], None]:
    """Return what is called with a plug-in's name and new hash."""

    def changed(name: str, sha256: str) -> None:
        log.warning("a plug-in was changed, it is off", plugin=name)
        zh = f"插件 {name} 的内容变了，已经停用。看过之后用 mnema tools on {name} 重新启用。"
        en = f"The plug-in {name} was changed and is off. Look at it, then enable it with mnema tools on {name}."
        spawn(_send(notify, zh, en, f"plugin:{name}:{sha256}"))

    return changed


async def _send(notify: Notify, zh: str, en: str, key: str) -> None:
    await notify("", zh, en, key)
