"""What `mnema extras`, `mnema upgrade`, `mnema login` and a start say, in English and Chinese."""

from pathlib import Path

import pytest

from bot.cli.main import main
from bot.cli.program.installation import upgrade_steps
from bot.cli.program.login import link_note
from bot.config.extras import EXTRAS, Installer, present_extras
from tests.conventions.sources import ROOT


@pytest.fixture(params=["en_GB.UTF-8", "zh_CN.UTF-8"])
def is_chinese(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the machine's language is Chinese."""
    monkeypatch.setenv("LC_ALL", request.param)
    return str(request.param).startswith("zh")


def test_extras_are_listed_with_what_their_marks_mean(
    is_chinese: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["extras"]) == 0
    *lines, marks = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == list(EXTRAS)
    here = present_extras()
    assert {line.split()[1] for line in lines if line[0] in "+~"} == set(here)
    assert ("已安装" in marks) is is_chinese
    assert ("is installed" in marks) is not is_chinese


def test_an_extra_that_is_there_or_unknown_is_said(
    is_chinese: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    here = present_extras()
    if here:  # the development environment is installed from the same locks
        assert main(["extras", "add", here[0]]) == 0
        assert ("已经安装" if is_chinese else "already installed") in capsys.readouterr().out
    assert main(["extras", "add", "vector"]) == 2
    assert ("没有附加组件" if is_chinese else "There is no extra") in capsys.readouterr().err


def test_an_upgrade_and_a_login_without_a_bot_say_what_to_do(
    is_chinese: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--home", str(tmp_path), "upgrade"]) == 0
    assert ("升级：" if is_chinese else "To upgrade:") in capsys.readouterr().out
    assert main(["--home", str(tmp_path), "login"]) == 1
    assert ("先运行 mnema run" if is_chinese else "start mnema run") in capsys.readouterr().err


def test_a_link_says_what_it_is_good_for_in_the_configured_language() -> None:
    assert "10 分钟" in link_note("zh")
    assert "within 10 minutes" in link_note("en")


def test_an_upgrade_brings_extras_to_the_new_versions() -> None:
    checkout = upgrade_steps(Installer.CHECKOUT, ["web", "mcp"])
    assert checkout[0].endswith("setup.sh")
    assert checkout[1:] == [f"make -C {ROOT} extras NAME={name}" for name in ("web", "mcp")]
    for installer in (Installer.PIPX, Installer.PIP, Installer.UV):
        assert upgrade_steps(installer, ["web", "mcp"])[1:] == ["mnema extras add web mcp"]
        assert len(upgrade_steps(installer, [])) == 1
    [image] = upgrade_steps(Installer.CONTAINER, ["web", "mcp"])
    assert '--build-arg EXTRAS="web mcp"' in image
