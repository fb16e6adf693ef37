"""`mnema memory` on a home without a running bot, and with one."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.cli.main import main
from bot.config.home import HomeFolder
from tests.walk import nest

MINE = (
    "# 记忆\n\n## 事实 · Facts\n\n- 我家的猫叫年糕，2021年5月3日出生\n- My bike is blue\n  and has "
    "a basket\n"
)
DAY = "# 2026-11-20\n\n- 10:15 Nora: The vet said the kitten must not eat cheese.\n"
THEIRS = "# Memory\n\n- the canary sings at midnight\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    folder = tmp_path / "home"
    (folder / "workspace" / "memory").mkdir(parents=True)
    (folder / "workspace" / "spaces" / "telegram-42").mkdir(parents=True)
    (folder / "workspace" / "MEMORY.md").write_text(MINE)
    (folder / "workspace" / "memory" / "2026-11-20.md").write_text(DAY)
    (folder / "workspace" / "spaces" / "telegram-42" / "MEMORY.md").write_text(THEIRS)
    (folder / "config.json").write_text(
        '{"llm": {"provider": "offline"}, "channels": {"web": {"port": 0}}}'
    )
    return folder


@pytest.fixture
def running(home: Path) -> Iterator[Path]:
    """The same home with a running bot."""
    with nest.running(home):
        yield home


def mnema(home: Path, *words: str) -> int:
    return main(["--home", str(home), "memory", *words])


def found(home: Path, capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert mnema(home, "search", *words, "--json") == 0
    results: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["results"]
    return results


@pytest.fixture
def api(running: Path) -> Iterator[httpx.Client]:
    """The running bot's API."""
    token = (running / "data" / "web_token").read_text().strip()
    headers = {"authorization": f"Bearer {token}"}
    with httpx.Client(
        base_url=HomeFolder(root=running).address(), headers=headers, timeout=30
    ) as client:
        yield client


