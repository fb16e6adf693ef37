"""What an inbound message becomes: a command or text, and one row."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from bot.messages import (
    Admission,
    MessageBody,
    StoredAttachment,
    dump_body,
    ends_turn,
    load_body,
    parse_command,
    split_reply,
    to_inbox_row,
)
from channels.message import Address, Capabilities, InboundMessage, Sender
from tests.cases import every_case

FILES = st.builds(
    StoredAttachment, sha256=st.text(), name=st.text(), media_type=st.text(), size=st.integers(0)
)


@given(st.builds(MessageBody, text=st.text(), name=st.text(), files=st.tuples(FILES)))
def test_a_body_comes_back_as_it_went_in(said: MessageBody) -> None:
    assert load_body(dump_body(said)) == said


@every_case(
    ("text", "command"),
    [
        ("/help", ("help", "")),
        ("  /Context  clear ", ("context", "clear")),
        ("/config a  b c", ("config", "a  b c")),
        ("/stop@mnema_bot", ("stop", "")),
        ("／help", ("help", "")),
        ("/export\n", ("export", "")),
        ("/etc/hosts", None),
        ("/", None),
        ("/ help", None),
        ("1/2", None),
        ("what is /help", None),
        ("/帮助", ("help", "")),
    ],
)
def test_only_a_slash_and_a_word_at_the_start_is_a_command(
    text: str, command: tuple[str, str] | None
) -> None:
    assert parse_command(text) == command


def test_new_and_clear_end_the_running_turn_and_other_commands_do_not() -> None:
    assert ends_turn("/new")
    assert ends_turn("/context clear")
    assert not ends_turn("/context")
    assert not ends_turn("/context fold")
    assert not ends_turn("new")


def message(text: str) -> InboundMessage:
    return InboundMessage(
        address=Address(channel="telegram", account="9", chat_id="5"),
        kind="dm",
        key="m:5:1:0",
        sender=Sender(id="5", name="Ада"),
        text=text,
        sent_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def test_stop_overtakes_the_queue_and_words_do_not() -> None:
    assert to_inbox_row(message("/stop"), (), Admission(space=""), 0.0).urgent
    assert not to_inbox_row(message("stop"), (), Admission(space=""), 0.0).urgent
    assert not to_inbox_row(message("/context clear"), (), Admission(space=""), 0.0).urgent


def test_a_strangers_words_are_not_kept() -> None:
    row = to_inbox_row(
        message("secret words"), (), Admission(space="telegram-5", ignored="stranger"), 0.0
    )
    assert row.ignored == "stranger"
    assert "secret" not in row.body


def test_parts_are_made_longer_where_few_messages_are_left() -> None:
    able = Capabilities(limit=100, longest=400)
    text = " ".join(f"word{number}" for number in range(100))
    usual = split_reply(text, "final", able)
    assert split_reply(text, "final", able, left=len(usual)) == usual
    fewer = split_reply(text, "final", able, left=3)
    assert len(fewer) < len(usual)
    assert "".join(part.text for part in fewer) == "".join(part.text for part in usual) == text
