"""The log: lines that parse, without secrets or text of people; a failing log never stops the
program.
"""

import base64
import json
import logging
import stat
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.telemetry import log
from bot.telemetry.log import LogRedactor, LogSettings

# Literals, so that the product is not compared with itself.
HIDDEN = "[secret]"
# Loggers that nobody else has: clients of channels turn down those of their own libraries for the
# whole process.
A_LIBRARY, ANOTHER_LIBRARY = "library", "another_library.client"

SECRET = 'p@ss "wörd"/1\\2'
TOKEN = "123456789:AAHabcdefghijklmnopqrstuvwxyz012345"


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    yield tmp_path / "log" / "mnema.log"
    for handler in root.handlers[:]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)
    for handler in before:
        root.addHandler(handler)
    logging.captureWarnings(False)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_line_is_json_with_its_trace(path: Path) -> None:
    log.start_logging(path)
    with log.bind_trace("t-1", conversation="c1"):
        log.get_logger("bot.agent.turn").info("started", **log.describe_text("你好"))
    log.get_logger("bot.agent.turn").info("idle")
    first, second = lines(path)
    assert (first["event"], first["trace"], first["conversation"], first["level"]) == (
        "started",
        "t-1",
        "c1",
        "info",
    )
    assert first["chars"] == 2
    assert len(first["sha256"]) == 12
    assert "你好" not in path.read_text()
    assert "trace" not in second
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=6, max_size=30),
    st.binary(max_size=5),
)
def test_a_secret_is_found_in_every_form(secret: str, around: bytes) -> None:
    redact = LogRedactor([secret])
    longer = around + secret.encode() + around
    encoded = [base64.b64encode(longer).decode(), base64.urlsafe_b64encode(longer).decode()]
    for form in (secret, quote(secret, safe=""), json.dumps(secret)[1:-1], *encoded):
        assert HIDDEN in redact(f"x {form} y")


def test_secrets_are_taken_out_of_events_errors_and_other_libraries_lines(path: Path) -> None:
    redactor = log.start_logging(path, secrets=[SECRET])
    try:
        raise ValueError(f"bad {SECRET}")
    except ValueError:
        log.get_logger("bot.x").exception(
            "failed", url="https://user:pw123@host/x", header="Bearer abcdefgh"
        )
    logging.getLogger(A_LIBRARY).warning("GET https://h/bot%s/getMe?access_token=abc", TOKEN)
    warnings.warn(f"odd {SECRET}", stacklevel=1)
    redactor.learn([SECRET, "another-secret"])
    log.get_logger("bot.x").warning("another-secret", nested={"deep": ["another-secret"]})
    text = path.read_text()
    for secret in (
        SECRET,
        json.dumps(SECRET)[1:-1],
        "pw123",
        "abcdefgh",
        TOKEN,
        "abc ",
        "another-secret",
    ):
        assert secret not in text
    assert len(lines(path)) == 4


def test_a_replaced_secret_stays_hidden() -> None:
    redact = LogRedactor(["first-secret"])
    redact.learn(["second-secret"])
    assert redact("first-secret and second-secret") == f"{HIDDEN} and {HIDDEN}"


def test_sdks_are_heard_from_warnings_on(path: Path) -> None:
    log.start_logging(path, LogSettings(level="debug"))
    logging.getLogger(A_LIBRARY).info("quiet")
    logging.getLogger(ANOTHER_LIBRARY).warning("loud")
    log.get_logger("bot.x").debug("ours")
    assert [line["event"] for line in lines(path)] == ["loud", "ours"]


def test_no_line_can_pose_as_another(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    log.start_logging(path)
    log.get_logger("bot.x").warning("a\r\n{}\x1b[31m\u202eb\u2028c\x9b")
    assert len(path.read_text().splitlines()) == 1
    shown = path.read_text() + capfd.readouterr().err
    assert not set(shown) & set("\r\x1b\u202e\u2028\x9b")
    assert lines(path)[0]["event"] == "a\r\n{}\x1b[31m\u202eb\u2028c\x9b"


def test_people_see_warnings_only_and_without_dressing(
    path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log.start_logging(path)
    log.get_logger("bot.x").info("quiet")
    log.get_logger("bot.x").warning("the disk is nearly full", free_mb=12)
    assert capfd.readouterr().err == "warning: the disk is nearly full free_mb=12\n"
    log.start_logging(path, warn=False)
    log.get_logger("bot.x").warning("for the file only")
    assert capfd.readouterr().err == ""


def test_the_log_is_bounded(path: Path) -> None:
    log.start_logging(path, LogSettings(max_bytes=2_000, keep=2))
    for number in range(200):
        log.get_logger("bot.x").info("line", number=number)
    files = list(path.parent.iterdir())
    assert len(files) == 3
    assert all(
        file.stat().st_size <= 2_000 and stat.S_IMODE(file.stat().st_mode) == 0o600
        for file in files
    )
    assert lines(path)[-1]["number"] == 199


def test_a_log_that_cannot_be_written_stops_nobody(
    tmp_path: Path, path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "log").write_text("a file where the folder should be")
    log.start_logging(path, warn=False)
    for _ in range(3):
        log.get_logger("bot.x").info("lost")
    logging.getLogger("x").warning("%d", "not a number")
    assert capfd.readouterr().err.count("the log cannot be written") == 1


def test_values_that_are_no_json_are_written_anyway(path: Path) -> None:
    log.start_logging(path)
    log.get_logger("bot.x").info("odd", value=object(), blob=b"\x00", text="\ud800")
    assert lines(path)[0]["event"] == "odd"
