"""Regular expressions that are compiled when they are first used. Pure."""

import re
from typing import Any, cast


class LazyPattern:
    """A regular expression that is compiled when it is first used.

    After that its methods are those of the pattern.
    """

    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    def compiled(self) -> re.Pattern[str]:
        return re.compile(self._text, self._flags)

    def __getattr__(self, name: str) -> Any:
        pattern = self.compiled()
        for method in (
            "search",
            "match",
            "fullmatch",
            "finditer",
            "findall",
            "sub",
            "split",
            "groupindex",
        ):
            setattr(self, method, getattr(pattern, method))
        return getattr(pattern, name)


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Make a pattern that is compiled when it is first used: with Chinese character classes that
    takes milliseconds.
    """
    return cast("re.Pattern[str]", LazyPattern(text, flags))
