"""The skills of the workspace: what they say, and which of them the owner enabled."""

import hashlib
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.config.enabled import EnabledFile
from channels.phrases import NO_PHRASE, AnyPhrase, Phrase, untranslated
from memory.workspace.files import Workspace
from memory.workspace.safe_path import FileTooBig, PathRefused

FOLDER, MAIN_FILE = "skills", "SKILL.md"
# under `metadata`, which the format leaves to its writers. Source: agentskills.io/specification
CHINESE_KEY = "description-zh"
MAX_NAME_CHARS, MAX_DESCRIPTION_CHARS = 64, 1024
MAX_HEAD_BYTES = 8 * 2**10  # of the YAML before the text
MAX_FILES = 2_000  # of one skill
TEXT_ENDINGS = (".md", ".txt", ".csv", ".json", ".yaml", ".yml")
SCAN_SECONDS = 2.0  # between two looks at the folder
EVERYONE, OWNER_ONLY = "*", ""
NO_MAIN_FILE = Phrase("it has no SKILL.md")
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_HEAD = re.compile(
    r"---[ \t]*\r?\n(?P<head>.*?)^---[ \t]*$\r?\n?(?P<body>.*)", re.DOTALL | re.MULTILINE
)


class SkillInvalid(ValueError):
    """The folder is no skill; the phrase, a clause, says what would be right."""

    def __init__(self, phrase: AnyPhrase) -> None:
        super().__init__(str(phrase))
        self.phrase = phrase


class SkillChanged(Exception):
    """What is in the folder of a skill is not what its hash says; the text is its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A folder below `skills/`."""

    name: str
    description: str = ""
    #: The same in Chinese, for people; "" if it brings none.
    description_zh: str = ""
    #: The text of SKILL.md after its head.
    body: str = ""
    #: Of names and contents of all files.
    sha256: str = ""
    #: Paths below the skill's folder.
    files: tuple[str, ...] = ()
    #: Why it cannot be used; empty for a valid one.
    problem: AnyPhrase = NO_PHRASE


@dataclass(frozen=True, slots=True, kw_only=True)
class EnabledSkill:
    """What the owner enabled."""

    sha256: str
    #: "*": in every chat; "": in the owner's own space only.
    spaces: str = OWNER_ONLY


def parse_skill(name: str, text: str) -> tuple[str, str]:
    """Return description and body of the SKILL.md of a folder `name`. Pure.

    Raises:
        SkillInvalid: no head, a name other than the folder's, or too long a text.
    """
    _check_name(name)
    head, body = _split_head(text)
    description = head.get("description")
    if head.get("name") != name:
        raise SkillInvalid(
            Phrase("the name in SKILL.md differs from that of the folder, {name}", name=name)
        )
    if (
        not isinstance(description, str)
        or not description.strip()
        or len(description) > MAX_DESCRIPTION_CHARS
    ):
        raise SkillInvalid(
            Phrase(
                "the description in SKILL.md must have 1 to {most:,} characters",
                most=MAX_DESCRIPTION_CHARS,
            )
        )
    return " ".join(description.split()), body


def read_name(text: str) -> str:
    """Return the name that a SKILL.md gives itself. Pure.

    Raises:
        SkillInvalid: it gives none, or one that no skill may have.
    """
    return _check_name(_split_head(text)[0].get("name"))


def read_chinese_description(text: str) -> str:
    """Return the description in Chinese that a valid SKILL.md has under `metadata`; "" for none.

    Pure.
    """
    metadata = _split_head(text)[0].get("metadata")
    found = metadata.get(CHINESE_KEY) if isinstance(metadata, dict) else None
    if not isinstance(found, str) or len(found) > MAX_DESCRIPTION_CHARS:
        return ""
    return " ".join(found.split())


def _check_name(name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name) > MAX_NAME_CHARS:
        raise SkillInvalid(
            Phrase(
                "a skill's name must be lower-case letters, digits and hyphens, at most {most}",
                most=MAX_NAME_CHARS,
            )
        )
    return name


