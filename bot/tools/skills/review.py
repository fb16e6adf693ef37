"""What a person is shown of a skill before it is enabled, safe unpacking of one that comes as an
archive, and its place among the others.
"""

import re
import shutil
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from bot.tools.skills.library import MAX_FILES, NO_MAIN_FILE, SkillInvalid, parse_skill
from channels.phrases import NO_PHRASE, AnyPhrase, Phrase, untranslated
from memory.text.invisible import find_invisible, show_invisible

MAX_TOTAL_BYTES = 200 * 2**20
MAX_RATIO = 100
RATIO_FROM_BYTES = 2**20
SCRIPT_ENDINGS = (
    ".sh",
    ".bash",
    ".py",
    ".js",
    ".mjs",
    ".ts",
    ".rb",
    ".pl",
    ".ps1",
    ".bat",
    ".cmd",
    ".command",
)
_HOSTS = re.compile(r"https?://([A-Za-z0-9.-]+)")
# Lines that a reviewer has to see, the worst first: text that is run, changed rules, "install this
# first", downloads.
_FLAGS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\|\s*(?:ba|z|da)?sh\b|base64\s+(?:-d|--decode)|\beval(?:\s*\(|\s+[\"'$`])|invoke-expression|\biex\b",
        r"ignore\s+(?:all|previous)|do\s+not\s+tell|不要告诉|忽略(?:之前|以上)",
        r"first\s+(?:run|install)|先(?:运行|安装)|\b(?:pip|npm|apt|brew)\s+install\b",
        r"\bcurl\b|\bwget\b",
    )
)
MAX_FLAGGED = 30
LINK = Phrase("{name} is a link or a device")


def read_folder(folder: Path) -> dict[str, bytes]:
    """Read a folder's files by their paths below it.

    Raises:
        SkillInvalid: a link or a device in it, or too much.
    """
    contents: dict[str, bytes] = {}
    total = 0
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        if stat.S_ISDIR(status.st_mode):
            continue
        if not stat.S_ISREG(status.st_mode):
            raise SkillInvalid(LINK.fill(name=path.relative_to(folder)))
        total += status.st_size
        if len(contents) >= MAX_FILES or total > MAX_TOTAL_BYTES:
            raise SkillInvalid(Phrase("it is too large for a skill"))
        contents[path.relative_to(folder).as_posix()] = path.read_bytes()
    return contents


def write_skill(target: Path, contents: Mapping[str, bytes]) -> None:
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


def read_archive(source: Path | IO[bytes], max_bytes: int = MAX_TOTAL_BYTES) -> dict[str, bytes]:
    """Read a ZIP's files without writing any; a single top folder is left out of their paths.

    Args:
        max_bytes: of all files, unpacked.

    Raises:
        SkillInvalid: names that leave it, links, more than it may hold, or no archive at all.
    """
    contents: dict[str, bytes] = {}
    folded: set[str] = set()
    total = 0
    try:
        with zipfile.ZipFile(source) as archive:
            for entry in archive.infolist():
                if entry.is_dir():
                    continue
                name = _check_entry(entry)
                total += entry.file_size
                if len(contents) >= MAX_FILES or total > max_bytes:
                    raise SkillInvalid(Phrase("it unpacks to more than a skill may contain"))
                if (
                    entry.file_size > RATIO_FROM_BYTES
                    and entry.file_size > entry.compress_size * MAX_RATIO
                ):
                    raise SkillInvalid(
                        Phrase("{name} unpacks to far more than it should", name=name)
                    )
                if name.casefold() in folded:
                    raise SkillInvalid(Phrase("{name} occurs twice", name=name))
                folded.add(name.casefold())
                with archive.open(entry) as file:
                    contents[name] = file.read(entry.file_size + 1)
                if len(contents[name]) != entry.file_size:
                    raise SkillInvalid(
                        Phrase("{name} is not as large as the archive says", name=name)
                    )
    # a RuntimeError also if it is not implemented
    except (zipfile.BadZipFile, RuntimeError, OSError, EOFError) as err:
        raise SkillInvalid(Phrase("it is not a readable ZIP archive")) from err
    return _without_top(contents)


def _check_entry(entry: zipfile.ZipInfo) -> str:
    name, mode = entry.filename, entry.external_attr >> 16
    parts = name.split("/")
    if (
        name.startswith("/")
        or "\\" in name
        or "\0" in name
        or any(part in ("", ".", "..") for part in parts)
    ):
        raise SkillInvalid(Phrase("{name!r} is not a path inside the archive", name=name))
    if mode and not stat.S_ISREG(mode) and stat.S_IFMT(mode):
        raise SkillInvalid(LINK.fill(name=name))
    return name


def _without_top(contents: Mapping[str, bytes]) -> dict[str, bytes]:
    tops = {name.partition("/")[0] for name in contents}
    if len(tops) == 1 and all("/" in name for name in contents):
        return {name.partition("/")[2]: data for name, data in contents.items()}
    return dict(contents)


def review(
    name: str, contents: Mapping[str, bytes], installed: Mapping[str, bytes] | None = None
) -> list[AnyPhrase]:
    """Return what a person has to see before they enable a skill: files, scripts, hosts, suspicious
    lines.

    Pure.

    Raises:
        SkillInvalid: it is no skill of that name.
    """
    if "SKILL.md" not in contents:
        raise SkillInvalid(NO_MAIN_FILE)
    description, body = parse_skill(name, contents["SKILL.md"].decode("utf-8", "replace"))
    files = Phrase("{count} file", "{count} files", count=len(contents))
    lines: list[AnyPhrase] = [
        Phrase("Skill {name}: {description}", name=name, description=description),
        Phrase("{characters:,} characters of instructions, {files}:").fill(
            characters=len(body), files=files
        ),
    ]
    for path, data in contents.items():
        line = Phrase("  {path} ({size:,} bytes){change}", path=path, size=len(data))
        lines.append(line.fill(change=_change(path, data, installed)))

    if scripts := [path for path in contents if path.lower().endswith(SCRIPT_ENDINGS)]:
        lines.append(Phrase("Scripts: {names}", names=", ".join(scripts)))
    texts = {
        path: data.decode("utf-8", "replace")
        for path, data in contents.items()
        if b"\0" not in data[:4096]
    }
    if hosts := sorted({host for text in texts.values() for host in _HOSTS.findall(text)}):
        lines.append(Phrase("Hosts it names: {names}", names=", ".join(hosts[:MAX_FLAGGED])))
    if suspicious := _suspicious_lines(texts):
        lines += [Phrase("Check these lines:"), *map(untranslated, suspicious[:MAX_FLAGGED])]
    return lines


def _suspicious_lines(texts: Mapping[str, str]) -> list[str]:
    """Return the lines that a reviewer should look at, each with its place, the worst first."""
    rated = []
    for path, text in texts.items():
        for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
            severity = _severity(line)
            if severity is not None:
                shown = show_invisible(line.strip())[:200]
                rated.append((severity, f"  {path}:{number}: {shown}"))
    rated.sort(key=lambda entry: entry[0])
    return [shown for _, shown in rated]


def _severity(line: str) -> int | None:
    """Return how bad a line looks, 0 for the worst; None for one that a reviewer need not look
    at.
    """
    if find_invisible(line):
        return 0
    return next((place for place, flag in enumerate(_FLAGS, start=1) if flag.search(line)), None)


def _change(path: str, data: bytes, installed: Mapping[str, bytes] | None) -> Phrase:
    if installed is None:
        return NO_PHRASE
    if path not in installed:
        return Phrase(" new")
    return NO_PHRASE if installed[path] == data else Phrase(" changed")
