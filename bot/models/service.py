"""The models as they are configured now: a chain for conversations, its fast model for summaries."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import structlog

from bot.config.schema import Config, LlmConfig
from bot.errors import ConfigError, ModelError, Unusable
from bot.models.base import Answer, Blobs, ModelClient, Purpose, Request, WireMessage
from bot.models.catalog import context_window
from bot.models.fallback import ChainModel, FallbackModel
from bot.models.health import ModelStatus, ModelUse, model_status
from bot.models.instrumented import InstrumentedModel
from bot.models.providers.anthropic import AnthropicModel
from bot.models.providers.offline import OfflineModel, OfflinePassage, RecallPassages
from bot.models.providers.openai import OpenAIModel
from bot.models.providers.transport import Timeouts
from bot.models.retry import SINGLE_RETRY, RetryingModel
from bot.telemetry.log import redact
from bot.telemetry.recorder import Telemetry
from bot.texts import failure_reason
from memory.conversation import Text
from memory.store.conversations.sessions import Sessions
from memory.store.rows import Usage

# Which provider's name stands for which wire, and the models it is asked for when none is named.

ProviderModel = AnthropicModel | OpenAIModel | OfflineModel


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderDefaults:
    """model: its current middle model, fast_model: its small one; base_url: "" where the wire knows it itself."""

    model: str
    fast_model: str
    base_url: str = ""


# As of 2026-11-20.
PROVIDERS = {
    "anthropic": ProviderDefaults(model="claude-sonnet-5-5", fast_model="claude-haiku-5-5"),
    "openai": ProviderDefaults(model="gpt-6.1-terra", fast_model="gpt-6-luna", base_url="https://api.openai.com/v1"),
    "offline": ProviderDefaults(model="offline", fast_model="offline"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAccount:
    """Where to ask, and as whom."""

    provider: str
    api_key: str = ""
    #: "" for the provider's own, and for the environment's.
    base_url: str = ""
    #: "" for the provider's own, and for the environment's.
    proxy: str = ""


def effective_provider(account: ProviderAccount) -> str:
    """The provider that will answer: offline without a key, unless a server of one's own is named.

    Raises:
        ConfigError: there is no such provider.
    """
    if account.provider not in PROVIDERS:
        known = ", ".join(sorted(PROVIDERS))
        raise ConfigError(f'llm.provider is "{account.provider}"; it may be one of: {known}')
    own_server = account.provider == "openai" and account.base_url
    return account.provider if account.api_key or own_server else "offline"


def open_provider(
    account: ProviderAccount, *, blobs: Blobs, recall: RecallPassages, limits: Timeouts | None = None
) -> ProviderModel:
    """The wire to that account; it imports and connects when it is first used, or by its `preload`.

    Raises:
        ConfigError: there is no such provider.
    """
    provider = effective_provider(account)
    base_url = account.base_url or PROVIDERS[provider].base_url
    if provider == "anthropic":
        return AnthropicModel(
            api_key=account.api_key, base_url=base_url, proxy=account.proxy, blobs=blobs, limits=limits
        )
    if provider == "openai":
        return OpenAIModel(
            api_key=account.api_key,
            base_url=base_url,
            proxy=account.proxy,
            blobs=blobs,
            limits=limits,
            window=context_window(PROVIDERS[provider].model),
        )
    return OfflineModel(recall=recall)


log = structlog.get_logger(__name__)
MAX_REASON_CHARS = 200
CHAIN_USES: tuple[ModelUse, ModelUse] = ("chosen", "spare")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredModel:
    """One model of the chain as it is configured."""

    account: ProviderAccount
    #: Its id, "" for the one that conversations choose.
    model: str = ""


class ModelService:
    """Holds the chain; `configure` replaces it when the configuration of models has changed."""

    def __init__(
        self,
        blobs: Blobs,
        recall: RecallPassages,
        on_unusable: Callable[[str, Unusable], None],
        telemetry: Telemetry | None = None,
    ) -> None:
        self._blobs = blobs
        self._recall = recall
        self._on_unusable = on_unusable
        self._telemetry = telemetry or Telemetry()
        self._wires: list[ProviderModel] = []
        self._chain: FallbackModel | None = None
        self._llm: LlmConfig | None = None
        self._old: list[FallbackModel] = []
        self._models: list[tuple[str, str]] = []
        self.provider = "offline"
        self.name = "offline"
        self.fast_name = "offline"

    @property
    def model(self) -> ModelClient:
        """The chain that answers now."""
        if self._chain is None:
            raise RuntimeError("no model is configured yet")
        return self._chain

    async def ask_one(self, at: int) -> tuple[bool, str]:
        """Ask that model of the chain for a word, once: whether it answered, and its name or what went wrong."""
        provider, model = self._models[at]
        request = Request(
            model=model or self.name,
            system=("Answer with one word.",),
            messages=(WireMessage(role="user", parts=(Text(text="ping"),)),),
            max_tokens=16,
        )
        account = configured_models(self._llm)[at].account if self._llm else None
        try:
            async for _ in self._wires[at].stream(request):
                pass
        except ModelError as err:
            where = f" at {account.base_url}" if account and account.base_url else ""
            return (
                False,
                f"{provider} {request.model}{where} does not answer: {failure_reason(err, 'en')} ({redact(str(err))})",
            )
        return True, f"{provider} {request.model}"

    @property
    def trouble(self) -> str:
        """Why the chain's models are of no use, "" when they are."""
        found = self._chain.unusable if self._chain else ()
        return "; ".join(str(err) for err in found)

    def states(self) -> tuple[ModelStatus, ...]:
        """How each model of the chain fares now, in the order in which they are asked, the fast one last."""
        if self._chain is None:
            return ()
        chain, now = self._chain, time.monotonic()
        found = [
            model_status(
                f"{provider} {model or self.name}", chain.condition(at, model or self.name), now, CHAIN_USES[min(at, 1)]
            )
            for at, (provider, model) in enumerate(self._models)
        ]
        fast = chain.condition(0, self.fast_name)
        if self.fast_name != self.name and (fast.well or fast.error is not found[0].error):  # else it is told already
            found.append(model_status(f"{self.provider} {self.fast_name}", fast, now, "fast"))
        return tuple(replace(state, why=redact(state.why)[:MAX_REASON_CHARS]) for state in found)

    def configure(self, config: Config) -> None:
        """Build the chain again; calls that run end on the old one.

        Raises:
            ConfigError: a provider is unknown.
        """
        llm = config.llm
        if self._chain is not None and llm == self._llm:
            return
        self._llm = llm
        chain = configured_models(llm)
        provider = effective_provider(chain[0].account)
        known = PROVIDERS[provider]
        old, self._wires = self._chain, [self._open(each.account) for each in chain]
        self._chain = FallbackModel(
            [
                _to_chain_model(InstrumentedModel(wire, self._telemetry), each.model)
                for wire, each in zip(self._wires, chain, strict=True)
            ],
            on_unusable=self._on_unusable,
        )
        self._models = [(effective_provider(each.account), each.model) for each in chain]
        named = provider != "offline"
        self.provider = provider
        self.name = (llm.model if named else "") or known.model
        own = llm.model if provider == "openai" and llm.base_url else ""  # a server of one's own has what it has
        self.fast_name = (llm.fast_model if named else "") or own or known.fast_model
        if old is not None:
            self._old.append(old)  # calls may still run on it; its idle connections cost next to nothing

    def use(self, model: ModelClient) -> None:
        """Answer with this model, whatever is configured: a twin, or one that another program brings."""
        self._chain = (
            model
            if isinstance(model, FallbackModel)
            else FallbackModel(
                [ChainModel(model=InstrumentedModel(model, self._telemetry))], on_unusable=self._on_unusable
            )
        )
        self._models = [(model.name, "")]
        self.provider = self.name = self.fast_name = model.name

    async def preload(self) -> None:
        """Import what the wires need, in threads, before the first message asks for it."""
        await asyncio.gather(*(wire.preload() for wire in self._wires))

    async def complete(self, system: str, prompt: str, max_tokens: int, purpose: Purpose = "fold") -> tuple[str, Usage]:
        """One answer of the fast model without tools, for summaries and memory, and what it used.

        Raises:
            ModelError: it did not answer.
        """
        request = Request(
            model=self.fast_name,
            system=(system,),
            messages=(WireMessage(role="user", parts=(Text(text=prompt),)),),
            max_tokens=max_tokens,
            purpose=purpose,
        )
        text, used = "", Usage(model=self.fast_name, input=0, output=0, purpose=purpose)
        async for event in self.model.stream(request):
            if isinstance(event, Answer):
                text = "".join(part.text for part in event.parts if isinstance(part, Text))
                used = build_usage_row(event, purpose)
        return text, used

    async def close(self) -> None:
        """Close every connection."""
        chains = [*self._old, self._chain] if self._chain is not None else self._old
        await asyncio.gather(*(chain.close() for chain in chains))

    def _open(self, account: ProviderAccount) -> ProviderModel:
        return open_provider(account, blobs=self._blobs, recall=self._recall)


