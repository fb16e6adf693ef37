"""What providers report of each answer: it corrects the token counter, and says how much came from their cache."""

from memory.context.counter import calibrate
from memory.store.doors import Sessions

SETTLED = 10
"""After so many replies only a change of more than `WORTH` is written."""
WORTH = 0.005
MOST_SHARES = 10_000

Factor = tuple[float, int, float]
"""(factor, samples, last error in per cent)."""


class Calibration:
    """Learns one factor per model; this process alone writes them, so each is read once.

    shares: of the newest request of a conversation, how much its provider's cache gave, 0 to 1.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._known: dict[str, Factor] = {}
        self.shares: dict[str, float] = {}

    async def factor(self, model: str) -> Factor:
        """What is known of that model; (1.0, 0, 0.0) for a new one."""
        if model not in self._known:
            self._known[model] = await self._sessions.factor(model)
        return self._known[model]

    async def learn(self, model: str, counted: int, actual: int) -> None:
        """counted: our count of a request without the factor; actual: the provider's, 0 when it did not say."""
        if not actual or not counted:
            return
        factor, samples, _ = await self.factor(model)
        fresh, error = calibrate(factor, counted, actual)
        learned = (round(fresh, 4), samples + 1, round(error, 2))
        if samples < SETTLED or abs(fresh - factor) > WORTH:
            await self._sessions.set_factor(model, *learned)
            self._known[model] = learned
        else:
            self._known[model] = (factor, samples, learned[2])

    def note_cache(self, conversation: str, cached: int, whole: int) -> None:
        """Of `whole` tokens of the newest request, the provider took `cached` from its cache."""
        if len(self.shares) >= MOST_SHARES:
            self.shares.clear()
        self.shares[conversation] = cached / whole if whole else 0.0
