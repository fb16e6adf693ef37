"""Imports less of a library: a module without the packages around it."""

import importlib
import importlib.util
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

_importing = threading.Lock()
# A module's `__getattr__`: what is imported from it by name. Raises AttributeError for other names.
GetName = Callable[[str], Any]


def import_part(name: str, packages: Sequence[str], names: Mapping[str, GetName] | None = None) -> Any:
    """Import a module while packages of its SDK, or modules that it does not need, are replaced by empty ones.

    A module that needs more than the empty packages have is imported the usual way. A later import of a package finds
    the package itself, with the modules that are loaded already.

    Args:
        name: the module.
        packages: the packages and modules not to run, parents first.
        names: what one of them has although it is empty.

    Raises:
        ImportError: the SDK is not installed.
    """
    with _importing:
        if name in sys.modules:
            return sys.modules[name]
        try:
            with _empty_packages(packages, names or {}):
                return importlib.import_module(name)
        except (ImportError, AttributeError):
            return importlib.import_module(name)


@contextmanager
def _empty_packages(packages: Sequence[str], names: Mapping[str, GetName]) -> Iterator[None]:
    missing = [package for package in packages if package not in sys.modules]
    try:
        for package in missing:
            spec = importlib.util.find_spec(package)
            if spec is None:
                raise ImportError(f"{package} is missing", name=package)
            empty = types.ModuleType(package)
            if spec.submodule_search_locations is not None:
                empty.__path__ = list(spec.submodule_search_locations)
            empty.__spec__ = spec
            if package in names:
                empty.__dict__["__getattr__"] = names[package]
            sys.modules[package] = empty
        yield
    finally:
        for package in missing:
            sys.modules.pop(package, None)


def import_alone(package: str, *optional: str) -> None:
    """Import a package as if other modules, which it uses if it can, were not installed."""
    hidden = [name for name in optional if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden, cast(Any, None)))  # Python's own mark of a module that cannot be imported
    try:
        importlib.import_module(package)
    finally:
        for name in hidden:
            del sys.modules[name]
