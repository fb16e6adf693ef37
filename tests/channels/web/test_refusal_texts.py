"""Refusals of the API are said in the language that a client asks for."""

from starlette.requests import Request

from channels.web.requests import HttpRefusal, request_language
from channels.web.validation import SENTENCES
from tests.cases import every_case


def test_what_differs_is_put_into_the_sentence_of_either_language() -> None:
    refusal = HttpRefusal(400, "q", SENTENCES["string_too_long"].fill(field="q", max_length=200))
    assert refusal.message.text("en") == "q may have at most 200 characters"
    assert refusal.message.text("zh") == "q 最多 200 个字符"


@every_case(
    ("header", "language"),
    [
        ("zh-CN,en;q=0.8", "zh"),
        (" ZH", "zh"),
        ("en-GB,zh;q=0.9", "en"),
        ("", "en"),
    ],
)
def test_the_first_language_of_a_client_is_taken(header: str, language: str) -> None:
    request = Request({"type": "http", "headers": [(b"accept-language", header.encode())]})
    assert request_language(request) == language
