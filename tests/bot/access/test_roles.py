"""Roles by config.json and by grants, resolved at each request."""

from datetime import UTC, datetime

import pytest

from bot.access.roles import RoleResolver
from bot.config.schema import Config
from memory.store.people.rows import GrantedRole, GrantRow, GrantsKey
from memory.store.rows import Party

CONFIG = Config.model_validate(
    {
        "channels": {
            "telegram": {"owners": ["1"], "allow": ["2", "-100"]},
            "wecom": {"owners": ["alice"], "allow": ["Bob", "wrGroup"]},
        }
    }
)


class Granted:
    """Grants that are held in a list."""

    def __init__(self) -> None:
        self.rows: list[GrantRow] = []

    def give(
        self,
        id: str,
        role: GrantedRole,
        group: str = "",
        account: str = "bot",
        channel: str = "telegram",
    ) -> None:
        subject = "group" if role == "group" else "user"
        party = Party(channel=channel, account=account, subject=subject, id=id)  # type: ignore[arg-type]
        self.rows.append(
            GrantRow(party=party, role=role, group=group, name="", by="", at=datetime.now(UTC))
        )

    async def grants(self, key: GrantsKey) -> list[GrantRow]:
        ours = [
            row
            for row in self.rows
            if row.party.channel == key.channel and row.party.account in (key.account, "")
        ]
        return [
            row
            for row in ours
            if (row.party.subject, row.party.id) in (("user", key.person), ("group", key.group))
        ]


@pytest.fixture
def granted() -> Granted:
    return Granted()


@pytest.fixture
def roles(granted: Granted) -> RoleResolver:
    return RoleResolver(lambda: CONFIG, granted)  # type: ignore[arg-type]


async def role(
    roles: RoleResolver,
    sender: str,
    chat: str = "",
    channel: str = "telegram",
    account: str = "bot",
) -> str:
    return (
        await roles.actor(channel, account, sender, chat or sender, "group" if chat else "dm")
    ).role


async def test_without_grants_the_lists_decide(roles: RoleResolver) -> None:
    assert [await role(roles, id) for id in "123"] == ["owner", "user", "stranger"]
    assert [await role(roles, id, "-100") for id in "123"] == ["owner", "user", "guest"]
    assert [await role(roles, id, "-999") for id in "123"] == ["owner", "stranger", "stranger"]
    assert [
        (await roles.actor(name, "local", "x", "y", "dm")).role for name in ("terminal", "web")
    ] == ["owner"] * 2


async def test_the_greater_of_list_and_grant_holds(roles: RoleResolver, granted: Granted) -> None:
    granted.give("3", "user")
    granted.give("2", "admin")
    granted.give("1", "user")
    granted.give("4", "owner", account="")
    assert [await role(roles, id) for id in "1234"] == ["owner", "admin", "user", "owner"]
    assert await role(roles, "3", account="another") == "stranger", "grants are per account of ours"
    assert await role(roles, "4", account="another") == "owner"
    assert await role(roles, "3", channel="feishu") == "stranger"


async def test_S05_pairing_gives_nothing_in_a_group_and_a_group_gives_nothing_in_private(
    roles: RoleResolver, granted: Granted
) -> None:
    granted.give("3", "user")
    granted.give("-200", "group")
    assert await role(roles, "3", "-999") == "stranger"
    assert await role(roles, "3", "-200") == "guest"
    assert await role(roles, "5", "-200") == "guest"
    assert await role(roles, "5") == "stranger"
    assert await role(roles, "-200") == "stranger", "a person who goes by a group's id"
    assert [
        await roles.group_allowed("telegram", "bot", id) for id in ("-100", "-200", "-999")
    ] == [True, True, False]


async def test_an_admin_of_a_group_is_one_there_and_only_if_it_is_allowed(
    roles: RoleResolver, granted: Granted
) -> None:
    granted.give("3", "admin", group="-100")
    granted.give("3", "admin", group="-999")
    there = await roles.actor("telegram", "bot", "3", "-100", "group")
    assert (there.role, there.admin_here) == ("admin", True)
    assert await role(roles, "3") == "stranger"
    assert await role(roles, "3", "-999") == "stranger"
    granted.give("2", "admin")
    anywhere = await roles.actor("telegram", "bot", "2", "-100", "group")
    assert (anywhere.role, anywhere.admin_here) == ("admin", False)


async def test_who_is_blocked_is_a_stranger_in_an_allowed_group_too(
    roles: RoleResolver, granted: Granted
) -> None:
    granted.give("3", "blocked")
    granted.give("2", "blocked")
    assert [await role(roles, id) for id in "23"] == ["user", "stranger"], (
        "the configuration is the owner's own word"
    )
    assert await role(roles, "3", "-100") == "stranger"


async def test_S02_wecom_takes_two_spellings_for_one_person_and_no_other_channel_does(
    roles: RoleResolver, granted: Granted
) -> None:
    for name in ("Alice", "alice", "ALICE"):
        actor = await roles.actor("wecom", "bot", name, name, "dm")
        assert (actor.id, actor.role) == ("alice", "owner")
    assert await role(roles, "bob", channel="wecom") == "user"
    granted.give("dora", "admin", channel="wecom")
    assert await role(roles, "Dora", channel="wecom") == "admin"
    assert [
        await role(roles, "carl", chat, channel="wecom") for chat in ("wrGroup", "wrGROUP")
    ] == [
        "guest",
        "stranger",
    ]
    granted.give("o_Ab", "user", channel="wechat_mp")
    assert await role(roles, "o_Ab", channel="wechat_mp") == "user"
    assert await role(roles, "o_ab", channel="wechat_mp") == "stranger"


async def test_nothing_of_it_is_kept_between_two_questions(
    roles: RoleResolver, granted: Granted
) -> None:
    granted.give("3", "user")
    assert await role(roles, "3") == "user"
    granted.rows.clear()
    assert await role(roles, "3") == "stranger"
