"""Imports of the Anthropic SDK only what sends a raw request.

Nothing else of ours writes to `sys.modules`.

`import anthropic` runs 2,900 modules with the types of all requests and answers; a request sent as
bytes uses none. While the client's module is imported, the packages that import those types are
empty modules. A later `import anthropic` finds the same classes. Measured with 2.11 after httpx2,
Python 3.11, on a busy machine:

    import anthropic   64.4 MB   5.5 s of CPU   3,218 modules
    load_sdk           13.9 MB   0.34 s           178 modules

An SDK that is built otherwise is imported as usual. This goes once the SDK imports its types when
they are used, or the difference is below 30 MB; the test measures it.
"""

import importlib
import importlib.util
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

_TRACING = "anthropic.lib._tracing"
_ERRORS = "anthropic._error_classes"  # a class for each code of an error, in 200 modules
# imports aiohttp where it is installed, for a client that is not used
_AIOHTTP = "anthropic._vendor.httpx_aiohttp"
# What is empty meanwhile, parents first.
_PACKAGES = (
    *(
        "anthropic",
        "anthropic.lib",
        _TRACING,
        _ERRORS,
        _AIOHTTP,
        "anthropic.types",
        "anthropic.types.shared",
    ),
    *("anthropic.types.organization", "anthropic.types.beta", "anthropic.types.beta.environments"),
    *("anthropic.types.beta.organization", "anthropic.types.beta.organization.claude_code"),
)
_importing = threading.Lock()


class AnthropicSdk(NamedTuple):
    """What is used of the SDK, under its names."""

    AsyncAnthropic: Any
    AsyncStream: Any
    APIError: type[Exception]
    APIStatusError: type[Exception]


@cache
def load_sdk() -> AnthropicSdk:
    """Import what a raw request needs, or the whole SDK if it is not built as expected; once.

    Raises:
        ImportError: it is not installed.
    """
    try:
        return import_partial_sdk()
    except (ImportError, AttributeError):
        return import_whole_sdk()


def import_whole_sdk() -> AnthropicSdk:
    """Import the SDK as usual."""
    import anthropic  # 64 MB and seconds

    return AnthropicSdk(
        AsyncAnthropic=anthropic.AsyncAnthropic,
        AsyncStream=anthropic.AsyncStream,
        APIError=anthropic.APIError,
        APIStatusError=anthropic.APIStatusError,
    )


def import_partial_sdk() -> AnthropicSdk:
    """Import the client and the errors only.

    Raises:
        ImportError, AttributeError: this version is built otherwise.
    """
    client = _import_with_empty_packages("anthropic._client")
    errors = _import_with_empty_packages("anthropic._exceptions")
    return AnthropicSdk(
        AsyncAnthropic=client.AsyncAnthropic,
        AsyncStream=client.AsyncStream,
        APIError=errors.APIError,
        APIStatusError=errors.APIStatusError,
    )


def _import_with_empty_packages(name: str) -> Any:
    with _importing:
        if name in sys.modules:
            return sys.modules[name]
        with _empty_packages():
            return importlib.import_module(name)


@contextmanager
def _empty_packages() -> Iterator[None]:
    missing = [package for package in _PACKAGES if package not in sys.modules]
    try:
        for package in missing:
            sys.modules[package] = _empty_package(package)
        for package, names in _NEEDED_NAMES.items():
            if package in missing:
                vars(sys.modules[package]).update(names())
        yield
    finally:
        for package in missing:
            sys.modules.pop(package, None)


def _empty_package(name: str) -> types.ModuleType:
    """Return a module in place of a package: its submodules can be imported."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        raise ImportError(f"{name} is missing", name=name)
    empty = types.ModuleType(name)
    empty.__spec__ = spec
    if spec.submodule_search_locations is not None:
        empty.__path__ = list(spec.submodule_search_locations)
    return empty


def _tracing_names() -> Mapping[str, Any]:
    config = importlib.import_module(f"{_TRACING}._config").OpenTelemetryConfig
    return {"OpenTelemetryConfig": config, "finish_api_call_span": _finish_span}


def _error_names() -> Mapping[str, Any]:
    return {"make_status_error": _make_status_error}


def _aiohttp_names() -> Mapping[str, Any]:
    return {"Httpx2AiohttpClient": importlib.import_module("httpx2").AsyncClient}


# What the client imports from the empty packages.
_NEEDED_NAMES: Mapping[str, Callable[[], Mapping[str, Any]]] = {
    _TRACING: _tracing_names,
    _ERRORS: _error_names,
    _AIOHTTP: _aiohttp_names,
}


def _make_status_error(message: str, *, body: object, response: Any) -> Any:
    """Stand in for the SDK's function of this name: its own class tells what the class of each code
    would.
    """
    # the error would import it, and all else
    _import_with_empty_packages("anthropic.types.shared.error_details")
    base = importlib.import_module("anthropic._exceptions").APIStatusError
    return base(message, response=response, body=body)


def _finish_span(*args: Any) -> None:
    """Stand in for the SDK's function of this name.

    It ends spans of the SDK's methods; a raw request has none.
    """
    importlib.import_module(f"{_TRACING}._api_call").finish_api_call_span(*args)
