"""The page's built files are those of its source, its types those of the API, and both keep to
their bounds.
"""

import gzip
import json
import re

import pytest

from scripts.page_sums import LICENCES, SOURCE, STATIC, SUMS, page_sums
from scripts.page_types import TARGET, page_types
from tests.cases import every_case
from tests.conventions.sources import ROOT

MAX_BUILT_BYTES = 1_600_000
MAX_FIRST_BYTES, MAX_FIRST_REQUESTS = 90_000, 8  # with the words of one language
MAX_PAGE_BYTES = 40_000
MAX_BYTES_ON_USE = {"highlight": 30_000, "maths": 80_000}  # of what is loaded where a text has it
MAX_SOURCE_LINES, MAX_LINES = 14_000, 600
SOURCES = sorted(
    path for path in (SOURCE / "src").rglob("*") if path.suffix in (".ts", ".svelte", ".css")
)


def test_the_built_files_are_those_of_the_source() -> None:
    assert SUMS.read_text("utf-8") == page_sums(), "run make page"


def test_the_types_are_those_of_the_api() -> None:
    assert TARGET.read_text("utf-8") == page_types(), "run make page"


def test_the_lock_names_no_host_and_hashes_everything() -> None:
    packages = json.loads((SOURCE / "package-lock.json").read_text("utf-8"))["packages"]
    assert [name for name, package in packages.items() if "resolved" in package] == []
    assert [
        name
        for name, package in packages.items()
        if name and not package["integrity"].startswith("sha512-")
    ] == []
    node = (ROOT / "requirements-page.lock").read_text("utf-8")
    assert "--hash=sha256:" in node
    assert "://" not in node


def test_what_is_bundled_has_its_licence() -> None:
    text = LICENCES.read_text("utf-8")
    for name in json.loads((SOURCE / "package.json").read_text("utf-8"))["dependencies"]:
        assert f"\n{name}\n=" in f"\n{text}"


def first_files(part: str, language: str = "en") -> list[str]:
    """Paths of what a browser loads before a part of the page is there, below the folder of built
    files.
    """
    page = (STATIC / "index.html").read_text("utf-8")
    parts = json.loads((STATIC / "parts.json").read_text("utf-8"))
    code = [
        name
        for name in re.findall(r'(?:src|href)="/static/([^"]+)"', page)
        if not name.endswith(".svg")
    ]
    return ["index.html", *code, *parts[part], *parts[language]]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("part", ["chat", "settings", "people"])
def test_a_page_needs_few_and_small_files(part: str, language: str) -> None:
    names = first_files(part, language)
    assert len(names) <= MAX_FIRST_REQUESTS
    assert (
        sum(len(gzip.compress((STATIC / name).read_bytes())) for name in names) <= MAX_FIRST_BYTES
    )


def test_all_files_are_small() -> None:
    assert (
        sum(path.stat().st_size for path in STATIC.rglob("*") if path.is_file()) <= MAX_BUILT_BYTES
    )
    first = set(first_files("chat"))
    later = [
        path
        for path in STATIC.glob("assets/*.js")
        if path.relative_to(STATIC).as_posix() not in first
    ]
    assert later
    sizes = {path.name: len(gzip.compress(path.read_bytes())) for path in later}
    most = {name: MAX_BYTES_ON_USE.get(name.partition("-")[0], MAX_PAGE_BYTES) for name in sizes}
    assert [name for name, size in sizes.items() if size > most[name]] == []


# A text that becomes HTML, code or a style in the page would need a hole in its policy.
@every_case(
    "forbidden", [r"\{@html", r"\binnerHTML\b", r"\beval\(", r"new Function\(", r'\sstyle="']
)
def test_the_source_makes_nothing_from_text(forbidden: str) -> None:
    found = [path.name for path in SOURCES if re.search(forbidden, path.read_text("utf-8"))]
    assert found == []


def test_source_files_are_short() -> None:
    """Types are generated; unit tests and the words of the two languages do not count towards the
    whole.
    """
    lines = {
        str(path): path.read_text("utf-8").count("\n")
        for path in SOURCES
        if path.name != "types.ts"
    }
    assert {name: count for name, count in lines.items() if count > MAX_LINES} == {}
    apart = (".test.ts", "en.ts", "zh.ts")
    assert (
        sum(count for name, count in lines.items() if not name.endswith(apart)) <= MAX_SOURCE_LINES
    )
