"""Errors of the configuration and their texts in Chinese and English."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.errors import ConfigError
from channels.phrases import NO_PHRASE, Phrase, ShownPhrase

FAULT_TEXTS: dict[str, Phrase] = {
    # the text is not the accepted JSON
    "empty": Phrase("the file is empty; it must hold at least {{}}."),
    "trailing_text": Phrase("there is more text after the end."),
    "not_object": Phrase("the whole file must be one {{…}} object."),
    "too_deep": Phrase("it is nested over 32 levels deep."),
    "duplicate": Phrase("the key {found} occurs twice; remove one."),
    "no_colon": Phrase("a colon is missing after the key."),
    "no_comma": Phrase("a comma is missing between two entries."),
    "trailing_comma": Phrase("there is a comma after the last entry; remove it."),
    "cut_off": Phrase("the file ends too early; a closing bracket is missing."),
    "comment": Phrase("JSON has no comments; remove it."),
    "bare_key": Phrase("a key must be in double quotes."),
    "open_string": Phrase("a quotation mark is never closed."),
    "bad_string": Phrase("a text holds a line break or an escape that JSON does not know."),
    "no_value": Phrase("a value is missing here."),
    "bare_word": Phrase(
        "{found} is not a JSON value; write a string in double quotes, and yes or no as true or "
        "false."
    ),
    "long_number": Phrase("the number is too long."),
    "not_utf8": Phrase("the file is not UTF-8 text."),
    "too_large": Phrase("the file is larger than 1 MB."),
    "not_plain": Phrase(
        "it cannot be read: it is a device, a pipe or a folder; put a plain file of at most 1 MB "
        "there."
    ),
    # the settings in it
    "unknown": Phrase("{key} is not a key here. {near}"),
    "wrong": Phrase("{key} is {value}; {right}."),
    "no_policy": Phrase("{key}: there is no policy {name}. {near}Available: {known}."),
    "no_number": Phrase("{key}: the policy {policy} has no number {name}. {near}It has {known}."),
    "no_variable": Phrase("{key} reads the environment variable {name}, which is not set."),
    "file_only": Phrase(
        "{key} can only be written in config.json itself, because it decides which programs run."
    ),
    "masked": Phrase(
        "{key} was given its masked form, not the secret itself; give the full value."
    ),
    # the file itself
    "open_mode": Phrase(
        "it holds a secret and other users may read it (mode {mode}); run: chmod 600 {path}"
    ),
    "changed": Phrase("another program changed it at this moment; nothing was written, try again."),
    "gone": Phrase("it is missing; the previous settings stay in use."),
    "unreadable": Phrase("it cannot be read: {why}."),
    "unwritable": Phrase("it cannot be written: {why}."),
}

VALUE_TEXTS: dict[str, Phrase] = {
    "integer": Phrase("it must be a whole number from {least} to {most}"),
    "number": Phrase("it must be a number from {least} to {most}"),
    "flag": Phrase("it must be true or false"),
    "choice": Phrase("it must be {choices}"),
    "text": Phrase("it must be a text in double quotes"),
    "secret": Phrase("it must be a text in double quotes"),
    "texts": Phrase('it must be a list of texts, such as ["a", "b"]'),
    "section": Phrase("it must be an object in braces, {{…}}"),
    "fallbacks": Phrase(
        'it must be a list of objects, such as [{{"provider": "openai", "model": "…", '
        '"api_key": "…"}}]'
    ),
    "search_providers": Phrase(
        'it must be a list of objects, such as [{{"name": "tavily", "api_key": "…"}}]'
    ),
    "policies": Phrase(
        'it must hold numbers by the policy\'s name, such as {{"balanced": {{"snip_chars": '
        "15000}}}}"
    ),
    "mcp_servers": Phrase(
        "it must hold servers by name (letters, digits and hyphens, at most 32), each with either "
        'a command or a url, such as {{"files": {{"command": ["server-files"]}}}}'
    ),
    "plugins": Phrase(
        'it must hold objects by the plug-in\'s name, such as {{"weather": {{"env": {{"KEY": '
        '"${{WEATHER_KEY}}"}}}}}}'
    ),
    "command": Phrase(
        'it must be a program and its arguments, such as ["npx", "-y", "server-files"]'
    ),
    "texts_by_name": Phrase('it must hold texts by name, such as {{"KEY": "${{FILES_KEY}}"}}'),
    "people_limits": Phrase(
        'it must hold limits by CHANNEL:ID, such as {{"telegram:42": {{"messages_per_day": 20}}}}'
    ),
    "own_limit": Phrase(
        "it must be a number from {least} on (0: no limit), or null for the same as everybody"
    ),
    "url": Phrase('it must be an address that begins with http:// or https://, or ""'),
    "public_url": Phrase(
        "it must be an https:// address of host (and port) alone, such as "
        'https://bot.example.org, or ""'
    ),
    "networks": Phrase(
        'it must be a list of IP addresses or ranges, such as ["127.0.0.1", "10.0.0.0/8"]'
    ),
    "secret_url": Phrase(
        'it must be an address that begins with http://, https:// or socks5://, or ""'
    ),
    "socket_url": Phrase('it must be an address that begins with ws:// or wss://, or ""'),
    "database": Phrase(
        'it must be an address that begins with postgresql+psycopg://, or "" for SQLite'
    ),
    "zone": Phrase('it must be a time zone such as Asia/Shanghai, or ""'),
    "quiet_hours": Phrase(
        'it must be a begin and an end, such as ["22:30", "07:30"], or the empty list []'
    ),
    "clock": Phrase("it must be a time of day as HH:MM, such as 03:30"),
}

KEY_NOTES: dict[str, Phrase] = {
    "channels.web.host": Phrase(
        " (it listens on this machine only; to open it to others, put a proxy with TLS in front "
        "and set channels.web.public_url to its address)"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLocation:
    """A position in a file."""

    #: Name of the file.
    file: str
    #: From 1; 0 means the file as a whole.
    line: int = 0
    #: From 1, in characters.
    column: int = 0


class ConfigRejected(ConfigError):
    """The configuration is invalid; str() is the English sentence, `say` gives either language.

    Args:
        fault: a key of FAULT_TEXTS.
        words: the fields of its sentence.
    """

    def __init__(
        self,
        fault: str,
        *,
        location: SourceLocation | None = None,
        words: Mapping[str, object] | None = None,
    ) -> None:
        self.fault = fault
        self.location = location
        self.words = dict(words or {})
        super().__init__(self.say("en"))

    def say(self, lang: str) -> str:
        """Return the sentence in "zh" or "en", with the location if it is known."""
        sentence = FAULT_TEXTS[self.fault].fill(**self.words).text(lang)
        return f"{_format_location(self.location).text(lang)}{sentence}".rstrip()

    @property
    def phrase(self) -> ShownPhrase:
        """The sentence, to be shown in either language."""
        return ShownPhrase(self.say("en"), self.say("zh"))

    def at(self, location: SourceLocation) -> "ConfigRejected":
        """Return the same error with this location."""
        return ConfigRejected(self.fault, location=location, words=self.words)


def _format_location(location: SourceLocation | None) -> Phrase:
    if location is None:
        return NO_PHRASE
    if not location.line:
        return Phrase("{file}: ", file=location.file)
    return Phrase(
        "{file}, line {line}, column {column}: ",
        file=location.file,
        line=location.line,
        column=location.column,
    )
