"""The command line: what it prints, its exit codes, and its one-sentence errors."""

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bot.cli.main import main
from memory.conversation import Text
from memory.store.open import open_store
from memory.store.rows import NewInboxRow, NewMessage, NewOutboxRow, Place
from tests.bot.forked_command import forked_command
from tests.conventions.sources import ROOT
from tests.walk.harness import mnema as hatched

HEAVY = (
    "pydantic",
    "memory.store.store",
    "sqlalchemy",
    "anthropic",
    "telegram",
    "starlette",
    "structlog",
    "rich",
    "prompt_toolkit",
    "tiktoken",
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    return tmp_path / "home"


def mnema(home: Path, *words: str) -> int:
    return main(["--home", str(home), *words])


def test_help_imports_nothing_heavy() -> None:
    code = "import sys; from bot.cli.main import main; main(['--help'])"
    code += f"; print([m for m in {HEAVY!r} if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.endswith("[]\n")


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("mnema 0.")


@pytest.mark.parametrize(
    "words",
    [["nope"], ["chat", "--nope"], ["sessions"], ["config", "set", "x"], ["run", "--role", "x"]],
)
def test_wrong_use_is_2_and_said_on_stderr(
    home: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert mnema(home, *words) == 2
    assert capsys.readouterr().out == "" or words == ["sessions"]


def test_init_makes_a_home_and_keeps_what_is_there(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mnema(home, "init", "--yes") == 0
    assert stat.S_IMODE((home / "config.json").stat().st_mode) == 0o600
    assert (home / "workspace" / "SOUL.md").exists()
    assert mnema(home, "config", "set", "agent_max_steps", "7") == 0
    assert mnema(home, "init", "--yes") == 0
    capsys.readouterr()
    assert mnema(home, "config", "get", "agent_max_steps") == 0
    assert capsys.readouterr().out == "7\n"


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_language_set_before_the_first_start_is_that_of_the_persona(
    home: Path, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", {"zh": "C.UTF-8", "en": "zh_CN.UTF-8"}[language])
    assert mnema(home, "config", "set", "language", language) == 0
    assert mnema(home, "init", "--yes") == 0
    soul = (home / "workspace" / "SOUL.md").read_text("utf-8")
    assert ("我叫 mnema" in soul) is (language == "zh")


def test_a_setting_is_changed_shown_and_checked(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mnema(home, "config", "set", "llm.api_key", "sk-0123456789abcdef") == 0
    assert mnema(home, "config", "get", "llm.api_key") == 0
    assert mnema(home, "config", "get") == 0
    assert mnema(home, "config", "check") == 0
    shown = capsys.readouterr().out
    assert "sk-0…(19)" in shown
    assert "sk-0123456789abcdef" not in shown


def test_a_wrong_setting_is_3_and_one_sentence(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mnema(home, "config", "set", "agent_max_context_tokens", "-1") == 3
    said = capsys.readouterr().err
    assert said == (
        "mnema: agent_max_context_tokens is -1; it must be a whole number from 4000 to 10000000, "
        "such as 50000.\n"
    )
    (home / "config.json").write_text('{\n  "agent_max_steps": 0\n}')
    assert mnema(home, "config", "check") == 3
    assert capsys.readouterr().err.startswith(
        "mnema: config.json, line 2, column 22: agent_max_steps is 0;"
    )


def test_schema_and_example_are_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert mnema(home, "config", "schema") == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema["properties"]["agent_max_steps"]["maximum"] == 200
    assert mnema(home, "config", "example") == 0
    assert json.loads(capsys.readouterr().out)["channels"]["web"]["port"] == 8642


def test_without_a_database_there_are_no_sessions(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mnema(home, "sessions", "list") == 0
    assert mnema(home, "sessions", "show", "x") == 1
    assert capsys.readouterr().err.startswith("mnema: There is no database in")


def talked(home: Path) -> str:
    """Create a conversation of one turn in a fresh home; returns its id."""

    async def talk() -> str:
        store = await open_store(home / "data" / "mnema.db")
        place = Place(
            channel="web", account="local", chat_id="c1", thread_id="", kind="dm", space=""
        )
        body = json.dumps({"text": "hello there"})
        arrival = NewInboxRow(place=place, key="k1", kind="message", sender_id="me", body=body)
        (stored,) = await store.delivery.accept([arrival])
        draft = NewMessage(
            role="user", parts=(Text(text="hello there"),), tokens=2, counter="t", origin="person"
        )
        turn = await store.delivery.claim(stored.id, draft, "me")
        answer = NewMessage(
            role="assistant", parts=(Text(text="hi"),), tokens=1, counter="t", origin="model"
        )
        out = NewOutboxRow(kind="final", text="hi", part_no=0, parts=1)
        await store.delivery.finish(turn, state="done", final=answer, out=[out])
        await store.close()
        return stored.conversation

    assert mnema(home, "init", "--yes") == 0
    return asyncio.run(talk())


def test_a_conversation_is_listed_shown_exported_and_deleted(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    id = talked(home)
    capsys.readouterr()
    assert mnema(home, "sessions", "list", "--json") == 0
    assert [row["id"] for row in json.loads(capsys.readouterr().out)] == [id]
    assert mnema(home, "sessions", "show", "c1") == 0
    assert [line.partition("] ")[2] for line in capsys.readouterr().out.splitlines()] == [
        "user: hello there",
        "assistant: hi",
    ]
    assert mnema(home, "sessions", "export", id) == 0
    head, *messages = map(json.loads, capsys.readouterr().out.splitlines())
    assert head["session"]["chat_id"] == "c1"
    assert [(m["role"], m["parts"][0]["text"]) for m in messages] == [
        ("user", "hello there"),
        ("assistant", "hi"),
    ]
    assert mnema(home, "sessions", "delete", "c1", "--yes") == 0
    capsys.readouterr()
    assert mnema(home, "sessions", "list") == 0
    assert capsys.readouterr().out == "There are no conversations yet.\n"


def test_a_conversation_is_not_deleted_beside_a_running_instance(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    id = talked(home)
    code = (
        "import sys; from pathlib import Path; from bot.config.home import HomeFolder\n"
        "with HomeFolder(root=Path(sys.argv[1])).lock(): print('held', flush=True); "
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert mnema(home, "sessions", "show", id) == 0
        assert mnema(home, "sessions", "delete", id, "--yes") == 1
        assert "is running on" in capsys.readouterr().err
        other.communicate()


def test_migrate_says_what_it_did(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert mnema(home, "migrate") == 0
    talked(home)
    assert mnema(home, "migrate") == 0
    assert capsys.readouterr().out.endswith("has this version's schema.\n")


@pytest.mark.parametrize(
    "words", [["run"], ["chat", "--once", "hi"], ["sessions", "list"], ["migrate"]]
)
def test_a_variable_that_is_not_set_is_no_reason_to_begin_another_record(
    home: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    home.mkdir()
    (home / "config.json").write_text('{"database_url": "${NOT_SET}"}')
    assert mnema(home, *words) == 3
    assert (
        "database_url reads the environment variable NOT_SET, which is not set"
        in capsys.readouterr().err
    )
    assert not (home / "data" / "mnema.db").exists()


@pytest.mark.parametrize(
    "words",
    [
        *(
            ["sessions", "list"],
            ["memory", "search", "tea"],
            ["pair", "list"],
            ["people", "list"],
            ["audit", "list"],
        ),
        *(["migrate"], ["backup", "copy.tar.gz"], ["chat", "--once", "hi"]),
    ],
)
def test_where_the_record_is_in_postgresql_no_file_is_made_beside_it(
    home: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    mnema(home, "init", "--yes")
    assert (
        mnema(home, "config", "set", "database_url", "postgresql+psycopg://nobody@127.0.0.1:1/none")
        == 0
    )
    capsys.readouterr()
    assert mnema(home, *words) in (1, 3)
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert ("database_url" if "chat" in words else "the PostgreSQL server cannot be used") in err
    assert not (home / "data" / "mnema.db").exists()


def test_doctor_on_a_fresh_home_finds_nothing_wrong(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talked(home)
    capsys.readouterr()
    assert mnema(home, "doctor", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    names = {check["name"] for check in found["checks"]}
    assert {
        "configuration",
        "database",
        "ledger",
        "disk",
        "model",
        "counter",
        "clock",
        "web token",
        "instance",
    } <= names


def test_a_copy_of_the_example_starts_and_the_doctor_is_content(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home.mkdir()
    example = (ROOT / "config.example.json").read_text("utf-8")
    (home / "config.json").write_text(example.replace('"port": 8642', '"port": 0'))
    (home / "config.json").chmod(0o600)
    command = [sys.executable, "-m", "bot", "--home", str(home), "run"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as bot:
        assert bot.stdout is not None
        assert any(line.startswith("ready") for line in bot.stdout)
        bot.terminate()
        errors = bot.communicate()[1]
    assert bot.returncode == 0
    assert "does not start" not in errors
    assert mnema(home, "doctor", "--json") == 0
    checks = json.loads(capsys.readouterr().out)["checks"]
    assert [check["name"] for check in checks if check["hint"]] == [
        "model",
        "embedding",
    ]
    assert [check["name"] for check in checks if check["name"].startswith("channel ")] == [
        "channel web"
    ]


@pytest.mark.parametrize("command", ["run", "chat"])
def test_a_home_whose_secrets_a_group_may_read_does_not_start(
    home: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert mnema(home, "config", "set", "channels.telegram.token", "123456:abcdefghijklmnop") == 0
    (home / "config.json").chmod(0o640)
    assert mnema(home, command, *(["--once", "hi"] if command == "chat" else [])) == 3
    err = capsys.readouterr().err
    assert "mode 0640" in err
    assert f"chmod 600 {home / 'config.json'}" in err
    assert not (home / "data" / "mnema.db").exists()


async def test_a_home_whose_token_a_group_may_read_does_not_start(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "data").mkdir(parents=True)
    token = home / "data" / "web_token"
    token.write_text("M2fTO2w7Pv6mLPdmUSsS-ndFVpF7cJMTSTK\n")
    token.chmod(0o640)
    assert mnema(home, "config", "set", "channels.web.port", "0") == 0
    code, _, err = await hatched(home, "run")
    assert code == 1
    assert "mode 0640; others can read it: run chmod 600 on it" in err
    capsys.readouterr()
    assert await asyncio.to_thread(mnema, home, "doctor") == 1
    assert "FAIL web token: Other users can read it (mode 0640)." in capsys.readouterr().out


def test_doctor_names_what_is_wrong(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    talked(home)
    (home / "config.json").write_text('{"channels": {"telegram": {"token": "${NOPE}"}}}')
    (home / "data" / "mnema.db").write_bytes(b"no database at all" * 100)
    (home / "data" / "web_token").write_text("x")
    (home / "data" / "web_token").chmod(0o644)
    (home / "workspace" / "SOUL.md").write_text("word " * 4000)
    capsys.readouterr()
    assert mnema(home, "doctor") == 1
    shown = capsys.readouterr().out
    assert "FAIL database:" in shown
    assert "FAIL channel telegram: It is configured but does not start: token is empty." in shown
    assert "FAIL web token: Other users can read it (mode 0644)." in shown
    assert "It is longer than 3000 tokens" in shown


def test_doctor_names_the_variable_of_a_key_that_is_not_set(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mnema(home, "init", "--yes")
    home.joinpath("config.json").write_text('{"llm": {"api_key": "${MY_OWN_KEY}"}}')
    capsys.readouterr()
    assert mnema(home, "doctor", "--language", "en") == 1
    assert (
        "FAIL model: The offline model answers: llm.api_key reads the environment variable "
        "MY_OWN_KEY" in (capsys.readouterr().out)
    )


def test_a_closed_pipe_is_no_error(home: Path) -> None:
    run = f"{sys.executable} -m bot --home {home} config schema | head -n 1"
    piped = subprocess.run(["bash", "-o", "pipefail", "-c", run], capture_output=True, text=True)
    assert (piped.returncode, piped.stderr) == (0, "")


async def test_ctrl_c_is_130_and_quiet(home: Path) -> None:
    known = {**os.environ, "LC_ALL": "en_US.UTF-8"}
    async with forked_command("--home", str(home), "init", environment=known) as command:
        shown = await command.read()
        assert shown.startswith("Where")
        command.send_signal(signal.SIGINT)
        while piece := await command.read():
            shown += piece
        assert await command.end() == 130
    assert "Traceback" not in shown


@pytest.mark.kill
@pytest.mark.parametrize(
    ("language", "question"), [("C", "Create one?"), ("zh_CN.UTF-8", "要新建一个吗")]
)
async def test_a_home_that_was_typed_wrong_is_not_made_without_a_yes(
    home: Path, language: str, question: str
) -> None:
    known = {**os.environ, "LC_ALL": language}
    async with forked_command(
        "--home", str(home), "chat", environment=known, has_terminal=True
    ) as command:
        command.write("n\n")
        shown = ""
        while piece := await command.read():
            shown += piece
        assert await command.end() != 0
    assert question in shown
    assert not home.exists()


def test_a_traceback_is_shown_only_when_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").write_text("a file where a folder should be")
    assert mnema(tmp_path, "init", "--yes") == 1
    assert capsys.readouterr().err == f"mnema: {tmp_path}/data: File exists.\n"
    assert main(["--debug", "--home", str(tmp_path), "init", "--yes"]) == 1
    assert "Traceback" in capsys.readouterr().err
