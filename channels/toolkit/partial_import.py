"""Imports less of a library: a module without the packages around it, or packages without their docstrings."""

import importlib
import importlib.util
import inspect
import opcode
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import machinery
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


_A_FUNCTION = inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS
# Instructions with the constant 0, which a docstring is: its text may be one that the function returns, too.
_FIRST_CONSTANT = [bytes((opcode.opmap[name], 0)) for name in ("LOAD_CONST", "RETURN_CONST") if name in opcode.opmap]
_HAS_DOCSTRING: int | None = getattr(inspect, "CO_HAS_DOCSTRING", None)  # from Python 3.14 on


def drop_docstrings(*packages: str) -> None:
    """Import these packages without the docstrings of functions from now on: nobody reads them in a running bot.

    It is done with the byte code that Python has cached, as an installation has none that was compiled without.
    """
    loaders = (
        (machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES),
        (type("Loader", (_WithoutDocstrings,), {"packages": frozenset(packages)}), machinery.SOURCE_SUFFIXES),
        (machinery.SourcelessFileLoader, machinery.BYTECODE_SUFFIXES),
    )
    sys.path_hooks.insert(0, machinery.FileFinder.path_hook(*loaders))
    sys.path_importer_cache.clear()


class _WithoutDocstrings(machinery.SourceFileLoader):
    packages: frozenset[str]

    def get_code(self, fullname: str) -> types.CodeType | None:
        code = super().get_code(fullname)
        return _strip(code) if code is not None and fullname.partition(".")[0] in self.packages else code


def _strip(code: types.CodeType) -> types.CodeType:
    """Return code without docstrings of functions, also of those within."""
    constants = list(code.co_consts)
    is_changed = False
    for number, value in enumerate(code.co_consts):
        if type(value) is types.CodeType and (stripped := _strip(value)) is not value:
            constants[number], is_changed = stripped, True
    if _has_docstring(code) and not any(load in code.co_code for load in _FIRST_CONSTANT):
        constants[0], is_changed = "", True  # a text, because some are formatted
    return code.replace(co_consts=tuple(constants)) if is_changed else code


def _has_docstring(code: types.CodeType) -> bool:
    if _HAS_DOCSTRING is not None:
        return bool(code.co_flags & _HAS_DOCSTRING)
    is_function = code.co_flags & _A_FUNCTION == _A_FUNCTION and not code.co_name.startswith("<")
    return is_function and isinstance(next(iter(code.co_consts), None), str)
