"""How checks are shown: their titles, and their sentences in a language."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from bot.cli.doctor.channels import DoctorCheck
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.errors import ConfigError
from channels.phrases import Phrase

# What checks are called for people; of "channel NAME" and "mcp NAME" the first word.
TITLES = {
    "system": Phrase("system", context="a check"),
    "configuration": Phrase("configuration", context="a check"),
    "database": Phrase("database", context="a check"),
    "reminders": Phrase("reminders", context="a check"),
    "audit": Phrase("audit", context="a check"),
    "ledger": Phrase("ledger", context="a check"),
    "index": Phrase("index", context="a check"),
    "disk": Phrase("disk", context="a check"),
    "embedding": Phrase("embedding", context="a check"),
    "model": Phrase("model", context="a check"),
    "model health": Phrase("model health", context="a check"),
    "model window": Phrase("model window", context="a check"),
    "summaries and facts": Phrase("summaries and facts", context="a check"),
    "newest error": Phrase("newest error", context="a check"),
    "counter": Phrase("counter", context="a check"),
    "clock": Phrase("clock", context="a check"),
    "web token": Phrase("web token", context="a check"),
    "privacy": Phrase("privacy", context="a check"),
    "instance": Phrase("instance", context="a check"),
    "machine": Phrase("machine", context="a check"),
    "public address": Phrase("public address", context="a check"),
    "channels": Phrase("channels", context="a check"),
    "channel": Phrase("channel", context="a check"),
    "mcp": Phrase("mcp", context="a check"),
    "skills": Phrase("skills", context="a check"),
    "plug-ins": Phrase("plug-ins", context="a check"),
    "exec": Phrase("exec", context="a check"),
    "web tools": Phrase("web tools", context="a check"),
    "renamed files": Phrase("renamed files", context="a check"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCheck:
    """The result of one check in a language."""

    #: For programs.
    name: str
    ok: bool
    message: str
    hint: str
    title: str


def show_checks(checks: Sequence[DoctorCheck], lang: str) -> list[ShownCheck]:
    """Show results in a language."""
    return [
        ShownCheck(
            name=check.name,
            ok=check.ok,
            message=check.message.text(lang),
            hint=check.hint.text(lang),
            title=title_of(check.name, lang),
        )
        for check in checks
    ]


def title_of(name: str, lang: str) -> str:
    """Return what a check is called for people."""
    if name in TITLES:
        return TITLES[name].text(lang)
    first, _, rest = name.partition(" ")
    return f"{TITLES[first].text(lang)} {rest}" if first in TITLES else name


def choose_language(home: HomeFolder) -> str:
    """Return the language of config.json, "zh" or "en"; where it says "auto", that of the
    terminal.
    """
    file = ConfigFile(home.config)
    with suppress(ConfigError):
        file.load()
    if file.current.language in ("zh", "en"):
        return file.current.language
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return "zh" if locale.lower().startswith("zh") else "en"
