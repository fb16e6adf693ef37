"""What an official account's messages mean and how ours are written: all of it without a
network.
"""

import asyncio
import json
import re
from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.errors import Rejected
from channels.message import Address, OutboundMessage
from channels.toolkit.text import replace_unstorable, text_length
from channels.toolkit.untrusted import BadXml, parse_flat_xml, to_cdata
from channels.wechat_mp.channel import WechatMp
from channels.wechat_mp.client import checked_url, video_url
from channels.wechat_mp.messages import (
    detect_language,
    later_text,
    parse,
    parse_ref,
    render,
    reply_xml,
    text_xml,
)
from channels.wechat_mp.pending_replies import PendingReplies, ReplyTiming
from channels.wechat_mp.settings import WechatMpSettings
from tests.by_night import first_by_day
from tests.cases import every_case
from tests.growth import growth

# Literals, so that the product is not compared with itself.
LIMIT = 2048

ROOT = "https://api.weixin.qq.com"
HEAD = {
    "ToUserName": "gh_bot",
    "FromUserName": "oUser1",
    "CreateTime": "1790000000",
    "MsgId": "24000000000000001",
}


def out(text: str, **others: object) -> OutboundMessage:
    made: dict[str, object] = {"part_no": 0, "parts": 1, **others}
    address = Address(channel="wechat_mp", account="wx1", chat_id="oUser1")
    return OutboundMessage(id="o", address=address, client_key="k", text=text, **made)  # type: ignore[arg-type]


def shown_of(markdown: str) -> str:
    return render(out(markdown), last=False)


# -- what people send -----------------------------------------------------------------------------


def test_a_text() -> None:
    message = parse({**HEAD, "MsgType": "text", "Content": "hi"}, "wx1")
    assert message is not None
    assert (message.text, message.kind, message.key) == ("hi", "dm", "24000000000000001")
    assert message.address == Address(channel="wechat_mp", account="wx1", chat_id="oUser1")
    assert message.sender.id == "oUser1"
    assert message.sent_at == datetime.fromtimestamp(1_790_000_000, UTC)
    assert json.loads(message.raw)["Content"] == "hi"


@every_case(
    ("fields", "text", "file"),
    [
        (
            {"MsgType": "image", "PicUrl": "http://p/1", "MediaId": "m"},
            "",
            ("picture.jpg", "image/jpeg"),
        ),
        ({"MsgType": "voice", "MediaId": "m", "Format": "amr"}, "", ("voice.amr", "audio/amr")),
        (
            {"MsgType": "voice", "MediaId": "m", "Format": "speex"},
            "",
            ("voice.speex", "audio/speex"),
        ),
        (
            {"MsgType": "voice", "MediaId": "m", "Format": "amr", "Recognition": "说的话"},
            "说的话",
            None,
        ),
        ({"MsgType": "video", "MediaId": "m", "ThumbMediaId": "t"}, "", ("video.mp4", "video/mp4")),
        ({"MsgType": "shortvideo", "MediaId": "m"}, "", ("video.mp4", "video/mp4")),
        (
            {"MsgType": "location", "Location_X": "23.1", "Location_Y": "113.3", "Label": "Canton"},
            "📍 Canton (23.1, 113.3)",
            None,
        ),
        (
            {"MsgType": "link", "Title": "T", "Description": "", "Url": "https://a"},
            "T\nhttps://a",
            None,
        ),
    ],
)
def test_each_kind_of_message(
    fields: dict[str, str], text: str, file: tuple[str, str] | None
) -> None:
    message = parse(HEAD | fields, "wx1")
    assert message is not None
    assert message.text == text
    assert [(one.name, one.media_type) for one in message.attachments] == ([file] if file else [])
    assert all(parse_ref(one.ref)[0] == "m" for one in message.attachments)


@every_case(
    "fields",
    [
        {"MsgType": "event", "Event": "subscribe"},
        {"MsgType": "event", "Event": "CLICK", "EventKey": "/clear"},
        {"MsgType": "hologram", "Content": "?"},
        {"MsgType": "text", "Content": "hi", "MsgId": ""},
        {"MsgType": "text", "Content": "hi", "MsgId": "１２"},
        {"MsgType": "text", "Content": "hi", "CreateTime": "9" * 19},
        {"MsgType": "text", "Content": "hi", "CreateTime": "-1"},
    ],
)
def test_what_is_no_message_is_none(fields: dict[str, str]) -> None:
    assert parse(HEAD | fields, "wx1") is None


@given(
    st.lists(
        st.tuples(st.integers(0, 2**40), st.integers(1, 10**18)),
        min_size=2,
        max_size=5,
        unique=True,
    )
)
def test_the_order_key_sorts_by_time_and_then_by_number(written: list[tuple[int, int]]) -> None:
    def key(at: int, number: int) -> str:
        message = parse(
            {**HEAD, "MsgType": "text", "CreateTime": str(at % 10**10), "MsgId": str(number)}, "wx1"
        )
        assert message is not None
        return message.order_key

    by_key = sorted(written, key=lambda one: key(*one))
    assert by_key == sorted(written, key=lambda one: (one[0] % 10**10, one[1]))


