"""The record as it ought to be, in plain dicts and lists: what the store is compared with after
every step.
"""

from dataclasses import dataclass, field
from typing import Any

KEYED, UNKEYED = 1e9, 0.0


@dataclass(slots=True)
class Talk:
    """One conversation. turns: number -> [first seq, last seq]; folds: (from, to) on the chain,
    oldest first.

    clears: the former (view_from, folds) of each clear that stands. inbox: id -> state, in order of
    delivery. out: id of an outbox row -> what it is to be. calls: of the running turn, call id ->
    [effect, state, starts].
    """

    name: str
    id: str = ""
    epoch: int = 1
    seq: int = 0
    view_from: int = 1
    turns: dict[int, list[int]] = field(default_factory=dict)
    folds: list[tuple[int, int]] = field(default_factory=list)
    clears: list[tuple[int, list[tuple[int, int]]]] = field(default_factory=list)
    inbox: dict[str, str] = field(default_factory=dict)
    running: Any = None
    attempts: int = 0
    deaths_alone: int = 0
    calls: dict[str, list[Any]] = field(default_factory=dict)
    fold: Any = None
    log_only: list[Any] = field(default_factory=list)
    out: dict[str, dict[str, Any]] = field(default_factory=dict)
    seen: list[tuple[str, bool]] = field(default_factory=list)

    @property
    def live_from(self) -> int:
        return self.folds[-1][1] + 1 if self.folds else self.view_from

    @property
    def live_turns(self) -> list[int]:
        return [number for number, (first, _) in self.turns.items() if first >= self.live_from]

    @property
    def next_inbox_row(self) -> str:
        """What the lane takes next: what runs, else the oldest new one."""
        return next(
            (id for state in ("running", "new") for id, at in self.inbox.items() if at == state), ""
        )

    @property
    def next_outbox_row(self) -> str:
        """The oldest part that may go, none while one is on its way."""
        if any(row["state"] == "sending" for row in self.out.values()):
            return ""
        return next((id for id, row in self.out.items() if row["state"] == "pending"), "")

    def add(self, number: int) -> None:
        """One more message, in this turn."""
        self.seq += 1
        self.turns.setdefault(number, [self.seq, self.seq])[1] = self.seq

    def begin(self, inbox_id: str, turn: Any) -> None:
        self.inbox[inbox_id] = "running"
        self.running, self.attempts, self.deaths_alone, self.calls = turn, 0, 0, {}
        self.add(turn.number)

    def end(self, state: str, final: bool) -> None:
        """The turn is over: open calls get their one result message, then the last words."""
        if self.calls:
            self.add(self.running.number)
        if final:
            self.add(self.running.number)
        self.inbox[self.running.inbox_id] = "dead" if state == "interrupted" else "done"
        self.running, self.calls = None, {}

    def cancel(self) -> None:
        """A clear or its undoing fences whatever runs."""
        if self.running:
            self.end("cancelled", final=False)
        self.fold = None

    def drop_unsent(self) -> None:
        """Answers of which no part has gone are wanted no more; notices are."""
        gone = {row["source"] for row in self.out.values() if row["state"] == "sent"}
        for row in self.out.values():
            if row["state"] == "pending" and row["kind"] != "notice" and row["source"] not in gone:
                row["state"] = "dropped"

    def clear(self) -> None:
        self.cancel()
        self.clears.append((self.view_from, self.folds))
        self.view_from, self.folds = self.seq + 1, []
        self.epoch += 1
        self.drop_unsent()

    def undo_clear(self) -> bool:
        if self.folds or not self.clears:
            return False
        self.cancel()
        self.view_from, self.folds = self.clears.pop()
        former, self.epoch = self.epoch, self.epoch + 1
        for row in self.out.values():
            if row["state"] in ("pending", "sending") and row["epoch"] == former:
                row["epoch"] = self.epoch
        return True

    def settle(self, id: str, fate: str) -> None:
        """Where a part goes from `sending`. fate: sent, failed, pending (surely refused) or
        unknown.
        """
        row = self.out[id]
        source = [other for other in self.out.values() if other["source"] == row["source"]]
        fenced = row["kind"] != "notice" and row["epoch"] != self.epoch
        fenced = fenced and all(other["state"] != "sent" for other in source)
        row["state"] = fate
        if fate == "failed":
            for other in source:
                if other["part"] > row["part"] and other["state"] == "pending":
                    other["state"] = "failed"
        elif fate != "sent":
            row["state"] = "dropped" if fenced else self._again(row, fate)

    def _again(self, row: dict[str, Any], fate: str) -> str:
        if fate == "pending" or row["keyed"]:
            return "pending"
        if row["kind"] != "progress" and not row["repeats"]:
            row["repeats"] = 1
            return "pending"
        return "dropped"

    def crash(self, *, died: bool = True, alone: bool = False) -> None:
        """What recovery makes of a life that ended anywhere. alone: this conversation's turn was
        the only one.
        """
        self.attempts += died
        self.deaths_alone += alone
        for call in self.calls.values():
            if call[1] == "started":
                call[1] = "unknown" if call[0] == "unsafe" else "planned"
        for id in [id for id, row in self.out.items() if row["state"] == "sending"]:
            self.settle(id, "unknown")
