"""Any number of callers at once, endpoints that refuse, fail, hang, damage and recover: whose
message is answered.
"""

import asyncio
from collections.abc import Sequence

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from bot.errors import ModelError
from bot.models.fallback import ChainModel, FallbackModel
from bot.models.retry import RetryingModel, RetrySettings
from tests.bot.models.asking import answer_of, asking, words
from tests.bot.models.endpoints import Endpoint, Mood
from tests.bot.models.virtual_time import VirtualLoop

MOODS: Sequence[Mood] = (
    *("well", "slow", "refuse", "unknown", "spent", "fail", "limit", "hang", "break", "damage"),
)
CALLS = 5  # of one model for one message
LONGEST = 900.0  # seconds for one message
LONGEST_PROBE = 30.0
WELL: Sequence[Mood] = ("well", "slow")


class Message:
    """One message: what its calls were answered with. well: endpoints that have been well since it
    came.
    """

    def __init__(self, name: str, began: float, well: set[Endpoint]) -> None:
        self.name, self.began, self.well = name, began, well
        self.task: asyncio.Task[str] | None = None


class Chain(RuleBasedStateMachine):
    """A chain of one to three models, and people who write at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = VirtualLoop()
        self.messages: list[Message] = []

    @initialize(moods=st.lists(st.sampled_from(MOODS), min_size=1, max_size=3))
    def build(self, moods: list[Mood]) -> None:
        self.endpoints = [Endpoint(f"m{at}", mood) for at, mood in enumerate(moods)]

        def patient(endpoint: Endpoint, **fields: bool | int) -> RetryingModel:
            return RetryingModel(
                endpoint,
                settings=RetrySettings(**fields),  # type: ignore[arg-type]
                clock=self.loop.time,
                chance=lambda: 1.0,
            )

        chain = [
            ChainModel(
                model=patient(endpoint),
                model_id=endpoint.name,
                probe=patient(endpoint, calls=2, wait=False),
            )
            for endpoint in self.endpoints
        ]
        self.chain = FallbackModel(chain, on_unusable=lambda *_: None, clock=self.loop.time)

    @rule(person=st.sampled_from(["a", "b", "c"]))
    def write(self, person: str) -> None:
        """A person writes; each message has calls of its own."""
        well = {endpoint for endpoint in self.endpoints if endpoint.mood in WELL}
        message = Message(f"{person}{len(self.messages)}", self.loop.now, well)
        message.task = self.loop.create_task(self._answer(message))
        self.messages.append(message)
        self._pass(0.0)

    async def _answer(self, message: Message) -> str:
        return words(await answer_of(self.chain, asking("hi", conversation=message.name)))

    @rule(at=st.integers(0, 2), mood=st.sampled_from(MOODS))
    def change(self, at: int, mood: Mood) -> None:
        endpoint = self.endpoints[at % len(self.endpoints)]
        endpoint.mood = mood
        if mood not in WELL:
            for message in self.messages:
                message.well.discard(endpoint)

    @rule(seconds=st.sampled_from([0.05, 0.3, 5.0, 31.0, 61.0, 130.0, 901.0]))
    def wait(self, seconds: float) -> None:
        self._pass(seconds)

    @rule()
    def retry(self) -> None:
        """Somebody asks for another try at once."""
        self.chain.end_rests()

    @precondition(lambda self: self.messages)
    @rule(at=st.integers(0, 50))
    def stop(self, at: int) -> None:
        """Somebody stops a message."""
        task = self.messages[at % len(self.messages)].task
        assert task is not None
        task.cancel()
        self._pass(0.0)

    def _pass(self, seconds: float) -> None:
        self.loop.run_until_complete(asyncio.sleep(seconds))

    @invariant()
    def nobody_is_told_of_a_failure_without_a_failed_call(self) -> None:
        for message in self.messages:
            self._check(message)

    def _check(self, message: Message) -> None:
        calls = [endpoint.calls[message.name] for endpoint in self.endpoints]
        assert max(calls) <= CALLS, f"{message.name}: {calls} calls"
        assert message.task is not None
        if not message.task.done():
            assert self.loop.now - message.began <= LONGEST
            return
        if message.task.cancelled():
            return
        error = message.task.exception()
        if error is None:
            assert message.task.result() in {endpoint.name for endpoint in self.endpoints}
            return
        assert isinstance(error, ModelError), repr(error)
        assert sum(endpoint.failed[message.name] for endpoint in self.endpoints), (
            f"{message.name}: no failed call"
        )
        assert not message.well, (
            f"{message.name} failed with {error!r}, but {[one.name for one in message.well]} was "
            "well"
        )

    def teardown(self) -> None:
        """In the end every message has its answer or its notice, and one that comes when all is
        well is answered.
        """
        try:
            if hasattr(self, "chain"):
                self._end()
        finally:
            for message in self.messages:
                if message.task is not None:
                    message.task.cancel()
            self._pass(1.0)
            self.loop.close()

    def _end(self) -> None:
        self._pass(LONGEST + 1)
        assert all(message.task is not None and message.task.done() for message in self.messages)
        self.nobody_is_told_of_a_failure_without_a_failed_call()
        for endpoint in self.endpoints:
            endpoint.mood = "well"
        self.write("last")
        self._pass(1.0)
        last = self.messages[-1].task
        assert last is not None
        assert last.result()
        assert [endpoint.running for endpoint in self.endpoints] == [0] * len(self.endpoints)


TestChain = Chain.TestCase
TestChain.settings = settings(deadline=None, stateful_step_count=40)
