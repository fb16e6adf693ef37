"""What every store must do with who may talk: grants, requests and their codes, owner codes,
approvals.
"""

from dataclasses import replace
from datetime import UTC, datetime

from memory.ids import code_sha256
from memory.store.automation.approvals import NewApproval
from memory.store.people.rows import AccessRequest, GrantedRole, GrantRow, GrantsKey
from memory.store.rows import NewInboxRow, Notice, Party, Subject
from memory.store.store import Store
from tests.contracts.store_words import Record, arrival, begin, parts, place, talk

HOUR, DAY = 3_600.0, 86_400.0


def party(
    id: str = "42", account: str = "a", channel: str = "web", subject: Subject = "user"
) -> Party:
    return Party(channel=channel, account=account, subject=subject, id=id)


def granted(role: GrantedRole = "user", who: Party | None = None, group: str = "") -> GrantRow:
    epoch = datetime.fromtimestamp(0, UTC)
    return GrantRow(party=who or party(), role=role, group=group, name="Ann", by="test", at=epoch)


def at(record: Record, later: float = 0.0) -> datetime:
    return datetime.fromtimestamp(record.now + later, UTC)


async def roles(store: Store, id: str = "42", account: str = "a", group: str = "") -> list[str]:
    return [
        row.role
        for row in await store.access.grants(
            GrantsKey(channel="web", account=account, person=id, group=group)
        )
    ]


class GrantSuite:
    async def test_a_grant_is_one_accounts_replaced_by_the_next_and_gone_with_its_revocation(
        self, record: Record
    ) -> None:
        store = await record.open()
        await store.access.grant(granted("user"))
        await store.access.grant(granted("admin"))
        store = await record.open()
        assert await roles(store) == ["admin"]
        assert await roles(store, account="b") == []
        assert await roles(store, id="4") == []
        [row] = await store.access.load_all_grants()
        assert (row.party, row.name, row.by, row.at) == (party(), "Ann", "test", at(record))
        gone = await store.access.revoke("web", "42", "test")
        assert [one.role for one in gone.grants] == ["admin"]
        assert await roles(store) == []
        assert (await store.access.revoke("web", "42", "test")).grants == ()

    async def test_a_grant_for_any_account_a_groups_own_and_one_within_a_group_are_told_apart(
        self, record: Record
    ) -> None:
        store = await record.open()
        await store.access.grant(granted("user", party(account="")))
        await store.access.grant(granted("admin", group="-1"))
        await store.access.grant(granted("group", party("-1", subject="group")))
        await store.access.grant(granted("user", party("-1")))
        found = await store.access.grants(
            GrantsKey(channel="web", account="a", person="42", group="-1")
        )
        assert sorted((row.role, row.party.subject, row.group) for row in found) == [
            ("admin", "user", "-1"),
            ("group", "group", ""),
            ("user", "user", ""),
        ]
        assert await roles(store, "-1") == ["user"], "a person by a group's id is no group"

    async def test_the_next_row_comes_with_the_grants_that_decide_about_its_sender(
        self, record: Record
    ) -> None:
        store = await record.open()
        for row in (
            granted("user", party("u1", account="")),
            granted("admin", party("u1"), group="-1"),
            granted("admin", party("u2")),
            granted("group", party("-1", subject="group")),
            granted("group", party("c1", subject="group")),
            granted("user", party("u1", account="b")),
        ):
            await store.access.grant(row)
        here = replace(place("-1"), kind="group")
        [asked] = await store.delivery.accept([arrival("k1", at=here)])
        await store.delivery.accept([replace(arrival("k2", at=here), sender_id="u2")])
        [private] = await store.delivery.accept([arrival("k3", at=place("c1"))])
        for conversation, group in ((asked.conversation, "-1"), (private.conversation, "")):
            work = await store.delivery.next_work(conversation, store.now())
            assert work is not None
            key = GrantsKey(channel="web", account="a", person=work.row.sender_id, group=group)
            grants = await store.access.grants(key)
            assert sorted(grants, key=repr) == sorted(work.grants, key=repr)
            assert len(grants) == (3 if group else 2)
            assert work.asides == []

    async def test_who_loses_a_role_has_their_turns_named(self, record: Record) -> None:
        store = await record.open()
        turn = await begin(store, "k1", "c1")
        await talk(store, "k2", chat="c2")
        [open_turn] = (await store.access.revoke("web", "u1", "test")).turns
        assert (open_turn.conversation, open_turn.actor, open_turn.chat) == (
            turn.conversation,
            "u1",
            "c1",
        )

    async def test_the_owner_is_told_where_they_wrote_last_and_elsewhere_than_here_first(
        self, record: Record
    ) -> None:
        store = await record.open()
        assert await store.access.find_owner_conversation() == ("", "")
        here = await talk(store, "1", chat="c1")
        assert await store.access.find_owner_conversation() == (here, "web")
        await talk(store, "2", chat="c2", space="bob")
        assert (await store.access.find_owner_conversation())[0] == here