# -- what we say ----------------------------------------------------------------------------------


@every_case(
    ("markdown", "shown"),
    [
        ("**bold** *it* __b__ _i_ ~~gone~~", "bold it b i ~~gone~~"),
        ("# Title #\ntext", "【Title】\n\ntext"),
        ("- a\n  * b\n+ c\n- [ ] d\n- [x] e\n1. f", "• a\n  • b\n\n• c\n\n☐ d\n☑ e\n\n1. f"),
        (
            "see [the page](https://a.b/c) ![x](https://p)",
            "see the page (https://a.b/c) x (https://p)",
        ),
        ("[https://a](https://a)", "https://a"),
        ("```py\nx = **2**\n# no title\n```", "x = **2**\n# no title"),
        ("`a*b*c` and ``x ` y``", "a*b*c and x ` y"),
        ("~~~\n- a\n~~~\n- b", "- a\n\n• b"),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |", "a | b\n• 1 | 2"),
        ("***\ntext\n---", "———\n\n【text】"),
        ("2*3*4 and a_b_c and 5 * 6 * 7", "2*3*4 and a_b_c and 5 * 6 * 7"),
        ('<a href="https://evil">bank</a>', '＜a href="https://evil">bank＜/a>'),
        ("<a\thref=x", "＜a\thref=x"),
        ("`<a href='x'>y</a>`", "＜a href='x'>y＜/a>"),
        ("<b> & </b> \"quoted\" 'so'", "<b> & </b> \"quoted\" 'so'"),
        ("**never closed _and [neither](", "**never closed _and [neither]("),
        ("", ""),
    ],
)
def test_markdown_becomes_words(markdown: str, shown: str) -> None:
    assert shown_of(markdown) == shown


@given(st.text(alphabet="ab *_`[]()<>!~#-|\n/a=h", max_size=300))
def test_no_text_becomes_a_link_that_hides_its_address(text: str) -> None:
    assert not re.search(r"<a[\s>]", shown_of(text))


@pytest.mark.parametrize("unit", first_by_day(2, ["**a", "[](", "<a ", "`a", "- "]))
def test_S66_hostile_markup_of_four_times_the_length_takes_about_four_times_as_long(
    unit: str,
) -> None:
    # The longer text is as long as a message may be. At 4,000 characters `[](` is left as it is.
    assert growth(shown_of, unit, LIMIT // 4, bound=8) < 8


def test_the_last_part_for_now_says_so_where_it_fits() -> None:
    assert render(out("一二三", parts=2), last=True) == "一二三\n（未完，发任意消息看下文）"
    assert render(out("one", parts=2), last=True) == "one\n(not all yet: send anything for more)"
    assert render(out("one", parts=2), last=False) == "one"
    assert render(out("two", part_no=1, parts=2), last=True) == "two"
    assert render(out("x" * (LIMIT - 40), parts=2), last=True).endswith("for more)")
    assert render(out("字" * 669, parts=2), last=True).endswith("看下文）")
    assert render(out("x" * LIMIT, parts=2), last=True) == "x" * LIMIT


@given(st.text(alphabet=st.characters(), max_size=700), st.booleans(), st.booleans())
def test_what_fits_before_fits_after(text: str, last: bool, as_it_is: bool) -> None:
    if text_length(replace_unstorable(text), "utf8") <= LIMIT:
        shown = render(out(text, parts=2, plain=as_it_is), last=last)
        assert text_length(shown, "utf8") <= LIMIT


def test_bullets_that_would_not_fit_stay_as_they_were() -> None:
    text = "- a\n" * (LIMIT // 4)
    assert render(out(text), last=False) == text


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]), max_size=80))
def test_no_text_breaks_out_of_a_reply(text: str) -> None:
    xml = reply_xml(HEAD, text_xml(text), 1_790_000_003.9)
    found = {child.tag: child.text or "" for child in ElementTree.fromstring(xml)}
    assert found.pop("Content") == text.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
    assert found == {
        "ToUserName": "oUser1",
        "FromUserName": "gh_bot",
        "CreateTime": "1790000003",
        "MsgType": "text",
    }


def test_the_language_of_a_sentence_is_that_of_the_question() -> None:
    assert [detect_language(text) for text in ("why?", "为什么", "", "ok 好")] == [
        "en",
        "zh",
        "zh",
        "zh",
    ]
    assert later_text("why?").isascii()


# -- XML ------------------------------------------------------------------------------------------


def test_flat_xml_reads_texts_and_leaves_out_what_is_nested() -> None:
    body = (
        "<?xml version='1.0' "
        "encoding='utf-16'?><xml><A>1</A><B><![CDATA[<é>]]></B><C><D>x</D></C><E/></xml>"
    )
    assert parse_flat_xml(body.encode()) == {"A": "1", "B": "<é>", "C": "", "E": ""}


