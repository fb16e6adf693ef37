"""The models that a server has, the servers on this machine, and what is wrong with an address."""

import asyncio
import json
import os
import re
import socket
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import urlsplit

from bot.models.providers.accounts import PROVIDERS, ProviderAccount
from bot.models.providers.failures import read_failure, shorten_words
from bot.models.providers.server_window import (
    entry_sight,
    entry_window,
    find_entries,
    loaded_window,
    props_window,
    studio_window,
)
from bot.models.providers.transport import create_http_client, is_at_home
from bot.models.setup.presets import LOCAL_PRESETS, PRESETS, Preset
from bot.telemetry.log import LogRedactor
from channels.phrases import AnyPhrase, Phrase, join_sentences
from channels.toolkit.http import read_start

LIST_SECONDS = 10.0
QUICK_SECONDS = 2.0  # for a chat command
FRESH_SECONDS = 300.0  # a list is not asked for again
MAX_LIST_BYTES = 16 << 20  # OpenRouter's has about one
MAX_MODELS, MAX_ID_CHARS = 2_000, 200
# the SDK's own, if ANTHROPIC_BASE_URL does not name another
ANTHROPIC_URL = "https://api.anthropic.com"
ANTHROPIC_VERSION = "2023-06-01"
# Ids of models that do not chat.
_NO_CHAT = re.compile(r"embed|rerank|whisper|dall-e|\btts\b|moderation|transcribe", re.IGNORECASE)


