"""The models as they are configured now: a chain for conversations, its fast model for summaries."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace

import structlog

from bot.config.schema import Config, LlmConfig
from bot.errors import ConfigError, KeyRefused, ModelError, Unusable
from bot.models.base import Answer, Blobs, ModelClient, ModelEvent, Purpose, Request, ThinkingDelta
from bot.models.catalog import context_window
from bot.models.fallback import ChainModel, FallbackModel
from bot.models.health import ModelStatus, ModelUse, model_status
from bot.models.providers.anthropic import AnthropicModel
from bot.models.providers.offline import OfflineModel, OfflinePassage, RecallPassages
from bot.models.providers.openai import OpenAIModel
from bot.models.providers.quirks import NO_QUIRKS, ModelQuirks
from bot.models.providers.transport import ClosingStream, timeouts_for
from bot.models.retry import SINGLE_RETRY, RetryingModel
from bot.telemetry.log import redact
from bot.telemetry.recorder import Telemetry, current_trace, to_snake_case
from bot.telemetry.tracing import SpanFact
from bot.texts import failure_reason
from memory.conversation import ShownMessage, Text, ToolSpec
from memory.store.rows import Usage

ProviderModel = AnthropicModel | OpenAIModel | OfflineModel


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProbe:
    """What a short request to one model showed."""

    #: Provider and model id; where it did not answer, a sentence that says why.
    text: str
    answered: bool
    #: Its server's words when it refused tools; "" if it takes them.
    tools_refused: str = ""
    streams: bool = True
    #: See ModelQuirks.
    thinking: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderDefaults:
    """Models of a provider for a configuration that names none."""

    model: str
    fast_model: str
    #: "": the provider's client knows it.
    base_url: str = ""


# As of 2026-11-20.
PROVIDERS = {
    "anthropic": ProviderDefaults(model="claude-sonnet-5-5", fast_model="claude-haiku-5-5"),
    "openai": ProviderDefaults(model="gpt-6.1-terra", fast_model="gpt-6-luna", base_url="https://api.openai.com/v1"),
    "offline": ProviderDefaults(model="offline", fast_model="offline"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAccount:
    """Account at a provider, and the model to call there."""

    provider: str
    api_key: str = ""
    #: "": the provider's own, or the environment's.
    base_url: str = ""
    #: "": the environment's.
    proxy: str = ""
    #: "": the model that conversations choose.
    model: str = ""


def effective_provider(account: ProviderAccount) -> str:
    """Return the provider that will answer: offline without a key, unless a server of one's own is named.

    Raises:
        ConfigError: there is no such provider.
    """
    if account.provider not in PROVIDERS:
        known = ", ".join(sorted(PROVIDERS))
        raise ConfigError(f'llm.provider is "{account.provider}"; it may be one of: {known}')
    own_server = account.provider == "openai" and account.base_url
    return account.provider if account.api_key or own_server else "offline"


def open_provider(account: ProviderAccount, *, blobs: Blobs, recall: RecallPassages) -> ProviderModel:
    """Create the client of an account. It imports its SDK and connects on first use, or in `preload`.

    Raises:
        ConfigError: there is no such provider.
    """
    provider = effective_provider(account)
    base_url = account.base_url or PROVIDERS[provider].base_url
    limits = timeouts_for(base_url)
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


def configured_models(llm: LlmConfig) -> tuple[ProviderAccount, ...]:
    """Return the models of the chain in order."""
    first = ProviderAccount(provider=llm.provider, api_key=llm.api_key, base_url=llm.base_url, proxy=llm.proxy)
    fallback = (
        ProviderAccount(
            provider=item.provider,
            api_key=item.api_key,
            base_url=item.base_url,
            proxy=item.proxy,
            model=item.model or PROVIDERS[item.provider].model,
        )
        for item in llm.fallback
    )
    return (first, *fallback)


log = structlog.get_logger(__name__)
MAX_REASON_CHARS = 200
CHAIN_USES: tuple[ModelUse, ModelUse] = ("chosen", "spare")
# Whether a model's server takes tools shows with the smallest one.
PROBE_TOOL = ToolSpec(
    name="now",
    description="Returns the time.",
    schema='{"properties":{},"type":"object"}',
    effect="pure",
    action="now",
)
# Purposes whose requests belong to one message; memory's other work has queues of its own.
TRACED_PURPOSES = ("turn", "fold")
# Of what records a conversation: the same words again rather than new ones. Source: seed 004.
RECORD_TEMPERATURE = 0.3
RECORD_PURPOSES = ("fold", "extract")


class InstrumentedModel:
    """A model client that records each request of another one: outcome, duration, tokens."""

    def __init__(self, model: ModelClient, telemetry: Telemetry) -> None:
        self.name = model.name
        self._model = model
        self._telemetry = telemetry

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        trace = current_trace() if request.purpose in TRACED_PURPOSES else ""
        began, first, outcome, answer = time.perf_counter(), 0.0, "stopped", None
        try:
            async with ClosingStream(self._model.stream(request)) as events:
                async for event in events:
                    first = first or time.perf_counter()
                    if isinstance(event, Answer):  # recorded first: the consumer may close this stream on receiving it
                        outcome, answer = "ok", event
                        facts, used = self._facts(request, answer), answer.usage
                        tokens = (used.input, used.output, used.cache_read)
                        self._telemetry.model_called(
                            request.model, outcome, began, facts, trace, first=first, tokens=tokens
                        )
                    yield event
        except ModelError as err:
            outcome = to_snake_case(type(err).__name__)
            raise
        finally:
            if answer is None:
                self._telemetry.model_called(request.model, outcome, began, self._facts(request), trace, first=first)

    async def close(self) -> None:
        await self._model.close()

    def _facts(self, request: Request, answer: Answer | None = None) -> Mapping[str, SpanFact]:
        """Return span attributes. Source: names of OpenTelemetry's semantic conventions for generative AI."""
        facts: dict[str, SpanFact] = {
            "gen_ai.provider.name": self.name,
            "gen_ai.request.max_tokens": request.max_tokens,
            "mnema.purpose": request.purpose,
        }
        if answer is not None:
            facts |= {
                "gen_ai.response.model": answer.model,
                "gen_ai.response.finish_reasons": (answer.stop,),
                "gen_ai.usage.input_tokens": answer.usage.input,
                "gen_ai.usage.output_tokens": answer.usage.output,
                "gen_ai.usage.cache_read.input_tokens": answer.usage.cache_read,
                "gen_ai.usage.cache_creation.input_tokens": answer.usage.cache_write,
            }
        return facts