def test_signs_that_xml_cannot_carry_cost_only_themselves() -> None:
    assert parse_flat_xml(b"<x><A>a\x00b\x1bc\xed\xa0\xbdd</A></x>") == {
        "A": "a\ufffdb\ufffdc\ufffdd"
    }
    assert parse_flat_xml(b"<x><A>\xff</A></x>") == {"A": "\ufffd"}
    assert to_cdata("a]]>b\x00") == "<![CDATA[a]]]]><![CDATA[>b\ufffd]]>"


@every_case(
    "body",
    [
        b"",
        b"{}",
        b"<xml><A></xml>",
        b"<x><A/><A/></x>",
        b"<x>" + b"<a>" * 50,
        b"<x>" + b"".join(b"<a%d/>" % number for number in range(600)) + b"</x>",
        b"<!DOCTYPE x><x/>",
        b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>',
        b'<!DOCTYPE x [<!ENTITY a "b">]><x><A>&a;</A></x>',
        b"<x>&undefined;</x>",
        b"<x>" + b"a" * (1 << 20) + b"</x>",
    ],
)
def test_xml_that_was_not_agreed_on_is_refused(body: bytes) -> None:
    with pytest.raises(BadXml):
        parse_flat_xml(body)


# -- addresses of files ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("http://mmbiz.qpic.cn/mmbiz_jpg/a/0", "https://mmbiz.qpic.cn/mmbiz_jpg/a/0"),
        ("https://MMBIZ.qpic.cn:443/a?b=c", "https://mmbiz.qpic.cn/a?b=c"),
        (f"{ROOT}/x", f"{ROOT}/x"),
    ],
)
def test_files_are_asked_of_the_platform_over_tls(url: str, asked: str) -> None:
    assert checked_url(url, ROOT) == asked


@every_case(
    "url",
    [
        "http://127.0.0.1/a",
        "http://169.254.169.254/latest/meta-data",
        "https://qpic.cn.evil.example/a",
        "https://evilqpic.cn/a",
        "https://mmbiz.qpic.cn@evil.example/a",
        "https://user:pw@mmbiz.qpic.cn/a",
        "https://mmbiz.qpic.cn:8443/a",
        "https://evil.example\\@mmbiz.qpic.cn/",
        "file:///etc/passwd",
        "//mmbiz",
        "http://[::1/a",
        "",
    ],
)
def test_no_other_address_is_asked(url: str) -> None:
    with pytest.raises(Rejected):
        checked_url(url, ROOT)


@every_case("data", [b"", b"[]", b"{}", b"[" * 100_000])
def test_a_video_without_an_address_is_refused(data: bytes) -> None:
    assert video_url(b'{"video_url":"https://v.qq.com/a"}') == "https://v.qq.com/a"
    with pytest.raises(Rejected):
        video_url(data)


# -- settings, pending replies
# --------------------------------------------------------------------------


def test_a_key_of_another_length_is_named() -> None:
    with pytest.raises(ValueError, match="43 letters and digits, this one has 5 characters"):
        WechatMp(
            WechatMpSettings(app_id="wx1", app_secret="s", token="t", encoding_aes_key="short")
        )


async def test_an_offer_that_did_not_leave_is_free_for_the_next_try() -> None:
    replies = PendingReplies(ReplyTiming(hold=60, cut=60, slack=60))
    first = replies.arrive("m1", "p")
    waiting = asyncio.create_task(replies.wait(first))
    sending = asyncio.create_task(replies.answer_request("m1", "p", "<x/>"))
    assert (await waiting) is not None
    replies.written(first, 1, False)
    second = replies.arrive("m1", "p")
    assert second is first
    again = await replies.wait(second)
    assert again is not None
    assert again.content == "<x/>"
    assert not sending.done()
    replies.written(second, 2, True)
    assert await sending


async def test_a_try_overtaken_by_the_next_has_no_say_any_more() -> None:
    replies = PendingReplies(ReplyTiming(hold=60, cut=60, slack=60))
    pending = replies.arrive("m1", "p")
    first = asyncio.create_task(replies.wait(pending))
    await asyncio.sleep(0)
    replies.arrive("m1", "p")
    assert await first is None
    second = asyncio.create_task(replies.wait(pending))
    sending = asyncio.create_task(replies.answer_request("m1", "p", "<x/>"))
    assert (await second) is not None
    replies.written(pending, 1, False)
    assert not sending.done()
    replies.written(pending, 2, True)
    assert await sending


async def test_a_request_that_is_torn_down_gives_its_offer_back() -> None:
    replies = PendingReplies(ReplyTiming(hold=60, cut=0, slack=0))
    pending = replies.arrive("m1", "p")
    waiting = asyncio.create_task(replies.wait(pending))
    await asyncio.sleep(0)
    sending = asyncio.create_task(replies.answer_request("m1", "p", "<x/>"))
    await asyncio.sleep(0)
    waiting.cancel()
    assert await sending is False


async def test_a_send_that_is_cancelled_takes_its_offer_back() -> None:
    replies = PendingReplies(ReplyTiming(hold=60, cut=60, slack=60))
    pending = replies.arrive("m1", "p")
    sending = asyncio.create_task(replies.answer_request("m1", "p", "<x/>"))
    await asyncio.sleep(0)
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    assert pending.offer is None
