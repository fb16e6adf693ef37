"""The models as they are configured now: a chain for conversations, its fast model for
summaries.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import replace

import structlog

from bot.config.schema import Config
from bot.config.sections.llm import LlmConfig
from bot.errors import BadRequest, KeyRefused, ModelError, Overflow, Unusable
from bot.models.background import BackgroundCalls
from bot.models.base import (
    CLOCK_TOOL,
    Answer,
    Blobs,
    ModelClient,
    ModelEvent,
    Purpose,
    Request,
    RetryWait,
)
from bot.models.catalog import model_facts
from bot.models.facts import KnownModel, LastError, note_error
from bot.models.fallback import STEP_SECONDS, ChainModel, FallbackModel
from bot.models.health import ModelStatus, ModelUse, model_status
from bot.models.providers.accounts import (
    ProviderAccount,
    ProviderModel,
    configured_models,
    default_names,
    effective_provider,
    open_provider,
)
from bot.models.providers.offline import RecallPassages
from bot.models.providers.openai import OpenAIModel
from bot.models.providers.quirks import NO_QUIRKS, ModelQuirks
from bot.models.providers.transport import ClosingStream, TimedStream, Timeouts, timeouts_for
from bot.models.retry import SINGLE_RETRY, RetryingModel
from bot.models.setup.listing import ListingCache, ModelListing
from bot.models.windows import ModelWindow, ModelWindows, ServedModel, answer_reserve
from bot.telemetry.log import redact
from bot.telemetry.recorder import Telemetry, current_trace, to_snake_case
from bot.telemetry.tracing import SpanFact
from memory.conversation import ShownMessage, Text
from memory.store.rows import Usage

log = structlog.get_logger(__name__)
MAX_REASON_CHARS = 200
SILENCE_SECONDS = 60.0  # without a token, that end an answer of the fast model which has begun
SYSTEM_PROMPT_TOKENS = 800  # of a summary; that of extraction is shorter
MIN_PROMPT_TOKENS = 400
COUNT_SHARE = 0.8  # of the room for a prompt: other tokenizers make up to a fourth more of a text
SHRUNK_SHARE, MIN_PROMPT_SHARE = 0.95, 0.25  # after a refusal
CHAIN_USES: tuple[ModelUse, ModelUse] = ("chosen", "spare")
# Purposes whose requests belong to one message; memory's other work has queues of its own.
TRACED_PURPOSES = ("turn", "fold")
# Of what records a conversation: the same words again rather than new ones. Source: seed 004.
RECORD_TEMPERATURE = 0.3
RECORD_PURPOSES = ("fold", "extract")


CallOutcome = Answer | ModelError | None


class InstrumentedModel:
    """A model client that records each request of another one: outcome, duration, tokens.

    Args:
        on_call: called with each request before it is sent and None, then with what became of it.
    """

    def __init__(
        self,
        model: ModelClient,
        telemetry: Telemetry,
        on_call: Callable[[Request, CallOutcome], None] = lambda request, outcome: None,
    ) -> None:
        self.name = model.name
        self._model = model
        self._telemetry = telemetry
        self._on_call = on_call

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        self._on_call(request, None)
        trace = current_trace() if request.purpose in TRACED_PURPOSES else ""
        began, first, outcome, answer = time.perf_counter(), 0.0, "stopped", None
        try:
            async with ClosingStream(self._model.stream(request)) as events:
                async for event in events:
                    first = first or (0.0 if isinstance(event, RetryWait) else time.perf_counter())
                    # recorded first: the consumer may close this stream on receiving it
                    if isinstance(event, Answer):
                        outcome, answer = "ok", event
                        self._on_call(request, event)
                        facts, used = self._facts(request, answer), answer.usage
                        tokens = (used.input, used.output, used.cache_read)
                        self._telemetry.model_called(
                            request.model, outcome, began, facts, trace, first=first, tokens=tokens
                        )
                    yield event
        except ModelError as err:
            outcome = to_snake_case(type(err).__name__)
            self._on_call(request, err)
            raise
        finally:
            if answer is None:
                self._telemetry.model_called(
                    request.model, outcome, began, self._facts(request), trace, first=first
                )

    async def close(self) -> None:
        await self._model.close()

    def _facts(self, request: Request, answer: Answer | None = None) -> Mapping[str, SpanFact]:
        """Return span attributes.

        Source: names of OpenTelemetry's semantic conventions for generative AI.
        """
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
        windows: what is known of the models' windows; None starts with nothing.
    """

    def __init__(
        self,
        blobs: Blobs,
        recall: RecallPassages,
        on_unusable: Callable[[str, Unusable], None],
        telemetry: Telemetry | None = None,
        windows: ModelWindows | None = None,
    ) -> None:
        self._blobs = blobs
        self._recall = recall
        self._on_unusable = on_unusable
        self._telemetry = telemetry or Telemetry()
        self._listings = ListingCache()
        self.windows = windows or ModelWindows()
        #: Lets replies come before summaries and facts.
        self.background = BackgroundCalls(self.replies_come_first)
        # The models of the chain in use and their newest errors, by the key of the served model.
        self._in_use: Mapping[str, ServedModel] = {}
        self._errors: dict[str, LastError] = {}
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
        # Of each model of the chain; none for one that is no account.
        self._accounts: list[ProviderAccount] = []
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

    async def probe(self, index: int, model: str) -> None:
        """Send a short request with a tool to one model, once; what it was known to refuse is tried
        again.

        Args:
            index: in the chain.
            model: its id.
        """
        request = Request(
            model=model,
            system=("Answer with one word.",),
            messages=(ShownMessage(role="user", parts=(Text(text="ping"),)),),
            tools=(CLOCK_TOOL,),
            max_tokens=64,
        )
        client = self._client(index)
        if client is not None:
            client.forget_refusals(model)
        with suppress(ModelError):  # its health says so
            await self._current_chain().probe(index, request)

    def replies_come_first(self) -> bool:
        """Tell whether background calls wait for replies: as configured, else where the server has
        one slot.
        """
        if self._llm is None:
            return False
        if "background" in self._llm.model_fields_set:
            return self._llm.background == "idle"
        return self.windows.slots(self.served_model(self.fast_name)) == 1

    def facts(self) -> tuple[KnownModel, ...]:
        """Return what is known of each model of the chain in order, then of the fast model if it
        differs.
        """
        return tuple(self._facts(index, model) for index, model, _ in self._members())

    def _facts(self, index: int, model: str) -> KnownModel:
        served, quirks = self._serve(index, model), self._quirks(index, model)
        return KnownModel(
            name=f"{self._models[index][0]} {model}",
            window=self.windows.find(served),
            tools_refused=quirks.tools_refused,
            thinking=quirks.thinking,
            slots=self.windows.slots(served),
            error=self._errors.get(served.key),
        )

    def refuses_tools(self, model: str) -> bool:
        """Tell whether a model of the chain is known to take no tools: requests to it are sent
        without them.
        """
        indexes = (
            index for index, (_, configured) in enumerate(self._models) if configured == model
        )
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
        """Return the status of each model of the chain in order, then that of the fast model if it
        differs.
        """
        if self._chain is None:
            return ()
        chain, now = self._chain, time.monotonic()
        statuses = [
            replace(
                model_status(
                    f"{self._models[index][0]} {model}", chain.health(index, model), now, use
                ),
                tools_refused=self._quirks(index, model).tools_refused,
            )
            for index, model, use in self._members()
        ]
        first, last = statuses[0], statuses[-1]
        # A refused key is reported once, whatever models it opens.
        if (
            last.use == "fast"
            and isinstance(last.error, KeyRefused)
            and isinstance(first.error, KeyRefused)
        ):
            statuses.pop()
        return tuple(
            replace(status, why=redact(status.why)[:MAX_REASON_CHARS]) for status in statuses
        )

    def _members(self) -> list[tuple[int, str, ModelUse]]:
        """Return index in the chain, model id and use: of the chain in order, then of the fast
        model if it differs.
        """
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
        self._llm, self._prompt_share = llm, 1.0
        accounts = configured_models(llm)
        if self._chain is not None:
            # calls may still run on it; its idle connections cost little
            self._old_chains.append(self._chain)
        self._clients = [self._open_client(account) for account in accounts]
        self._models = [(effective_provider(account), account.model) for account in accounts]
        self._accounts = list(accounts)
        self._listings.forget_others(accounts)
        self._chain = FallbackModel(
            [self._to_chain_model(client, index) for index, client in enumerate(self._clients)],
            on_unusable=self._on_unusable,
        )
        self.provider = self._models[0][0]
        self.name, self.fast_name = default_names(llm, self.provider)
        members = [self._serve(index, model) for index, model, _ in self._members()]
        self._in_use = {served.key: served for served in members}
        self.windows.forget_others(self._in_use)
        self._errors = {key: error for key, error in self._errors.items() if key in self._in_use}

    def _to_chain_model(self, client: ModelClient, index: int) -> ChainModel:
        account, configured = self._accounts[index], self._configured_window(index)

        def note(request: Request, outcome: CallOutcome) -> None:
            self._note_call(_serve(account, request.model, configured), request, outcome)

        def find_window() -> int:
            return (
                self.windows.find(_serve(account, account.model, 0)).tokens if account.model else 0
            )

        model = InstrumentedModel(client, self._telemetry, note)
        return ChainModel(
            model=RetryingModel(model),
            model_id=account.model,
            probe=RetryingModel(model, settings=SINGLE_RETRY),
            window=find_window,
        )

    def _note_call(self, served: ServedModel, request: Request, outcome: CallOutcome) -> None:
        """Learn of the window from a call, before it is made and after it."""
        if isinstance(outcome, ModelError):
            if served.key in self._in_use:  # not one that a conversation chose, or an old chain's
                self._errors[served.key] = note_error(outcome, time.monotonic())
            self.windows.note_failure(served)
            if isinstance(outcome, Overflow):
                self.windows.note_refusal(served, request.size, outcome)
        else:
            self.windows.ask_soon(served, has_answered=outcome is not None)

    async def list_models(self) -> ModelListing | None:
        """Return, within two seconds, what the server of the first model has; None if there is no
        server.
        """
        if not self._accounts or self.provider == "offline":
            return None
        return await self._listings.find(self._accounts[0])

    def served_model(self, model: str) -> ServedModel:
        """Return where a model id is served: by the model of the chain with that id, else by the
        first.
        """
        indexes = (
            index
            for index, (_, configured) in enumerate(self._models)
            if index and configured == model
        )
        return self._serve(next(indexes, 0), model)

    def window(self, model: str) -> ModelWindow:
        """Return the context window of a model."""
        return self.windows.find(self.served_model(model))

    def window_with(self, config: Config, model: str) -> ModelWindow:
        """Return the window that a model would have with another `llm.context_window`."""
        served = self.served_model(model)
        if not served.configured and not config.llm.context_window:
            return self.windows.find(served)
        return self.windows.find(replace(served, configured=config.llm.context_window))

    def _serve(self, index: int, model: str) -> ServedModel:
        if not self._accounts:
            return ServedModel(
                provider=self.provider, model=model, configured=self._configured_window(index)
            )
        return _serve(self._accounts[index], model, self._configured_window(index))

    def _configured_window(self, index: int) -> int:
        return self._llm.context_window if self._llm and not index else 0

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
        return [
            (accounts[index].base_url, model)
            for index, model, _ in self._members()
            if index < len(accounts)
        ]

    def hold_text(self, endpoint: str, model: str) -> None:
        """Show no text of a model before its thinking has ended with a closing tag."""
        self._closing_tags.add((endpoint, model))
        accounts = configured_models(self._llm) if self._llm else ()
        for client, account in zip(self._clients, accounts, strict=False):
            if isinstance(client, OpenAIModel) and account.base_url == endpoint:
                client.hold_text(model)

    def use(self, model: ModelClient) -> None:
        """Answer with this model, whatever is configured: a test double, or a client of an
        embedding program.
        """
        self._chain = (
            model
            if isinstance(model, FallbackModel)
            else FallbackModel(
                [ChainModel(model=InstrumentedModel(model, self._telemetry))],
                on_unusable=self._on_unusable,
            )
        )
        self._models, self._accounts = [(model.name, "")], []
        self.provider = self.name = self.fast_name = model.name

    async def preload(self) -> None:
        """Import the SDKs of all clients in threads, before the first message needs them."""
        for index, model, _ in self._members():
            self.windows.ask_soon(self._serve(index, model))
        await asyncio.gather(*(client.preload() for client in self._clients))

    async def complete(
        self,
        system: str,
        prompt: str,
        max_tokens: int,
        purpose: Purpose = "fold",
        *,
        gives_way: bool = False,
    ) -> tuple[str, Usage]:
        """Return one answer of the fast model without tools, and its usage.

        The answer is limited to what the model can write, and a refusal that names numbers is
        followed by one more call where the request fits them. A model that begins is waited for
        until it falls silent, however long it writes.

        It waits for replies as `llm.background` says.

        Args:
            gives_way: see BackgroundCalls.run.

        Raises:
            RepliesFirst: see BackgroundCalls.run.
            ModelError: it did not answer; of kind "offline" where background calls are off.
        """
        if self._llm is not None and self._llm.background == "off":
            raise BadRequest("llm.background is off", kind="offline")
        return await self.background.run(
            lambda: self._complete_in_window(system, prompt, max_tokens, purpose),
            gives_way=gives_way,
        )

    async def _complete_in_window(
        self, system: str, prompt: str, max_tokens: int, purpose: Purpose
    ) -> tuple[str, Usage]:
        request = Request(
            model=self.fast_name,
            system=(system,),
            messages=(ShownMessage(role="user", parts=(Text(text=prompt),)),),
            max_tokens=self._fast_answer_limit(max_tokens),
            purpose=purpose,
            temperature=RECORD_TEMPERATURE if purpose in RECORD_PURPOSES else None,
        )
        try:
            return await self._complete(request)
        except Overflow as err:
            again = replace(request, max_tokens=self._fast_answer_limit(max_tokens))
            if not err.actual or not err.limit:
                raise
            if err.actual + again.max_tokens > err.limit:
                self._note_long_prompt(err, again.max_tokens)
                raise
        return await self._complete(again)

    async def _complete(self, request: Request) -> tuple[str, Usage]:
        answer = await self._answer(request)
        used = build_usage_row(answer, request.purpose)
        if answer.only_thought:
            answer = await self._answer(replace(request, may_think=False))
            again = build_usage_row(answer, request.purpose)
            used = replace(again, input=used.input + again.input, output=used.output + again.output)
        return "".join(part.text for part in answer.parts if isinstance(part, Text)), used

    async def _answer(self, request: Request) -> Answer:
        base_url = self._accounts[0].base_url if self._accounts else ""
        limits = Timeouts(
            first=timeouts_for(base_url).first, gap=SILENCE_SECONDS, step=STEP_SECONDS
        )
        async with TimedStream(self.model.stream(request), limits) as events:
            async for event in events:
                if isinstance(event, Answer):
                    return event
        raise RuntimeError(f"{self.model.name} ended its stream without an answer")

    def background_prompt_tokens(self) -> int:
        """Return how long a prompt to the fast model may be, by our count, beside its system prompt
        and answer.
        """
        window = self.window(self.fast_name).tokens
        left = window - self._fast_answer_limit(window) - SYSTEM_PROMPT_TOKENS
        return max(MIN_PROMPT_TOKENS, int(left * COUNT_SHARE * self._prompt_share))

    def _fast_answer_limit(self, most: int) -> int:
        """Return how much of `most` tokens the fast model can write in its window."""
        facts = model_facts(self.fast_name)
        if facts is not None:
            most = min(most, facts.max_output)
        elif self._llm is not None and self._accounts:
            most = min(most, self._llm.max_output_tokens)
        return answer_reserve(self.window(self.fast_name).tokens, most)

    def _note_long_prompt(self, refusal: Overflow, max_tokens: int) -> None:
        """Make later prompts shorter: this one had more tokens than our counter said."""
        share = max(refusal.limit - max_tokens, 0) / refusal.actual * SHRUNK_SHARE
        self._prompt_share = max(self._prompt_share * share, MIN_PROMPT_SHARE)

    async def close(self) -> None:
        """Close every connection, once what was learnt of windows is stored."""
        await self.windows.settled()
        chains = [*self._old_chains, self._chain] if self._chain is not None else self._old_chains
        await asyncio.gather(*(chain.close() for chain in chains))


def _serve(account: ProviderAccount, model: str, configured: int) -> ServedModel:
    return ServedModel(
        provider=account.provider,
        model=model,
        base_url=account.base_url,
        api_key=account.api_key,
        proxy=account.proxy,
        configured=configured,
    )


def log_unusable(name: str, error: Unusable) -> None:
    """Log a model that needs a change of its configuration."""
    kind = type(error).__name__
    log.error("model unusable", model=name, error=kind, status=error.status, kind=error.kind)


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
