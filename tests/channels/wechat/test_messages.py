"""iLink's messages as ours and ours as its own: pure, and most of what there is to know of it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.errors import ChannelError
from channels.message import Address, InboundMessage, OutboundMessage
from channels.toolkit.markdown import to_plain
from channels.wechat.client import checked_root
from channels.wechat.media import (
    decrypt_file,
    encode_file_key,
    encrypt_file,
    encrypted_size,
    read_file_key,
)
from channels.wechat.messages import detect_language, parse, render
from tests.cases import every_case

# Literals, so that the product is not compared with itself.
FILES = "https://novac2c.cdn.weixin.qq.com/c2c"
SERVER = "https://ilinkai.weixin.qq.com"
LIMIT = 1800
MORE = {"zh": "（还没说完：随便回我一句，我就接着发）", "en": "(more follows: send me anything)"}

NOW = 1_790_000_100.0
BOT = "bot9@im.bot"


def message(*items: dict[str, Any], **fields: Any) -> dict[str, Any]:
    usual = {
        "seq": 812,
        "message_id": 7400000000000000123,
        "client_id": "c-9",
        "from_user_id": "abc1@im.wechat",
        "to_user_id": BOT,
        "create_time_ms": 1790000000123,
        "session_id": "s1",
        "message_type": 1,
        "message_state": 2,
        "context_token": "ctx-5",
        "item_list": list(items) or [{"type": 1, "text_item": {"text": "你好"}}],
    }
    return {name: value for name, value in {**usual, **fields}.items() if value is not None}


def heard(*items: dict[str, Any], **fields: Any) -> InboundMessage:
    found = parse(message(*items, **fields), BOT, NOW)
    assert found is not None
    return found


def text(words: str, **fields: Any) -> dict[str, Any]:
    return {"type": 1, "text_item": {"text": words}, **fields}


def test_a_text() -> None:
    found = heard()
    assert (found.text, found.kind, found.key) == ("你好", "dm", "m:7400000000000000123")
    assert found.address == Address(channel="wechat", account=BOT, chat_id="abc1@im.wechat")
    assert (found.sender.id, found.sender.name) == ("abc1@im.wechat", "")
    assert found.sent_at.timestamp() == 1790000000.123
    assert found.order_key == f"{812:020d}"
    assert json.loads(found.raw)["message_id"] == 7400000000000000123
    assert "ctx-5" not in found.raw


def test_ids_and_sequence_numbers_never_meet() -> None:
    by_id, by_seq = heard(message_id=812), heard(message_id=None)
    assert (by_id.key, by_seq.key) == ("m:812", "s:abc1@im.wechat:812")
    assert heard(message_id=0).key == by_seq.key
    assert heard(message_id="7400000000000000123").key == heard().key


def test_a_message_without_any_number_is_known_by_its_bytes() -> None:
    bare = {"message_id": None, "seq": None}
    assert heard(**bare).key == heard(**bare).key
    assert heard(**bare).key != heard(text("other"), **bare).key
    assert heard(**bare).key.startswith("h:")
    assert heard(**bare).order_key == ""


def test_a_message_without_a_time_is_of_now() -> None:
    assert heard(create_time_ms=None).sent_at.timestamp() == NOW


@every_case(
    "fields",
    [
        {"message_type": 2},
        {"group_id": "g1"},
        {"item_list": []},
        {"item_list": [{"type": 11, "tool_call_start_item": {"tool_name": "x"}}]},
        {"item_list": [{"type": 12, "tool_call_result_item": {"status": "completed"}}]},
        {"item_list": [text("")]},
    ],
)
def test_what_is_no_persons_word_is_passed_over(fields: dict[str, Any]) -> None:
    assert parse(message(**fields), BOT, NOW) is None


def test_several_items_are_one_message() -> None:
    media = {"encrypt_query_param": "p1"}
    found = heard(
        text("look"), {"type": 2, "image_item": {"media": media}}, {"type": 11}, text("at this")
    )
    assert found.text == "look\nat this"
    assert [(file.name, file.media_type) for file in found.attachments] == [
        ("picture.jpg", "image/jpeg")
    ]


@every_case(
    ("item", "name", "media_type"),
    [
        ({"type": 3, "voice_item": {"encode_type": 6}}, "voice.silk", "audio/silk"),
        ({"type": 3, "voice_item": {"encode_type": 7}}, "voice.mp3", "audio/mpeg"),
        ({"type": 3, "voice_item": {}}, "voice.silk", "audio/silk"),
        ({"type": 3, "voice_item": {"encode_type": 3}}, "voice.bin", "application/octet-stream"),
        ({"type": 4, "file_item": {"file_name": "表 格.PDF"}}, "表 格.PDF", "application/pdf"),
        (
            {"type": 4, "file_item": {"file_name": "data:text/html,x.zip"}},
            "data:text/html,x.zip",
            "application/zip",
        ),
        (
            {"type": 4, "file_item": {"file_name": "../../etc/passwd"}},
            "../../etc/passwd",
            "application/octet-stream",
        ),
        ({"type": 4}, "file", "application/octet-stream"),
        ({"type": 5, "video_item": {}}, "video.mp4", "video/mp4"),
    ],
)
def test_files_are_labelled(item: dict[str, Any], name: str, media_type: str) -> None:
    (file,) = heard(item).attachments
    assert (file.name, file.media_type) == (name, media_type)


def test_a_voice_without_words_is_its_sound_alone() -> None:
    found = heard({"type": 3, "voice_item": {"media": {"encrypt_query_param": "p"}}})
    assert (found.text, len(found.attachments)) == ("", 1)


def test_what_is_needed_to_fetch_a_file_stands_in_its_ref() -> None:
    media = {
        "encrypt_query_param": "p+/=",
        "aes_key": "a2V5",
        "full_url": "https://x/y",
        "encrypt_type": 1,
    }
    (file,) = heard({"type": 2, "image_item": {"media": media, "aeskey": "00" * 16}}).attachments
    assert json.loads(file.ref) == {
        "url": "https://x/y",
        "param": "p+/=",
        "hex": "00" * 16,
        "key": "a2V5",
    }


@every_case(
    ("quoted", "words"),
    [
        ({"title": "old", "message_item": text("earlier")}, "earlier"),
        ({"title": "old"}, "old"),
        ({"message_item": {"type": 3, "voice_item": {"text": "spoken"}}}, "spoken"),
        ({"message_item": {"type": 4, "file_item": {"file_name": "a.txt"}}}, "[file]"),
        ({"title": "Ann: photo", "message_item": {"type": 2, "image_item": {}}}, "Ann: photo"),
    ],
)
def test_a_quotation(quoted: dict[str, Any], words: str) -> None:
    found = heard(text("is that so?", ref_msg=quoted))
    assert found.quote is not None
    assert (found.text, found.quote.text, found.quote.ours) == ("is that so?", words, False)


def test_a_quoted_picture_comes_with_the_question() -> None:
    media = {"encrypt_query_param": "p1"}
    quoted = {"message_item": {"type": 2, "image_item": {"media": media}}}
    (file,) = heard(text("what is this?", ref_msg=quoted)).attachments
    assert json.loads(file.ref) == {"param": "p1"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(sorted(message())), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*message(), "group_id"]), JSON))
def test_any_object_is_a_message_or_refused_in_a_known_way(found: dict[str, Any]) -> None:
    try:
        parse(found, BOT, NOW)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return


# -- out
# ---------------------------------------------------------------------------------------------


def out(words: str, **fields: Any) -> OutboundMessage:
    address = Address(channel="wechat", account=BOT, chat_id="abc1@im.wechat")
    return OutboundMessage(id="1", address=address, client_key="1", text=words, **fields)


@every_case(
    ("markdown", "plain"),
    [
        ("# 标题\n\n正文", "【标题】\n\n正文"),
        ("**bold** and *soft* and ~~gone~~ and `code`", "bold and soft and ~~gone~~ and code"),
        (
            "- one\n- two\n  - deep\n\n3. three\n4. four",
            "• one\n• two\n  • deep\n\n3. three\n4. four",
        ),
        ("```python\nx = '**1**'\n\n    y\n```", "x = '**1**'\n\n    y"),
        (
            "| Name | Price |\n|---|---|\n| Tea | 3 |\n| **Cake** | 4 |",
            "Name | Price\n• Tea | 3\n• Cake | 4",
        ),
        ("> said\n> twice\n>\n> > deep", "> said\n> twice\n>\n> > deep"),
        (
            "[docs](https://a.example/x) <https://b.example>",
            "docs (https://a.example/x) https://b.example",
        ),
        ("![cat](https://a.example/c.png)", "cat (https://a.example/c.png)"),
        ("a\n\n---\n\nb\\\nc", "a\n\n———\n\nb\nc"),
        ("<b>not a tag</b> &amp; 2 < 3", "<b>not a tag</b> & 2 < 3"),
        ("[x]: https://a.example", "[x]: https://a.example"),
        ("2 * 3 * 4 and snake_case_name", "2 * 3 * 4 and snake_case_name"),
        ("", ""),
        ("2*3*4 and 5 * 6 and *it*", "2*3*4 and 5 * 6 and it"),
        ("- [ ] open\n- [x] done", "☐ open\n☑ done"),
    ],
)
def test_markdown_reads_well_without_its_marks(markdown: str, plain: str) -> None:
    assert to_plain(markdown) == plain


@given(st.text(alphabet=st.sampled_from("ab1 \n*_`#>|-[]()!~\\&;中🙂"), max_size=120))
def test_no_letter_is_lost_whatever_the_markdown_holds(markdown: str) -> None:
    plain = to_plain(markdown)
    assert [sign for sign in plain if sign in "中🙂"] == [
        sign for sign in markdown if sign in "中🙂"
    ]


def test_deep_nesting_is_shown_as_it_is_written() -> None:
    assert to_plain("> " * 80 + "deep") == "> " * 80 + "deep"


@given(st.text(alphabet=st.sampled_from("a \n*`#>|-1."), min_size=1, max_size=LIMIT))
def test_what_is_sent_is_never_longer_than_the_limit_and_never_empty(words: str) -> None:
    assert 1 <= len(render(out(words))) <= LIMIT


def test_what_would_grow_beyond_the_limit_stays_as_it_is_written() -> None:
    markdown = "\n".join("#a" if n % 2 else "# a" for n in range(460))[:LIMIT]
    assert len(to_plain(markdown)) > LIMIT
    assert render(out(markdown)) == markdown


def test_plain_text_stays_plain() -> None:
    assert render(out("**so**", plain=True)) == "**so**"


@pytest.mark.parametrize(("words", "lang"), [("done", "en"), ("好了 ok", "zh"), ("🙂", "en")])
def test_more_is_announced_in_the_language_of_the_text(words: str, lang: str) -> None:
    assert detect_language(words) == lang
    assert render(out(words), more=True) == f"{words}\n\n{MORE[lang]}"


# -- keys and addresses
# ------------------------------------------------------------------------------

KEY = bytes(range(16))


def test_the_handbooks_bytes() -> None:
    assert encrypt_file(b"hello", KEY).hex() == "5d8749e2af7531b2bf6661e9e5daf012"
    assert encode_file_key(KEY) == "MDAwMTAyMDMwNDA1MDYwNzA4MDkwYTBiMGMwZDBlMGY="


@given(st.binary(max_size=200), st.binary(min_size=16, max_size=16))
def test_what_is_encrypted_can_be_opened_again(data: bytes, key: bytes) -> None:
    sealed = encrypt_file(data, key)
    assert len(sealed) == encrypted_size(len(data))
    assert decrypt_file(sealed, key) == data
    assert read_file_key("", encode_file_key(key)) == read_file_key(key.hex(), "") == key


@pytest.mark.parametrize(
    "encoded", ["AAECAwQFBgcICQoLDA0ODw==", "AAECAwQFBgcICQoLDA0ODw", encode_file_key(KEY)]
)
def test_every_form_of_a_key(encoded: str) -> None:
    assert read_file_key("", encoded) == KEY
    assert read_file_key("ff" * 16, encoded) == b"\xff" * 16
    assert read_file_key("", "") == b""


@every_case(
    ("plain_hex", "encoded"), [("zz", ""), ("00", ""), ("", "%%%"), ("", "AAAA"), ("", "é" * 8)]
)
def test_what_is_no_key_is_refused(plain_hex: str, encoded: str) -> None:
    with pytest.raises(ValueError):
        read_file_key(plain_hex, encoded)


@given(st.binary(max_size=64))
def test_any_bytes_open_or_are_refused(data: bytes) -> None:
    try:
        decrypt_file(data, KEY)
    except ValueError:
        return


@every_case(
    ("url", "root"),
    [
        ("https://ilinkai.weixin.qq.com", SERVER),
        ("https://sg-ilink.weixin.qq.com/", SERVER),
        ("https://file.cdn.weixin.qq.com/c2c/up?a=b", FILES),
        ("http://127.0.0.1:9/x", "http://127.0.0.1:8"),
    ],
)
def test_the_platforms_own_hosts_are_admitted(url: str, root: str) -> None:
    assert checked_root(url, root) == url.rstrip("/")


@every_case(
    "url",
    [
        "http://ilinkai.weixin.qq.com",
        "https://weixin.qq.com.evil.example",
        "https://evilweixin.qq.com.example/",
        "https://ilinkai.weixin.qq.com@evil.example/",
        "https://evil.example\\@ilinkai.weixin.qq.com/",
        "https://ilinkai.weixin.qq.com:22/",
        "https://127.0.0.1/",
        "https://None",
        "https://[::1",
        "https://a.weixin.qq.com/ x",
        "file:///etc/passwd",
        "//ilinkai.weixin.qq.com",
        "",
    ],
)
def test_other_hosts_are_not(url: str) -> None:
    with pytest.raises(ChannelError):
        checked_root(url, "https://other.weixin.qq.com" if ":22" in url else SERVER)


def test_a_configured_host_admits_no_other() -> None:
    with pytest.raises(ChannelError):
        checked_root("https://ilinkai.weixin.qq.com", "https://proxy.example")
