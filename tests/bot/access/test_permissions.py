"""The permission matrix is complete, and nothing is allowed by accident."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from bot.access.permissions import (
    ACTIONS,
    ROLE_RANK,
    AccessScope,
    Actor,
    authorize,
    conversation_space,
    listed_role,
)
from tests.cases import every_case

LISTS = {"owners": ["1"], "allow": ["2", "-100"]}


def actor(role: str, by_model: bool = False) -> Actor:
    return Actor(channel="telegram", id="7", role=role, by_model=by_model)  # type: ignore[arg-type]


def where(kind: str, space: str = "s") -> AccessScope:
    return AccessScope(kind=kind, space=space)  # type: ignore[arg-type]


@given(
    st.text(),
    st.sampled_from(sorted(ROLE_RANK)),
    st.sampled_from(["dm", "group", "terminal", "console", "job"]),
)
def test_an_action_without_a_name_is_refused_to_everyone(action: str, role: str, kind: str) -> None:
    if action not in ACTIONS:
        assert not authorize(actor(role), action, "", where(kind)).allowed


@every_case("action", sorted(ACTIONS))
def test_a_stranger_may_do_nothing_at_all(action: str) -> None:
    for kind in ("dm", "group", "terminal", "console"):
        assert not authorize(actor("stranger"), action, "", where(kind)).allowed


def test_secrets_and_roles_are_for_the_terminal_and_the_console_only() -> None:
    assert not authorize(actor("owner"), "config.write", "", where("dm")).allowed
    assert authorize(actor("owner"), "config.write", "", where("terminal")).allowed


def test_context_keys_may_be_set_in_any_private_chat_but_never_in_a_group() -> None:
    assert authorize(actor("admin"), "config.write.context", "", where("dm")).allowed
    assert not authorize(actor("owner"), "config.write.context", "", where("group")).allowed


def test_the_model_never_acts_on_settings_or_the_context_whoever_it_serves() -> None:
    for action in ("config.write", "config.write.context", "context.change", "export", "turn.stop"):
        assert not authorize(actor("owner", by_model=True), action, "", where("dm")).allowed


def test_the_model_of_one_space_is_refused_in_another() -> None:
    assert not authorize(
        actor("owner", by_model=True), "files.read", "other", where("dm", "mine")
    ).allowed
    assert authorize(
        actor("owner", by_model=True), "files.read", "mine", where("dm", "mine")
    ).allowed


@every_case(
    ("sender", "chat", "kind", "role"),
    [
        ("1", "1", "dm", "owner"),
        ("2", "2", "dm", "user"),
        ("3", "3", "dm", "stranger"),
        ("3", "-100", "group", "guest"),
        ("2", "-100", "group", "user"),
        ("2", "-999", "group", "stranger"),
        ("01", "1", "dm", "stranger"),
    ],
)
def test_roles_come_from_ids_in_the_channels_lists(
    sender: str, chat: str, kind: str, role: str
) -> None:
    assert listed_role(LISTS, "telegram", sender, chat, kind) == role


def test_empty_lists_mean_nobody() -> None:
    assert listed_role({"owners": [], "allow": []}, "telegram", "1", "1", "dm") == "stranger"


@given(st.text(min_size=1), st.text(min_size=1))
def test_two_people_never_share_a_space_and_names_are_safe_for_folders(
    one: str, other: str
) -> None:
    first = conversation_space("user", "telegram", "bot", one, one, "dm")
    second = conversation_space("user", "telegram", "bot", other, other, "dm")
    assert (first == second) == (one == other)
    assert first
    assert "/" not in first
    assert not first.startswith(".")


def test_a_group_never_has_a_persons_space_even_the_owners() -> None:
    assert (
        conversation_space("owner", "telegram", "bot", "1", "-100", "group")
        == "telegram-group--100"
    )
    assert conversation_space("owner", "telegram", "bot", "1", "1", "dm") == ""


PRIVATE = {"dm", "terminal", "console"}
# For each action the lowest role, the places (None: all), and whether a model may (or may once it
# was approved).
#
# It is the table of the security page as far as there are such acts, written down a second time.
MATRIX: dict[str, tuple[str, set[str] | None, bool | str]] = {
    "chat": ("guest", None, False),
    "help": ("guest", None, False),
    "whoami": ("guest", None, False),
    "status": ("guest", None, False),
    "turn.stop": ("guest", None, False),
    "turn.retry": ("user", None, False),
    "context.read": ("user", None, False),
    "context.change": ("user", PRIVATE, False),
    "context.change.group": ("admin", {"group"}, False),
    "model.choose": ("admin", PRIVATE, False),
    "config.read": ("admin", PRIVATE, False),
    "config.write.context": ("admin", PRIVATE, False),
    "config.write": ("owner", {"terminal", "console"}, False),
    "usage.own": ("user", None, False),
    "trace": ("user", None, False),
    "export": ("user", PRIVATE, False),
    "files.read": ("user", None, True),
    "files.write": ("user", None, True),
    "persona.write": ("owner", PRIVATE, "ask"),
    "memory.read": ("user", None, True),
    "memory.read.other": ("owner", {"console"}, False),
    "chat.read.other": ("owner", {"console"}, False),
    "memory.write": ("user", PRIVATE, True),
    "memory.write.group": ("owner", {"group"}, False),
    "memory.forget": ("user", PRIVATE, False),
    "memory.forget.group": ("owner", {"group"}, False),
    "memory.link": ("user", PRIVATE, False),
    "exec": ("owner", PRIVATE, "ask"),
    "web.fetch": ("user", None, True),
    "web.search": ("user", None, True),
    "web.fetch.guest": ("guest", None, True),
    "web.search.guest": ("guest", None, True),
    "skill.read": ("user", None, True),
    "tools.find": ("user", None, True),
    "tools.read": ("user", None, False),
    "plugin.call": ("user", None, True),
    "plugin.call.ask": ("user", None, "ask"),
    "mcp.call": ("user", None, True),
    "mcp.call.ask": ("user", None, "ask"),
    "mcp.status": ("owner", PRIVATE, False),
    "exec.status": ("owner", {"dm", "terminal", "console"}, True),
    "delegate": ("user", None, True),
    "task.own": ("user", None, True),
    "heartbeat": ("owner", PRIVATE, False),
    "extension.write": ("owner", {"terminal", "console"}, False),
    "memory.index": ("owner", {"terminal", "console"}, False),
    "console.read": ("owner", {"console"}, False),
    "metrics.read": ("owner", {"console"}, False),
    "console.write": ("owner", {"console"}, False),
    "backup": ("owner", {"terminal", "console"}, False),
    "restore": ("owner", {"terminal", "console"}, False),
    "pair.status": ("user", PRIVATE, False),
    "access.read": ("owner", {"terminal", "console"}, False),
    "access.write": ("owner", {"terminal", "console"}, False),
    "person.delete": ("owner", {"terminal", "console"}, False),
    "approval.decide": ("user", PRIVATE, False),
    "approval.decide.group": ("owner", {"group"}, False),
    "session.expire": ("owner", {"job"}, False),
    "memory.dream": ("owner", {"job"}, False),
}


def test_the_matrix_names_every_action() -> None:
    assert MATRIX.keys() == ACTIONS.keys()


@every_case("action", sorted(MATRIX))
def test_an_action_is_allowed_exactly_where_the_matrix_says(action: str) -> None:
    least, places, model = MATRIX[action]
    for kind, role in product(["dm", "group", "terminal", "console", "job"], ROLE_RANK):
        rank = ROLE_RANK["user"] if kind == "group" and role == "admin" else ROLE_RANK[role]
        wanted = rank >= ROLE_RANK[least] and (places is None or kind in places)
        assert authorize(actor(role), action, "", where(kind)).allowed == wanted, (kind, role)
        by_model = authorize(actor(role, by_model=True), action, "", where(kind))
        assert by_model.allowed == (wanted and model is True), (kind, role)
        assert by_model.ask == (wanted and model == "ask"), (kind, role)


def test_an_admin_of_one_group_changes_its_context_and_nothing_else_there() -> None:
    here = Actor(channel="telegram", id="7", role="admin", admin_here=True)
    assert authorize(here, "context.change.group", "", where("group")).allowed
    for action in (
        "config.read",
        "config.write.context",
        "model.choose",
        "memory.forget.group",
        "access.write",
    ):
        assert not authorize(here, action, "", where("group")).allowed


def test_asking_is_never_a_way_around_a_place_a_role_or_a_space() -> None:
    for who, place in (
        ("admin", where("dm", "")),
        ("user", where("dm", "")),
        ("owner", where("group", "g")),
    ):
        decision = authorize(actor(who, by_model=True), "persona.write", "", place)
        assert not decision.ask
        assert not decision.allowed
    assert not authorize(
        actor("owner", by_model=True), "persona.write", "other", where("dm", "")
    ).ask


def test_who_has_joined_the_owners_memory_writes_none_of_the_owners_files() -> None:
    for role in ("user", "admin"):
        for action in ("files.write", "mcp.call", "plugin.call"):
            assert not authorize(actor(role, by_model=True), action, "", where("dm", "")).allowed
        assert not authorize(actor(role, by_model=True), "mcp.call.ask", "", where("dm", "")).ask
        assert authorize(actor(role, by_model=True), "files.read", "", where("dm", "")).allowed
        assert authorize(actor(role, by_model=True), "memory.write", "", where("dm", "")).allowed
        assert authorize(
            actor(role, by_model=True), "files.write", "", where("dm", "telegram-7")
        ).allowed
    assert authorize(actor("owner", by_model=True), "files.write", "", where("dm", "")).allowed


@given(
    st.from_regex(r"[a-z]{0,3}(group-)?-?[A-Za-z0-9]{1,5}", fullmatch=True), st.integers(-999, 999)
)
def test_no_person_has_the_space_of_a_group(sender: str, chat: int) -> None:
    group = conversation_space("user", "wecom", "bot", sender, str(chat), "group")
    assert (
        conversation_space("user", "wecom", "bot", f"group-{chat}", f"group-{chat}", "dm") != group
    )
    assert conversation_space("user", "wecom", "bot", sender, sender, "dm") != conversation_space(
        "user", "wecom", "b", "x", sender, "group"
    )
