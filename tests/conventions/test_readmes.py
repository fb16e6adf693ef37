"""The pages for people: both languages say the same, and what they name is there."""

import re

import pytest

from bot.commands.router import COMMANDS
from bot.config.schema import Config
from bot.telemetry.metrics import METRIC_TABLE
from bot.tools.registry import default_tool_specs
from tests.cases import every_case
from tests.conventions.sources import ROOT

LANGUAGES = ["README.md", "README.zh-CN.md"]
METRICS = ["docs/metrics.md", "docs/metrics.zh-CN.md"]
COMMAND_PAGES = ["docs/commands.md", "docs/commands.zh-CN.md"]
SETTINGS = ["docs/configuration.md", "docs/configuration.zh-CN.md"]
DECISIONS = ROOT / "docs" / "decisions"  # for developers, in English only
# Pages that exist in English and in Chinese.
DOCUMENTS = [
    [
        path.relative_to(ROOT).as_posix(),
        path.relative_to(ROOT).as_posix().replace(".md", ".zh-CN.md"),
    ]
    for path in sorted((ROOT / "docs").rglob("*.md"))
    if not path.name.endswith(".zh-CN.md") and path.parent != DECISIONS
]
PAGES = [
    *LANGUAGES,
    *(page for pages in DOCUMENTS for page in pages),
    *(path.relative_to(ROOT).as_posix() for path in sorted(DECISIONS.glob("*.md"))),
    "CONTRIBUTING.md",
    "tests/README.md",
    "THIRD_PARTY.md",
    "workspace/README.md",
]
PARTS = re.compile(r"^(#+ |```\w*|\| `[^`]*`|!\[|<!-- \w+ -->|\d\. )", re.MULTILINE)
PATHS = re.compile(
    r"`((?:bot|channels|memory|tests|docs|deploy)/[\w./-]*)`|\]\((?!http)([\w./-]+)\)"
)
# how the diary's files and the nights' begin, which are in no tree
OF_A_HOME = ("memory/20", "memory/dreams/20")


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


@every_case("pages", [LANGUAGES, *DOCUMENTS])
def test_both_languages_have_the_same_parts(pages: list[str]) -> None:
    english, chinese = (PARTS.findall(read(page)) for page in pages)
    assert english == chinese


@every_case("page", PAGES)
def test_every_path_a_page_names_is_there(page: str) -> None:
    found = [
        (ROOT, inside) if inside else ((ROOT / page).parent, linked)
        for inside, linked in PATHS.findall(read(page))
    ]
    named = [folder / path for folder, path in found if not path.startswith(OF_A_HOME)]
    assert not [path for path in named if not path.exists()]


@pytest.mark.parametrize("page", COMMAND_PAGES)
def test_every_slash_command_is_explained(page: str) -> None:
    assert not [name for name in COMMANDS if f"`/{name}`" not in read(page)]


@pytest.mark.parametrize("page", SETTINGS)
def test_every_key_of_the_table_is_a_setting(page: str) -> None:
    table = read(page).split("| `agent_max_context_tokens`")[1].split("\n\n")[0]
    cells = [row.split("|")[1] for row in table.splitlines()[1:]]
    keys = {key.split(".")[0] for cell in cells for key in re.findall(r"`([a-z_.]+)`", cell)}
    assert keys
    assert keys <= set(Config.model_fields)


@pytest.mark.parametrize("page", METRICS)
def test_every_metric_is_explained(page: str) -> None:
    named = set(
        re.findall(r"`([a-z_]+)[`{]", read(page).split("scrape_configs")[1].split("alert:")[0])
    )
    assert not [one.name for one in METRIC_TABLE if one.name not in named]


def test_every_tool_that_can_be_switched_off_is_named() -> None:
    tools = tuple(spec.name for spec in default_tool_specs())
    for page in SETTINGS:
        row = next(line for line in read(page).splitlines() if line.startswith("| `tools.off`"))
        assert tuple(re.findall(r"`([a-z]\w+)`", row)) == tools