class RequestSuite:
    async def test_a_strangers_request_is_stored_with_its_notice_and_approved_once(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await talk(store, "k1")
        assert await knocked(record, store, "42", home=home)
        assert [row.text for row in [await store.delivery.next_outbox_row(home)] if row] == [
            "code of 42"
        ]
        store = await record.open()
        [waits] = await store.access.requests()
        assert (waits.party, waits.name, waits.conversation, waits.state, waits.lang) == (
            party(),
            "Ann",
            home,
            "pending",
            "en",
        )
        found = await store.access.decide(code_sha256("code 42"), "approved", "test")
        assert found
        assert found.id == waits.id
        assert await roles(store) == ["user"]
        assert await store.access.requests() == []
        assert await store.access.decide(code_sha256("code 42"), "approved", "test") is None

    async def test_S06_three_wait_and_twenty_a_day_are_answered_and_nobody_twice_an_hour(
        self, record: Record
    ) -> None:
        store = await record.open()
        taken = [await knocked(record, store, str(number)) for number in range(1_000)]
        assert (taken.count(True), len(await store.access.requests())) == (3, 3)
        assert await knocked(record, store, "1", account="b"), (
            "another account of ours has room of its own"
        )
        record.now += 0.9 * HOUR
        await store.access.decide(code_sha256("code 0"), "approved", "test")
        assert not await knocked(record, store, "0"), "within the hour"
        record.now += 0.2 * HOUR
        assert await knocked(record, store, "0")
        more = 0
        for number in range(2_000, 2_100):
            record.now += HOUR / 10
            more += await knocked(record, store, str(number))
        assert 3 + 1 + more == 20
        record.now += DAY
        assert await knocked(record, store, "0")

    async def test_what_was_asked_a_month_ago_is_not_kept(self, record: Record) -> None:
        store = await record.open()
        await knocked(record, store, "1")
        record.now += 31 * DAY
        await knocked(record, store, "2")
        record.now -= 31 * DAY
        assert [row.party.id for row in await store.access.requests()] == ["2"]

    async def test_S06_an_expired_code_and_one_of_another_channel_are_refused(
        self, record: Record
    ) -> None:
        store = await record.open()
        await knocked(record, store, "42")
        assert (
            await store.access.decide(code_sha256("code 42"), "approved", "test", "telegram")
            is None
        )
        record.now += HOUR
        assert await store.access.requests() == []
        assert await store.access.decide(code_sha256("code 42"), "approved", "test", "web") is None
        assert await roles(store) == []

    async def test_S06_the_fifth_wrong_code_clears_what_waits_and_locks_for_an_hour(
        self, record: Record
    ) -> None:
        store = await record.open()
        await knocked(record, store, "42")
        for _ in range(5):
            assert await store.access.locked_until() is None
            assert await store.access.decide("wrong", "approved", "test") is None
        assert await store.access.locked_until() == at(record, HOUR)
        assert await store.access.requests() == []
        assert not await knocked(record, store, "43"), "a code that nobody can approve is none"
        assert await store.access.decide(code_sha256("code 42"), "approved", "test") is None, (
            "nothing is looked at"
        )
        record.now += HOUR
        await knocked(record, store, "44")
        assert await store.access.decide(code_sha256("code 44"), "approved", "test")

    async def test_who_was_denied_is_answered_no_more_until_that_is_lifted(
        self, record: Record
    ) -> None:
        store = await record.open()
        await knocked(record, store, "42")
        assert await store.access.decide(code_sha256("code 42"), "denied", "test")
        assert await roles(store) == ["blocked"]
        record.now += 2 * HOUR
        assert not await knocked(record, store, "42")
        await store.access.revoke("web", "42", "test")
        assert await knocked(record, store, "42")

    async def test_S07_a_group_asks_once_for_ever_and_not_any_more_once_it_is_allowed(
        self, record: Record
    ) -> None:
        store = await record.open()
        assert await knocked(record, store, "-1", subject="group")
        record.now += 90 * DAY
        assert not await knocked(record, store, "-1", subject="group")
        assert [row.party.id for row in await store.access.requests()] == ["-1"], (
            "it does not expire"
        )
        await store.access.grant(granted("group", party("-1", subject="group")))
        assert await store.access.requests() == []

    async def test_a_notice_whose_name_is_known_is_not_told_again(self, record: Record) -> None:
        store = await record.open()
        home = await talk(store, "k1")
        for _ in range(2):
            await store.access.tell(
                [Notice(conversation=home, source="once", out=tuple(parts("hi", kind="notice")))]
            )
        row = await store.delivery.next_outbox_row(home)
        assert row
        await store.delivery.mark_sending(row.id)
        assert await store.delivery.next_outbox_row(home) is None


class OwnerCodeSuite:
    async def test_the_first_who_types_it_is_the_owner_and_nobody_after(
        self, record: Record
    ) -> None:
        store = await record.open()
        await store.access.make_owner_code("old", at(record, 600), "test")
        await store.access.make_owner_code("new", at(record, 600), "test")
        assert not await store.access.redeem_owner_code(party("1"), "Ann", "old", ())
        assert await store.access.redeem_owner_code(party("1"), "Ann", "new", ())
        store = await record.open()
        assert await roles(store, "1") == ["owner"]
        assert await store.access.redeem_owner_code(party("1"), "Ann", "new", ()), (
            "brought once more by the platform"
        )
        assert not await store.access.redeem_owner_code(party("2"), "Bob", "new", ())
        assert await roles(store, "2") == []

    async def test_who_became_an_owner_does_not_wait_any_more(self, record: Record) -> None:
        store = await record.open()
        await knocked(record, store, "1")
        await knocked(record, store, "2")
        await store.access.make_owner_code("code", at(record, 600), "test")
        assert await store.access.redeem_owner_code(party("1"), "Ann", "code", ())
        assert [row.party.id for row in await store.access.requests()] == ["2"]

    async def test_it_is_not_good_after_its_time_nor_for_who_has_guessed_five_times(
        self, record: Record
    ) -> None:
        store = await record.open()
        await store.access.make_owner_code("code", at(record, 600), "test")
        for _ in range(5):
            assert not await store.access.redeem_owner_code(party("1"), "", "guess", ())
        assert not await store.access.redeem_owner_code(party("1"), "", "code", ())
        record.now += 600
        assert not await store.access.redeem_owner_code(party("2"), "", "code", ())
        assert await store.access.load_all_grants() == []


class ApprovalSuite:
    async def test_an_act_is_asked_once_found_by_its_person_alone_and_run_once(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await talk(store, "k1")
        row = await store.access.ask(asking(record, home), [])
        assert await store.access.ask(asking(record, home, arguments="{}"), []) == row, (
            "the same call"
        )
        store = await record.open()
        assert await store.access.approval("code", party()) == row
        assert await store.access.approval("press", party()) == row
        for other in (party("43"), party(account="b"), party(channel="telegram")):
            assert await store.access.approval("code", other) is None
        assert await store.access.approval("cod", party()) is None
        assert await store.access.move(row.id, "asked", "running")
        assert not await store.access.move(row.id, "asked", "running")
        assert await store.access.move(row.id, "running", "done")
        after = await store.access.approval("code", party())
        assert after
        assert (after.state, after.arguments, after.digest) == ("done", "", row.digest), (
            "no words are kept"
        )

    async def test_I50_an_outcome_is_a_message_of_the_conversation_and_there_is_one(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await talk(store, "k1")
        row = await store.access.ask(asking(record, home), [])
        conversation = await store.sessions.conversation(home)
        assert conversation
        outcome = NewInboxRow(
            place=conversation.place,
            key="approval:1",
            kind="message",
            sender_id="42",
            body='{"text": "", "outcome": "x"}',
        )
        assert not await store.access.move(row.id, "running", "done", outcome), "it is not running"
        assert await store.access.move(row.id, "asked", "running")
        assert await store.access.move(row.id, "running", "done", outcome)
        assert not await store.access.move(row.id, "running", "done", outcome)
        store = await record.open()
        waiting = await store.delivery.next_inbox_row(home, record.now)
        assert waiting
        assert (waiting.key, waiting.body) == (outcome.key, outcome.body)
        await store.delivery.settle(waiting.id, [])
        assert await store.delivery.next_inbox_row(home, record.now) is None

    async def test_S08_it_does_not_run_after_its_time(self, record: Record) -> None:
        store = await record.open()
        row = await store.access.ask(asking(record, await talk(store, "k1")), [])
        record.now += 600
        assert not await store.access.move(row.id, "asked", "running")
        await store.access.ask(
            replace(
                asking(record, row.conversation), call="another", code_sha256="c", press_sha256="p"
            ),
            [],
        )
        after = await store.access.approval("press", party())
        assert after
        assert (after.state, after.arguments) == ("ended", "")

    async def test_S09_who_loses_a_role_can_approve_nothing_that_was_asked_before(
        self, record: Record
    ) -> None:
        store = await record.open()
        row = await store.access.ask(asking(record, await talk(store, "k1")), [])
        assert (await store.access.revoke("web", "43", "test")).approvals == 0
        assert (await store.access.revoke("web", "42", "test")).approvals == 1
        assert not await store.access.move(row.id, "asked", "running")


async def knocked(
    record: Record,
    store: Store,
    id: str,
    *,
    account: str = "a",
    subject: Subject = "user",
    home: str = "",
) -> bool:
    """Somebody asks to be let in, their code good for an hour; whether there was room."""
    knock = AccessRequest(
        party=party(id, account, subject=subject),
        name="Ann",
        conversation=home or "none",
        lang="en",
    )
    notices = [
        Notice(
            conversation=home, source=f"pair:{id}", out=tuple(parts(f"code of {id}", kind="notice"))
        )
    ]
    code = code_sha256(f"code {id}") if subject == "user" else ""
    return await store.access.add_request(knock, code, at(record, HOUR), notices if home else [])


def asking(record: Record, home: str, arguments: str = '{"path":"SOUL.md"}') -> NewApproval:
    return NewApproval(
        party=party(),
        conversation=home,
        space="",
        call="call",
        action="persona.write",
        tool="write_file",
        arguments=arguments,
        code_sha256="code",
        press_sha256="press",
        expires=at(record, 600),
    )