UNTYPABLE_KEY = Phrase("The key contains characters that no key has: copy it again.")
FaultCode = Literal["nothing_listens", "no_host", "timeout", "tls", "path", "key", "failed"]
_KEY_STATUSES = (401, 402, 403)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointFault:
    """Why an endpoint could not be used."""

    code: FaultCode
    text: AnyPhrase
    #: Of the server, shortened and without secrets; only its owner reads them.
    words: str = ""
    #: The server refuses in the form of OpenAI's API.
    is_api_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedModel:
    """One model of a list."""

    id: str
    #: In tokens; 0 if it is not named.
    window: int = 0
    #: Whether it reads pictures; None if it is not said.
    sees: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelListing:
    """The models of a server, in its order, or why they are not known."""

    models: tuple[ListedModel, ...] = ()
    fault: EndpointFault | None = None

    def find(self, model: str) -> ListedModel | None:
        """Return a model by its id; Ollama lists "qwen3" as "qwen3:latest"."""
        return next(
            (listed for listed in self.models if listed.id in (model, f"{model}:latest")), None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _ListAddress:
    """URL and headers of the request for a list of models."""

    base_url: str
    url: str
    headers: Mapping[str, str]


def effective_base_url(account: ProviderAccount) -> str:
    """Return the address that an account's requests go to."""
    if account.provider == "anthropic":
        return account.base_url or os.environ.get("ANTHROPIC_BASE_URL") or ANTHROPIC_URL
    return account.base_url or PROVIDERS[account.provider].base_url


async def list_models(account: ProviderAccount, seconds: float = LIST_SECONDS) -> ModelListing:
    """Ask the server of an account for its models.

    A server at home is also asked for what is loaded.
    """
    address = _list_address(account)
    if not (account.api_key.isascii() and account.api_key.isprintable()):
        return ModelListing(fault=EndpointFault(code="key", text=UNTYPABLE_KEY))
    import httpx2

    try:
        async with asyncio.timeout(seconds), create_http_client(account.proxy) as client:
            listing = await _read_list(client, address, has_key=bool(account.api_key))
            if listing.fault is None and is_at_home(address.base_url):
                models = await _add_loaded(
                    client, address, listing.models, min(QUICK_SECONDS, seconds / 2)
                )
                return ModelListing(models=models)
    except TimeoutError:
        return ModelListing(fault=timeout_fault(address.base_url))
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as err:
        return ModelListing(fault=read_connection_fault(err, address.base_url))
    if listing.fault is not None:
        words = LogRedactor([account.api_key])(listing.fault.words)
        return ModelListing(fault=replace(listing.fault, words=words))
    return listing


def _list_address(account: ProviderAccount) -> _ListAddress:
    base_url = effective_base_url(account).rstrip("/")
    if account.provider == "anthropic":
        headers = {"x-api-key": account.api_key, "anthropic-version": ANTHROPIC_VERSION}
        return _ListAddress(
            base_url=base_url, url=f"{base_url}/v1/models?limit=1000", headers=headers
        )
    headers = {"authorization": f"Bearer {account.api_key}"} if account.api_key else {}
    return _ListAddress(base_url=base_url, url=f"{base_url}/models", headers=headers)


async def _read_list(client: Any, address: _ListAddress, *, has_key: bool) -> ModelListing:
    status, body = await _get(client, address.url, address.headers)
    entries = find_entries(_parse(body)) if status == 200 else None
    if entries is None:
        fault = read_status_fault(status, body, address.base_url, has_key=has_key)
        if fault.code == "path" and await _has_list(client, address):
            fault = replace(fault, text=_meant_text(address.base_url))
        return ModelListing(fault=fault)
    return ModelListing(models=tuple(_read_entries(entries)))


async def _has_list(client: Any, address: _ListAddress) -> bool:
    """Tell whether the list is below /v1 of an address that was given without it."""
    status, body = await _get(client, f"{address.base_url}/v1/models", address.headers)
    return status == 200 and find_entries(_parse(body)) is not None


def _meant_text(base_url: str) -> AnyPhrase:
    return Phrase(
        "There is no model API at {base_url}, but there is one at {base_url}/v1: use that address.",
        base_url=base_url,
    )


async def _get(client: Any, url: str, headers: Mapping[str, str]) -> tuple[int, bytes]:
    async with client.stream("GET", url, headers=headers) as response:
        return response.status_code, await read_start(response.aiter_bytes(), MAX_LIST_BYTES)


def _parse(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _read_entries(entries: Sequence[object]) -> list[ListedModel]:
    """Return the models of a list that may chat, each once."""
    models: dict[str, ListedModel] = {}
    for entry in entries[:MAX_MODELS]:
        if not isinstance(entry, Mapping) or not _is_chat_model(entry):
            continue
        listed = ListedModel(id=entry["id"], window=entry_window(entry), sees=entry_sight(entry))
        models.setdefault(listed.id, listed)
    return list(models.values())


def _is_chat_model(entry: Mapping[str, Any]) -> bool:
    id = entry.get("id")
    is_id = isinstance(id, str) and 0 < len(id) <= MAX_ID_CHARS and id.isprintable()
    return is_id and entry.get("type") != "embeddings" and _NO_CHAT.search(str(id)) is None


async def _add_loaded(
    client: Any, address: _ListAddress, models: Sequence[ListedModel], seconds: float
) -> tuple[ListedModel, ...]:
    """Add what a server at home says of its models at paths of its own; a question without an
    answer adds nothing.
    """
    root = address.base_url.removesuffix("/v1")

    async def ask(path: str) -> object:
        import httpx2

        try:
            async with asyncio.timeout(seconds):
                status, body = await _get(client, f"{root}{path}", address.headers)
        except (TimeoutError, httpx2.HTTPError, OSError):
            return None
        return _parse(body) if status == 200 else None

    props, loaded, studio = await asyncio.gather(*map(ask, ("/props", "/api/ps", "/api/v0/models")))
    chat_ids = {listed.id for listed in _read_entries(find_entries(studio) or ())}
    slot_window = props_window(props) if len(models) == 1 else 0
    return tuple(
        replace(
            listed,
            window=studio_window(studio, listed.id)
            or loaded_window(loaded, listed.id)
            or slot_window
            or listed.window,
        )
        for listed in models
        if not chat_ids or listed.id in chat_ids
    )


class ListingCache:
    """Lists of models for chat commands: asked for quickly, and not again for a while."""

    def __init__(self) -> None:
        self._listings: dict[ProviderAccount, tuple[float, ModelListing]] = {}

    async def find(self, account: ProviderAccount) -> ModelListing:
        """Return the list of an account's server within QUICK_SECONDS; a fault is not
        remembered.
        """
        account = replace(account, model="")
        asked_at, known = self._listings.get(account, (0.0, None))
        if known is not None and time.monotonic() - asked_at < FRESH_SECONDS:
            return known
        listing = await list_models(account, QUICK_SECONDS)
        if listing.fault is None:
            self._listings[account] = time.monotonic(), listing
        return listing

    def forget_others(self, accounts: Sequence[ProviderAccount]) -> None:
        """Forget the lists of all other accounts."""
        in_use = {replace(account, model="") for account in accounts}
        self._listings = {
            account: known for account, known in self._listings.items() if account in in_use
        }


FIND_SECONDS = 1.0  # for all ports together


async def find_local_servers(presets: tuple[Preset, ...] = LOCAL_PRESETS) -> list[Preset]:
    """Return the local presets whose port at 127.0.0.1 lists models; all are asked at once, without
    a key.
    """
    accounts = [
        ProviderAccount(provider=preset.provider, base_url=preset.base_url) for preset in presets
    ]
    listings = await asyncio.gather(*(list_models(account, FIND_SECONDS) for account in accounts))
    return [
        preset for preset, listing in zip(presets, listings, strict=True) if _is_server(listing)
    ]


def _is_server(listing: ModelListing) -> bool:
    """Tell a server of models from another program on its port, such as a router's login page."""
    fault = listing.fault
    return fault is None or (fault.code == "key" and fault.is_api_error)


# What is wrong with an address.


def read_connection_fault(err: BaseException, url: str) -> EndpointFault:
    """Explain why no answer came, by the causes of the HTTP client's error."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    causes = list(_causes(err))
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        text = Phrase(
            "Nothing listens at {host}: start the server, or correct the address.", host=host
        )
        return EndpointFault(code="nothing_listens", text=text)
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        text = Phrase(
            "The host {hostname} is not found: check the address.", hostname=parts.hostname
        )
        return EndpointFault(code="no_host", text=text)
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        text = Phrase(
            "No encrypted connection to {host} is possible: check http or https in the address, "
            "the server's certificate and the clock.",
            host=host,
        )
        return EndpointFault(code="tls", text=text)
    if any("Timeout" in type(cause).__name__ for cause in causes):
        return timeout_fault(url)
    text = Phrase("{host} cannot be reached: check address, network and llm.proxy.", host=host)
    return EndpointFault(code="failed", text=text)


def timeout_fault(url: str) -> EndpointFault:
    """Explain that no answer came in time."""
    host = urlsplit(url).netloc.rpartition("@")[2]
    text = Phrase("{host} did not answer in time: check address, network and llm.proxy.", host=host)
    return EndpointFault(code="timeout", text=text)


def read_status_fault(status: int, body: bytes, url: str, *, has_key: bool) -> EndpointFault:
    """Explain an answer that is no list of models."""
    words = shorten_words(read_failure(status, body).text)
    if status in _KEY_STATUSES:
        text = key_text(status, url, has_key=has_key)
        return EndpointFault(
            code="key", text=text, words=words, is_api_error=_is_api_error(_parse(body))
        )
    if status in (404, 405) or 200 <= status < 400:
        return path_fault(url, words)
    text = Phrase("The server answers HTTP {status}.", status=status)
    return EndpointFault(code="failed", text=text, words=words)


def _is_api_error(answer: object) -> bool:
    """Tell an error of a model's API, which is an object with `error` alone.

    Source: vLLM, llama.cpp and LM Studio refuse a missing key so. Login pages are HTML, and other
    frameworks add fields: Spring the time and the path, FastAPI writes `detail`.
    """
    return isinstance(answer, dict) and list(answer) == ["error"]


def path_fault(url: str, words: str = "") -> EndpointFault:
    """Explain that an address is not the API of models."""
    if urlsplit(url).path.rstrip("/").endswith("/v1"):
        text = Phrase(
            "{url} is not a model API: it has no list of models. Check host and port.",
            url=url,
        )
    else:
        text = Phrase("{url} is not a model API: such an address usually ends in /v1.", url=url)
    return EndpointFault(code="path", text=text, words=words)


def key_text(status: int, url: str, *, has_key: bool) -> AnyPhrase:
    """Explain a refused key, with the address of the vendor's other region."""
    host = urlsplit(url).hostname
    if not has_key:
        return Phrase("The server needs a key.")
    if status == 402:
        return Phrase("The key has no credit left: top it up.")
    other = next((other for here, other in _regions() if urlsplit(here).hostname == host), "")
    refused = Phrase("The server refuses this key (HTTP {status}).", status=status)
    if not other:
        return refused
    elsewhere = Phrase(
        "If the key comes from the vendor's site for another region, the address is {url}.",
        url=other,
    )
    return join_sentences([refused, elsewhere])


def _regions() -> Iterator[tuple[str, str]]:
    """Yield each address with that of the other region."""
    for preset in PRESETS.values():
        if preset.other_base_url:
            yield preset.base_url, preset.other_base_url
            yield preset.other_base_url, preset.base_url


def _causes(err: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what it was raised from."""
    while err is not None:
        yield err
        if isinstance(err, BaseExceptionGroup):
            for inner in err.exceptions:
                yield from _causes(inner)
        err = err.__cause__ or err.__context__
