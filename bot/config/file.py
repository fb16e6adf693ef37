"""config.json on disk: read with the last good copy as fallback, edited in place, watched."""

import asyncio
import hmac
import os
import secrets
import stat
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from bot.config import json_source
from bot.config.home import ConfigFileTooLarge, NotRegularFile, read_regular_file
from bot.config.keys import (
    KEYS,
    LIST_ITEM,
    MASK_PATTERN,
    ConfigKey,
    find_key,
    list_secrets,
    mask_secret,
    mask_settings,
)
from bot.config.loader import (
    POLICIES_KEY,
    SettingError,
    add_key_reference,
    build_config,
    format_starter,
    mask_source,
    parse_nodes,
    parse_typed_value,
    policy_number,
    read_config,
    source_location,
    unknown_key_refusal,
    unknown_policy_refusal,
    unmask_source,
)
from bot.config.messages import ConfigRejected, SourceLocation
from bot.config.schema import Config
from bot.config.versions import ConfigVersion, ConfigVersions
from memory.context.policies.policies import POLICIES
from memory.workspace.atomic_write import write_atomic
from memory.workspace.safe_path import PathRefused

POLL_SECONDS = 0.5  # between two checks of the file; a broken edit is reported at the second one
# They name programs that are run, and hold the keys of plug-ins: neither a command nor the page
# writes them, but for a server of tools that is an address.
FILE_ONLY = ("mcp", "plugins")
PROVIDER_PATH, KEY_PATH = ("llm", "provider"), ("llm", "api_key")
_EMPTY = "{\n}\n"

SettingSteps = tuple[str, ...]
ConfigEdit = tuple[SettingSteps, Any]
FileSignature = tuple[int, int, int, int]


