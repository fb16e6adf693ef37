"""`mnema skills`: list, add, enable, turn off and remove skills."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.common import JsonOption, print_json, printable
from bot.config.home import HomeFolder
from bot.errors import MnemaError
from bot.tools.skills.library import (
    EVERYONE,
    FOLDER,
    MAIN_FILE,
    OWNER_ONLY,
    EnabledSkill,
    Skill,
    SkillInvalid,
    SkillLibrary,
    SkillState,
    hash_files,
    read_name,
)
from bot.tools.skills.review import read_archive, read_folder, review
from memory.workspace.files import Workspace

app = typer.Typer(help="List, add, enable, turn off and remove skills.", no_args_is_help=True)
NameArgument = Annotated[str, typer.Argument(help="Name of the skill.")]


class SkillRefused(MnemaError):
    """The skill cannot be added or enabled; the text says why."""


def _library(home: HomeFolder) -> SkillLibrary:
    return SkillLibrary(Workspace(home.workspace), SkillState(home.skills_state))


@app.command("list")
def list_skills(ctx: typer.Context, as_json: JsonOption = False) -> int:
    """List the skills of the workspace, and which are on."""
    library = _library(ctx.obj)
    rows = [(skill, _state(skill, library)) for skill in library.all()]
    if as_json:
        print_json(
            {"skills": [{"name": skill.name, "state": state, "about": skill.description} for skill, state in rows]}
        )
        return 0
    for skill, state in rows:
        print(printable(f"{state:8} {skill.name}: {skill.problem or skill.description}"))
    if not rows:
        print(f"There are none. mnema skills add FOLDER adds one; they live in {ctx.obj.workspace / FOLDER}.")
    return 0


def _state(skill: Skill, library: SkillLibrary) -> str:
    row = library.state.load().get(skill.name)
    if skill.problem:
        return "invalid"
    if row is None:
        return "off"
    if row.sha256 != skill.sha256:
        return "changed"
    return "everyone" if row.spaces == EVERYONE else "on"


@app.command("add")
def add(
    ctx: typer.Context,
    source: Annotated[Path, typer.Argument(help="A folder or a ZIP with a SKILL.md.")],
    enable: Annotated[str, typer.Option("--enable", help="The skill's name, typed: enables it without asking.")] = "",
    everyone: Annotated[bool, typer.Option("--everyone", help="In every chat, not only yours.")] = False,
) -> int:
    """Show what a skill holds, copy it into the workspace, and enable it once you typed its name."""
    home: HomeFolder = ctx.obj
    if not source.exists():
        raise SkillRefused(f"There is no {source}.")
    try:
        contents = read_folder(source) if source.is_dir() else read_archive(source)
        name = read_name(contents.get(MAIN_FILE, b"").decode("utf-8", "replace"))
        target = home.workspace / FOLDER / name
        installed = read_folder(target) if target.is_dir() else None
        print(printable("\n".join(review(name, contents, installed))))
    except SkillInvalid as err:
        raise SkillRefused(f"{source}: {err}.") from err
    typed = enable or typer.prompt("Type the skill's name to add and enable it; anything else leaves all as it is")
    if typed.strip() != name:
        print("Nothing was changed.")
        return 1
    _write(target, contents)
    spaces = EVERYONE if everyone else OWNER_ONLY
    SkillState(home.skills_state).set(name, EnabledSkill(sha256=hash_files(contents), spaces=spaces))
    print(f"{name} is on. The bot sees it within seconds; a changed byte turns it off.")
    return 0


def _write(target: Path, contents: dict[str, bytes]) -> None:
    """Put the files into a fresh folder, then in place of the former one, which is deleted last."""
    fresh = target.with_name(f".{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    for path, data in contents.items():
        file = fresh / path
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.write_bytes(data)
        file.chmod(0o600)
    former = target.with_name(f".{target.name}.former")
    shutil.rmtree(former, ignore_errors=True)
    if target.is_dir():
        target.rename(former)
    fresh.rename(target)
    shutil.rmtree(former, ignore_errors=True)


@app.command("on")
def turn_on(
    ctx: typer.Context,
    name: NameArgument,
    everyone: Annotated[bool, typer.Option("--everyone", help="In every chat, not only yours.")] = False,
) -> int:
    """Enable a skill of the workspace as it is now, after showing what it holds."""
    home: HomeFolder = ctx.obj
    skill = _find(home, name)
    if skill.problem:
        raise SkillRefused(f"{name} cannot be enabled: {skill.problem}.")
    print(printable("\n".join(review(name, read_folder(home.workspace / FOLDER / name)))))
    spaces = EVERYONE if everyone else OWNER_ONLY
    SkillState(home.skills_state).set(name, EnabledSkill(sha256=skill.sha256, spaces=spaces))
    print(f"{name} is on.")
    return 0


@app.command("off")
def turn_off(ctx: typer.Context, name: NameArgument) -> int:
    """Turn a skill off; its files stay."""
    _find(ctx.obj, name)
    SkillState(ctx.obj.skills_state).set(name, None)
    print(f"{name} is off.")
    return 0


@app.command("remove")
def remove(ctx: typer.Context, name: NameArgument) -> int:
    """Turn a skill off and delete its folder."""
    home: HomeFolder = ctx.obj
    skill = _find(home, name)
    SkillState(home.skills_state).set(name, None)
    shutil.rmtree(home.workspace / FOLDER / skill.name)
    print(f"{name} is removed.")
    return 0


def _find(home: HomeFolder, name: str) -> Skill:
    skill = next((skill for skill in _library(home).all() if skill.name == name), None)
    if skill is None:
        raise SkillRefused(f"There is no skill {name}; mnema skills list names them.")
    return skill
