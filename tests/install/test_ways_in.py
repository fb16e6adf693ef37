"""Each way in with its real package manager, in an environment that holds nothing else. By night.

The packages come from a folder of wheels made from the lock; no index is asked after it is filled.
By day `test_wheel.py` tries the wheel beside the locked packages.
"""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.by_night import by_night
from tests.conventions.sources import ROOT
from tests.conventions.test_deploy import steps
from tests.install.environments import Built, empty_environ, run, use

pytestmark = by_night


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheels of the core's lock; MNEMA_WHEELS names one that is there already."""
    if given := os.environ.get("MNEMA_WHEELS"):
        return Path(given)
    folder = tmp_path_factory.mktemp("wheels")
    lock = str(ROOT / "requirements.lock")
    run(
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--require-hashes",
        "--no-deps",
        "-r",
        lock,
        "-d",
        str(folder),
    )
    return folder


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder for the path with uv in it, and nothing else of ours."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in ("uv", "uvx"):
        shutil.copy(Path(sys.executable).parent / name, folder)
    return folder


@pytest.fixture
def environ(tmp_path: Path, tools: Path, wheels: Path) -> dict[str, str]:
    """No index for uv and pip: only the folder of wheels."""
    settings = tmp_path / "uv.toml"
    settings.write_text(f'no-index = true\nfind-links = ["{wheels}"]\n')
    uv = {"UV_CONFIG_FILE": str(settings), "UV_PYTHON": _python(), "UV_PYTHON_DOWNLOADS": "never"}
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PIP_CONFIG_FILE": os.devnull}
    return empty_environ(
        tmp_path / "home", tools, tmp_path / "home" / ".local" / "bin", **uv, **pip
    )


def _python() -> str:
    """The interpreter that our environment was made from."""
    return str(Path(sys.base_prefix) / "bin" / "python3")


def test_uvx_chats_without_installing(
    built: Built, environ: dict[str, str], tmp_path: Path
) -> None:
    said = run(
        "uvx",
        "--from",
        str(built.wheel),
        "mnema",
        "chat",
        "--once",
        "hello",
        environ=environ,
        cwd=tmp_path,
    )
    assert "not a language model" in said
    as_named = run(
        "uvx", "--from", str(built.wheel), "mnema-bot", "--version", environ=environ, cwd=tmp_path
    )
    assert as_named.startswith("mnema 0.2."), "uvx mnema-bot runs the command of that name"
    told = run(
        "uvx",
        "--from",
        str(built.wheel),
        "mnema",
        "extras",
        "add",
        "mcp",
        "--yes",
        environ=environ,
        code=1,
    )
    assert "uv tool install mnema-bot" in told
    assert not (tmp_path / "home" / ".local" / "bin" / "mnema").exists()


def test_uv_tool_installs_the_program(
    built: Built, environ: dict[str, str], tmp_path: Path
) -> None:
    run("uv", "tool", "install", str(built.wheel), environ=environ)
    use(tmp_path / "home" / ".local" / "bin" / "mnema", environ, tmp_path / "elsewhere")
    run("uv", "tool", "uninstall", "mnema-bot", environ=environ)
    assert not (tmp_path / "home" / ".local" / "bin" / "mnema").exists()


def test_pipx_installs_the_program(built: Built, environ: dict[str, str], tmp_path: Path) -> None:
    made = tmp_path / "pipx"
    run(_python(), "-m", "venv", str(made))
    run(str(made / "bin" / "pip"), "install", "-q", "pipx")  # this one package comes from an index
    pipx = str(made / "bin" / "pipx")
    run(pipx, "install", "--python", _python(), str(built.wheel), environ=environ)
    command = tmp_path / "home" / ".local" / "bin" / "mnema"
    use(command, environ, tmp_path / "elsewhere")
    assert "pipx upgrade mnema-bot" in run(str(command), "upgrade", environ=environ)


def test_pip_installs_the_program_and_an_extra_only_if_its_hashes_fit(
    built: Built, environ: dict[str, str], tmp_path: Path
) -> None:
    made = tmp_path / "made"
    run(_python(), "-m", "venv", str(made))
    run(str(made / "bin" / "pip"), "install", "-q", str(built.wheel), environ=environ)
    use(made / "bin" / "mnema", environ, tmp_path / "elsewhere")
    wheels = tmp_path / "of-the-extra"
    lock = str(ROOT / "requirements-mcp.lock")
    run(
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--require-hashes",
        "--no-deps",
        "-r",
        lock,
        "-d",
        str(wheels),
    )
    environ["PIP_FIND_LINKS"] = str(wheels)
    [attacked] = wheels.glob("mcp-*.whl")
    genuine = attacked.read_bytes()
    attacked.write_bytes(genuine + b" ")
    refused = run(
        str(made / "bin" / "mnema"), "extras", "add", "mcp", "--yes", environ=environ, code=1
    )
    assert "HASHES" in refused
    attacked.write_bytes(genuine)
    run(str(made / "bin" / "mnema"), "extras", "add", "mcp", "--yes", environ=environ)
    assert "extras: mcp" in run(str(made / "bin" / "mnema"), "--version", environ=environ)


def test_install_sh_fetches_uv_and_says_what_stays_after_uninstalling(
    built: Built, environ: dict[str, str], tools: Path, tmp_path: Path
) -> None:
    for name in ("uv", "uvx"):
        (tools / name).unlink()
    [uv] = _wheel_of_uv(tmp_path / "uv-wheel").glob("uv-*.whl")
    environ["PIP_FIND_LINKS"] += f" {uv.parent}"
    (tools / "python3").symlink_to(_python())
    environ["MNEMA_PACKAGE"] = str(built.wheel)
    script = str(ROOT / "install.sh")
    assert "Next: mnema" in run("sh", script, environ=environ, cwd=tmp_path)
    use(tmp_path / "home" / ".local" / "bin" / "mnema", environ, tmp_path / "elsewhere")
    said = run("sh", script, "--uninstall", environ=environ, cwd=tmp_path)
    assert str(tmp_path / "home" / ".mnema") in said
    assert (tmp_path / "home" / ".mnema" / "data").is_dir()
    assert not (tmp_path / "home" / ".local" / "bin" / "mnema").exists()


def _wheel_of_uv(folder: Path) -> Path:
    locked = (ROOT / "requirements-dev.lock").read_text("utf-8")
    version = locked.partition("\nuv==")[2].split()[0]
    run(
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        f"uv=={version}",
        "-d",
        str(folder),
    )
    return folder


def test_the_steps_of_the_image_make_a_program_that_runs(
    environ: dict[str, str], tmp_path: Path
) -> None:
    context, target = tmp_path / "src", tmp_path / "opt"
    context.mkdir()
    for word, rest in steps():
        if word == "FROM" and " AS build" not in rest:
            break
        line = rest.replace("/opt/mnema", str(target)).replace(
            "python -m venv", f"{_python()} -m venv"
        )
        if word == "COPY":
            *sources, _ = rest.split()
            run("cp", "-r", *(str(ROOT / source) for source in sources), str(context))
        elif word == "RUN":
            run("sh", "-c", line, environ={**environ, "EXTRAS": ""}, cwd=context)
    inside = {**environ, "MNEMA_CONTAINER": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    use(target / "bin" / "mnema", inside, tmp_path / "elsewhere")
