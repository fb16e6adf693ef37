"""What `mnema doctor` says has a Chinese sentence, with everything that differs in its place."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.cli.doctor.channels import failed
from bot.cli.doctor.texts import SENTENCES, TITLES, title_of, to_language
from bot.cli.main import main

ROOT = Path(__file__).parents[3]
MODULES = ("report", "channels", "tools")
# Pieces of longer sentences, commands to type, and names: each whole sentence is in the table.
PIECES = ("nginx", ";", " ", "mnema mcp review", "its process", "it is at", "Public pages are opened", "No pages are opened", "there is no search")  # fmt: skip  # noqa: E501, RUF100


def sentences() -> Iterator[str]:
    """Yield every text with a full stop that is given to a check, with `{}` for what differs."""
    for name in MODULES:
        tree = ast.parse((ROOT / f"bot/cli/doctor/{name}.py").read_text("utf-8"))
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        inner = {
            id(part)
            for node in ast.walk(tree)
            if isinstance(node, ast.JoinedStr)
            for part in node.values
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                text = "".join(
                    str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values
                )
            elif (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and id(node) not in docstrings | inner
            ):
                text = node.value
            else:
                continue
            if " " in text and text.endswith(".") and not text.startswith(PIECES):
                yield text


def is_of(pattern: str, sentence: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("{}"))), sentence) is not None


def test_every_sentence_has_one_in_chinese() -> None:
    found = list(sentences())
    assert len(found) > 60
    # What differs may be a part of the sentence, such as a plural.
    missing = [
        text
        for text in found
        if not any(is_of(text, english) or is_of(english, text) for english in SENTENCES)
    ]
    assert missing == []
    for text in (
        "It has 1 byte.",
        "It has 2 bytes.",
        "It is sound: 1 row for 2 spaces.",
        "It has 2 faults; the first: x.",
    ):
        assert not to_language(failed("x", text), "zh").message.isascii()
    assert [
        text for text, chinese in SENTENCES.items() if text.count("{}") != chinese.count("{}")
    ] == []


def test_what_differs_stands_in_the_chinese_sentence_and_names_stay_for_programs() -> None:
    check = failed(
        "channel telegram",
        "It gave no answer in 10 seconds.",
        "Set channels.telegram.enabled to true to start it.",
    )
    chinese = to_language(check, "zh")
    assert (chinese.name, chinese.message) == (check.name, "10 秒内没有回应。")
    assert chinese.hint == "把 channels.telegram.enabled 设为 true 就会启动。"
    assert to_language(check, "en") is check
    assert title_of("channel telegram", "zh") == "渠道 telegram"
    assert (title_of("SOUL.md", "zh"), title_of("disk", "en")) == ("SOUL.md", "disk")
    assert title_of("llm.fallback[0]", "zh") == "llm.fallback[0]"


@pytest.mark.parametrize(
    ("settings", "locale", "chinese"),
    [
        ("zh", "C", True),
        ("auto", "zh_CN.UTF-8", True),
        ("en", "zh_CN", False),
        ("auto", "C", False),
    ],
)
def test_it_speaks_the_language_of_the_bot_or_of_the_terminal(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    settings: str,
    locale: str,
    chinese: bool,
) -> None:
    monkeypatch.setenv("LC_ALL", locale)
    (tmp_path / "config.json").write_text(
        json.dumps({"language": settings, "channels": {"web": {"enabled": False}}})
    )
    (tmp_path / "config.json").chmod(0o600)
    main(["--home", str(tmp_path), "doctor", "--json"])
    checks = json.loads(capsys.readouterr().out)["checks"]
    names = {check["name"] for check in checks}
    assert names >= {"configuration", "database", "disk", "clock"}
    english = [check for check in checks if check["message"].isascii()]
    assert not english if chinese else len(english) == len(checks)
    titles = {check["title"] for check in checks if check["name"] in TITLES}
    assert ("数据库" in titles) is chinese
