"""The files for running it as a service: what they promise, without an engine and without a service
manager.
"""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from bot.runtime.process_role import PROCESS_ROLES
from tests.conventions.sources import ROOT

UNIT = ROOT / "deploy" / "mnema.service"
COMPOSE = ROOT / "deploy" / "compose.yaml"
CONTAINER = ROOT / "deploy" / "Containerfile"
MOST_EXPOSED = 20  # tenths of the score that systemd gives, 100 for a service without any limits


def steps() -> list[tuple[str, str]]:
    """The instructions of the container file with their arguments, in order."""
    lines = [line for line in CONTAINER.read_text().splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [
        (word, rest)
        for word, _, rest in (line.partition(" ") for line in joined.splitlines() if line.strip())
    ]


def settings() -> dict[str, str]:
    found = [
        line.partition("=")
        for line in UNIT.read_text().splitlines()
        if re.match(r"[A-Z]\w+=", line)
    ]
    return {name: value for name, _, value in found}


def test_the_image_is_installed_from_the_lock_with_hashes_and_runs_as_nobody_special() -> None:
    of = [word for word, _ in steps()]
    assert set(of) <= {
        "FROM",
        "ARG",
        "ENV",
        "WORKDIR",
        "RUN",
        "COPY",
        "USER",
        "VOLUME",
        "HEALTHCHECK",
        "ENTRYPOINT",
        "CMD",
    }
    assert [rest.split()[0] for word, rest in steps() if word == "FROM"] == ["python:3.11-slim"] * 2
    installs = [rest for word, rest in steps() if word == "RUN" and "pip install" in rest]
    assert all(
        "--require-hashes" in rest or ("--no-deps" in rest and "--no-build-isolation" in rest)
        for rest in installs
    )
    last = of[len(of) - of[::-1].index("FROM") :]
    assert [rest for word, rest in steps() if word == "USER"] == ["10001"]
    assert last.index("USER") < last.index("ENTRYPOINT")
    assert "/healthz" in dict(steps())["HEALTHCHECK"]
    assert not re.search(
        r"https?://(?!127\.0\.0\.1)|--index-url|ADD |sudo|apt|chmod 777|:latest",
        CONTAINER.read_text(),
    )


def test_everything_the_image_copies_is_in_the_tree() -> None:
    sources = [
        source
        for word, rest in steps()
        if word == "COPY" and "--from" not in rest
        for source in rest.split()[:-1]
    ]
    assert sources
    assert not [source for source in sources if not (ROOT / source).exists()]


def test_the_unit_starts_the_program_as_itself_and_shuts_everything_else() -> None:
    found = settings()
    assert found["Type"] == "notify"
    assert shlex.split(found["ExecStart"])[1:] == ["--home", "/var/lib/mnema", "run"]
    assert found["StateDirectory"] == "mnema"
    assert (found["User"], found["UMask"], found["CapabilityBoundingSet"]) == ("mnema", "0077", "")
    assert found["ProtectSystem"] == "strict"
    assert found["NoNewPrivileges"] == "yes"


def test_the_composition_names_what_there_is_and_opens_no_port() -> None:
    yaml = pytest.importorskip("yaml")
    held = yaml.safe_load(COMPOSE.read_text())
    bots = {name: one for name, one in held["services"].items() if name != "database"}
    assert set(bots) == {"bot", "gateway", "worker"}
    for service in bots.values():
        assert (
            COMPOSE.parent / service["build"]["context"] / service["build"]["dockerfile"]
        ).exists()
        assert (service["cap_drop"], service["read_only"]) == (["ALL"], True)
        assert {volume.split(":")[1] for volume in service["volumes"]} == {"/var/lib/mnema"}
        extras = service["build"].get("args", {}).get("EXTRAS", "").split()
        assert all((ROOT / f"requirements-{extra}.lock").exists() for extra in extras)
    roles = {name: one["command"][2] for name, one in bots.items() if "command" in one}
    assert set(roles.values()) <= set(PROCESS_ROLES)
    assert not [name for name, service in held["services"].items() if "ports" in service]
    assert "POSTGRES_PASSWORD" not in held["services"]["database"]["environment"]
    used = {
        volume.split(":")[0]
        for service in held["services"].values()
        for volume in service["volumes"]
    }
    assert used == set(held["volumes"])


@pytest.mark.skipif(
    not shutil.which("systemd-analyze"), reason="systemd-analyze is not on this machine"
)
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    unit.write_text(
        re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", UNIT.read_text(), flags=re.MULTILINE)
    )
    asked = ["systemd-analyze", "verify", "--man=no", str(unit)]
    verified = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, "")
    asked = [
        "systemd-analyze",
        "security",
        "--offline=yes",
        f"--threshold={MOST_EXPOSED}",
        "--no-pager",
        str(unit),
    ]
    exposed = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert exposed.returncode == 0, exposed.stdout[-300:]
