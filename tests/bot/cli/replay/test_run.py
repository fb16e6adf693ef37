"""`mnema replay` and `mnema sessions import` on the command line."""

import json
import sqlite3
import subprocess
import sys
import xml.etree.ElementTree as Tree
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.cli.main import main
from memory.context.policies.policies import POLICIES
from tests.bot.cli.replay.making import bot, file_of, talk, used, user
from tests.bot.cli.replay.test_recording import PIXEL


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


def mnema(home: Path, *words: str) -> int:
    return main(["--home", str(home), *words])


@contextmanager
def held(home: Path) -> Iterator[None]:
    """Hold the home from another process, like a running bot."""
    code = (
        "import sys; from pathlib import Path; from bot.config.home import HomeFolder\n"
        "with HomeFolder(root=Path(sys.argv[1])).lock(): print('held', flush=True); "
        "sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(home)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        yield
        other.communicate()


def exported(home: Path, name: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert mnema(home, "sessions", "export", name) == 0
    _, *messages = map(json.loads, capsys.readouterr().out.splitlines())
    for message in messages:
        del message["id"]
    return messages


def test_a_file_is_replayed_through_all_policies_and_drawn(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, picture = file_of(tmp_path, talk(6, tools=1)), tmp_path / "p.svg"
    assert mnema(home, "replay", str(file), "--budget", "4000", "--plot", str(picture)) == 0
    shown = capsys.readouterr().out
    assert [name for name in POLICIES if name in shown.splitlines()[3]] == list(POLICIES)
    assert "talk: 6 turns, 24 messages" in shown
    assert (
        "Limits: 4,000 tokens, 20 turns. Prices of claude-sonnet-5-5, summaries by "
        "claude-haiku-5-5." in shown
    )
    assert "No model was asked" in shown
    assert "have no times of their own" in shown
    assert Tree.parse(picture).getroot().tag.endswith("svg")
    assert not home.exists(), "nothing is made where there was nothing"


def test_options_and_configuration_hold(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home.mkdir()
    (home / "config.json").write_text(
        '{"agent_max_context_turns": 7, "llm": {"model": "my-own"}, "policies": {"turns": '
        '{"summary_tokens": 200}}}'
    )
    file = file_of(tmp_path, talk(12))
    assert mnema(home, "replay", str(file), "--policy", "turns", "--probes", "0", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["limits"]["turns"] == 7
    assert told["policies"][0]["cost"] is None
    assert any("There is no price for my-own" in note for note in told["notes"])
    assert told["probes"] == []
    assert 0 < max(one["parts"]["summary"] for one in told["policies"][0]["series"]) < 300
    words = [
        "--policy",
        "turns,turns",
        "--turns",
        "4",
        "--late",
        "2",
        "--model",
        "gpt-6.1-terra",
        "--json",
    ]
    assert mnema(home, "replay", str(file), *words) == 0
    other = json.loads(capsys.readouterr().out)
    assert (other["model"], other["fast_model"], other["late"]) == (
        "gpt-6.1-terra",
        "gpt-6-luna",
        2,
    )
    assert [held["name"] for held in other["policies"]] == ["turns"]
    first, second = (held["policies"][0]["fold_list"][0]["request"] for held in (told, other))
    assert (first, second) == (7, 6), "after 7 turns; after 4, two requests later"
    assert other["policies"][0]["cost"] > 0


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--policy", "nope"], 2, "--policy names 'nope'; it may name: balanced, turns, budget"),
        (["--model", "nope"], 2, "--model is 'nope'; there are prices for: claude-fable-5-1"),
        (
            ["--plot", "x.png"],
            2,
            "--plot is 'x.png'; the drawing is SVG, so its name must end in .svg",
        ),
        (["--budget", "100"], 3, "agent_max_context_tokens must be at least"),
    ],
)
def test_wrong_words_are_told(
    home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    code: int,
    told: str,
) -> None:
    assert mnema(home, "replay", str(file_of(tmp_path, talk(1))), *words) == code
    assert told in capsys.readouterr().err


def test_what_is_neither_file_nor_conversation_is_told(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mnema(home, "replay", "nowhere") == 1
    assert capsys.readouterr().err.startswith(
        "mnema: There is no file nowhere, and no database in "
    )


def test_a_conversation_is_replayed_beside_a_running_bot_and_nothing_changes(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mnema(home, "sessions", "import", str(file_of(tmp_path, talk(6, tools=1)))) == 0
    before = (home / "data" / "mnema.db").read_bytes()
    with held(home):
        capsys.readouterr()
        assert mnema(home, "replay", "talk", "--policy", "turns,balanced", "--json") == 0
        told = json.loads(capsys.readouterr().out)
        assert mnema(home, "replay", "nobody") == 1
        assert "No conversation is called nobody" in capsys.readouterr().err
    assert told["recording"]["turns"] == 6
    assert told["recording"]["own_times"]
    assert told["fixed_tokens"] > 300, "the rules and the tools of this home"
    assert [held["over_budget"] for held in told["policies"]] == [0, 0]
    assert (home / "data" / "mnema.db").read_bytes() == before


def test_what_was_cleared_can_be_left_out(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mnema(home, "sessions", "import", str(file_of(tmp_path, talk(6)))) == 0
    with sqlite3.connect(home / "data" / "mnema.db") as db:
        db.execute("UPDATE conversation SET view_from = 9, epoch = 2")
    for words, turns in (([], 6), (["--since-clear"], 2)):
        capsys.readouterr()
        assert mnema(home, "replay", "talk", "--policy", "turns", "--json", *words) == 0
        assert json.loads(capsys.readouterr().out)["recording"]["turns"] == turns


def test_what_is_imported_is_listed_shown_sound_and_the_same_when_exported_again(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = [
        user("Look at a.txt, 请。", "2026-11-20T06:00:00Z"),
        *used("c1", "forty lines"),
        bot("It has forty lines."),
    ]
    said += [user("And now?"), bot("Nothing.")]
    assert mnema(home, "sessions", "import", str(file_of(tmp_path, said))) == 0
    assert capsys.readouterr().out == (
        "Imported 2 turns (6 messages); mnema chat --conversation talk continues it.\n"
    )
    first = exported(home, "talk", capsys)
    assert [message["role"] for message in first] == ["user", "assistant"] * 3
    assert first[0]["at"] == "2026-11-20T06:00:00+00:00"
    assert [(message["seq"], message["turn"]) for message in first] == [
        (1, 1),
        (2, 1),
        (3, 1),
        (4, 1),
        (5, 2),
        (6, 2),
    ]
    assert first[2]["parts"] == [
        {"kind": "ToolResult", "call_id": "c1", "text": "forty lines", "is_error": False}
    ]
    out = tmp_path / "e.jsonl"
    assert mnema(home, "sessions", "export", "talk", "--out", str(out)) == 0
    assert mnema(home, "sessions", "import", str(out), "--conversation", "again") == 0
    assert exported(home, "again", capsys) == first
    assert mnema(home, "sessions", "show", "again") == 0
    assert [line.partition("] ")[2] for line in capsys.readouterr().out.splitlines()] == [
        "user: Look at a.txt, 请。",
        "assistant: It has forty lines.",
        "user: And now?",
        "assistant: Nothing.",
    ]
    assert mnema(home, "doctor", "--json") == 0
    checks = {check["name"]: check["ok"] for check in json.loads(capsys.readouterr().out)["checks"]}
    assert checks["database"]
    assert checks.get("ledger", True)


def test_an_import_overwrites_nothing_and_waits_for_no_running_bot(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(file_of(tmp_path, talk(1)))
    assert mnema(home, "sessions", "import", file) == 0
    first = exported(home, "talk", capsys)
    assert mnema(home, "sessions", "import", file) == 1
    assert "There is a conversation called talk already; --conversation" in capsys.readouterr().err
    assert exported(home, "talk", capsys) == first
    with held(home):
        assert mnema(home, "sessions", "import", file, "--conversation", "other") == 1
        assert "is running on" in capsys.readouterr().err
    assert mnema(home, "sessions", "import", file, "--conversation", "a b") == 2
    assert "--conversation is 'a b'" in capsys.readouterr().err
    assert mnema(home, "sessions", "import", str(tmp_path / "none.json")) == 1
    assert "No such file" in capsys.readouterr().err


def test_messages_without_times_end_now_and_files_are_kept_as_if_sent(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
    }
    text = {
        "type": "document",
        "title": "notes.txt",
        "source": {"type": "text", "data": "the code is 4417"},
    }
    said = [
        {"role": "user", "content": [picture, text, {"type": "text", "text": "see"}]},
        bot("seen"),
    ]
    assert mnema(home, "sessions", "import", str(file_of(tmp_path, said))) == 0
    first, last = exported(home, "talk", capsys)
    refused, kept, words = first["parts"]
    assert refused["kind"] == "Text", "those bytes are no picture"
    assert (kept["kind"], kept["name"], kept["text"]) == (
        "Document",
        "notes.txt",
        "the code is 4417",
    )
    assert words["text"] == "see"
    assert (home / "data" / "blobs" / kept["sha256"]).read_bytes() == b"the code is 4417"
    with sqlite3.connect(home / "data" / "mnema.db") as db:
        (spread,) = db.execute(
            "SELECT updated - MAX(message.at) FROM conversation, message"
        ).fetchone()
        unsent = db.execute("SELECT COUNT(*) FROM outbox WHERE state <> 'sent'").fetchone()
        uncounted = db.execute("SELECT COUNT(*) FROM message WHERE tokens = 0").fetchone()
    assert 0 <= spread < 60
    assert (unsent, uncounted) == ((0,), (0,))
    assert last["at"] > first["at"]


def test_an_import_tells_what_it_leaves_behind(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = {
        "type": "document",
        "title": "notes.txt",
        "source": {"type": "text", "data": "the code is 4417"},
    }
    said = [{"role": "user", "content": [text, {"type": "text", "text": "see"}]}, bot("seen")]
    whole = {
        "system": "Be kind.",
        "tools": [{"name": "look"}],
        "probes": [{"after": 1, "question": "q", "answer": "a"}],
        "messages": said,
    }
    assert mnema(home, "sessions", "import", str(file_of(tmp_path, whole))) == 0
    told = capsys.readouterr().err
    for name in ("system text", "tools", "probes"):
        assert f"mnema: its {name} did not come along" in told
    assert "whose bytes" not in told
    out = tmp_path / "e.jsonl"
    assert mnema(home, "sessions", "export", "talk", "--out", str(out)) == 0
    assert mnema(home, "sessions", "import", str(out), "--conversation", "same") == 0
    assert capsys.readouterr().err == "", "the same home has the bytes"
    other = tmp_path / "other"
    assert mnema(other, "sessions", "import", str(out)) == 0
    assert capsys.readouterr().err == (
        "mnema: attached files whose bytes are not in this home: 1; text read out of them is "
        "kept.\n"
    )
    assert exported(other, "e", capsys)[0]["parts"][0]["text"] == "the code is 4417"


def test_a_name_may_be_of_any_letters(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        mnema(home, "sessions", "import", str(file_of(tmp_path, talk(1), "聊天记录 (二).json")))
        == 0
    )
    assert "mnema chat --conversation 聊天记录-二 continues it" in capsys.readouterr().out
    assert mnema(home, "sessions", "show", "聊天记录-二") == 0
