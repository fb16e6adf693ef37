"""A module is imported without its packages, which can be imported afterwards; packages without their docstrings."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from channels.toolkit.partial_import import import_alone, import_part

PACKAGES = ("big_sdk", "big_sdk.types")
SDK = {
    "__init__.py": "from big_sdk import types\nfrom big_sdk.part import Part\nfrom big_sdk.greedy import Greedy\n",
    "part.py": "from big_sdk.types.small import SMALL\nclass Part: small = SMALL\n",
    "named.py": "from big_sdk.types import HUGE\n",
    "greedy.py": "from big_sdk.types import HUGE\nclass Greedy: huge = HUGE\n",
    "types/__init__.py": "from big_sdk.types.huge import HUGE\n",
    "types/small.py": "SMALL = 1\n",
    "types/huge.py": "HUGE = 2\n",
}


@pytest.fixture(autouse=True)
def sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, text in SDK.items():
        file = tmp_path / "big_sdk" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in loaded():
        del sys.modules[name]


def loaded() -> list[str]:
    return sorted(name for name in sys.modules if name.startswith("big_sdk"))


def test_only_the_module_and_what_it_imports_are_loaded() -> None:
    assert import_part("big_sdk.part", PACKAGES).Part.small == 1
    assert loaded() == ["big_sdk.part", "big_sdk.types.small"]


def test_the_package_imported_later_has_the_same_classes() -> None:
    part = import_part("big_sdk.part", PACKAGES).Part
    whole = importlib.import_module("big_sdk")
    assert whole.Part is part
    assert whole.types.HUGE == 2
    assert import_part("big_sdk.part", PACKAGES).Part is part


def test_a_module_that_needs_more_is_imported_the_usual_way() -> None:
    assert import_part("big_sdk.greedy", PACKAGES).Greedy.huge == 2
    assert "big_sdk.types.huge" in loaded()


def test_what_is_not_needed_can_be_left_out_once_and_is_there_later(tmp_path: Path) -> None:
    (tmp_path / "big_sdk" / "choosing.py").write_text("""
try:
    from big_sdk.types import HUGE
except ImportError:
    HUGE = None
""")
    (tmp_path / "big_sdk" / "__init__.py").write_text("")
    import_alone("big_sdk.choosing", "big_sdk.types")
    assert sys.modules["big_sdk.choosing"].HUGE is None
    assert importlib.import_module("big_sdk.types").HUGE == 2
    with pytest.raises(ImportError):
        import_alone("big_sdk.named", "big_sdk.types.none", "big_sdk.missing", "big_sdk.named")
    assert importlib.import_module("big_sdk.named").HUGE == 2


def test_an_empty_package_may_have_a_name_that_others_import() -> None:
    def huge(name: str) -> int:
        if name != "HUGE":
            raise AttributeError(name)
        return 3

    assert import_part("big_sdk.named", PACKAGES, {"big_sdk.types": huge}).HUGE == 3
    assert loaded() == ["big_sdk.named"]


def test_a_module_too_may_be_replaced() -> None:
    def small(name: str) -> int:
        if name != "SMALL":
            raise AttributeError(name)
        return 4

    assert (
        import_part("big_sdk.part", (*PACKAGES, "big_sdk.types.small"), {"big_sdk.types.small": small}).Part.small == 4
    )
    assert loaded() == ["big_sdk.part"]


def test_a_package_that_a_new_version_no_longer_has_costs_only_time() -> None:
    assert import_part("big_sdk.part", (*PACKAGES, "big_sdk.gone")).Part.small == 1


def test_an_sdk_that_is_not_installed_is_an_import_error() -> None:
    with pytest.raises(ImportError):
        import_part("no_such_sdk.part", ("no_such_sdk",))
