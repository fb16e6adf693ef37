"""Former versions of files: what is forgotten leaves them too, and a removed person takes theirs
along.
"""

from pathlib import Path

import pytest

from memory.failpoints import FailpointError, arm
from memory.forgetting.blob_references import referenced_blobs
from memory.forgetting.person_removal import PersonRemoval
from memory.forgetting.versions import forget_versions
from memory.store.automation.file_versions import NewFileVersion
from memory.store.longterm.rows import ForgetTargets
from memory.store.people.rows import Person
from tests.memory.forgetting.conftest import SeededHome

CANARY = "zanzibar4711"
TARGETS = ForgetTargets(query=CANARY, row="r", items=())


async def keep(
    home: SeededHome, text: str, path: str = "notes/x.md", space: str = "", call: str = "call"
) -> str:
    sha256 = home.blobs.put(text.encode())
    version = NewFileVersion(path=path, sha256=sha256, size=len(text))
    await home.store.file_versions.keep(space, call, [version])
    return sha256


async def paths(home: SeededHome, space: str = "") -> list[str]:
    return [row.path for row in await home.store.file_versions.load_all(space)]


async def test_a_version_that_mentions_it_is_found_and_gone_and_the_others_stay(
    home: SeededHome,
) -> None:
    await keep(home, f"The safe opens with {CANARY}.\nTea is green.\n")
    await keep(home, "Tea is green.\n", "other.md")
    asker, code = await home.ask(CANARY)
    found = await home.forgetter.find("", CANARY)
    assert [(item.kind, item.path) for item in found if item.kind == "version"] == [
        ("version", "notes/x.md")
    ]
    row = await home.forgetter.find_request(asker, code)
    assert row is not None
    await home.forgetter.confirm(row)
    assert home.holds(CANARY) == []
    assert await paths(home) == ["other.md"]


async def test_a_version_of_another_space_with_the_same_bytes_stays(home: SeededHome) -> None:
    name = await keep(home, f"{CANARY} here", space="telegram-7")
    assert await keep(home, f"{CANARY} here", call="other") == name
    assert await forget_versions(home.store, home.blobs, "", TARGETS) == 1
    assert home.blobs.has(name)
    assert await paths(home, "telegram-7") == ["notes/x.md"]
    assert await forget_versions(home.store, home.blobs, "telegram-7", TARGETS) == 1
    assert not home.blobs.has(name)


async def test_what_a_crash_left_is_finished(home: SeededHome) -> None:
    name = await keep(home, f"{CANARY} here")
    home.blobs.remove(name)  # the bytes were gone, the row was not
    assert await forget_versions(home.store, home.blobs, "", TARGETS) == 1
    assert await paths(home) == []


async def test_a_version_is_referred_to(home: SeededHome) -> None:
    name = await keep(home, "tea")
    assert name in await referenced_blobs(home.store)


@pytest.mark.parametrize("point", ["", "forget.in_txn"])
async def test_a_removed_person_takes_theirs_along(
    home: SeededHome, tmp_path: Path, point: str
) -> None:
    mine = await keep(home, "mine")
    theirs = await keep(home, "theirs", space="telegram-7")
    both = await keep(home, "both", space="telegram-7", path="b.md")
    await keep(home, "both", path="b.md", call="other")

    async def forget_index(space: str) -> None: ...

    removal = PersonRemoval(
        store=home.store,
        root=home.workspace,
        blobs=home.blobs,
        data=tmp_path / "data",
        forget_index=forget_index,
    )
    (home.workspace / "spaces" / "telegram-7").mkdir(parents=True)
    person = Person(spaces=("telegram-7",), accounts=("telegram:7",))
    if point:
        arm({"MNEMA_TEST": "1", "MNEMA_FP": f"{point}:raise"})
        with pytest.raises(FailpointError):
            await removal.remove(person, "owner")
        arm({})
        await removal.resume()
    else:
        await removal.remove(person, "owner")
    assert await paths(home, "telegram-7") == []
    assert not home.blobs.has(theirs)
    assert home.blobs.has(mine)
    assert home.blobs.has(both)
