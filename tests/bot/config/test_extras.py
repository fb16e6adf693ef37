"""The command for a missing extra: it exists, and it installs what is missing."""

import re
import shutil
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from bot.config.extras import install_command
from tests.conventions.sources import ROOT

DECLARED = [
    "structlog>=25",
    "numpy>=2; extra == 'embeddings'",
    "sentence-transformers>=5; extra == 'embeddings'",
    "psycopg[binary]>=3.2; extra == 'scale'",
    "numpy>=2; extra == 'vectors'",
    'uvloop>=1; sys_platform != "win32" and extra == "quick"',
]


def checkout(folder: Path) -> Path:
    (folder / "Makefile").touch()
    (folder / "requirements-vectors.lock").touch()
    return folder


def test_a_checkout_is_told_the_make_command(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    assert (
        install_command("vectors", root, f"{root}/.venv") == f"make -C {root} extras NAME=vectors"
    )


@pytest.mark.parametrize(
    ("extra", "packages"),
    [
        ("vectors", "'numpy>=2'"),
        ("embeddings", "'numpy>=2' 'sentence-transformers>=5'"),
        ("scale", "'psycopg[binary]>=3.2'"),
        ("quick", "'uvloop>=1'"),
    ],
)
def test_an_installed_package_is_told_what_pip_has_to_install(
    tmp_path: Path, extra: str, packages: str
) -> None:
    told = install_command(extra, tmp_path, "/opt/mnema", lambda name: DECLARED)
    assert told == f"/opt/mnema/bin/python -m pip install {packages}"


def test_a_checkout_that_another_interpreter_runs_is_told_pip(tmp_path: Path) -> None:
    told = install_command("vectors", checkout(tmp_path), "/opt/mine", lambda name: DECLARED)
    assert told == "/opt/mine/bin/python -m pip install 'numpy>=2'"


def test_a_checkout_that_is_not_installed_is_told_the_command_all_the_same(tmp_path: Path) -> None:
    def unknown(name: str) -> list[str]:
        raise PackageNotFoundError(name)

    assert "pip install" in install_command("vectors", tmp_path, "/usr", unknown)


def test_every_extra_that_a_message_names_can_be_installed_by_name() -> None:
    sources = "".join(path.read_text("utf-8") for path in sorted((ROOT / "bot").rglob("*.py")))
    named = set(re.findall(r"install_command\('(\w+)'\)", sources)) | {"vectors", "embeddings"}
    assert named == {"vectors", "embeddings", "web", "scale", "otel", "mcp", "passkeys"}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    assert named <= set(extras)
    assert all((ROOT / f"requirements-{extra}.lock").is_file() for extra in named)
    assert "pip install mnema" not in sources.replace("'", "")


def test_an_unknown_extra_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "setup.sh", tmp_path / "scripts")
    ran = subprocess.run(
        ["scripts/setup.sh", "extra", "vector"], cwd=tmp_path, capture_output=True, text=True
    )
    assert ran.returncode == 2
    assert "name vectors, embeddings, web, mcp, scale, otel or passkeys" in ran.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scripts"]
