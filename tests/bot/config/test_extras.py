"""The installed program: who installed it, which extras it has, and the command that a message
names for one.
"""

import importlib
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.config.extras import (
    EXTRAS,
    Installer,
    find_installer,
    has_locked_versions,
    install_command,
    lock_file,
    locked_packages,
    present_extras,
)
from tests.conventions.sources import ROOT


def environment(folder: Path, mark: str = "") -> Path:
    """A prefix, with the file that its package manager leaves in it."""
    prefix = folder / "environment"
    prefix.mkdir()
    if mark:
        (prefix / mark).touch()
    return prefix


@pytest.mark.parametrize(
    ("mark", "environ", "has_pip", "installer"),
    [
        ("uv-receipt.toml", {}, False, Installer.UV_TOOL),
        ("pipx_metadata.json", {}, True, Installer.PIPX),
        ("", {}, True, Installer.PIP),
        ("", {}, False, Installer.UV),
        ("", {"MNEMA_CONTAINER": "1"}, True, Installer.CONTAINER),
    ],
)
def test_who_installed_it_is_read_from_its_environment(
    tmp_path: Path, mark: str, environ: Mapping[str, str], has_pip: bool, installer: Installer
) -> None:
    assert (
        find_installer(environment(tmp_path, mark), tmp_path, environ, has_pip=has_pip) is installer
    )


@pytest.mark.parametrize(
    ("settings", "is_cached", "installer"),
    [
        ("uv = 0.13.8\nrelocatable = true\n", True, Installer.UVX),
        ("uv = 0.13.8\nrelocatable = true\n", False, Installer.UV),
        ("uv = 0.13.8\n", True, Installer.UV),  # a session of nox, for example
        ("version = 3.11.7\n", True, Installer.UV),
        ("", True, Installer.UV),
    ],
)
def test_an_environment_of_uvs_cache_is_run_by_uvx(
    tmp_path: Path, settings: str, is_cached: bool, installer: Installer
) -> None:
    prefix = environment(tmp_path, "pyvenv.cfg")
    (prefix / "pyvenv.cfg").write_text(settings)
    if is_cached:
        (tmp_path / "CACHEDIR.TAG").touch()
    assert find_installer(prefix, tmp_path, {}, has_pip=False) is installer


def test_a_checkout_is_one_only_with_its_own_environment(tmp_path: Path) -> None:
    (tmp_path / "Makefile").touch()
    assert find_installer(tmp_path / ".venv", tmp_path, {}) is Installer.CHECKOUT
    assert find_installer(environment(tmp_path), tmp_path, {}, has_pip=True) is Installer.PIP


def test_a_message_names_the_command_of_the_checkout_or_ours() -> None:
    assert install_command("vectors", Installer.CHECKOUT) == f"make -C {ROOT} extras NAME=vectors"
    managers = (Installer.UV_TOOL, Installer.PIPX, Installer.PIP, Installer.UV)
    assert {install_command("vectors", one) for one in managers} == {"mnema extras add vectors"}


def test_a_message_names_no_command_that_an_image_or_uvx_refuses() -> None:
    of_uvx = install_command("vectors", Installer.UVX)
    assert of_uvx == "uv tool install mnema-bot && mnema extras add vectors"
    of_image = install_command("vectors", Installer.CONTAINER)
    found = re.fullmatch(r'docker build --build-arg EXTRAS="([a-z ]+)" .*', of_image)
    assert found
    assert sorted(found[1].split()) == sorted({*present_extras(), "vectors"})


def distribution(folder: Path, name: str, version: str, *requirements: str) -> None:
    """What an installed package leaves of itself."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {requirement}" for requirement in requirements]
    (info / "METADATA").write_text("\n".join([*lines, "", ""]))


def test_an_extra_without_packages_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distribution(tmp_path, "mnema-bot", "9.0", 'numpy>=2; extra == "vectors"')
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert present_extras() == []
    distribution(tmp_path, "numpy", "2.0")
    importlib.invalidate_caches()
    assert present_extras() == ["vectors"]


def test_other_versions_than_the_locked_ones_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pins = [pin for pin in locked_packages(lock_file("vectors")) if pin.startswith("numpy==")]
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert has_locked_versions("vectors")  # what is not installed is not of another version
    distribution(tmp_path, "numpy", "1.0")
    importlib.invalidate_caches()
    assert not has_locked_versions("vectors")
    for pin in pins:  # one for each version of Python
        (tmp_path / "numpy-1.0.dist-info" / "METADATA").write_text(
            f"Metadata-Version: 2.4\nName: numpy\nVersion: {pin.partition('==')[2]}\n\n"
        )
        assert has_locked_versions("vectors")


def test_every_extra_is_declared_locked_and_explained() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = set(project["optional-dependencies"]) - {"all", "build", "dev", "openai"}
    assert set(EXTRAS) == declared
    assert all(locked_packages(lock_file(extra)) for extra in EXTRAS)
    assert all(about.text("zh") != about.text("en") for about in EXTRAS.values())
    sources = "".join(path.read_text("utf-8") for path in sorted((ROOT / "bot").rglob("*.py")))
    assert set(re.findall(r"install_command\('(\w+)'\)", sources)) <= declared


def test_no_text_sends_anybody_to_a_package_of_another_person() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bot").rglob("*.py")]
    wrong = re.compile(r"(?:pip|uv tool|pipx) install (?:-\S+ )*['\"]?mnema(?![-\w])")
    faults = {
        f"{page.relative_to(ROOT)}: {found[0]}"
        for page in pages
        for found in wrong.finditer(page.read_text("utf-8"))
    }
    assert faults <= {
        f"{page}: pip install mnema"
        for page in ("docs/install.md", "docs/install.zh-CN.md", "README.md", "README.zh-CN.md")
    }


def test_an_unknown_extra_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "setup.sh", tmp_path / "scripts")
    ran = subprocess.run(
        ["scripts/setup.sh", "extra", "vector"], cwd=tmp_path, capture_output=True, text=True
    )
    assert ran.returncode == 2
    assert "name vectors, embeddings, web, mcp, scale, otel or passkeys" in ran.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scripts"]
