"""The lock files: complete, hashed, and free of any index's address."""

import re
import tomllib

from tests.cases import every_case
from tests.conventions.sources import ROOT

LOCKS = ("requirements.lock", "requirements-dev.lock")
SCALE = "requirements-scale.lock"
# extras whose lock holds only what they add to the core's
ADDED = ("vectors", "embeddings", "web", "otel")


@every_case("name", [*LOCKS, SCALE, *(f"requirements-{extra}.lock" for extra in ADDED)])
def test_a_lock_names_no_host_and_hashes_everything(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    assert not re.search(r"https?://", text)
    pins = re.split(r"\n(?=\S)", text.strip())
    assert not [pin.splitlines()[0] for pin in pins if "==" in pin and "--hash=sha256:" not in pin]
    assert all("==" in pin for pin in pins)


def test_every_core_dependency_is_locked_and_alike_in_both() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    run, dev = (_pins((ROOT / name).read_text("utf-8")) for name in LOCKS)
    wanted = [*project["dependencies"], *project["optional-dependencies"]["build"]]
    assert not [line for line in wanted if _name(line) not in run]
    assert not [name for name, version in run.items() if dev.get(name) != version]


def test_what_many_processes_need_is_locked_beside_the_core_and_alike() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    run, dev, scale = (_pins((ROOT / name).read_text("utf-8")) for name in (*LOCKS, SCALE))
    wanted = [*run, *project["optional-dependencies"]["scale"]]
    assert not [line for line in wanted if _name(line) not in scale]
    assert not [name for name, version in scale.items() if dev.get(name) != version]


@every_case("extra", ADDED)
def test_what_an_extra_adds_is_locked_and_agrees_with_the_tests(extra: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    run, dev, added = (
        _pins((ROOT / name).read_text("utf-8")) for name in (*LOCKS, f"requirements-{extra}.lock")
    )
    assert not [
        line for line in project["optional-dependencies"][extra] if _name(line) not in added
    ]
    assert not set(added) & set(run)
    assert not [name for name in set(added) & set(dev) if added[name] != dev[name]]


def _pins(text: str) -> dict[str, str]:
    return {
        _name(name): version
        for name, version in re.findall(r"^([A-Za-z0-9_.-]+)==(\S+)", text, re.MULTILINE)
    }


def _name(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[\s\[<>=;!~]", requirement)[0]).lower()
