"""The Python in the pages runs as it stands there, and prints what they say it prints."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conventions.sources import ROOT

PAGES = ["docs/memory.md", "docs/memory.zh-CN.md"]
EXAMPLE = re.compile(
    r"^```python\n(?P<code>.*?)^```\n\n```text\n(?P<printed>.*?)^```$", re.MULTILINE | re.DOTALL
)
STARTED = re.compile(r"^```python$", re.MULTILINE)


def examples(page: str) -> list[tuple[str, str]]:
    """Each example of a page and what it is said to print."""
    return [
        (found["code"], found["printed"])
        for found in EXAMPLE.finditer((ROOT / page).read_text("utf-8"))
    ]


@pytest.mark.parametrize("page", PAGES)
def test_every_example_is_followed_by_what_it_prints(page: str) -> None:
    assert len(STARTED.findall((ROOT / page).read_text("utf-8"))) == len(examples(page)) > 0


@pytest.mark.parametrize(
    ("code", "printed"),
    [
        pytest.param(*example, id=f"{page}-{at}")
        for page in PAGES[:1]
        for at, example in enumerate(examples(page))
    ],
)
def test_an_example_runs_and_prints_what_is_said(tmp_path: Path, code: str, printed: str) -> None:
    path = {"PYTHONPATH": str(ROOT), "PATH": "", "PYTHONIOENCODING": "utf-8"}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=path,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    assert (ran.stdout, ran.stderr) == (printed, "")


def test_both_languages_have_the_same_examples() -> None:
    assert examples(PAGES[0]) == examples(PAGES[1])
