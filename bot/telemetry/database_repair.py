"""Tells the owner that a damaged database was replaced, until the damaged file is no longer
kept.
"""

from collections.abc import Callable
from datetime import datetime, tzinfo
from pathlib import Path

import structlog

from bot.telemetry.faults import DATABASE_SUBJECT, Trouble, TroubleList
from memory.store.maintenance.repair import (
    NOTE_CHANNEL,
    NOTE_NAME,
    RepairReport,
    RepairSource,
    load_report,
)
from memory.store.store import Store

log = structlog.get_logger(__name__)
MAX_NAMED = 5  # conversations
_HEADS: dict[RepairSource, tuple[str, str]] = {
    "snapshot": (
        "数据库损坏了，已恢复到 {at} 的状态；{newer} 个会话有更新的消息。",
        "The database was damaged and was put back to {at}; {conversations} had newer messages.",
    ),
    "log": (
        "数据库的日志损坏了，只能完整读到 {at}；{newer} 个会话有更新的消息。",
        (
            "The log of the database was damaged and could only be read up to {at}; "
            "{conversations} had newer messages."
        ),
    ),
    "nothing": (
        "数据库损坏了，也没有快照，所以新建了一个；{newer} 个会话原来有消息。",
        (
            "The database was damaged and there was no snapshot, so a new one was begun; "
            "{conversations} had messages."
        ),
    ),
}
_COPIED = (
    "从损坏的文件里补回了 {messages} 条消息。",
    " {messages} messages were copied from the damaged file.",
)
_LEFT = (
    "{count} 个会话没能完整补回，最新内容只在损坏的文件里：{names}。",
    (
        " {count} could not be copied whole, and their newest messages are only in the damaged "
        "file: {names}."
    ),
)
_KEYS_ONLY = (
    "有 {keys_only} 条收到的消息读不出内容，不会再处理；没得到回答的请对方重发。",
    " Received messages whose text could not be read: {keys_only}. They are not processed again, "
    "so ask for what was not answered to be sent again.",
)
_RIGHTS_UNKNOWN = (
    "此后撤销的权限和“忘记”的内容也读不出来：请检查“访问”页，并再忘记一次。",
    (
        " What was revoked or forgotten since then could not be read: check Access, and forget it "
        "again."
    ),
)
_TAIL = (
    "损坏的文件是 data/{aside}；看过之后把它移走或删除，这条提示就会消失。",
    (
        " The damaged file is data/{aside}; once you have seen this, move or delete it, and this "
        "note ends."
    ),
)


def describe_repair(report: RepairReport, zone: tzinfo) -> tuple[str, str]:
    """Say in Chinese and English what was done, what is missing, and what to do."""
    parts = [_HEADS[report.source]]
    for texts, is_said in (
        (_COPIED, report.messages > 0),
        (_LEFT, bool(report.left)),
        (_KEYS_ONLY, report.keys_only > 0),
        (_RIGHTS_UNKNOWN, not report.rights_known),
    ):
        parts += [texts] if is_said else []
    named = ", ".join(report.left[:MAX_NAMED]) + (" …" if len(report.left) > MAX_NAMED else "")
    fields = {
        "at": f"{datetime.fromtimestamp(report.as_of, zone):%Y-%m-%d %H:%M}",
        "newer": report.newer,
        "conversations": "1 conversation" if report.newer == 1 else f"{report.newer} conversations",
        "messages": report.messages,
        "count": len(report.left),
        "names": named,
        "keys_only": report.keys_only,
        "aside": report.aside,
    }
    zh, en = ("".join(texts).format(**fields) for texts in zip(*parts, _TAIL, strict=True))
    return zh, en


def describe_lost_acts(count: int) -> tuple[str, str]:
    """Say in Chinese and English that acts are missing which a checkpoint knows."""
    return (
        f"数据库缺少最新的记录：data/audit_heads 里登记过的最后 {count} 条操作不见了，"
        "可能是日志被截短或删除。同一时段的消息也可能丢失；请看看各会话最后说了什么，"
        "需要时恢复备份。",
        f"The database lacks its newest records: the last {count} acts noted in data/audit_heads "
        "are gone, as if its log was shortened or removed. Messages of that time may be gone too; "
        "look at what was said last, and restore a backup if need be.",
    )


async def load_repair(store: Store, data: Path) -> RepairReport | None:
    """Load what was done about a damaged database; None if nothing, or once the damaged file was
    taken away.
    """
    note = (await store.notes.load(NOTE_CHANNEL, NOTE_NAME)).get(NOTE_NAME)
    report = load_report(note) if note else None
    return report if report is not None and (data / report.aside).exists() else None


class RepairNotice:
    """The trouble that lasts while the damaged file is kept."""

    def __init__(
        self, store: Store, data: Path, zone: Callable[[], tzinfo], troubles: TroubleList
    ) -> None:
        """Bind to a bot. data: folder of the database."""
        self._store, self._data, self._zone, self._troubles = store, data, zone, troubles
        self._kept: Path | None = None

    async def open(self) -> None:
        """Add the trouble, if there is one."""
        report = await load_repair(self._store, self._data)
        if report is not None:
            zh, en = describe_repair(report, self._zone())
            log.warning(en)
            self._kept = self._data / report.aside
            self._troubles.add(
                Trouble(what=DATABASE_SUBJECT, zh=zh, en=en, at=0.0, key=report.aside)
            )

    def report_lost_acts(self, count: int) -> None:
        """Add the trouble that acts are missing; it lasts as long as this process."""
        zh, en = describe_lost_acts(count)
        log.warning(en)
        self._troubles.add(Trouble(what=DATABASE_SUBJECT, zh=zh, en=en, at=0.0))

    def check(self) -> None:
        """End the trouble once the damaged file was taken away; blocks."""
        if self._kept is not None and not self._kept.exists():
            self._troubles.end(DATABASE_SUBJECT)
            self._kept = None
