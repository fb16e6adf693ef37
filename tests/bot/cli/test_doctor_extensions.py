"""What doctor says of skills and plug-ins: how many are on, what changed, what is missing."""

from pathlib import Path

from bot.cli.doctor.texts import ShownCheck, show_checks
from bot.cli.doctor.tools import check_tools
from bot.config.home import HomeFolder
from bot.config.schema import Config
from tests.bot.tools.plugins.test_plugins_in_bot import WEATHER, enable
from tests.bot.tools.skills.test_skills import skill_folder
from tests.bot.tools.skills.test_skills_in_bot import enable as enable_skill


async def checked(home: Path, config: Config | None = None) -> dict[str, ShownCheck]:
    checks = await check_tools(config or Config(), {}, HomeFolder(root=home))
    return {check.name: check for check in show_checks(checks, "en")}


async def test_doctor_counts_skills_and_names_what_changed_or_is_invalid(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    assert "none" in (await checked(tmp_path))["skills"].message
    folder = skill_folder(tmp_path / "workspace" / "skills")
    enable_skill(tmp_path, folder, "tea")
    skill_folder(tmp_path / "workspace" / "skills", "coffee")
    assert "1 of 2 are on" in (await checked(tmp_path))["skills"].message
    (folder / "more.md").write_text("more")
    changed = (await checked(tmp_path))["skills"]
    assert changed.ok
    assert "tea" in changed.hint
    (folder / "SKILL.md").write_text("no head")
    assert not (await checked(tmp_path))["skills"].ok


async def test_doctor_says_which_secret_a_plugin_lacks(tmp_path: Path) -> None:
    assert "none" in (await checked(tmp_path))["plug-ins"].message
    enable(tmp_path, WEATHER)
    lacking = (await checked(tmp_path))["plug-ins"]
    assert not lacking.ok
    assert "lacks KEY" in lacking.message
    given = Config.model_validate({"plugins": {"weather": {"env": {"KEY": "k"}}}})
    assert "1 of 1 files are on" in (await checked(tmp_path, given))["plug-ins"].message
