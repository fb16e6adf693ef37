"""Dataclasses whose methods wait for their first use are the same as all others."""

import copy
import dataclasses
import gc
import inspect
import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from pydantic import TypeAdapter

from channels.toolkit.deferred_dataclasses import defer_dataclasses
from tests.conventions.sources import ROOT

METHODS = ("__init__", "__repr__", "__eq__", "__hash__")


def define(name: str = "Row") -> Any:
    """Define a class with `dataclass` as it is now, under a name that pickle finds here."""

    def post_init(self: Any) -> None:
        assert self.size >= 0

    fields = {
        "key": str,
        "size": int,
        "tags": list[str],
        "seen": dict[str, int],
        "LIMIT": ClassVar[int],
    }
    made = type(
        name,
        (),
        {
            "__module__": __name__,
            "__qualname__": name,
            "__doc__": "A row.",
            "__annotations__": fields,
            "__post_init__": post_init,
            "size": 3,
            "tags": dataclasses.field(default_factory=list, compare=False),
            "seen": dataclasses.field(default_factory=dict, repr=False, hash=False),
            "LIMIT": 7,
            "doubled": property(lambda self: 2 * self.size),
        },
    )
    return dataclasses.dataclass(frozen=True, slots=True, kw_only=True)(made)


Row: Any
Plain = define()


@pytest.fixture
def row() -> Iterator[Any]:
    """A class whose methods are deferred."""
    before = dataclasses.dataclass
    defer_dataclasses("tests")
    try:
        made = globals()["Row"] = define()
        yield made
    finally:
        vars(dataclasses)["dataclass"] = before


def test_nothing_is_generated_until_it_is_used(row: Any) -> None:
    waiting = {name: vars(row)[name] for name in METHODS}
    one = row(key="a")
    assert vars(row)["__init__"] is not waiting["__init__"]
    assert vars(row)["__eq__"] is waiting["__eq__"]
    assert one == row(key="a")
    assert not [name for name in METHODS if vars(row)[name] is waiting[name]]


def test_an_instance_is_as_that_of_any_dataclass(row: Any) -> None:
    one, same, plain = row(key="a", tags=["x"]), row(key="a"), Plain(key="a", tags=["x"])
    assert repr(one) == repr(plain) == "Row(key='a', size=3, tags=['x'])"
    assert (one == same, one == row(key="b"), one == plain, one != same) == (True, False, False, False)
    assert hash(one) == hash(same) == hash(plain)
    assert (one.doubled, row.LIMIT, row.__match_args__) == (6, 7, ())
    assert dataclasses.asdict(one) == dataclasses.asdict(plain)
    assert dataclasses.replace(one, size=4) == row(key="a", size=4)
    assert copy.deepcopy(one) == copy.copy(one) == one
    with pytest.raises(AssertionError):
        row(key="a", size=-1)


def test_a_class_is_as_any_dataclass_after_its_first_use(row: Any) -> None:
    assert str(row.__dataclass_params__) == str(Plain.__dataclass_params__)
    assert len({row(key="a"), row(key="a")}) == 1
    for name in METHODS:
        assert inspect.signature(getattr(row, name)) == inspect.signature(getattr(Plain, name))
        assert getattr(row, name).__qualname__ == f"Row.{name}"
    assert sorted(vars(row).keys() ^ vars(Plain).keys()) == [
        "__dict__",
        "__slots__",
        "__weakref__",
        "key",
        "seen",
        "tags",
    ]


def test_a_class_is_not_made_anew(row: Any) -> None:
    gc.disable()  # with slots `dataclass` makes it a second time, and the first one stays until it is collected
    try:
        once = define("Once")
        ours = [kind for kind in object.__subclasses__() if kind.__module__ == __name__]
        assert [kind for kind in ours if kind.__name__ == "Once"] == [once]
    finally:
        gc.enable()


@pytest.mark.parametrize("wrong", [{}, {"key": "a", "other": 1}])
def test_wrong_arguments_are_refused_in_the_same_words(row: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(TypeError) as deferred:
        row(**wrong)
    with pytest.raises(TypeError) as usual:
        Plain(**wrong)
    assert str(deferred.value) == str(usual.value)


def test_nothing_can_be_assigned_or_deleted(row: Any) -> None:
    one = row(key="a")
    for act in (lambda: setattr(one, "size", 1), lambda: setattr(one, "other", 1), lambda: delattr(one, "key")):
        with pytest.raises((dataclasses.FrozenInstanceError, TypeError)):
            act()
    assert one == row(key="a")


def test_an_instance_made_without_init_compares_too(row: Any) -> None:
    """Unpickled, copied and validated instances never pass `__init__`."""
    stored = TypeAdapter(row).validate_python({"key": "a"})
    assert vars(row)["__init__"].__qualname__ != "Row.__init__"
    assert stored == TypeAdapter(row).validate_python({"key": "a"})
    assert pickle.loads(pickle.dumps(stored)) == stored


def test_derived_and_adorned_classes_are_generated_at_once(row: Any) -> None:
    @dataclasses.dataclass(frozen=True, slots=True)
    class Derived(row):  # type: ignore[misc]
        extra: int = 0

    @dataclasses.dataclass(frozen=True, slots=True)
    class Adorned:
        name: str

        def __eq__(self, other: object) -> bool:
            return True

    @dataclasses.dataclass
    class Changing:
        name: str

    made = Derived(1, key="a")
    assert made == Derived(1, key="a") != Derived(2, key="a")
    with pytest.raises((dataclasses.FrozenInstanceError, TypeError)):
        made.size = 1
    assert Adorned("a") == Adorned("b")
    changing = Changing("a")
    changing.name = "b"
    assert changing == Changing("b")
    for made in (Derived, Adorned, Changing):
        assert vars(made)["__init__"].__qualname__.endswith(f"{made.__name__}.__init__")


# Imports the program as `mnema run` does, and makes two instances of each class.
WHOLE_PROGRAM = """
import dataclasses, json
from channels.toolkit.deferred_dataclasses import _options, defer_dataclasses
defer_dataclasses("bot", "channels", "memory")
import bot.runtime.startup, bot.runtime.bot, bot.console.services
found, waiting = [], len(_options)
for made in _options:
    names = [field.name for field in dataclasses.fields(made) if field.init]
    if hasattr(made, "__post_init__"):
        continue
    one, same, other = (made(**dict.fromkeys(names, value)) for value in ("a", "a", "b"))
    text = f"{made.__qualname__}(" + ", ".join(
        f"{field.name}={getattr(one, field.name)!r}" for field in dataclasses.fields(made) if field.repr
    ) + ")"
    found.append((one == same, not names or one != other, hash(one) == hash(same), repr(one) == text))
print(json.dumps([waiting, len(found), sorted(set(map(str, found)))]))
"""


def test_all_classes_of_the_program_are_as_they_would_be() -> None:
    told = subprocess.run([sys.executable, "-c", WHOLE_PROGRAM], cwd=ROOT, check=True, capture_output=True, text=True)
    waiting, compared, found = json.loads(told.stdout)
    assert waiting > 400
    assert compared > 400
    assert found == ["(True, True, True, True)"]