class ModelService:
    """The configured models: a chain for conversations, and the fast model for summaries.

    Args:
        blobs: reads a stored file by its SHA-256.
        recall: finds passages for the offline model.
        on_unusable: see FallbackModel.
    """

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
        self._clients: list[ProviderModel] = []
        self._chain: FallbackModel | None = None
        self._llm: LlmConfig | None = None
        self._old_chains: list[FallbackModel] = []
        # Endpoint and id of the models that end their thinking with a closing tag alone.
        self._closing_tags: set[tuple[str, str]] = set()
        #: Called with the endpoint and the id of a model that is found to do so.
        self.on_closing_tag: Callable[[str, str], None] = lambda endpoint, model: None
        # Provider and model id of each model of the chain; the id "" stands for `name`.
        self._models: list[tuple[str, str]] = []
        self.provider = "offline"
        self.name = "offline"
        self.fast_name = "offline"

    @property
    def model(self) -> ModelClient:
        """The current chain."""
        return self._current_chain()

    def _current_chain(self) -> FallbackModel:
        if self._chain is None:
            raise RuntimeError("no model is configured yet")
        return self._chain

    def end_rests(self) -> None:
        """Let the next message try failed models again, in the order of the chain."""
        if self._chain is not None:
            self._chain.end_rests()

    async def try_now(self) -> None:
        """Send a short request to each model at once, and record its health."""
        await asyncio.gather(*(self.probe(index, model) for index, model, _ in self._members()))

    async def probe(self, index: int, model: str = "") -> ModelProbe:
        """Send a short request with a tool to one model, once; what it was known to refuse is tried again.

        Args:
            index: in the chain.
            model: id of another model there; "" for the one of the chain.
        """
        provider, configured = self._models[index]
        request = Request(
            model=model or configured or self.name,
            system=("Answer with one word.",),
            messages=(ShownMessage(role="user", parts=(Text(text="ping"),)),),
            tools=(PROBE_TOOL,),
            max_tokens=64,
        )
        client = self._client(index)
        if client is not None:
            client.forget_refusals(request.model)
        base_url = configured_models(self._llm)[index].base_url if self._llm else ""
        try:
            events = await self._current_chain().probe(index, request)
        except ModelError as err:
            where = f" at {base_url}" if base_url else ""
            reason = f"{failure_reason(err, 'en')} ({redact(str(err))})"
            return ModelProbe(text=f"{provider} {request.model}{where} does not answer: {reason}", answered=False)
        quirks = self._quirks(index, request.model)
        thinks = any(isinstance(event, ThinkingDelta) for event in events)
        return ModelProbe(
            text=f"{provider} {request.model}",
            answered=True,
            tools_refused=quirks.tools_refused,
            streams=quirks.streams is not False,
            thinking=quirks.thinking or "field" * thinks,
        )

    def refuses_tools(self, model: str) -> bool:
        """Tell whether a model of the chain is known to take no tools: requests to it are sent without them."""
        indexes = (index for index, (_, configured) in enumerate(self._models) if configured == model)
        return bool(self._quirks(next(indexes, 0), model).tools_refused)

    def _client(self, index: int) -> OpenAIModel | None:
        """Return the client of a model of the chain if it learns what its server refuses."""
        client = self._clients[index] if index < len(self._clients) else None
        return client if isinstance(client, OpenAIModel) else None

    def _quirks(self, index: int, model: str) -> ModelQuirks:
        client = self._client(index)
        return client.quirks(model) if client is not None else NO_QUIRKS

    @property
    def trouble(self) -> str:
        """Why models refuse, until they answer again; "" for none."""
        return "; ".join(status.why for status in self.states() if status.phase == "refused")

    def states(self) -> tuple[ModelStatus, ...]:
        """Return the status of each model of the chain in order, then that of the fast model if it differs."""
        if self._chain is None:
            return ()
        chain, now = self._chain, time.monotonic()
        statuses = [
            replace(
                model_status(f"{self._models[index][0]} {model}", chain.health(index, model), now, use),
                tools_refused=self._quirks(index, model).tools_refused,
            )
            for index, model, use in self._members()
        ]
        first, last = statuses[0], statuses[-1]
        # One refused key is told once, whatever models it opens.
        if last.use == "fast" and isinstance(last.error, KeyRefused) and isinstance(first.error, KeyRefused):
            statuses.pop()
        return tuple(replace(status, why=redact(status.why)[:MAX_REASON_CHARS]) for status in statuses)

    def _members(self) -> list[tuple[int, str, ModelUse]]:
        """Return index in the chain, model id and use: of the chain in order, then of the fast model if it differs."""
        members: list[tuple[int, str, ModelUse]] = [
            (index, configured or self.name, CHAIN_USES[min(index, 1)])
            for index, (_, configured) in enumerate(self._models)
        ]
        if self.fast_name != self.name:
            members.append((0, self.fast_name, "fast"))
        return members

    def configure(self, config: Config) -> None:
        """Build the chain again if its configuration changed; running calls end on the old one.

        Raises:
            ConfigError: a provider is unknown.
        """
        llm = config.llm
        if self._chain is not None and llm == self._llm:
            return
        self._llm = llm
        accounts = configured_models(llm)
        if self._chain is not None:
            self._old_chains.append(self._chain)  # calls may still run on it; its idle connections cost little
        self._clients = [self._open_client(account) for account in accounts]
        self._chain = FallbackModel(
            [
                _to_chain_model(InstrumentedModel(client, self._telemetry), account.model)
                for client, account in zip(self._clients, accounts, strict=True)
            ],
            on_unusable=self._on_unusable,
        )
        self._models = [(effective_provider(account), account.model) for account in accounts]
        self.provider = self._models[0][0]
        defaults, is_online = PROVIDERS[self.provider], self.provider != "offline"
        self.name = (llm.model if is_online else "") or defaults.model
        # A server of one's own may not have the default fast model.
        own_model = llm.model if self.provider == "openai" and llm.base_url else ""
        self.fast_name = (llm.fast_model if is_online else "") or own_model or defaults.fast_model

    def _open_client(self, account: ProviderAccount) -> ProviderModel:
        """Create the client of an account, with what is known of its models."""
        client = open_provider(account, blobs=self._blobs, recall=self._recall)
        if isinstance(client, OpenAIModel):
            client.on_closing_tag = lambda model: self._note_closing_tag(account.base_url, model)
            for endpoint, model in self._closing_tags:
                if endpoint == account.base_url:
                    client.hold_text(model)
        return client

    def _note_closing_tag(self, endpoint: str, model: str) -> None:
        self._closing_tags.add((endpoint, model))
        self.on_closing_tag(endpoint, model)

    def endpoints(self) -> list[tuple[str, str]]:
        """Return the address, as configured, and the id of each model in use."""
        accounts = configured_models(self._llm) if self._llm else ()
        return [(accounts[index].base_url, model) for index, model, _ in self._members() if index < len(accounts)]

    def hold_text(self, endpoint: str, model: str) -> None:
        """Show no text of a model before its thinking has ended with a closing tag."""
        self._closing_tags.add((endpoint, model))
        accounts = configured_models(self._llm) if self._llm else ()
        for client, account in zip(self._clients, accounts, strict=False):
            if isinstance(client, OpenAIModel) and account.base_url == endpoint:
                client.hold_text(model)

    def use(self, model: ModelClient) -> None:
        """Answer with this model, whatever is configured: a test double, or a client of an embedding program."""
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
        """Import the SDKs of all clients in threads, before the first message needs them."""
        await asyncio.gather(*(client.preload() for client in self._clients))

    async def complete(self, system: str, prompt: str, max_tokens: int, purpose: Purpose = "fold") -> tuple[str, Usage]:
        """Return one answer of the fast model without tools, and its usage.

        Raises:
            ModelError: it did not answer.
        """
        request = Request(
            model=self.fast_name,
            system=(system,),
            messages=(ShownMessage(role="user", parts=(Text(text=prompt),)),),
            max_tokens=max_tokens,
            purpose=purpose,
            temperature=RECORD_TEMPERATURE if purpose in RECORD_PURPOSES else None,
        )
        answer = await self._answer(request)
        used = build_usage_row(answer, purpose)
        if answer.only_thought:
            answer = await self._answer(replace(request, may_think=False))
            again = build_usage_row(answer, purpose)
            used = replace(again, input=used.input + again.input, output=used.output + again.output)
        return "".join(part.text for part in answer.parts if isinstance(part, Text)), used

    async def _answer(self, request: Request) -> Answer:
        async with ClosingStream(self.model.stream(request)) as events:
            async for event in events:
                if isinstance(event, Answer):
                    return event
        raise RuntimeError(f"{self.model.name} ended its stream without an answer")

    async def close(self) -> None:
        """Close every connection."""
        chains = [*self._old_chains, self._chain] if self._chain is not None else self._old_chains
        await asyncio.gather(*(chain.close() for chain in chains))


