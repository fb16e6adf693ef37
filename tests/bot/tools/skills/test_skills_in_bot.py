"""Skills in a running bot: their scripts, people's own ones, the command, and archives from the
web.
"""

import asyncio
import io
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from bot.cli.connections.skills import app
from bot.config.home import HomeFolder
from bot.models.base import Request
from bot.tools.registry import MAX_CACHED_TOOLSETS
from bot.tools.skills.library import EnabledSkill, SkillLibrary, SkillState, hash_files
from bot.tools.skills.review import read_folder
from channels.testing import ScriptedChannel
from memory.conversation import Text, ToolCall
from memory.workspace.files import Workspace
from tests.bot.inside import TERMINAL, inside
from tests.bot.talk import call, results
from tests.bot.tools.exec.sandboxed import needs_sandbox
from tests.bot.tools.exec.test_exec_in_bot import ON, approve, ask, owned, why
from tests.bot.tools.skills.test_skills import HEAD, change_unseen, skill_folder
from tests.emulators.pages import serving

READ = ToolCall(id="t0", name="skill", input='{"name": "tea"}')


def mnema(home: Path, *words: str, typed: str = "") -> Result:
    return CliRunner().invoke(
        app, list(words), input=typed, obj=HomeFolder(root=home), standalone_mode=False
    )


def enable(home: Path, folder: Path, key: str) -> None:
    state = SkillState(HomeFolder(root=home).skills_state)
    state.set(key, EnabledSkill(sha256=hash_files(read_folder(folder))))


@needs_sandbox
async def test_a_script_of_a_skill_runs_by_exec_while_the_skill_is_enabled_byte_for_byte(
    tmp_path: Path,
) -> None:
    HomeFolder(root=tmp_path).ensure()
    folder = skill_folder(tmp_path / "workspace" / "skills")
    (folder / "brew.sh").write_text("echo brewed\n")
    run = call("exec", argv=["sh", "/w/skills/tea/brew.sh"])
    script = [run, "no", READ, run, "asked", "It brewed.", run, "asked"]
    async with owned(tmp_path, script, ON) as it:
        assert await it.text("brew") == "no"
        assert "The skill tea is not enabled" in results(it.model.requests[-1])[-1].text
        enable(tmp_path, folder, "tea")
        await ask(it)
        assert (
            "exec runs its scripts as /w/skills/tea/brew.sh"
            in results(it.model.requests[-2])[-1].text
        )
        assert "sha256 of the skill tea" in await why(it)
        assert "brewed" in await approve(it)
        await ask(it)
        (folder / "SKILL.md").write_text(f"{HEAD}other\n")
        it.bot.skills.library._looked = float("-inf")
        assert "not enabled" in await approve(it)


@needs_sandbox
@pytest.mark.parametrize("changed", ["brew.sh", "water.sh"])
async def test_a_script_is_not_run_beside_a_file_that_changed_unseen_since_the_review(
    tmp_path: Path, changed: str
) -> None:
    HomeFolder(root=tmp_path).ensure()
    folder = skill_folder(tmp_path / "workspace" / "skills")
    (folder / "brew.sh").write_text("sh /w/skills/tea/water.sh\n")
    (folder / "water.sh").write_text("echo cold\n")
    enable(tmp_path, folder, "tea")
    run = call("exec", argv=["sh", "/w/skills/tea/brew.sh"])
    async with owned(tmp_path, [run, "asked", "It is cold.", run, "no"], ON) as it:
        await ask(it)
        assert "cold" in await approve(it)
        change_unseen(
            folder / changed, (folder / changed).read_text().replace("o", "0").replace("s", "x")
        )
        await it.text("again")
        assert (
            "The skill tea is not enabled as it is now" in results(it.model.requests[-1])[-1].text
        )


async def test_a_skill_that_is_turned_off_in_a_running_turn_is_read_no_further(
    tmp_path: Path,
) -> None:
    HomeFolder(root=tmp_path).ensure()
    enable(tmp_path, skill_folder(tmp_path / "workspace" / "skills"), "tea")
    answers = iter((READ, replace(READ, id="t1"), "done"))

    def turn_off_in_between(request: Request) -> ToolCall | str:
        if results(request):
            SkillState(HomeFolder(root=tmp_path).skills_state).set("tea", None)
        return next(answers)

    async with inside(tmp_path, turn_off_in_between) as it:
        assert await it.text("brew") == "done"
        read, refused = results(it.model.requests[-1])
        assert "Warm the pot" in read.text
        assert refused.is_error
        assert "not enabled any more" in refused.text
        assert "Warm the pot" not in refused.text


