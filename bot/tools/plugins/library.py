"""The plug-in files of the owner's workspace, and which of them are enabled."""

import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bot.config.enabled import EnabledFile
from bot.plugins import MAX_DESCRIPTION, Definition
from memory.workspace.files import Workspace
from memory.workspace.safe_path import FileTooBig, PathRefused

FOLDER = "tools"
# of one file, of the folder, of one file
MAX_FILE_BYTES, MAX_FILES, MAX_TOOLS = 256 * 2**10, 200, 50
SCAN_SECONDS = 2.0  # between two looks at the folder
_FILE_NAME = re.compile(r"(?!test_)([a-z][a-z0-9_]{0,47})\.py")
_TOOL_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_MAX_NAME_CHARS, _MAX_SCHEMA_CHARS = 48, 50_000
_NO_DEFINITION = "it does not define its tools as bot.plugins does"


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginFile:
    """A file below `tools/`."""

    name: str
    #: Its text; "" if it cannot be used.
    text: str = ""
    sha256: str = ""
    #: Why it cannot be used; "" for a valid one.
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnabledPlugin:
    """A file as the owner enabled it."""

    sha256: str
    #: What it defined then.
    tools: tuple[Definition, ...]


class PluginState(EnabledFile[EnabledPlugin]):
    """Which plug-in files are enabled."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, EnabledPlugin)


class PluginLibrary:
    """Reads the plug-in files, again only when something in their folder changed.

    Args:
        changed: called once for each enabled file whose bytes changed: (name, its new hash).
    """

    def __init__(
        self,
        workspace: Workspace,
        state: PluginState,
        changed: Callable[[str, str], None] = lambda name, sha256: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._files = workspace.space("")
        self.state = state
        self._changed = changed
        self._clock = clock
        self._looked = float("-inf")
        self._stamp: object = None
        self._found: tuple[PluginFile, ...] = ()
        #: The hash of each changed file that was told.
        self._notified: dict[str, str] = {}

    def all(self) -> tuple[PluginFile, ...]:
        """Return all files by name, also those that are off or cannot be used."""
        now = self._clock()
        if now - self._looked >= SCAN_SECONDS:
            self._looked = now
            self._scan()
        return self._found

    def enabled(self) -> list[tuple[PluginFile, EnabledPlugin]]:
        """Return the files that are byte for byte as the owner enabled them."""
        state = self.state.load()
        if not state:
            return []
        found = []
        for file in self.all():
            row = state.get(file.name)
            if row is None or file.problem:
                continue
            if row.sha256 == file.sha256:
                found.append((file, row))
            elif self._notified.get(file.name) != file.sha256:
                self._notified[file.name] = file.sha256
                self._changed(file.name, file.sha256)
        return found

    def is_enabled(self, name: str, sha256: str) -> bool:
        """Tell whether a file is still enabled as it was when the model was shown its tools."""
        row = self.state.load().get(name)
        return row is not None and row.sha256 == sha256

    def _scan(self) -> None:
        try:
            entries = [entry for entry in self._files.list(FOLDER) if not entry.is_dir]
        except (OSError, PathRefused):
            entries = []
        stamp = tuple((entry.path, entry.size, entry.mtime) for entry in entries)
        if stamp != self._stamp:
            names = [
                found[1]
                for entry in entries
                if (found := _FILE_NAME.fullmatch(entry.path.partition("/")[2]))
            ]
            self._found = tuple(map(self._load, sorted(names)[:MAX_FILES]))
            self._stamp = stamp
            present = {file.name for file in self._found}
            self._notified = {
                name: sha256 for name, sha256 in self._notified.items() if name in present
            }

    def _load(self, name: str) -> PluginFile:
        try:
            data = self._files.read_bytes(f"{FOLDER}/{name}.py")
            if len(data) > MAX_FILE_BYTES:
                return PluginFile(
                    name=name, problem=f"it is larger than {MAX_FILE_BYTES // 1024} KB"
                )
            text = data.decode("utf-8")
        except (OSError, PathRefused, FileTooBig) as err:
            return PluginFile(name=name, problem=str(err))
        except UnicodeDecodeError:
            return PluginFile(name=name, problem="it is not UTF-8")
        return PluginFile(name=name, text=text, sha256=hashlib.sha256(data).hexdigest())


def is_file_name(name: str) -> bool:
    """Tell whether a plug-in's file, and its tool, may have this name."""
    return _FILE_NAME.fullmatch(f"{name}.py") is not None and _TOOL_NAME.fullmatch(name) is not None


def check_definitions(
    given: Sequence[Mapping[str, Any]], taken: Sequence[str]
) -> tuple[Definition, ...]:
    """Check what a plug-in's process said it defines. Pure.

    Args:
        taken: names that its tools may not have.

    Raises:
        ValueError: the text says what is wrong.
    """
    if len(given) > MAX_TOOLS:
        raise ValueError(f"it defines more than {MAX_TOOLS} tools")
    known = set(taken)
    definitions = []
    for values in given:
        definition = _parse_definition(values)
        name = definition.name
        is_name = _TOOL_NAME.fullmatch(name) and len(name) <= _MAX_NAME_CHARS
        if not is_name or name in known:
            raise ValueError(f"the name {name[:60]!r} is taken, or no name of a tool")
        if (
            len(definition.description) > MAX_DESCRIPTION
            or len(definition.schema) > _MAX_SCHEMA_CHARS
        ):
            raise ValueError(f"the description or schema of {name} is too long")
        known.add(name)
        definitions.append(definition)
    return tuple(definitions)


def _parse_definition(values: Mapping[str, Any]) -> Definition:
    """Return a definition whose fields have the types that bot.plugins gives them.

    Raises:
        ValueError: they do not.
    """
    try:
        definition = Definition(**{**values, "needs": tuple(map(str, values["needs"]))})
        schema = json.loads(definition.schema)
    except (TypeError, ValueError, KeyError) as err:
        raise ValueError(_NO_DEFINITION) from err
    texts = [value for key, value in asdict(definition).items() if key not in ("needs", "ask")]
    are_texts = all(isinstance(value, str) for value in texts)
    is_known_effect = definition.effect in ("pure", "idempotent", "unsafe")
    if not (are_texts and is_known_effect and isinstance(schema, dict)):
        raise ValueError(_NO_DEFINITION)
    return definition
