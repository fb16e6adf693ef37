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
    check_texts,
    hash_files,
    read_name,
)
from bot.tools.skills.review import read_archive, read_folder, review, write_skill
from memory.workspace.files import Workspace
from memory.workspace.safe_path import PathRefused

app = typer.Typer(help="List, add, enable, turn off and remove skills.", no_args_is_help=True)
EveryoneOption = Annotated[bool, typer.Option("--everyone", help="In every chat, not only yours.")]
SpaceOption = Annotated[
    str,
    typer.Option(
        "--space", help="A person's own space (mnema people list): seen only there, texts only."
    ),
]
NameArgument = Annotated[str, typer.Argument(help="Name of the skill.")]


class SkillRefused(MnemaError):
    """The skill cannot be added or enabled; the text says why."""


def _library(home: HomeFolder, space: str = "") -> SkillLibrary:
    try:
        return SkillLibrary(Workspace(home.workspace), SkillState(home.skills_state), space=space)
    except PathRefused as err:
        raise SkillRefused(f"{space!r} is not a space; mnema people list shows them.") from err


def _folder(home: HomeFolder, space: str) -> Path:
    return home.workspace.joinpath(*(("spaces", space) if space else ()), FOLDER)


@app.command("list")
def list_skills(ctx: typer.Context, as_json: JsonOption = False, space: SpaceOption = "") -> int:
    """List the skills of the workspace, and which are on."""
    library = _library(ctx.obj, space)
    rows = [(skill, _state(skill, library)) for skill in library.all()]
    if as_json:
        print_json(
            {
                "skills": [
                    {"name": skill.name, "state": state, "about": skill.description}
                    for skill, state in rows
                ]
            }
        )
        return 0
    for skill, state in rows:
        print(printable(f"{state:8} {skill.name}: {skill.problem or skill.description}"))
    if not rows:
        print(
            "There are none. mnema skills add FOLDER adds one; they live in "
            f"{_folder(ctx.obj, space)}."
        )
    return 0


def _state(skill: Skill, library: SkillLibrary) -> str:
    row = library.state.load().get(library.key(skill.name))
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
    source: Annotated[
        str,
        typer.Argument(help="A folder or a ZIP with a SKILL.md, or the https address of a ZIP."),
    ],
    enable: Annotated[
        str,
        typer.Option("--enable", help="The skill's name again, to enable it without a question."),
    ] = "",
    everyone: EveryoneOption = False,
    space: SpaceOption = "",
) -> int:
    """Show what a skill contains, copy it into the workspace, and enable it once you type its
    name.
    """
    home: HomeFolder = ctx.obj
    try:
        contents = _read_source(home, source)
        if space:
            _library(home, space)
            check_texts(contents)
        name = read_name(contents.get(MAIN_FILE, b"").decode("utf-8", "replace"))
        target = _folder(home, space) / name
        installed = read_folder(target) if target.is_dir() else None
        print("\n".join(printable(str(line)) for line in review(name, contents, installed)))
    except SkillInvalid as err:
        raise SkillRefused(f"{source}: {err}.") from err
    typed = enable or typer.prompt(
        "Type the skill's name to add and enable it; anything else changes nothing"
    )
    if typed.strip() != name:
        print("Nothing was changed.")
        return 1
    write_skill(target, contents)
    _enable(home, name, hash_files(contents), everyone=everyone, space=space)
    print(f"{name} is on. The bot sees it within seconds; any change turns it off.")
    return 0


def _read_source(home: HomeFolder, source: str) -> dict[str, bytes]:
    """Read the files of a folder, an archive, or an archive at an address; nothing of it is written
    yet.
    """
    if source.startswith(("https://", "http://")):
        return _download(home, source)
    path = Path(source)
    if not path.exists():
        raise SkillRefused(f"There is no {source}.")
    return read_folder(path) if path.is_dir() else read_archive(path)


def _download(home: HomeFolder, url: str) -> dict[str, bytes]:
    """Load an archive by the client that dials public addresses only, and read it from a file
    outside the home.
    """
    import asyncio
    import hashlib
    import tempfile

    from bot.config.file import ConfigFile
    from bot.tools.web.addresses import WebError
    from bot.tools.web.client import GuardedClient
    from bot.tools.web.fetch import check_status

    file = ConfigFile(home.config)
    file.load()
    try:
        response = asyncio.run(GuardedClient(allowed=lambda: file.current.tools.web.allow).get(url))
        check_status(response)
    except WebError as err:
        raise SkillRefused(f"{url}: {err.code}: {err}.") from err
    print(printable(f"From {response.url}, SHA-256 {hashlib.sha256(response.body).hexdigest()}"))
    with tempfile.TemporaryDirectory(prefix="mnema-skill-") as folder:
        archive = Path(folder) / "skill.zip"
        archive.write_bytes(response.body)
        return read_archive(archive)


def _enable(home: HomeFolder, name: str, sha256: str, *, everyone: bool, space: str) -> None:
    if everyone and space:
        raise SkillRefused(
            "A skill of a person's own space is seen only there: leave out --everyone."
        )
    spaces = EVERYONE if everyone else OWNER_ONLY
    key = _library(home, space).key(name)
    SkillState(home.skills_state).set(key, EnabledSkill(sha256=sha256, spaces=spaces))


@app.command("on")
def turn_on(
    ctx: typer.Context,
    name: NameArgument,
    everyone: EveryoneOption = False,
    space: SpaceOption = "",
) -> int:
    """Enable a skill of the workspace as it is now, after showing its contents."""
    home: HomeFolder = ctx.obj
    skill = _find(home, name, space)
    if skill.problem:
        raise SkillRefused(f"{name} cannot be enabled: {skill.problem}.")
    try:
        contents = read_folder(_folder(home, space) / name)
    except SkillInvalid as err:
        raise SkillRefused(f"{name} cannot be enabled: {err}.") from err
    if hash_files(contents) != skill.sha256:
        raise SkillRefused(
            f"{name} is being changed, or contains files that are not part of a skill; check it."
        )
    print("\n".join(printable(str(line)) for line in review(name, contents)))
    _enable(home, name, skill.sha256, everyone=everyone, space=space)
    print(f"{name} is on.")
    return 0


@app.command("off")
def turn_off(ctx: typer.Context, name: NameArgument, space: SpaceOption = "") -> int:
    """Turn a skill off; its files stay."""
    _find(ctx.obj, name, space)
    SkillState(ctx.obj.skills_state).set(_library(ctx.obj, space).key(name), None)
    print(f"{name} is off.")
    return 0


@app.command("remove")
def remove(ctx: typer.Context, name: NameArgument, space: SpaceOption = "") -> int:
    """Turn a skill off and delete its folder."""
    home: HomeFolder = ctx.obj
    skill = _find(home, name, space)
    SkillState(home.skills_state).set(_library(home, space).key(name), None)
    shutil.rmtree(_folder(home, space) / skill.name)
    print(f"{name} is removed.")
    return 0


def _find(home: HomeFolder, name: str, space: str = "") -> Skill:
    skill = next((skill for skill in _library(home, space).all() if skill.name == name), None)
    if skill is None:
        raise SkillRefused(f"There is no skill {name}; mnema skills list shows them.")
    return skill
