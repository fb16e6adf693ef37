"""Asks the server of an OpenAI-compatible endpoint what it knows of a model: its context window,
how much it answers at once, whether it sees.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.models.providers.transport import create_http_client, is_at_home

ASK_SECONDS = 2.0  # for each question; all are asked at once
MIN_WINDOW, MAX_WINDOW = 256, 100_000_000  # tokens; other numbers are taken for none
MAX_SLOTS = 10_000  # a larger number is taken for none
_NUM_CTX = re.compile(r"^[ \t]*+num_ctx[ \t]++(\d++)[ \t\r]*+$", re.MULTILINE)
# Fields of a list's entry. Source: vLLM; OpenRouter and others; Groq; Anthropic.
_LISTED_FIELDS = ("max_model_len", "context_length", "context_window", "max_input_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowQuestion:
    """Whom to ask about which model."""

    #: Base URL of the chat completions API.
    base_url: str
    model: str
    #: "" for a server that needs none.
    api_key: str = field(default="", repr=False)
    #: URL; "" for the environment's.
    proxy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """What a server says of a model."""

    #: Of the context, in tokens; 0 if it names none.
    window: int = 0
    #: Requests that it answers at once; 0 if it does not say.
    slots: int = 0
    #: Whether the model reads pictures; None if it does not say.
    sees: bool | None = None


async def ask_facts(question: WindowQuestion, seconds: float = ASK_SECONDS) -> ServerFacts:
    """Return what the server says of a model within these seconds.

    A server at home is also asked in the words of llama.cpp, Ollama and LM Studio. Where several
    answer, what is loaded now comes before what a list says.
    """
    import httpx2

    base, model = question.base_url.rstrip("/"), question.model
    root = base.removesuffix("/v1")
    headers = {"authorization": f"Bearer {question.api_key}"} if question.api_key else {}

    async def ask(client: Any, method: str, url: str, **content: Any) -> Any:
        try:
            async with asyncio.timeout(seconds):
                answer = await client.request(method, url, headers=headers, **content)
                return answer.json() if answer.status_code == 200 else None
        except (TimeoutError, ValueError, httpx2.HTTPError, httpx2.InvalidURL):
            return None

    async with create_http_client(question.proxy) as client:
        if not is_at_home(base):
            listed = await ask(client, "GET", f"{base}/models")
            return ServerFacts(
                window=listed_window(listed, model), sees=entry_sight(_listed_entry(listed, model))
            )
        props, loaded, studio, listed, shown = await asyncio.gather(
            ask(client, "GET", f"{root}/props", params={"model": model, "autoload": "false"}),
            ask(client, "GET", f"{root}/api/ps"),
            ask(client, "GET", f"{root}/api/v0/models"),
            ask(client, "GET", f"{base}/models"),
            ask(client, "POST", f"{root}/api/show", json={"model": model}),
        )
    window = (
        props_window(props)
        or loaded_window(loaded, model)
        or studio_window(studio, model)
        or listed_window(listed, model)
        or parameter_window(shown)
    )
    said = (props, shown, _listed_entry(studio, model), _listed_entry(listed, model))
    sights = (sees for answer in said if (sees := entry_sight(answer)) is not None)
    return ServerFacts(window=window, slots=props_slots(props), sees=next(sights, None))


def entry_sight(entry: object) -> bool | None:
    """Read whether a model sees, from what a server says of it; None where it does not say.

    Source: llama.cpp's /props; Ollama's /api/show; LM Studio's /api/v0/models; OpenRouter;
    Anthropic.
    """
    modalities, capabilities = _field(entry, "modalities"), _field(entry, "capabilities")
    inputs, kind = _field(_field(entry, "architecture"), "input_modalities"), _field(entry, "type")
    supported = _field(_field(capabilities, "image_input"), "supported")
    if isinstance(inputs, list):
        return "image" in inputs
    if kind in ("vlm", "llm"):
        return kind == "vlm"
    # LM Studio's list of that form names the use of tools alone.
    if isinstance(capabilities, list) and "completion" in capabilities:
        return "vision" in capabilities
    said = supported if isinstance(supported, bool) else _field(modalities, "vision")
    return said if isinstance(said, bool) else None


def props_window(answer: object) -> int:
    """Read llama.cpp's /props: the window of one slot, as `--ctx-size` is shared by `--parallel` of
    them.
    """
    return _tokens(_field(_field(answer, "default_generation_settings"), "n_ctx"))


def props_slots(answer: object) -> int:
    """Read llama.cpp's /props: the value of `--parallel`. Ollama and LM Studio do not name
    theirs.
    """
    slots = _field(answer, "total_slots")
    return (
        slots
        if isinstance(slots, int) and not isinstance(slots, bool) and 0 < slots <= MAX_SLOTS
        else 0
    )


def loaded_window(answer: object, model: str) -> int:
    """Read Ollama's /api/ps: the window of the model as it is loaded now."""
    return _tokens(
        _field(_find_entry(_field(answer, "models"), ("model", "name"), model), "context_length")
    )


def studio_window(answer: object, model: str) -> int:
    """Read LM Studio's /api/v0/models: the window of the loaded instance; what the model could have
    is none.
    """
    return _tokens(
        _field(_find_entry(_field(answer, "data"), ("id",), model), "loaded_context_length")
    )


def listed_window(answer: object, model: str) -> int:
    """Read the list of models of a compatible endpoint."""
    return entry_window(_listed_entry(answer, model))


def entry_window(entry: object) -> int:
    """Read an entry of the list of models."""
    return next((tokens for name in _LISTED_FIELDS if (tokens := _tokens(_field(entry, name)))), 0)


def find_entries(answer: object) -> Sequence[object] | None:
    """Return the entries of a list of models; None for an answer that is none."""
    entries = _field(answer, "data")
    return entries if isinstance(entries, list) else None


def _listed_entry(answer: object, model: str) -> object:
    return _find_entry(_field(answer, "data"), ("id",), model)


def parameter_window(answer: object) -> int:
    """Read Ollama's /api/show: `num_ctx` of the Modelfile.

    The most that the model could have is not what it gets.
    """
    found = _NUM_CTX.search(str(_field(answer, "parameters") or ""))
    return _tokens(int(found[1])) if found else 0


def _field(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else None


def _find_entry(entries: object, names: tuple[str, ...], model: str) -> object:
    """Return the entry of a model; Ollama writes "qwen3" as "qwen3:latest"."""
    known = (model, f"{model}:latest")
    for entry in entries if isinstance(entries, list) else ():
        if any(_field(entry, name) in known for name in names):
            return entry
    return None


def _tokens(value: object) -> int:
    return value if isinstance(value, int) and MIN_WINDOW <= value <= MAX_WINDOW else 0