class ConfigFile:
    """One config.json. `current` are the settings in use; `trouble` is the error of the file, or
    None.
    """

    def __init__(
        self,
        path: Path,
        environ: Mapping[str, str] = os.environ,
        *,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self.path = path
        self.current = build_config({}, environ)
        self.trouble: ConfigRejected | None = None
        self._environ = environ
        self._poll_seconds = poll_seconds
        # One at a time reads the file and puts what it read in force: the page's threads, and the
        # loop that watches.
        self._lock = threading.RLock()
        self._raw: dict[str, Any] = {}
        self._text = ""
        self._reported = ("", "")  # text and error of the newest report
        # so that a tag tells nothing about the secrets in the file
        self._tag_key = secrets.token_bytes(16)
        self._versions = ConfigVersions(path.with_name(path.name + ".versions"))

    @property
    def last_good(self) -> Path:
        """The copy of the newest valid text."""
        return self.path.with_name(self.path.name + ".last-good")

    def create(self) -> bool:
        """Write the starter file if there is none; returns whether it did.

        Raises:
            ConfigRejected: the file cannot be written.
        """
        if self.path.exists():
            return False
        self._write(_EMPTY, format_starter(), secret=False)
        return True

    def check(self) -> Config:
        """Read and check the file, or take the defaults if there is none; changes nothing on disk.

        Raises:
            ConfigRejected: the first error, with file, line and column.
        """
        text = self._read()
        self._refuse_open_mode(text)
        self._apply(text)
        return self.current

    def load(self) -> Config:
        """Read the file; if it is broken, take the last good copy and set `trouble`.

        Raises:
            ConfigRejected: the file is broken and there is no good copy, or others may read the
                secrets in it.
        """
        try:
            text = self._read()
            self._refuse_open_mode(text)
            self._apply_and_copy(text)
        except ConfigRejected as err:
            if err.fault == "open_mode":
                raise
            self._apply_last_good(err)
            self._text, self.trouble = "", err
        self._reported = (self._text, str(self.trouble or ""))
        return self.current

    def get(self, name: str = "") -> Any:
        """Return the value of a dotted key as JSON, or all settings; secrets are masked.

        Raises:
            ConfigRejected: there is no such key.
        """
        settings: Any = self.masked()
        path, _ = _find_key(name) if name else ((), None)
        if path[:1] == (POLICIES_KEY,) and path[1:]:
            return self._policy_numbers(path)
        for step in path:
            if settings is None and path in KEYS:  # of a section that is off
                return KEYS[path].default
            if not isinstance(settings, dict) or step not in settings:
                raise unknown_key_refusal(path)
            settings = settings[step]
        return settings

    def _policy_numbers(self, path: SettingSteps) -> Any:
        """Return one number of a policy as it is in use, or all that are configured for the
        policy.
        """
        given = self.current.policies
        if len(path) == 2 and path[1] in POLICIES:
            return dict(given.get(path[1], {}))
        value = policy_number(path[1], ".".join(path[2:]), given)
        if value is None:
            raise unknown_policy_refusal(path)
        return value

    def masked(self) -> dict[str, Any]:
        """Return all settings with defaults; secrets are masked, references shown as written."""
        settings: dict[str, Any] = mask_settings(self.current.model_dump(mode="json"))
        for key in KEYS.values():
            written = _value_at(self._raw, key.path, key.default)
            section = _value_at(settings, key.path[:-1], None)
            if (
                key.secret
                and isinstance(section, dict)
                and isinstance(written, str)
                and "${" in written
            ):
                section[key.path[-1]] = mask_secret(written, key)
        return settings

    def set(self, name: str, text: str) -> Config:
        """Set a dotted key to a typed value: JSON, or bare words if the key takes a string.

        Raises:
            ConfigRejected: no such key, a wrong value, a broken file, or a file that has changed;
                nothing is written.
        """
        return self._change(_typed_edits(name, text))

    def preview_value(self, name: str, text: str) -> Config:
        """Return the settings as they would be with this value; writes nothing.

        Raises:
            ConfigRejected: as `set`.
        """
        return self._preview(_typed_edits(name, text))

    def patch(self, part: Mapping[str, Any]) -> Config:
        """Apply a partial config.json; values equal to the shown (masked) ones stay as they are.

        Raises:
            ConfigRejected: as `set`; nothing of the part is written.
        """
        return self._change(self._find_edits(part))

    def preview(self, part: Mapping[str, Any]) -> Config:
        """Return the settings as they would be with this partial config.json; writes nothing.

        Raises:
            ConfigRejected: as `patch`.
        """
        return self._preview(self._find_edits(part))

    def _find_edits(self, part: Mapping[str, Any]) -> list[ConfigEdit]:
        """Return the edits of a partial config.json that change what is shown.

        An empty model key beside another provider is an edit, also where it is shown as empty: a
        file without a key takes the one of the new provider from the environment.
        """
        shown = self.masked()
        values = dict(_leaves(dict(part), ()))
        edits = {
            path: value for path, value in values.items() if _value_at(shown, path, _EMPTY) != value
        }
        if PROVIDER_PATH in edits and values.get(KEY_PATH) == "":
            edits[KEY_PATH] = ""
        return list(edits.items())

    def _preview(self, edits: list[ConfigEdit]) -> Config:
        try:
            return build_config(
                parse_nodes(self._edited(self._read(), edits), self.path.name).value, self._environ
            )
        except SettingError as fault:
            raise fault.refusal from fault

    def set_mcp_address(self, name: str, server: Mapping[str, Any]) -> Config:
        """Add a server of tools that is reached by an address, or give one that has it new headers;
        a program is never written.

        Raises:
            ConfigRejected: as `set`, or the name is of a program or of another address.
        """
        with self._lock:
            before = self._read()
            former = read_config(before, self._environ, self.path.name)[0].mcp.get(name)
            is_other = former is not None and former.url != server.get("url")
            if "command" in server or is_other:
                raise ConfigRejected("file_only", words={"key": f"mcp.{name}"})
            try:
                text = self._replaced(before, [(("mcp", name), dict(server))])
            except SettingError as fault:
                raise fault.refusal from fault
            return self._put(before, text)

    def check_part(self, part: Mapping[str, Any]) -> dict[str, ConfigRejected]:
        """Return what is wrong with a partial config.json, by the dotted key at fault; writes
        nothing.

        Raises:
            ConfigRejected: the file itself is broken.
        """
        edits, text = self._find_edits(part), self._read()
        read_config(text, self._environ, self.path.name)
        wrong: dict[str, ConfigRejected] = {}
        while edits:
            try:
                self._edited(text, edits)
                break
            except SettingError as fault:
                path, refusal = tuple(map(str, fault.path)), fault.refusal
            at_fault = [
                edit
                for edit in edits
                if edit[0] == path[: len(edit[0])] or path == edit[0][: len(path)]
            ]
            # one that is only wrong together with others names no edit: all of them
            for edit in at_fault or edits:
                wrong[".".join(edit[0])] = refusal
            edits = [edit for edit in edits if at_fault and edit not in at_fault]
        return wrong

    def check_source(self, text: str) -> None:
        """Check a whole text in which secrets may be masked; writes nothing.

        Raises:
            ConfigRejected: the first error, with line and column.
        """
        read_config(text, self._environ, self.path.name)
        unmask_source(text, self._good_text(), self.path.name)

    def source(self) -> str:
        """Return the text of the file with masked secrets; of a broken file the last good text."""
        return mask_source(self._good_text())

    def replace_source(self, text: str) -> Config:
        """Replace the whole text; masked secrets stay what they are.

        Raises:
            ConfigRejected: as `set`, with line and column; nothing is written.
        """
        self.check_source(text)
        return self._replace(unmask_source(text, self._good_text(), self.path.name))

    def versions(self) -> list[ConfigVersion]:
        """Return the newest texts that were in force, newest first, secrets and all."""
        return self._versions.all()

    def restore(self, id: str) -> Config:
        """Put an earlier text back, byte for byte.

        Raises:
            KeyError: there is no such version.
            ConfigRejected: it is not valid (any more), or it differs in what only the file itself
                may say.
        """
        version = self._versions.find(id)
        if version is None:
            raise KeyError(id)
        read_config(version.text, self._environ, self.path.name)
        return self._replace(version.text)

    def tag(self) -> str:
        """Return the ETag of what the file holds now."""
        try:
            text = self._read()
        except ConfigRejected as err:
            text = str(err)
        return f'"{hmac.digest(self._tag_key, text.encode(), "sha256").hex()}"'

    def refresh(self) -> None:
        """Apply an edit of the file that `watch` has not seen yet; a broken one sets `trouble`."""
        with self._lock:
            try:
                changed = self._read() != self._text
            except ConfigRejected:
                changed = True
            if changed:
                self._reload()

    def written(self, key: ConfigKey) -> Any:
        """Return what the file says of a key, as it is written there; None for what it does not
        mention.
        """
        return _value_at(self._raw, key.path, None)

    async def watch(
        self,
        on_change: Callable[[Config], Awaitable[None]],
        on_error: Callable[[ConfigRejected], Awaitable[None]],
    ) -> None:
        """Report every change of the file since `load`, by `set` and `patch` too, until cancelled.

        A broken or missing file leaves `current` as it is. It is reported once, at the second check
        that finds it: an editor may be half-way through writing.
        """
        handled: FileSignature | None = None
        broken: FileSignature | None = (0, 0, 0, 0)
        while True:
            await asyncio.sleep(self._poll_seconds)
            signature = self._signature()
            if signature is not None and signature == handled:
                continue
            trouble = self._reload()
            if trouble and signature != broken:
                broken = signature
                continue
            handled, report = signature, (self._text, str(trouble or ""))
            if report != self._reported:
                self._reported = report
                await (on_error(trouble) if trouble else on_change(self.current))

    def _reload(self) -> ConfigRejected | None:
        """Apply the file if it is valid; returns the error otherwise."""
        with self._lock:
            try:
                text = self._read(must_exist=True)
                self._refuse_open_mode(text)
                self._apply_and_copy(text)
            except ConfigRejected as err:
                self.trouble = err
            return self.trouble

    def _change(self, edits: list[ConfigEdit]) -> Config:
        with self._lock:
            before = self._read()
            read_config(before, self._environ, self.path.name)
            try:
                text = self._edited(before, edits)
            except SettingError as fault:
                raise fault.refusal from fault
            return self._put(before, text)

    def _edited(self, text: str, edits: list[ConfigEdit]) -> str:
        """Return the text with these edits.

        Raises:
            SettingError: the first one that cannot be.
        """
        for path, _ in edits:
            if path[0] in FILE_ONLY:
                raise SettingError(path, ConfigRejected("file_only", words={"key": ".".join(path)}))
        return self._replaced(text, edits)

    def _replaced(self, text: str, edits: list[ConfigEdit]) -> str:
        """Return the text with these edits, which may be of any section."""
        for path, value in edits:
            _refuse_mask(value, path)
            text = json_source.replace_value(text, path, value)
        build_config(parse_nodes(text, self.path.name).value, self._environ)
        return text

    def _replace(self, text: str) -> Config:
        """Write a whole valid text that says the same as the file of what only the file itself may
        say.
        """
        with self._lock:
            before, good = self._read(), parse_nodes(self._good_text(), self.path.name).value
            given = parse_nodes(text, self.path.name).value
            for name in FILE_ONLY:
                if given.get(name) != good.get(name):
                    raise ConfigRejected("file_only", words={"key": name})
            return self._put(before, text)

    def _put(self, before: str, text: str) -> Config:
        if text != before:
            if self.path.exists() and self._is_valid(before):
                self._versions.record(before)
            self._write(
                before, text, secret=any(list_secrets(parse_nodes(text, self.path.name).value))
            )
        self._apply_and_copy(text)
        return self.current

    def _is_valid(self, text: str) -> bool:
        try:
            read_config(text, self._environ, self.path.name)
        except ConfigRejected:
            return False
        return True

    def _good_text(self) -> str:
        """Return the text of the file, or the last good one if it is broken.

        Raises:
            ConfigRejected: it is broken and there is no good copy.
        """
        try:
            text = self._read()
            read_config(text, self._environ, self.path.name)
            return text
        except ConfigRejected as err:
            try:
                text = read_regular_file(self.last_good).decode()
                read_config(text, self._environ, self.last_good.name)
            except (OSError, UnicodeDecodeError, ConfigRejected):
                raise err from None
            return text

    def _write(self, before: str, text: str, *, secret: bool) -> None:
        if self._read() != before:
            raise self._refusal("changed")
        try:
            if secret and self.path.exists():
                self.path.chmod(0o600)
            write_atomic(self.path, text.encode(), 0o600)
        except (OSError, PathRefused) as err:
            raise self._refusal(
                "unwritable", why=(isinstance(err, OSError) and err.strerror) or str(err)
            ) from err

    def _apply(self, text: str) -> None:
        """Make the settings of this text current."""
        self.current, root = read_config(text, self._environ, self.path.name)
        self._raw, self._text, self.trouble = add_key_reference(root.value), text, None

    def _apply_and_copy(self, text: str) -> None:
        """Make the settings of this text current, and the text the last good copy."""
        self._apply(text)
        with suppress(OSError, PathRefused):
            if self.path.exists() and not (
                self.last_good.exists() and read_regular_file(self.last_good) == text.encode()
            ):
                write_atomic(self.last_good, text.encode(), 0o600)
        if self.path.exists():
            self._versions.record(text)

    def _apply_last_good(self, why: ConfigRejected) -> None:
        try:
            text = read_regular_file(self.last_good).decode()
            self.current, root = read_config(text, self._environ, self.last_good.name)
        except (OSError, UnicodeDecodeError, ConfigRejected) as err:
            raise why from err
        self._raw = add_key_reference(root.value)

    def _read(self, *, must_exist: bool = False) -> str:
        try:
            content = read_regular_file(self.path)
        except (NotRegularFile, ConfigFileTooLarge) as err:
            raise self._refusal(
                "not_plain" if isinstance(err, NotRegularFile) else "too_large"
            ) from err
        except FileNotFoundError as err:
            if must_exist:
                raise self._refusal("gone") from err
            return _EMPTY
        except OSError as err:
            raise self._refusal("unreadable", why=err.strerror or str(err)) from err
        try:
            return content.decode()
        except UnicodeDecodeError as err:
            text = content[: err.start].decode()
            raise ConfigRejected(
                "not_utf8", location=source_location(text, len(text), self.path.name)
            ) from err

    def _refuse_open_mode(self, text: str) -> None:
        with suppress(OSError, json_source.JsonSyntaxError):
            mode = stat.S_IMODE(self.path.stat().st_mode)
            if mode & 0o077 and any(list_secrets(json_source.parse_config_json(text).value)):
                raise self._refusal("open_mode", mode=f"{mode:04o}", path=str(self.path))

    def _signature(self) -> FileSignature | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode

    def _refusal(self, fault: str, **words: str) -> ConfigRejected:
        return ConfigRejected(fault, location=SourceLocation(file=self.path.name), words=words)


def _typed_edits(name: str, text: str) -> list[ConfigEdit]:
    """Return the edits that set a dotted key to a typed value."""
    path, key = _find_key(name)
    value = parse_typed_value(key, text.strip())
    # replaced as a whole: a number that is left out gets its default again
    if key.form == "policies":
        return [(path, value)]
    return list(_leaves(value, path))


def _find_key(name: str) -> tuple[SettingSteps, ConfigKey]:
    path = tuple(name.strip().split("."))
    key = KEYS.get(path) if LIST_ITEM not in path else None
    above = KEYS.get(path[:1])
    if key is None and above and above.form == "policies":
        key = above
    if key is None:
        raise unknown_key_refusal(path)
    return path, key


def _leaves(value: Any, path: SettingSteps) -> Iterator[ConfigEdit]:
    """Yield every edit in a partial settings tree; a list is one value, and so are the numbers of
    the policies.
    """
    key = KEYS.get(path)
    if not isinstance(value, dict) or (key and key.form == "policies"):
        yield path, value
        return
    for name, inner in value.items():
        yield from _leaves(inner, (*path, name))


def _value_at(settings: Any, path: SettingSteps, default: Any) -> Any:
    for step in path:
        if not isinstance(settings, dict) or step not in settings:
            return default
        settings = settings[step]
    return settings


def _refuse_mask(value: Any, path: tuple[str | int, ...]) -> None:
    """Refuse a secret that is given in its masked form."""
    if isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            _refuse_mask(inner, (*path, step))
        return
    key = find_key(path)
    if key and key.secret and isinstance(value, str) and MASK_PATTERN.search(value):
        raise SettingError(path, ConfigRejected("masked", words={"key": key.name}))
