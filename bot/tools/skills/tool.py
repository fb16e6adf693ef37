"""The tool that reads a skill; its description lists the skills that are enabled."""

import asyncio
from collections.abc import Mapping, Sequence

from pydantic import Field

from bot.errors import ToolFailed
from bot.tools.base import ToolArguments, ToolContext
from bot.tools.exec.sandbox import SPACE_PATH
from bot.tools.skills.library import FOLDER, MAIN_FILE, Skill, SkillChanged, SkillLibrary
from bot.tools.skills.review import SCRIPT_ENDINGS
from memory.context.tokens import WEIGHTED
from memory.conversation import ToolSpec

PAGE_CHARS = 15_000  # about 5,000 tokens
INDEX_CHARS = 160  # of one description
MORE_TOKENS = 20  # of the line on those that do not fit
_HEAD = (
    "Read a skill before you do something that it is for: instructions that the owner installed. "
    "Skills:"
)


class SkillArguments(ToolArguments):
    """Arguments of `skill`."""

    name: str
    file: str = Field("", description="One of its files")
    page: int = Field(1, ge=1)


class SkillTool:
    """Reads the skills that are enabled in a space.

    Args:
        found: the enabled ones, each with its library.
        index_tokens: what the list of them may take in the description.
    """

    arguments = SkillArguments

    def __init__(self, found: Sequence[tuple[SkillLibrary, Skill]], index_tokens: int) -> None:
        self._found = {skill.name: (library, skill) for library, skill in found}
        skills = [skill for _, skill in found]
        index, listed = format_index(skills, index_tokens)
        #: Those that do not fit into the list.
        self.unlisted = tuple(skills[listed:])
        self.spec = ToolSpec(
            name="skill",
            description=f"{_HEAD}\n{index}",
            schema=SkillArguments.to_json_schema(),
            effect="pure",
            action="skill.read",
        )

    async def run(self, arguments: SkillArguments, context: ToolContext) -> str:
        library, skill = self._find_enabled(arguments.name)
        try:
            contents = await asyncio.to_thread(library.read, skill)
        except SkillChanged as err:
            raise ToolFailed(
                f"The skill {skill.name} was changed since its owner reviewed it, so nothing of it "
                "is read until they have reviewed it again."
            ) from err
        is_body = arguments.file in ("", MAIN_FILE)
        text = skill.body if is_body else _to_text(skill, contents, arguments.file)
        count = max(1, -(-len(text) // PAGE_CHARS))
        if arguments.page > count:
            raise ToolFailed(f"It has {count} page(s).")
        name, files = f"{skill.name}/{arguments.file}", ""
        if not arguments.file:
            name, files = skill.name, _describe_files(skill, context.space)
        begin = (arguments.page - 1) * PAGE_CHARS
        head = f"[skill {name}, page {arguments.page} of {count}{files}]"
        return f"{head}\n\n{text[begin : begin + PAGE_CHARS]}"

    def _find_enabled(self, name: str) -> tuple[SkillLibrary, Skill]:
        if name not in self._found:
            raise ToolFailed(f"There is no skill {name!r}; there are: {', '.join(self._found)}.")
        library, skill = self._found[name]
        if not library.is_enabled(skill):
            raise ToolFailed(f"The skill {skill.name} is not enabled any more.")
        return library, skill


def _describe_files(skill: Skill, space: str) -> str:
    """Describe the other files of a skill, and in the owner's space how its scripts run."""
    others = [path for path in skill.files if path != MAIN_FILE]
    if not others:
        return ""
    files = f"; its files: {', '.join(others)}"
    scripts = [path for path in others if path.lower().endswith(SCRIPT_ENDINGS)]
    if scripts and not space:
        script = f"{SPACE_PATH}/{FOLDER}/{skill.name}/{scripts[0]}"
        files += f"; exec runs its scripts as {script}, each run approved by the person"
    return files


def _to_text(skill: Skill, contents: Mapping[str, bytes], path: str) -> str:
    data = contents.get(path)
    if data is None:
        raise ToolFailed(f"The skill has no file {path!r}; it has: {', '.join(skill.files)}.")
    if b"\0" in data:
        raise ToolFailed(f"{path} is not a text file ({len(data)} bytes).")
    return data.decode("utf-8", "replace")


def format_index(skills: Sequence[Skill], limit: int) -> tuple[str, int]:
    """List names and short descriptions, as many as fit into so many tokens. Pure.

    Returns:
        The list, and how many skills are in it.
    """
    lines: list[str] = []
    left = limit - MORE_TOKENS
    for skill in skills:
        short = (
            skill.description
            if len(skill.description) <= INDEX_CHARS
            else f"{skill.description[:INDEX_CHARS]}…"
        )
        line = f"- {skill.name}: {short}"
        left -= WEIGHTED.text(line) + 1
        if left < 0:
            break
        lines.append(line)
    listed = len(lines)
    if listed < len(skills):
        lines.append(f"- and {len(skills) - listed} more: find_tools finds them")
    return "\n".join(lines), listed
