"""Writes static/BUILT, the SHA-256 sums of the page's source, lock and built files, and the
licences of what is in it.

A test compares the sums, so a stale build is noticed without Node. Run by scripts/page.sh.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE, STATIC = ROOT / "channels/web/ui", ROOT / "channels/web/static"
SUMS, LICENCES = STATIC / "BUILT", STATIC / "LICENSES.txt"
NOT_SOURCE = {"node_modules", ".svelte-kit"}
BUNDLED = (
    "svelte",
    "clsx",
    "marked",
    "dompurify",
    "highlight.js",
    "katex",
    "uplot",
)  # packages of which the built files hold code
LICENCE_NAMES = ("LICENSE", "LICENSE.md", "license")


def page_sums() -> str:
    """Return one line for each file: its sum and its path."""
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(ROOT).as_posix()}\n"
        for path in _files()
    )


def _files() -> Iterator[Path]:
    for folder in (SOURCE, STATIC):
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder).parts
            if path.is_file() and path != SUMS and NOT_SOURCE.isdisjoint(inside):
                yield path


def licence_texts() -> str:
    """Return the licences of the bundled packages."""
    texts = []
    for name in BUNDLED:
        folder = SOURCE / "node_modules" / name
        file = next(folder / licence for licence in LICENCE_NAMES if (folder / licence).is_file())
        texts.append(f"{name}\n{'=' * len(name)}\n\n{file.read_text('utf-8').strip()}\n")
    return "\n\n".join(texts)


if __name__ == "__main__":
    LICENCES.write_text(licence_texts(), "utf-8")
    SUMS.write_text(page_sums(), "utf-8")
