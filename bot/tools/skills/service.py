"""The skills of a bot, as the tool that reads them."""

import asyncio
from collections.abc import Callable

from bot.config.schema import Config
from bot.tools.skills.library import Skill, SkillChanged, SkillLibrary
from bot.tools.skills.tool import SkillTool

MAX_CACHED_SPACES = 1_000


class SkillTools:
    """Offers the tool `skill` in each space that has enabled skills; the same object until they
    change.
    """

    def __init__(
        self,
        library: SkillLibrary,
        config: Callable[[], Config],
        create_library: Callable[[str], SkillLibrary],
    ) -> None:
        """create_library: returns the library of a person's own space."""
        self.library = library
        self._config = config
        self._create_library = create_library
        self._own: dict[str, SkillLibrary] = {}
        self._built: dict[str, tuple[tuple[tuple[SkillLibrary, Skill], ...], int, SkillTool]] = {}

    def enabled(self, space: str) -> list[tuple[SkillLibrary, Skill]]:
        """Return the enabled skills of a space with their library, by name; its own before the
        owner's.
        """
        if not self.library.state.path.exists():
            return []
        found = {skill.name: (self.library, skill) for skill in self.library.enabled(space)}
        if space and any(name.startswith(f"{space}/") for name in self.library.state.load()):
            if len(self._own) >= MAX_CACHED_SPACES:
                self._own.clear()
            own = self._own.setdefault(space, self._create_library(space))
            found |= {skill.name: (own, skill) for skill in own.enabled(space)}
        return [found[name] for name in sorted(found)]

    async def find_sha256(self, name: str) -> str:
        """Return the hash of an enabled skill of the owner's workspace, whose files have it now; ""
        for any other.
        """
        found = next((skill for skill in self.library.enabled("") if skill.name == name), None)
        if found is None:
            return ""
        try:
            await asyncio.to_thread(self.library.read, found)
        except SkillChanged:
            return ""
        return found.sha256

    def offered(self, space: str) -> list[SkillTool]:
        """Return the tool, if any skill is enabled in this space."""
        found = tuple(self.enabled(space))
        if not found:
            return []
        limit = self._config().skills.index_tokens
        known = self._built.get(space)
        if known is None or known[:2] != (found, limit):
            if len(self._built) >= MAX_CACHED_SPACES:
                self._built.clear()
            known = self._built[space] = (found, limit, SkillTool(found, limit))
        return [known[2]]
