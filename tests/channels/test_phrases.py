"""Phrases: templates with fields, shown in English or Chinese."""

import subprocess
import sys
from pathlib import Path

import pytest

from channels import phrases
from channels.phrases import Phrase, join_phrases

CHINESE = """
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\n"

msgid "open {{{name}}}"
msgstr "打开 {{{name}}}"

msgid "one file in {place}"
msgid_plural "{count} files in {place}"
msgstr[0] "{place}里有 {count} 个文件"

msgctxt "of a day"
msgid "open"
msgstr "开放"

msgid "open"
msgstr "打开"

msgid ", "
msgstr "、"

msgid "the folder"
msgstr "文件夹"
"""


@pytest.fixture(autouse=True)
def _catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "zh.po"
    path.write_text(CHINESE, encoding="utf-8")
    monkeypatch.setattr(phrases, "_chinese_files", [path])


def test_fields_stand_in_either_language() -> None:
    phrase = Phrase("open {{{name}}}", name="{x}")
    assert (phrase.text("en"), phrase.text("zh"), str(phrase)) == (
        "open {{x}}",
        "打开 {{x}}",
        "open {{x}}",
    )


@pytest.mark.parametrize(
    ("count", "english", "chinese"),
    [
        (0, "0 files in the folder", "文件夹里有 0 个文件"),
        (1, "one file in the folder", "文件夹里有 1 个文件"),
        (2, "2 files in the folder", "文件夹里有 2 个文件"),
    ],
)
def test_a_plural_and_a_phrase_inside_another(count: int, english: str, chinese: str) -> None:
    phrase = Phrase("one file in {place}", "{count} files in {place}", count=count)
    filled = phrase.fill(place=Phrase("the folder"))
    assert (filled.text("en"), filled.text("zh")) == (english, chinese)


def test_a_context_tells_two_meanings_apart() -> None:
    assert Phrase("open").text("zh") == "打开"
    assert Phrase("open", context="of a day").text("zh") == "开放"


def test_a_list_has_the_separator_of_the_language() -> None:
    listed = join_phrases((Phrase("the folder"), "notes.txt"), Phrase(", "))
    assert (listed.text("en"), listed.text("zh")) == ("the folder, notes.txt", "文件夹、notes.txt")


def test_what_has_no_translation_is_shown_in_english() -> None:
    assert Phrase("something {new}", new=1).text("zh") == "something 1"


def test_another_distribution_brings_its_own_file(tmp_path: Path) -> None:
    path = tmp_path / "other.po"
    path.write_text('msgid "a bell"\nmsgstr "铃"\n', encoding="utf-8")
    phrases.add_chinese_file(path)
    assert Phrase("a bell").text("zh") == "铃"
    assert Phrase("open").text("zh") == "打开"


def test_equal_phrases_are_equal_and_hash_alike() -> None:
    assert {Phrase("open {x}", x=1), Phrase("open {x}", x=1)} == {Phrase("open {x}").fill(x=1)}


def test_english_reads_no_file() -> None:
    program = (
        "import sys; from channels import phrases; phrases._chinese_files[:] = ['/none'];"
        "assert phrases.Phrase('open {x}', x=1).text('en') == 'open 1'"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
