"""The skills of a bot, as the tool that reads them."""

from collections.abc import Callable

from bot.config.schema import Config
from bot.tools.skills.library import Skill, SkillLibrary
from bot.tools.skills.tool import SkillTool

MAX_CACHED_SPACES = 1_000


class SkillTools:
    """Offers the tool `skill` in each space that has enabled skills; the same object until they change."""

    def __init__(self, library: SkillLibrary, config: Callable[[], Config]) -> None:
        self.library = library
        self._config = config
        self._built: dict[str, tuple[tuple[Skill, ...], int, SkillTool]] = {}

    def offered(self, space: str) -> list[SkillTool]:
        """Return the tool, if any skill is enabled in this space."""
        if not self.library.state.path.exists() or not (skills := self.library.enabled(space)):
            return []
        limit = self._config().skills.index_tokens
        known = self._built.get(space)
        if known is None or known[:2] != (skills, limit):
            if len(self._built) >= MAX_CACHED_SPACES:
                self._built.clear()
            known = self._built[space] = (skills, limit, SkillTool(self.library, skills, limit))
        return [known[2]]
