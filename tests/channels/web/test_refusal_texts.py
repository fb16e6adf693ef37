"""Refusals of the API are said in Chinese, too."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from starlette.requests import Request

from channels.web.refusal_texts import CHINESE, to_chinese
from channels.web.requests import request_language
from channels.web.validation import OTHER_SENTENCE, SENTENCES
from tests.cases import every_case

ROOT = Path(__file__).parents[3]
FOLDERS = (
    "channels/web",
    "bot/console",
    "bot/console/administration",
    "bot/console/memory",
    "bot/console/operations",
)
# Errors of other modules whose text becomes that of a refusal, by module.
PASSED_ON = {"bot/tools/workspace/files.py": "NotTakenOver"}
# Only programs are told these: a proxy's, a monitor's, and what is no sentence of ours.
UNTRANSLATED = ("there is only {} here", "send GET", "the name and port in the address must be")


_MODELS_OF_CONSOLE = (
    "bot/console/models.py",
    "bot/console/memory/models.py",
    "bot/console/administration/models.py",
    "bot/console/operations/models.py",
    "bot/console/operations/replays.py",
    "bot/console/operations/views.py",
)


def texts(path: Path, *names: str) -> Iterator[str]:
    """Every text that a module writes into an error of these names, with `{}` for what differs."""
    for call in ast.walk(ast.parse(path.read_text())):
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in names:
            match call.args[2:3] if "HttpRefusal" in names else call.args[0:1]:
                case [ast.Constant(value=str(text))]:
                    yield text
                case [ast.JoinedStr(values=values)]:
                    yield "".join(
                        str(one.value) if isinstance(one, ast.Constant) else "{}" for one in values
                    )


def sentences() -> Iterator[tuple[str, str]]:
    """Every text of a refusal, and its module."""
    for path in (path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.py"))):
        for text in texts(path, "HttpRefusal", "error_response"):
            yield path.name, text
    for name, error in PASSED_ON.items():
        for text in texts(ROOT / name, error):
            yield name, text


def test_every_sentence_has_one_in_chinese() -> None:
    found = list(sentences())
    assert len(found) > 60
    assert [
        one for one in found if one[1] not in CHINESE and not one[1].startswith(UNTRANSLATED)
    ] == []
    assert [
        english
        for english, chinese in CHINESE.items()
        if english.count("{}") != chinese.count("{}")
    ] == []


def test_every_sentence_of_the_models_has_one_in_chinese() -> None:
    general = [
        re.sub(r"\{\w+\}", "{}", text)
        for text in (*SENTENCES.values(), OTHER_SENTENCE)
        if text != "{error}"
    ]
    names = ("channels/web/validation.py", "channels/web/models.py", *_MODELS_OF_CONSOLE)
    own = [text for name in names for text in texts(ROOT / name, "ValueError")]
    assert len(own) >= 8
    assert [text for text in (*general, *own) if text not in CHINESE] == []


def test_what_differs_is_put_into_the_chinese_sentence() -> None:
    assert to_chinese("q may have 200 characters") == "q 最多 200 个字符"
    assert (
        to_chinese("the files have 7 bytes; 5 fit into one message")
        == "文件共 7 字节，一条消息最多 5 字节"
    )
    assert to_chinese("something nobody knows") == "something nobody knows"


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
