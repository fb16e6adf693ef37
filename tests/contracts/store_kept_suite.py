"""What every store must do about what is kept of people and acts: traces, the chain of acts,
people, retention.
"""

from dataclasses import replace
from datetime import UTC, datetime

from memory.store.audit import AuditHead
from memory.store.people.rows import Person
from memory.store.people.spending import LimitNotice
from memory.store.rows import SendOutcome, Usage
from tests.contracts.store_spending_suite import done, used
from tests.contracts.store_words import (
    Record,
    arrival,
    begin,
    call,
    folded,
    parts,
    place,
    reply,
    results,
    talk,
)

DAY = 86_400.0
NAME = "ab" * 32


class TraceSuite:
    """Sessions.trace."""

    async def test_a_message_is_told_from_its_rows_and_only_where_it_is(
        self, record: Record
    ) -> None:
        store = await record.open()
        turn = await begin(store)
        record.now += 2.0
        planned = await store.sessions.add_step(turn, reply(), [call("t1")], spent())
        await store.sessions.start_calls(planned)
        record.now += 1.0
        [row] = await store.sessions.calls(turn.id)
        await store.sessions.end_calls(turn, [(row, "done")], results(row))
        record.now += 3.0
        await store.delivery.finish(turn, "done", reply(), parts("a", "b"), [spent()])
        record.now += 0.5
        first = await store.delivery.next_outbox_row(turn.conversation)
        assert first is not None
        await store.delivery.mark_sending(first.id)
        await store.delivery.settle_sent(first.id, SendOutcome(state="sent", platform_id="p1"))
        found = await store.sessions.trace(turn.conversation)
        assert found is not None
        told = [(event.kind, event.state, event.seconds) for event in found.events]
        assert told == [
            ("received", "done", 0.0),
            ("claimed", "", 0.0),
            ("model", "", 2.0),
            ("tool", "done", 1.0),
            ("model", "", 3.0),
            ("ended", "done", 6.0),
            ("part", "sent", 0.5),
            ("part", "pending", 0.0),
        ]
        for name in (found.id, found.message, first.id):
            assert await store.sessions.trace(turn.conversation, of=name) == found
        other = await talk(store, "2", chat="c2")
        assert await store.sessions.trace(other, of=found.id) is None
        assert await store.sessions.trace(turn.conversation, sender="somebody") is None
        assert await store.sessions.trace(turn.conversation, below=1) is None


class AuditSuite:
    """Store.note and the Audit door."""

    async def test_S64_the_chain_stands_and_its_end_is_known(self, record: Record) -> None:
        store = await record.open()
        assert await store.audit.head() == AuditHead(seq=0, hash="")
        await store.note("act", "s", "done", "me", args={"a": 1})
        await store.note("act", "s", "refused", "me")
        first, second = await store.audit.acts(10)
        assert (first.decision, second.decision) == ("allowed", "refused")
        assert (len(first.args_digest), second.args_digest) == (64, "")
        assert await store.audit.head() == AuditHead(seq=2, hash=second.hash)
        assert await store.audit.fault([AuditHead(seq=1, hash=first.hash)]) is None
        for known, seq in ((AuditHead(seq=1, hash="x"), 1), (AuditHead(seq=3, hash="x"), 3)):
            fault = await store.audit.fault([known])
            assert fault is not None
            assert fault.seq == seq


class PeopleSuite:
    """The People door."""

    async def test_who_talks_here_and_all_that_is_theirs_goes(self, record: Record) -> None:
        store = await record.open()
        body = f'{{"text": "see", "files": [["{NAME}", "f", "text/plain", 5, ""]]}}'
        at = place("c7", "telegram", "telegram-7")
        await store.delivery.accept([replace(arrival("f", at=at), body=body)])
        await talk(store, "1", chat="c8", space="web-8")
        await store.notes.put("telegram", {"chat:c7": "dm", "chat:c9": "dm"})
        rows = {row.space: row for row in await store.people.load_people()}
        assert rows["telegram-7"].accounts == ("telegram:u1",)
        person = Person(spaces=("telegram-7",), accounts=("telegram:u1",))
        leaving = await store.people.begin_removal(person)
        assert leaving.blobs == (NAME,)
        assert await store.people.begin_removal(person) == leaving
        assert await store.people.load_removals() == [leaving]
        assert await store.notes.load("telegram") == {"chat:c9": "dm"}
        assert await store.people.load_named_blobs("inbox", "", 100) == ({NAME}, "")
        for conversation in await store.people.conversations(person):
            await store.sessions.delete(conversation)
        assert await store.people.delete_rows(leaving) == 0
        assert await store.people.load_named_blobs("inbox", "", 100) == (set(), "")
        await store.people.finish_removal(leaving, "me")
        assert await store.people.load_removals() == []
        assert [row.space for row in await store.people.load_people()] == ["web-8"]
        assert (await store.audit.acts(1))[0].action == "person deleted"
        assert await store.people.count_in_groups("telegram:u1") == 0
        assert await store.people.count_acts_naming(person) == 0
        assert await store.audit.fault() is None

    async def test_what_somebody_used_in_a_group_is_nobodys_once_they_are_gone(
        self, record: Record
    ) -> None:
        store = await record.open()
        for key, who in (
            ("1", "telegram:bot:u1"),
            ("2", "telegram:bot:u11"),
            ("3", "wecom:bot:u1"),
        ):
            await done(store, key, who, used(10), chat="-100")
        late = await store.delivery.accept([arrival("4", at=place("-100"))])
        told = LimitNotice(
            who="telegram:bot:u1", limit="money_per_day", asked=record.now, until=record.now + 60
        )
        await store.spending.refuse(late[0].id, told, parts("enough"))
        leaving = await store.people.begin_removal(
            Person(spaces=("telegram-7",), accounts=("telegram:u1",))
        )
        assert await store.people.delete_rows(leaving) == 1
        assert await store.people.delete_rows(leaving) == 0
        sums = await store.spending.sum_by_person(datetime.fromtimestamp(0, UTC))
        assert sorted((one.who, one.input) for one in sums) == [
            ("", 10),
            ("telegram:bot:u11", 10),
            ("wecom:bot:u1", 10),
        ]
        await store.people.finish_removal(leaving, "me")


class RetentionSuite:
    """The Retention door."""

    async def test_I36_an_old_conversation_goes_in_steps_each_of_which_is_sound(
        self, record: Record
    ) -> None:
        store = await record.open()
        old = await talk(store, *(str(number) for number in range(12)), chat="old")
        await folded(store, old, 4)
        record.now += 31 * DAY
        before = record.now - DAY
        assert await store.retention.old_conversations(before, 10) == [old]
        fates = []
        while not fates or fates[-1] == "left":
            fates.append(await store.retention.delete_oldest_turns(old, before, 5))
            assert await store.folds.check_ledger() == []
        assert fates == ["left", "left", "left", "gone"]
        assert await store.sessions.messages(old) == []
        assert await store.retention.old_conversations(before, 10) == []
        assert await store.retention.delete_oldest_turns(old, before, 5) == "awake"
        assert (
            await store.retention.delete_ended(before, 10)
            == await store.retention.delete_usage(before, 10)
            == 0
        )


def spent() -> Usage:
    return Usage(model="m", input=1, output=1)