def _to_chain_model(client: ModelClient, model: str) -> ChainModel:
    return ChainModel(
        model=RetryingModel(client),
        model_id=model,
        probe=RetryingModel(client, settings=SINGLE_RETRY),
        window=context_window(model) if model else 0,
    )


def log_unusable(name: str, error: Unusable) -> None:
    """Log a model that needs a change of its configuration."""
    log.error("model unusable", model=name, error=type(error).__name__, status=error.status, kind=error.kind)


def build_usage_row(answer: Answer, purpose: str = "turn") -> Usage:
    """Build the stored usage of one call."""
    used = answer.usage
    return Usage(
        model=answer.model,
        purpose=purpose,
        input=used.input,
        output=used.output,
        cache_read=used.cache_read,
        cache_write=used.cache_write,
    )


async def probe_model(config: Config) -> list[ModelProbe]:
    """Probe each configured model; see `ModelService.probe`."""

    async def find_nothing(question: str, conversation: str, space: str) -> list[OfflinePassage]:
        return []

    def read_nothing(sha256: str) -> bytes:
        raise FileNotFoundError(sha256)

    models = ModelService(read_nothing, find_nothing, lambda name, error: None)
    models.configure(config)
    try:
        return [await models.probe(index) for index in range(1 + len(config.llm.fallback))]
    finally:
        await models.close()