def configured_models(llm: LlmConfig) -> tuple[ConfiguredModel, ...]:
    """The models of the chain in order, the first one for what conversations choose."""
    first = ProviderAccount(provider=llm.provider, api_key=llm.api_key, base_url=llm.base_url, proxy=llm.proxy)
    spare = (
        ConfiguredModel(
            account=ProviderAccount(
                provider=item.provider, api_key=item.api_key, base_url=item.base_url, proxy=item.proxy
            ),
            model=item.model or PROVIDERS[item.provider].model,
        )
        for item in llm.fallback
    )
    return (ConfiguredModel(account=first), *spare)


def _to_chain_model(wire: ModelClient, model: str) -> ChainModel:
    return ChainModel(
        model=RetryingModel(wire),
        ask_for=model,
        once=RetryingModel(wire, retries=SINGLE_RETRY),
        window=context_window(model) if model else 0,
    )


class SummaryModel:
    """What `memory` summarises with: the fast model; what it takes is put down to the conversation."""

    def __init__(self, brain: ModelService, sessions: Sessions) -> None:
        self._brain = brain
        self._sessions = sessions

    async def __call__(self, system: str, prompt: str, max_tokens: int, conversation: str) -> str:
        text, used = await self._brain.complete(system, prompt, max_tokens)
        await self._sessions.spend(conversation, [used])
        return text


def log_unusable(name: str, error: Unusable) -> None:
    """Into the program's log."""
    log.error("model unusable", model=name, error=type(error).__name__, status=error.status, kind=error.kind)


def build_usage_row(answer: Answer, purpose: str = "turn") -> Usage:
    """What one call used, as the store keeps it."""
    return Usage(
        model=answer.model,
        input=answer.usage.input,
        output=answer.usage.output,
        cache_read=answer.usage.cache_read,
        cache_write=answer.usage.cache_write,
        purpose=purpose,
    )


async def probe_model(config: Config) -> list[tuple[bool, str]]:
    """Ask each configured model for a word: whether it answered, and its name or what went wrong."""

    async def nothing(question: str, conversation: str, space: str) -> list[OfflinePassage]:
        return []

    brain = ModelService(_no_blob, nothing, lambda name, error: None)
    brain.configure(config)
    try:
        return [await brain.ask_one(at) for at in range(1 + len(config.llm.fallback))]
    finally:
        await brain.close()


def _no_blob(sha256: str) -> bytes:
    raise FileNotFoundError(sha256)
