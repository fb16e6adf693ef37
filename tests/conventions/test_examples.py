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
RUNNING = """
import runpy, sys
for file in sys.argv[1:]:
    runpy.run_path(file, run_name="__main__")
    print("--")
"""
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


def test_each_example_runs_and_prints_what_is_said(tmp_path: Path) -> None:
    """In one process, for to import the store takes a second of a core; each as a program."""
    files = []
    for at, (code, _) in enumerate(examples(PAGES[0])):
        files.append(tmp_path / f"{at}.py")
        files[-1].write_text(code, "utf-8")
    path = {"PYTHONPATH": str(ROOT), "PATH": "", "PYTHONIOENCODING": "utf-8"}
    ran = subprocess.run(
        [sys.executable, "-c", RUNNING, *files],
        cwd=tmp_path,
        env=path,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    printed = "".join(f"{printed}--\n" for _, printed in examples(PAGES[0]))
    assert (ran.stdout, ran.stderr) == (printed, "")


def test_both_languages_have_the_same_examples() -> None:
    assert examples(PAGES[0]) == examples(PAGES[1])
