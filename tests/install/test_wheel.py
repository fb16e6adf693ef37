"""The wheel and the source archive: what is in them, and that the program works from them alone.

No network.
"""

import zipfile
from pathlib import Path

from tests.conventions.sources import ROOT
from tests.install.environments import Built, build_wheel_of_tree, empty_environ, run, use

PACKAGES = ("bot", "channels", "memory")
INFO = "mnema_bot-0.2.0.dist-info"
SHIPPED_LOCKS = {
    f"bot/locks/requirements{extra}.lock"
    for extra in ("", "-embeddings", "-mcp", "-otel", "-passkeys", "-scale", "-vectors", "-web")
}


def contents(wheel: Path) -> dict[str, bytes]:
    """Each file by its path; of the record only that it is there, for it repeats the others."""
    with zipfile.ZipFile(wheel) as archive:
        return {
            name: archive.read(name) for name in archive.namelist() if not name.endswith("RECORD")
        }


def test_the_wheel_holds_the_three_packages_as_they_are_and_nothing_beside_them(
    built: Built,
) -> None:
    files = contents(built.wheel)
    assert {name.partition("/")[0] for name in files} == {*PACKAGES, INFO}
    tracked = run(
        "git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", *PACKAGES
    ).splitlines()
    wanted = {
        name
        for name in tracked
        if not name.startswith("channels/web/ui/") and (ROOT / name).is_file()
    }
    assert {name for name in files if not name.startswith(INFO)} == wanted | SHIPPED_LOCKS
    assert [name for name in wanted if files[name] != (ROOT / name).read_bytes()] == []
    assert [
        name for name in SHIPPED_LOCKS if files[name] != (ROOT / Path(name).name).read_bytes()
    ] == []
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(files)
    assert {"memory/templates/SOUL.zh.md", "channels/web/static/index.html"} <= set(files)
    for command in (b"mnema", b"mnema-bot"):  # uvx mnema-bot runs the second
        assert command + b" = bot.cli.main:main\n" in files[f"{INFO}/entry_points.txt"]
    assert b"Name: mnema-bot\nVersion: 0.2.0\n" in files[f"{INFO}/METADATA"]


def test_the_source_archive_builds_the_same_wheel_as_the_tree(built: Built, tmp_path: Path) -> None:
    """What a release uploads is built from the archive."""
    assert contents(build_wheel_of_tree(tmp_path)) == contents(built.wheel)


def test_the_program_works_from_the_wheel_alone(environment: Path, tmp_path: Path) -> None:
    python = environment / "bin" / "python"
    environ = empty_environ(tmp_path / "home")
    where = run(str(python), "-c", "import bot; print(bot.__file__)", environ=environ, cwd=tmp_path)
    assert where.startswith(str(environment))
    use(environment / "bin" / "mnema", environ, tmp_path / "elsewhere")


def test_the_wheel_types_and_locks_are_found_where_it_is_installed(
    environment: Path, tmp_path: Path
) -> None:
    command = str(environment / "bin" / "mnema")
    environ = empty_environ(tmp_path / "home")
    assert "+ mcp" in run(command, "extras", environ=environ, cwd=tmp_path)
    refused = run(command, "extras", "add", "embeddings", environ=environ, cwd=tmp_path, code=1)
    assert "no terminal to ask for confirmation; pass --yes" in refused
    unknown = run(command, "extras", "add", "vector", environ=environ, cwd=tmp_path, code=2)
    assert "vectors, embeddings, web" in unknown
