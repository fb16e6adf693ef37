"""A skill is uploaded for review: shown first, stored off, and refused where it may do harm."""

import base64
import io
import stat
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.console.wizards.routes import wizard_routes
from bot.console.wizards.skills import MAX_FILE_BYTES, SkillWizard
from bot.tools.skills.library import EnabledSkill
from tests.bot.console.wizards.walking import Walk, texts
from tests.bot.inside import Inside, inside
from tests.channels.web.server import ScriptedBot, running

SKILL = (
    "---\nname: tea\ndescription: How to make tea.\n---\nBoil water. See https://tea.example.org\n"
)


def packed(*files: tuple[str, bytes], mode: int = 0) -> str:
    """A ZIP as the page sends it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = mode << 16
            archive.writestr(entry, data)
    return base64.b64encode(out.getvalue()).decode()


def plain(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


class Bench:
    def __init__(self, it: Inside, walk: Walk) -> None:
        self.it, self.walk = it, walk
        self.folder = it.bot.home.workspace / "skills"

    @property
    def enabled(self) -> list[str]:
        return [skill.name for skill in self.it.bot.skills.library.enabled("")]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with inside(tmp_path, []) as it:
        bot = it.bot
        wizard = SkillWizard(
            library=bot.skills.library, store=bot.store, workspace=bot.home.workspace
        )
        async with running(ScriptedBot(), wizard_routes([wizard])) as site, site.client() as client:
            yield Bench(it, Walk(client, "skill"))


async def test_a_skill_is_shown_then_stored_and_off(bench: Bench) -> None:
    assert bench.it.bot.skills.library.all() == ()
    shown = await bench.walk.done("test", "file", file=plain(SKILL))
    assert texts(shown)["name"] == "tea"
    assert "Hosts it names: tea.example.org" in texts(shown)["contents"]
    assert list(bench.folder.iterdir()) == []
    ended = await bench.walk.done("finish", "file", file=plain(SKILL))
    assert ended["path"] == "/skills/tea"
    assert (bench.folder / "tea" / "SKILL.md").read_text() == SKILL
    assert [skill.name for skill in bench.it.bot.skills.library.all()] == ["tea"]
    assert bench.enabled == []
    acts = await bench.it.bot.store.audit.acts(10)
    assert ("skill", "tea", "added") in [(row.action, row.subject, row.result) for row in acts]


async def test_an_archive_keeps_its_files_and_another_version_turns_a_skill_off(
    bench: Bench,
) -> None:
    first = packed(("tea/SKILL.md", SKILL.encode()), ("tea/pour.sh", b"echo pour\n"))
    await bench.walk.done("finish", "file", file=first)
    assert (bench.folder / "tea" / "pour.sh").read_bytes() == b"echo pour\n"
    library = bench.it.bot.skills.library
    [skill] = library.all()
    library.state.set("tea", EnabledSkill(sha256=skill.sha256))
    assert bench.enabled == ["tea"]
    second = packed(("tea/SKILL.md", SKILL.encode()), ("tea/pour.sh", b"echo spill\n"))
    shown = texts(await bench.walk.done("test", "file", file=second))
    assert "pour.sh (11 bytes) changed" in shown["contents"]
    await bench.walk.done("finish", "file", file=second)
    assert bench.enabled == []


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("", "fill in"),
        ("no base64", "choose it again"),
        (plain("no head"), "must begin with a header"),
        (plain(SKILL.replace("name: tea", "name: ../tea")), "lower-case letters"),
        (packed(("readme.txt", b"x")), "must begin with a header"),
        (packed(("SKILL.md", SKILL.encode()), ("../../evil", b"x")), "not a path inside"),
        (packed(("SKILL.md", SKILL.encode()), ("/etc/evil", b"x")), "not a path inside"),
        (packed(("SKILL.md", SKILL.encode()), mode=stat.S_IFLNK | 0o777), "a link"),
        (packed(("SKILL.md", b"0" * 30_000_000)), "more than a skill may contain"),
        (packed(("SKILL.md", SKILL.encode()), ("a", b"0" * 9_000_000)), "far more than it should"),
        (base64.b64encode(b"PK broken").decode(), "not a readable ZIP"),
        (base64.b64encode(b"x" * (MAX_FILE_BYTES + 1)).decode(), "At most 2 MB"),
    ],
)
async def test_what_may_do_harm_is_refused_and_nothing_is_stored(
    bench: Bench, file: str, why: str
) -> None:
    for step in ("test", "finish"):
        error = await bench.walk.refused(step, "file", file=file)
        assert why in error["message"]
        assert error["field"] == "file"
    assert list(bench.folder.iterdir()) == []


async def test_a_far_too_large_file_is_not_even_read(bench: Bench) -> None:
    answer = await bench.walk.send("test", "file", file="x" * (MAX_FILE_BYTES * 5))
    assert answer.status_code == 413