async def test_a_persons_own_skills_are_seen_there_only_and_hold_texts_alone(
    tmp_path: Path,
) -> None:
    HomeFolder(root=tmp_path).ensure()
    own = tmp_path / "workspace" / "spaces" / "telegram-u1" / "skills"
    enable(tmp_path, skill_folder(own), "telegram-u1/tea")
    scripted = skill_folder(own, "run", "#")
    (scripted / "run.sh").write_text("echo no\n")
    enable(tmp_path, scripted, "telegram-u1/run")
    channel = ScriptedChannel(name="telegram", account="bot", capabilities=TERMINAL)
    settings = {"channels": {"telegram": {"allow": ["u1", "u2"], "owners": ["o"]}}}
    script = [READ, "one", "two", "three"]
    async with inside(tmp_path, script, settings, channel) as it:
        assert await it.text("go", chat="u1", sender="u1") == "one"
        assert "Warm the pot" in results(it.model.requests[-1])[0].text
        (spec,) = [spec for spec in it.model.requests[0].tools if spec.name == "skill"]
        assert "- tea:" in spec.description
        assert "- run:" not in spec.description
        for person, answer in (("u2", "two"), ("o", "three")):
            assert await it.text("go", chat=person, sender=person) == answer
            assert "skill" not in [spec.name for spec in it.model.requests[-1].tools]
        assert (
            await it.text("/skills", chat="u1", sender="u1")
            == "- **tea**: How this house makes tea."
        )


async def test_a_person_names_the_skill_that_is_to_be_followed(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    enable(tmp_path, skill_folder(tmp_path / "workspace" / "skills"), "tea")
    async with inside(tmp_path, ["brewed", "又泡好了"]) as it:
        assert await it.text("/skill tea for two") == "brewed"
        texts = [
            part
            for message in it.model.requests[-1].messages
            for part in message.parts
            if isinstance(part, Text)
        ]
        assert any(
            part.text == "Warm the pot first." and part.aside == "skill tea" for part in texts
        )
        assert any("for two" in part.text and not part.aside for part in texts)
        assert await it.text("/用技能 tea 快") == "又泡好了"
        assert "tea" in await it.text("/skill coffee")


def archive(**files: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as zipped:
        for name, text in files.items():
            zipped.writestr(name.replace("__", "/"), text)
    return data.getvalue()


async def test_a_skill_is_added_from_an_address_only_once_it_was_shown(tmp_path: Path) -> None:
    home = HomeFolder(root=tmp_path)
    home.ensure()
    async with serving() as pages:
        home.config.write_text(f'{{"tools": {{"web": {{"allow": ["{pages.pair}"]}}}}}}')
        home.config.chmod(0o600)
        pages.page(
            "/tea.zip", archive(**{"tea__SKILL.md": f"{HEAD}Boil.\n"}), kind="application/zip"
        )
        pages.page("/bad.zip", b"PK no", kind="application/zip")

        async def added(path: str, typed: str) -> Result:
            return await asyncio.to_thread(mnema, tmp_path, "add", pages.url(path), typed=typed)

        shown = await added("/tea.zip", "no\n")
        assert "SHA-256" in shown.output
        assert "Skill tea: How this house makes tea." in shown.output.splitlines()
        assert list((home.workspace / "skills").iterdir()) == []
        assert (await added("/tea.zip", "tea\n")).return_value == 0
        assert "not a readable ZIP" in str((await added("/bad.zip", "")).exception)
        assert "status" in str((await added("/none.zip", "")).exception)
        home.config.write_text("{}")
        assert "denied" in str((await added("/tea.zip", "")).exception), (
            "the guarded client refuses this machine"
        )
    library = SkillLibrary(Workspace(home.workspace), SkillState(home.skills_state))
    assert [skill.name for skill in library.enabled("")] == ["tea"]


def test_a_persons_own_skill_is_added_and_turned_off_in_the_terminal(tmp_path: Path) -> None:
    source = skill_folder(tmp_path / "source")
    home = tmp_path / "home"
    assert (
        mnema(home, "add", str(source), "--space", "telegram-u1", "--enable", "tea").return_value
        == 0
    )
    assert (home / "workspace" / "spaces" / "telegram-u1" / "skills" / "tea" / "SKILL.md").exists()
    assert mnema(home, "list", "--space", "telegram-u1").output.startswith("on       tea")
    assert "There are none" in mnema(home, "list").output
    (source / "run.sh").write_text("echo\n")
    refused = mnema(home, "add", str(source), "--space", "telegram-u1", "--enable", "tea")
    assert "may contain only texts" in str(refused.exception)
    assert "is not a space" in str(mnema(home, "list", "--space", "../x").exception)
    everyone = mnema(home, "on", "tea", "--space", "telegram-u1", "--everyone")
    assert "seen only there" in str(everyone.exception)
    assert mnema(home, "off", "tea", "--space", "telegram-u1").return_value == 0
    assert mnema(home, "remove", "tea", "--space", "telegram-u1").return_value == 0
    assert "There are none" in mnema(home, "list", "--space", "telegram-u1").output


async def test_toolsets_of_more_spaces_than_are_kept_are_built_again_and_equal(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, []) as it:
        toolset = it.bot.toolset
        first = toolset("telegram-0")
        assert toolset("telegram-0") is first
        for number in range(MAX_CACHED_TOOLSETS + 1):
            toolset(f"telegram-{number}")
        assert len(toolset._offered) <= MAX_CACHED_TOOLSETS
        assert toolset("telegram-0").specs() == first.specs()
