"""Replaces the text of a fold's section in the daily log, unless somebody has edited it."""

import hashlib

from memory.workspace.atomic_write import FileConflict
from memory.workspace.daily_log import MAX_TRIES, section_fold
from memory.workspace.files import SpaceFiles
from memory.workspace.safe_path import FileTooBig, PathRefused


def body_sha256(body: str) -> str:
    """A hash of a section's text that is the same with other line ends and blank lines around
    it.
    """
    plain = "\n".join(line.rstrip() for line in body.strip().splitlines())
    return hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()


def replace_body(files: SpaceFiles, path: str, fold: str, expected: str, body: str) -> bool:
    """Replace the text of a fold's section, atomically. Blocks.

    Args:
        expected: the `body_sha256` of the text that may be replaced.

    Returns:
        False if the section is gone or has another text: then the file stays as it is.

    Raises:
        OSError: the file could not be written.
    """
    for _ in range(MAX_TRIES):
        try:
            file = files.read(path, exact=True)
        except (FileNotFoundError, UnicodeDecodeError, PathRefused, FileTooBig):
            return False
        found = _find_body(file.text, fold)
        if found is None or body_sha256(file.text[slice(*found)]) != expected:
            return False
        end = "\r\n" if "\r\n" in file.text else "\n"
        behind = file.text[found[1] :]
        text = f"{end}{body.strip()}{end}{end if behind else ''}".replace("\r\n", "\n").replace(
            "\n", end
        )
        try:
            files.write(path, file.text[: found[0]] + text + behind, file.sha256)
        except FileConflict:
            continue
        return True
    raise OSError(f"{path} changes faster than it can be written")


def _find_body(text: str, fold: str) -> tuple[int, int] | None:
    """Where a section's text begins and ends: behind its heading, before the next one."""
    at, begin = 0, -1
    for line in text.splitlines(keepends=True):
        named = section_fold(line)
        if begin >= 0 and named is not None:
            return begin, at
        at += len(line)
        if named == fold:
            begin = at
    return (begin, len(text)) if begin >= 0 else None
