"""Corrects the token counter for each model by what its provider really counted."""

from memory.context.counter import calibrate
from memory.store.doors import Sessions

SETTLED = 10
"""After so many replies only a change of more than `WORTH` is written."""
WORTH = 0.005


class Calibration:
    """Learns one factor per model."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def learn(self, model: str, counted: int, actual: int) -> None:
        """counted: our count of a request without the factor; actual: the provider's, 0 when it did not say."""
        if not actual or not counted:
            return
        factor, samples, _ = await self._sessions.factor(model)
        fresh, error = calibrate(factor, counted, actual)
        if samples < SETTLED or abs(fresh - factor) > WORTH:
            await self._sessions.set_factor(model, round(fresh, 4), samples + 1, round(error, 2))