def everything(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Search with text and JSON output; returns the results."""
    capsys.readouterr()
    assert mnema(home, "search", "猫叫什么？") == 0
    assert capsys.readouterr().out == "1. 我家的猫叫年糕，2021年5月3日出生\n   — MEMORY.md:5\n"
    [bike] = found(home, capsys, "Which colour has my bike?", "--limit", "1")
    assert (bike["path"], bike["line"], bike["lines"]) == ("MEMORY.md", 6, [6, 7])
    assert (bike["kind"], bike["source"]) == ("memory", "MEMORY.md:6–7")
    assert 0 < bike["score"] <= 1
    [kitten] = found(home, capsys, "kitten cheese")
    assert kitten["text"] == "[2026-11-20 10:15] Nora: The vet said the kitten must not eat cheese."
    assert (kitten["path"], kitten["date"]) == ("memory/2026-11-20.md", "2026-11-20")
    assert found(home, capsys, "canary midnight") == []
    assert found(home, capsys, "canary midnight", "--space", "nobody") == []
    [canary] = found(home, capsys, "canary midnight", "--space", "telegram-42")
    assert canary["path"] == "spaces/telegram-42/MEMORY.md"
    assert mnema(home, "search", "xylophone") == 0
    assert capsys.readouterr().out == "Nothing found.\n"


def test_what_is_written_down_is_found_where_no_bot_has_run_yet(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    everything(home, capsys)


def test_a_running_bot_is_asked_and_notes_who_looked_into_anothers_memory(
    running: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    everything(running, capsys)
    with closing(sqlite3.connect(running / "data" / "mnema.db")) as base:
        acts = base.execute(
            "SELECT actor, subject FROM audit WHERE action = 'memory.read.other'"
        ).fetchall()
    assert acts == [("web", "telegram-42")]


def test_an_edit_is_found_at_once(running: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert found(running, capsys, "西藏") == []
    (running / "workspace" / "MEMORY.md").write_text("- 明年想去西藏\n")
    assert [one["line"] for one in found(running, capsys, "西藏")] == [1]
    assert found(running, capsys, "bike") == []


def test_the_index_is_made_anew_from_the_files(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found(home, capsys, "猫")
    for path in HomeFolder(root=home).index.glob("*.db"):
        path.write_bytes(b"no index at all" * 1_000)
    assert mnema(home, "index") == 0
    assert capsys.readouterr().out == "the owner: 3 rows\ntelegram-42: 1 row\n"
    assert mnema(home, "index", "--space", "telegram-42") == 0
    assert capsys.readouterr().out == "telegram-42: 1 row\n"
    assert [one["line"] for one in found(home, capsys, "猫叫什么")] == [5]


def test_a_running_bot_makes_its_index_anew(
    running: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mnema(running, "index") == 0
    assert capsys.readouterr().out == "the owner: 3 rows\ntelegram-42: 1 row\n"
    assert mnema(running, "index", "--space", "nobody") == 1
    assert (
        capsys.readouterr().err
        == "mnema: There is no space called nobody; mnema memory files lists them.\n"
    )


def test_a_home_held_without_a_page_is_searched_and_its_index_is_left_alone(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found(home, capsys, "猫")
    code = (
        "import sys; from pathlib import Path; from bot.config.home import HomeFolder\n"
        "with HomeFolder(root=Path(sys.argv[1])).lock(): print('held', flush=True); "
        "sys.stdin.read()"
    )
    held = [sys.executable, "-c", code, str(home)]
    with subprocess.Popen(held, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert [one["line"] for one in found(home, capsys, "猫叫什么")] == [5]
        assert mnema(home, "index") == 1
        assert "is running on" in capsys.readouterr().err
        other.communicate()


def test_a_wrong_token_is_one_sentence(running: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (running / "data" / "web_token").write_text("wrong")
    assert mnema(running, "search", "bike") == 1
    assert (
        capsys.readouterr().err == "mnema: The running bot could not do it: the token is wrong.\n"
    )


def test_files_of_everybody_are_listed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert mnema(home, "files", "--json") == 0
    files = json.loads(capsys.readouterr().out)["files"]
    paths = [file["path"] for file in files]
    assert paths == ["MEMORY.md", "memory/2026-11-20.md", "spaces/telegram-42/MEMORY.md"]
    assert files[0]["size"] == len(MINE.encode())
    assert mnema(home, "files") == 0
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()] == paths


def test_a_home_that_is_not_there_has_no_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mnema(tmp_path / "nowhere", "files") == 0
    assert capsys.readouterr().out == "There are no memory files yet.\n"
    assert not (tmp_path / "nowhere").exists()


def test_text_that_steers_a_terminal_is_printed_harmless(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "workspace" / "MEMORY.md").write_text("- zebra \x1b[2J\x1b]0;gone\x07 \u202eback\n")
    assert mnema(home, "search", "zebra") == 0
    out = capsys.readouterr().out
    assert out.startswith("1. zebra ")
    assert not {"\x1b", "\x07", "\u202e"} & set(out)


@pytest.mark.parametrize(
    "words", [["search"], ["search", " "], ["search", "x", "--limit", "0"], ["nope"]]
)
def test_wrong_use_is_2(home: Path, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert mnema(home, *words) == 2
    assert capsys.readouterr().out == ""


def test_a_saved_file_is_found_at_once_and_its_lines_keep_what_is_known(
    running: Path, api: httpx.Client
) -> None:
    def ids() -> dict[str, str]:
        with closing(sqlite3.connect(running / "data" / "mnema.db")) as base:
            return dict(
                base.execute("SELECT text, id FROM memory WHERE space = '' AND state = 'live'")
            )

    def save(text: str) -> None:
        tag = api.get("/api/memory/files/MEMORY.md").headers["etag"]
        assert api.put(
            "/api/memory/files/MEMORY.md", content=text.encode(), headers={"if-match": tag}
        ).is_success

    save(MINE + "- 妹妹住在杭州\n")
    before = ids()
    save(MINE.replace("My bike is blue", "My new bike is blue") + "- 妹妹住在杭州\n")
    after = ids()
    assert after["妹妹住在杭州"] == before["妹妹住在杭州"]
    assert set(after) ^ set(before)
    [found] = api.get("/api/memory/search", params={"q": "妹妹住在哪里", "limit": 1}).json()[
        "results"
    ]
    assert (found["path"], found["text"]) == ("MEMORY.md", "妹妹住在杭州")


def test_what_was_said_is_found_under_the_name_that_its_conversation_has_in_the_api(
    api: httpx.Client,
) -> None:
    told = {"conversation": "birds", "text": "My canary is called Kiwi.", "key": "1"}
    assert api.post("/api/messages", json=told).status_code == 202
    with api.stream("GET", "/api/conversations/birds/events") as events:
        assert any(line == "event: reply" for line in events.iter_lines())
    [found] = api.get("/api/memory/search", params={"q": "Kiwi", "limit": 1}).json()["results"]
    assert (found["kind"], found["turn"], found["conversation"]) == ("said", 1, "birds")
    assert api.get(f"/api/conversations/{found['conversation']}/messages").status_code == 200


def label(home: Path, *paths: str) -> None:
    """Store that these came from outside, beside whatever runs."""
    with closing(sqlite3.connect(home / "data" / "mnema.db", timeout=30)) as database:
        rows = [("", path, 1.0, 0) for path in paths]
        database.executemany(
            "INSERT INTO file_label (space, path, at, content_only) VALUES (?, ?, ?, ?)", rows
        )
        database.commit()


def labels_and_acts(home: Path) -> tuple[list[str], list[tuple[str, str]]]:
    """The labelled paths, and by whom files were called the person's own with how many labels
    less.
    """
    with closing(sqlite3.connect(home / "data" / "mnema.db", timeout=30)) as database:
        paths = [path for (path,) in database.execute("SELECT path FROM file_label ORDER BY path")]
        acts = database.execute(
            "SELECT actor, result FROM audit WHERE action = 'files.taken over' ORDER BY seq"
        )
        return paths, list(acts)


@pytest.mark.parametrize("runs", [False, True])
def test_the_owner_says_that_a_file_is_theirs(
    home: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    runs: bool,
) -> None:
    (home / "workspace" / "files" / "sub").mkdir(parents=True)
    for name in ("notes.txt", "sub/a.txt", "sub_b.txt", "sub_c.txt"):
        (home / "workspace" / "files" / name).write_text("words")
    found(home, capsys, "cat")
    if runs:
        request.getfixturevalue("running")
    label(
        home,
        "files/notes.txt",
        "files/sub",
        "files/sub/a.txt",
        "files/sub_b.txt",
        "files/sub_c.txt",
    )
    assert mnema(home, "mine", "files/notes.txt") == 0
    assert "files/notes.txt is yours" in capsys.readouterr().out
    assert mnema(home, "mine", "files/sub/a.txt") == 1
    assert "is in files/sub, which counts as from outside" in capsys.readouterr().err
    assert mnema(home, "mine", "files/sub/") == 0
    assert mnema(home, "mine", "files/notes.txt") == 0
    assert "had no mark" in capsys.readouterr().out
    assert mnema(home, "mine", "files/none.txt") == 1
    assert mnema(home, "mine", "memory/2026-11-20.md") == 1
    assert "always count" in capsys.readouterr().err
    assert mnema(home, "mine", "./files/sub_c.txt") == 0
    assert mnema(home, "mine", "files/../memory/2026-11-20.md") == 1
    assert "is not a path inside the workspace" in capsys.readouterr().err
    assert mnema(home, "mine", "spaces/telegram-7/MEMORY.md") == 1
    assert "belongs to another person or a group" in capsys.readouterr().err
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert mnema(home, "mine", "./Spaces/telegram-7") == 1
    assert "属于别人或群" in capsys.readouterr().err
    by = "console" if runs else "command line"
    assert labels_and_acts(home) == (
        ["files/sub_b.txt"],
        [(by, "-1"), (by, "-2"), (by, "-1")],
    )
