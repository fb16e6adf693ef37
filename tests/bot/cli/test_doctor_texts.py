"""What `mnema doctor` says, in either language."""

import json
from pathlib import Path

import pytest

from bot.cli.doctor.channels import failed
from bot.cli.doctor.texts import TITLES, show_checks, title_of
from bot.cli.main import main
from channels.phrases import Phrase


def test_what_differs_stands_in_the_chinese_sentence_and_names_stay_for_programs() -> None:
    check = failed(
        "channel telegram",
        Phrase("There was no answer within {timeout:g} seconds.", timeout=10.0),
        Phrase("Set channels.{name}.enabled to true to start it.", name="telegram"),
    )
    [english], [chinese] = show_checks([check], "en"), show_checks([check], "zh")
    assert (english.name, english.message) == (check.name, "There was no answer within 10 seconds.")
    assert (chinese.name, chinese.message) == (check.name, "10 秒内没有回应。")
    assert chinese.hint == "把 channels.telegram.enabled 设为 true 就会启动。"
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
