"""Parsing of Feishu's events."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.feishu.messages import ParseContext, parse, parse_ref, read_content
from channels.message import InboundMessage, Quote
from tests.cases import every_case
from tests.emulators.feishu_world import BOT, World

KNOWN = ParseContext(
    account="cli_a", open_id=BOT, kinds={"oc_p2p_ou_u1": "dm"}, sent={"om_ours": "what I said"}
)


@pytest.fixture
def world() -> World:
    return World(app_id="cli_a", secret="s")


def read(world: World, known: ParseContext = KNOWN) -> InboundMessage:
    message = parse(world.pushes[-1].event, known)
    assert message is not None
    return message


def said(world: World, kind: str, content: dict[str, Any], **fields: Any) -> InboundMessage:
    world.inject(kind=kind, content=content, **fields)
    return read(world)


def test_a_private_message(world: World) -> None:
    ids = world.inject("hello 🙂")
    message = read(world)
    assert (message.kind, message.addressed, message.text, message.key) == (
        "dm",
        True,
        "hello 🙂",
        ids["message_id"],
    )
    assert (message.address.chat_id, message.address.account, message.address.thread_id) == (
        "oc_p2p_ou_u1",
        "cli_a",
        "",
    )
    assert (message.sender.id, message.sender.is_bot) == ("ou_u1", False)
    assert len(message.order_key) == 20
    assert "vt-1" not in message.raw


def test_the_same_message_under_a_new_event_id_has_the_same_key(world: World) -> None:
    event = world.inject("once")["event_id"]
    first = read(world)
    world.repeat(event, fresh=True)
    assert read(world).key == first.key


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("@_user_1 what is it?", "what is it?"),
        ("@_user_1，你好", "你好"),
        ("tell @_user_1 and @_user_2 now", "tell and @Ada now"),
        ("@_user_1", "@Lab bot"),
        ("@_user_10 is not in the list, @_all", "@_user_10 is not in the list, @all"),
    ],
)
def test_names_stand_for_mentions_and_ours_is_left_out(world: World, text: str, seen: str) -> None:
    mentions = [world.mention(1), world.mention(2, "ou_ada", "Ada")]
    world.inject(text, chat="oc_g", mentions=mentions)
    assert (read(world).text, read(world).addressed) == (seen, True)


def test_s07_our_name_is_not_our_id(world: World) -> None:
    world.inject(
        "@_user_1 @Lab bot", chat="oc_g", mentions=[world.mention(1, "ou_other_bot", "Lab bot")]
    )
    assert (read(world).addressed, read(world).kind, read(world).text) == (
        False,
        "group",
        "@Lab bot @Lab bot",
    )
    world.inject(
        "@_all", chat="oc_g", mentions=[{"key": "@_all", "id": {"open_id": ""}, "name": "All"}]
    )
    assert not read(world).addressed
    world.inject("@_user_1", chat="oc_g", mentions=[world.mention(1)])
    nobody = parse(world.pushes[-1].event, ParseContext(account="cli_a", open_id=""))
    assert nobody is not None
    assert nobody.text == "@Lab bot"


def test_a_reply_to_us_is_meant_for_us_and_quotes_us(world: World) -> None:
    world.messages["om_ours"] = world.messages[world.inject("x", chat="oc_g")["message_id"]]
    world.inject("why?", chat="oc_g", parent="om_ours")
    assert read(world).addressed
    assert read(world).quote == Quote(text="what I said", ours=True)
    world.inject("in a topic", chat="oc_g", parent="om_ours", thread="omt_1")
    assert not read(world).addressed, "everything in a topic answers its first message"
    assert read(world).address.thread_id == "omt_1"


def test_a_reply_to_somebody_is_quoted_with_their_id_and_never_from_another_chat(
    world: World,
) -> None:
    quote = Quote(text="I pay", author="Li Wei", author_id="ou_u2")
    known = ParseContext(account="cli_a", open_id=BOT, quotes={("oc_g", "om_theirs"): quote})
    for chat, found in (("oc_g", quote), ("oc_h", None)):
        world.messages["om_theirs"] = world.messages[world.inject("I pay", chat=chat)["message_id"]]
        world.inject("really?", chat=chat, parent="om_theirs")
        assert read(world, known).quote == found
    world.inject("really?", chat="oc_g", parent="om_theirs")
    assert read(world).quote is None, "nobody knows whose words these are"


def test_another_bot_is_a_bot(world: World) -> None:
    world.inject("hi")
    event = world.pushes[-1].event
    event["event"]["sender"]["sender_type"] = "app"
    assert read(world).sender.is_bot


def test_a_post_becomes_markdown_with_its_pictures(world: World) -> None:
    rows = [
        [
            {"tag": "text", "text": "see ", "style": ["bold"]},
            {"tag": "a", "text": "this", "href": "https://e.org"},
        ],
        [
            {"tag": "at", "user_id": "@_user_2", "user_name": "Ada"},
            {"tag": "emotion", "emoji_type": "SMILE"},
        ],
        [{"tag": "code_block", "language": "PYTHON", "text": "x = 1\n"}],
        [{"tag": "hr"}, {"tag": "unheard-of", "text": "?"}],
        [
            {"tag": "img", "image_key": "img_1"},
            {"tag": "media", "file_key": "file_1", "image_key": "img_2"},
        ],
        [{"tag": "md", "text": "- a\n- b"}],
    ]
    mentions = [world.mention(2, "ou_ada", "Ada L.")]
    message = said(world, "post", {"title": "Plan", "content": rows}, mentions=mentions)
    assert (
        message.text
        == "Plan\nsee [this](https://e.org)\n@Ada L.:SMILE:\n```python\nx = 1\n```\n---\n\n- a\n- b"
    )
    assert [file.ref for file in message.attachments] == [
        f"{message.key}/image/img_1",
        f"{message.key}/file/file_1",
    ]
    wrapped = said(
        world, "post", {"zh_cn": {"title": "", "content": [[{"tag": "text", "text": "同样"}]]}}
    )
    assert wrapped.text == "同样"


@pytest.mark.parametrize(
    ("kind", "content", "name", "media_type", "ref"),
    [
        ("image", {"image_key": "img_1"}, "image.jpg", "image/jpeg", "image/img_1"),
        (
            "file",
            {"file_key": "f", "file_name": "../a b.pdf"},
            "../a b.pdf",
            "application/pdf",
            "file/f",
        ),
        ("audio", {"file_key": "f", "duration": 2000}, "voice.ogg", "audio/ogg", "file/f"),
        (
            "media",
            {"file_key": "f", "image_key": "i", "file_name": "clip.mp4"},
            "clip.mp4",
            "video/mp4",
            "file/f",
        ),
        ("sticker", {"file_key": "f"}, "sticker.webp", "image/webp", "file/f"),
    ],
)
def test_files_are_named_and_can_be_fetched(
    world: World, kind: str, content: dict[str, Any], name: str, media_type: str, ref: str
) -> None:
    message = said(world, kind, content)
    (file,) = message.attachments
    assert (file.name, file.media_type, file.ref) == (name, media_type, f"{message.key}/{ref}")
    assert parse_ref(file.ref) == (message.key, *ref.split("/"))


@every_case("ref", ["", "om_1/image", "om_1/film/k", "/image/k", "om_1/image/"])
def test_a_ref_of_somebody_else_is_refused(ref: str) -> None:
    with pytest.raises(ValueError):
        parse_ref(ref)


@pytest.mark.parametrize(
    ("kind", "content", "text"),
    [
        (
            "interactive",
            {"title": "Bill", "elements": [[{"tag": "text", "text": "7 €"}]]},
            "[card]\nBill\n7 €",
        ),
        ("merge_forward", {"content": "Merged and Forwarded Message"}, "[forwarded messages]"),
        ("share_chat", {"chat_id": "oc_1"}, "[shared chat]"),
        ("share_user", {"user_id": "ou_1"}, "[shared contact]"),
        ("location", {"name": "Kiel", "longitude": "1"}, "[location: Kiel]"),
        ("hologram", {}, "[hologram]"),
    ],
)
def test_what_cannot_be_read_has_a_placeholder(
    world: World, kind: str, content: dict[str, Any], text: str
) -> None:
    assert said(world, kind, content).text == text


def test_notes_of_the_platform_are_nobodys_words(world: World) -> None:
    world.inject(kind="system", content={"template": "{from_user} invited {to_chatters}"})
    assert parse(world.pushes[-1].event, KNOWN) is None
    world.tell("im.message.message_read_v1", {})
    assert parse(world.pushes[-1].event, KNOWN) is None
    assert parse({"type": "event_callback", "uuid": "old form"}, KNOWN) is None


def test_acts_that_are_no_messages(world: World) -> None:
    asked = world.inject("never mind")["message_id"]
    world.recall(asked)
    gone = read(world)
    assert (gone.act, gone.target, gone.key, gone.kind) == (
        "delete",
        asked,
        f"{asked}:recalled",
        "dm",
    )
    event = world.added("oc_g")
    joined = read(world)
    assert (joined.act, joined.key, joined.address.chat_id, joined.sender.id) == (
        "joined",
        f"e:{event}",
        "oc_g",
        "ou_u1",
    )
    world.press(asked, {"data": "allow:1", "thread": "omt_7"})
    press = read(world)
    assert (press.act, press.target, press.address.thread_id, press.kind) == (
        "press",
        "allow:1",
        "omt_7",
        "dm",
    )
    world.press(asked, {"another": "app's"})
    assert parse(world.pushes[-1].event, KNOWN) is None


@given(
    st.sampled_from(["text", "post", "image", "file", "interactive", "location", "odd"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=9),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["text", "content", "tag", "title", "elements", "image_key", "x"]),
                inner,
            )
        ),
        max_leaves=12,
    ),
)
def test_odd_content_is_read_or_refused_by_a_known_error(kind: str, content: Any) -> None:
    try:
        read_content(kind, json.loads(json.dumps(content)), "om_1")
    except (KeyError, TypeError, ValueError, AttributeError):
        return