def _split_head(text: str) -> tuple[Mapping[str, Any], str]:
    """Return the values of the head, and the text after it."""
    found = _HEAD.match(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    if found is None:
        raise SkillInvalid(
            Phrase(
                "SKILL.md must begin with a header between two lines ---, with name and description"
            )
        )
    if len(found["head"].encode("utf-8", "replace")) > MAX_HEAD_BYTES:
        raise SkillInvalid(
            Phrase(
                "the header of SKILL.md is longer than {kilobytes} KB",
                kilobytes=MAX_HEAD_BYTES // 1024,
            )
        )
    return _load_head(found["head"]), found["body"].strip()


def _load_head(text: str) -> Mapping[str, Any]:
    import yaml

    try:
        # An alias may stand for a text of any size, so none is allowed.
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            raise SkillInvalid(
                Phrase("the header of SKILL.md uses YAML aliases, which are not supported")
            )
        head = yaml.safe_load(text)
    # the last two: `!!bool x`
    except (yaml.YAMLError, RecursionError, ValueError, AttributeError, KeyError) as err:
        if isinstance(err, SkillInvalid):
            raise
        raise SkillInvalid(Phrase("the header of SKILL.md is not valid YAML")) from err
    if not isinstance(head, dict):
        raise SkillInvalid(Phrase("the header of SKILL.md has no name and description"))
    return head


class SkillState(EnabledFile[EnabledSkill]):
    """Which skills are enabled."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, EnabledSkill)


class SkillLibrary:
    """Reads the skills of the owner's workspace, again only when something in their folder changed.

    Args:
        changed: called once for each enabled skill whose bytes changed: (name, its new hash).
        space: whose skills; in any other than the owner's ("") they hold texts alone, and are seen
            there only.
    """

    def __init__(
        self,
        workspace: Workspace,
        state: SkillState,
        changed: Callable[[str, str], None] = lambda name, sha256: None,
        clock: Callable[[], float] = time.monotonic,
        space: str = "",
    ) -> None:
        self._files = workspace.space(space)
        self._space = space
        self.state = state
        self._changed = changed
        self._clock = clock
        self._looked = float("-inf")
        self._stamp: object = None
        self._skills: tuple[Skill, ...] = ()
        #: The hash of each changed skill that was told.
        self._notified: dict[str, str] = {}

    def all(self) -> tuple[Skill, ...]:
        """Return all skills by name, also those that are off or invalid."""
        now = self._clock()
        if now - self._looked >= SCAN_SECONDS:
            self._looked = now
            self._scan()
        return self._skills

    def look_again(self) -> None:
        """Let the next call read the folder, in which something was changed just now."""
        self._looked = float("-inf")

    def enabled(self, space: str) -> tuple[Skill, ...]:
        """Return the skills that are enabled in a space, byte for byte as the owner enabled
        them.
        """
        state = self.state.load()
        if not state:
            return ()
        found = []
        for skill in self.all():
            row = state.get(self.key(skill.name))
            if row is None or skill.problem:
                continue
            if row.sha256 != skill.sha256:
                if self._notified.get(skill.name) != skill.sha256:
                    self._notified[skill.name] = skill.sha256
                    self._changed(self.key(skill.name), skill.sha256)
            elif row.spaces == EVERYONE or space == self._space:
                found.append(skill)
        return tuple(found)

    def is_enabled(self, skill: Skill) -> bool:
        """Tell whether a skill is still on as it is here; what it says was read when it was."""
        row = self.state.load().get(self.key(skill.name))
        return row is not None and row.sha256 == skill.sha256

    def key(self, name: str) -> str:
        """Return the name that a skill of this library has in the state."""
        return f"{self._space}/{name}" if self._space else name

    def read(self, skill: Skill) -> Mapping[str, bytes]:
        """Read all files of a skill, by their paths below its folder: those that have its hash, and
        no others.

        A look at the folder notices neither what changed a moment ago nor what kept its size and
        its time.

        Raises:
            SkillChanged: something in the folder is another than when its hash was taken.
        """
        try:
            contents = self._read_files(skill.name, skill.files)
        except (PathRefused, FileTooBig, OSError):
            contents = {}
        if hash_files(contents) != skill.sha256:
            # the next look takes the new hash, and tells the owner
            self._looked, self._stamp = float("-inf"), None
            raise SkillChanged(skill.name)
        return contents

    def _read_files(self, name: str, files: Sequence[str]) -> dict[str, bytes]:
        return {path: self._files.read_bytes(f"{FOLDER}/{name}/{path}") for path in files}

    def _scan(self) -> None:
        try:
            entries = self._files.list(FOLDER)
        except (OSError, PathRefused):
            entries = []
        stamp = tuple((entry.path, entry.size, entry.mtime) for entry in entries)
        if stamp == self._stamp:
            return
        by_skill: dict[str, list[str]] = {}
        for entry in entries:
            parts = entry.path.split("/")
            if entry.is_dir or len(parts) < 3:
                continue
            by_skill.setdefault(parts[1], []).append("/".join(parts[2:]))
        self._skills = tuple(
            self._load(name, sorted(files)) for name, files in sorted(by_skill.items())
        )
        self._notified = {
            name: sha256 for name, sha256 in self._notified.items() if name in by_skill
        }
        self._stamp = stamp

    def _load(self, name: str, files: Sequence[str]) -> Skill:
        try:
            if len(files) > MAX_FILES:
                raise SkillInvalid(Phrase("it has more than {most:,} files", most=MAX_FILES))
            if MAIN_FILE not in files:
                raise SkillInvalid(NO_MAIN_FILE)
            contents = self._read_files(name, files)
            if self._space:
                check_texts(contents)
            text = contents[MAIN_FILE].decode("utf-8", "replace")
            description, body = parse_skill(name, text)
        except (SkillInvalid, PathRefused, FileTooBig, OSError) as err:
            problem = err.phrase if isinstance(err, SkillInvalid) else untranslated(err)
            return Skill(name=name, files=tuple(files), problem=problem)
        return Skill(
            name=name,
            description=description,
            description_zh=read_chinese_description(text),
            body=body,
            sha256=hash_files(contents),
            files=tuple(files),
        )


def check_texts(contents: Mapping[str, bytes]) -> None:
    """Check that files are texts and no scripts, as those of a person's own space have to be. Pure.

    Raises:
        SkillInvalid: one is not.
    """
    for path, data in contents.items():
        if not path.lower().endswith(TEXT_ENDINGS) or data.startswith(b"#!") or b"\0" in data:
            raise SkillInvalid(
                Phrase(
                    "{path} is not text ({endings}), and a person's own skills may contain only "
                    "texts",
                    path=path,
                    endings=", ".join(TEXT_ENDINGS),
                )
            )


def hash_files(contents: Mapping[str, bytes]) -> str:
    """Return the SHA-256 over names and contents, in the order of names. Pure."""
    whole = hashlib.sha256()
    for path, data in sorted(contents.items()):
        whole.update(f"{len(path.encode())}:{path}:{len(data)}:".encode())
        whole.update(data)
    return whole.hexdigest()
