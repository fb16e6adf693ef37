"""Errors of the configuration and their texts in Chinese and English."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.errors import ConfigError

FAULT_TEXTS: dict[str, tuple[str, str]] = {
    # the text is not the accepted JSON
    "empty": ("文件是空的；最少要有 {{}}。", "the file is empty; it must hold at least {{}}."),
    "trailing_text": ("结尾之后还有多余的内容。", "there is more text after the end."),
    "not_object": ("整个文件应是一个 {{…}} 对象。", "the whole file must be one {{…}} object."),
    "too_deep": ("嵌套超过 32 层。", "it is nested over 32 levels deep."),
    "duplicate": (
        "键 {found} 出现了两次；请删去一个。",
        "the key {found} occurs twice; remove one.",
    ),
    "no_colon": ("键后面缺少冒号。", "a colon is missing after the key."),
    "no_comma": ("两项之间缺少逗号。", "a comma is missing between two entries."),
    "trailing_comma": (
        "最后一项后面多了一个逗号。",
        "there is a comma after the last entry; remove it.",
    ),
    "cut_off": (
        "文件在这里中断了；缺少右括号。",
        "the file ends too early; a closing bracket is missing.",
    ),
    "comment": ("JSON 里不能写注释。", "JSON has no comments; remove it."),
    "bare_key": ("键要写在双引号里。", "a key must be in double quotes."),
    "open_string": ("引号没有闭合。", "a quotation mark is never closed."),
    "bad_string": (
        "引号内有不允许的字符或转义。",
        "a text holds a line break or an escape that JSON does not know.",
    ),
    "no_value": ("这里缺少一个值。", "a value is missing here."),
    "bare_word": (
        "{found} 不是 JSON 的值；文字要写在双引号里，是非写 true 或 false。",
        (
            "{found} is not a JSON value; write a string in double quotes, and yes or no as true "
            "or false."
        ),
    ),
    "long_number": ("数字太长。", "the number is too long."),
    "not_utf8": ("文件不是 UTF-8 编码。", "the file is not UTF-8 text."),
    "too_large": ("文件超过 1 MB。", "the file is larger than 1 MB."),
    "not_plain": (
        "读不了：它不是普通文件，而是设备、管道或文件夹；请换成一个不超过 1 MB 的普通文件。",
        (
            "it cannot be read: it is a device, a pipe or a folder; put a plain file of at most 1 "
            "MB there."
        ),
    ),
    # the settings in it
    "unknown": ("没有 {key} 这个键。{near}", "{key} is not a key here. {near}"),
    "wrong": ("{key} 是 {value}；{right}。", "{key} is {value}; {right}."),
    "no_policy": (
        "{key}：没有 {name} 这个策略。{near}可以写 {known}。",
        "{key}: there is no policy {name}. {near}There are {known}.",
    ),
    "no_number": (
        "{key}：策略 {policy} 没有 {name} 这个数。{near}可以写 {known}。",
        "{key}: the policy {policy} has no number {name}. {near}It has {known}.",
    ),
    "no_variable": (
        "{key} 要读取环境变量 {name}，但它没有设置。",
        "{key} reads the environment variable {name}, which is not set.",
    ),
    "file_only": (
        "{key} 只能直接写在 config.json 里：它说明运行什么程序。",
        "{key} can only be written in config.json itself, for it says which programs are run.",
    ),
    "masked": (
        "{key} 的值是遮盖后的显示，不是真正的密钥；请填写完整的值。",
        "{key} was given its masked form, not the secret itself; give the full value.",
    ),
    # the file itself
    "open_mode": (
        "它含有密钥，但其他用户也能读（权限 {mode}）；请运行 chmod 600 {path}。",
        "it holds a secret and other users may read it (mode {mode}); run: chmod 600 {path}",
    ),
    "changed": (
        "就在写入时，文件被别人改动了；什么都没有写，请再试一次。",
        "another program changed it at this moment; nothing was written, try again.",
    ),
    "gone": ("文件不见了；仍沿用之前的设置。", "it is missing; the previous settings stay in use."),
    "unreadable": ("读不了：{why}。", "it cannot be read: {why}."),
    "unwritable": ("写不进去：{why}。", "it cannot be written: {why}."),
}

VALUE_TEXTS: dict[str, tuple[str, str]] = {
    "integer": (
        "应为 {least} 到 {most} 之间的整数",
        "it must be a whole number from {least} to {most}",
    ),
    "number": (
        "应为 {least} 到 {most} 之间的数",
        "it must be a number from {least} to {most}",
    ),
    "flag": ("应为 true 或 false", "it must be true or false"),
    "choice": ("应为 {choices}", "it must be {choices}"),
    "text": ("应为双引号里的文字", "it must be a text in double quotes"),
    "secret": ("应为双引号里的文字", "it must be a text in double quotes"),
    "texts": ('应为一列文字，例如 ["a", "b"]', 'it must be a list of texts, such as ["a", "b"]'),
    "section": ("应为一个 {{…}} 对象", "it must be an object in braces, {{…}}"),
    "fallbacks": (
        '应为一列对象，例如 [{{"provider": "openai", "model": "…", "api_key": "…"}}]',
        (
            'it must be a list of objects, such as [{{"provider": "openai", "model": "…", '
            '"api_key": "…"}}]'
        ),
    ),
    "search_providers": (
        '应为一列对象，例如 [{{"name": "tavily", "api_key": "…"}}]',
        'it must be a list of objects, such as [{{"name": "tavily", "api_key": "…"}}]',
    ),
    "policies": (
        '应为按策略名分组的数，例如 {{"balanced": {{"snip_chars": 15000}}}}',
        (
            'it must hold numbers by the policy\'s name, such as {{"balanced": {{"snip_chars": '
            "15000}}}}"
        ),
    ),
    "mcp_servers": (
        "应为按名称（字母、数字和连字符，最多 32 个）列出的服务器，各有 command 或 url 之一，例如 "
        '{{"files": {{"command": ["server-files"]}}}}',
        "it must hold servers by name (letters, digits and hyphens, at most 32), each with either "
        "a command or a url, such as "
        '{{"files": {{"command": ["server-files"]}}}}',
    ),
    "plugins": (
        '应为按插件名列出的对象，例如 {{"weather": {{"env": {{"KEY": "${{WEATHER_KEY}}"}}}}}}',
        (
            'it must hold objects by the plug-in\'s name, such as {{"weather": {{"env": {{"KEY": '
            '"${{WEATHER_KEY}}"}}}}}}'
        ),
    ),
    "command": (
        '应为程序和它的参数，例如 ["npx", "-y", "server-files"]',
        'it must be a program and its arguments, such as ["npx", "-y", "server-files"]',
    ),
    "texts_by_name": (
        '应为按名称列出的文字，例如 {{"KEY": "${{FILES_KEY}}"}}',
        'it must hold texts by name, such as {{"KEY": "${{FILES_KEY}}"}}',
    ),
    "people_limits": (
        '应为按“渠道:id”列出的限制，例如 {{"telegram:42": {{"messages_per_day": 20}}}}',
        'it must hold limits by CHANNEL:ID, such as {{"telegram:42": {{"messages_per_day": 20}}}}',
    ),
    "own_limit": (
        "应为 {least} 或以上的数（0 表示不限），或 null（同其他人）",
        "it must be a number from {least} on (0: no limit), or null for the same as everybody",
    ),
    "url": (
        '应为 http:// 或 https:// 开头的地址，或留空 ""',
        'it must be an address that begins with http:// or https://, or ""',
    ),
    "public_url": (
        '应为只有主机（和端口）的 https:// 地址，例如 https://bot.example.org，或留空 ""',
        (
            "it must be an https:// address of host (and port) alone, such as "
            'https://bot.example.org, or ""'
        ),
    ),
    "networks": (
        '应为一列 IP 地址或网段，例如 ["127.0.0.1", "10.0.0.0/8"]',
        'it must be a list of IP addresses or ranges, such as ["127.0.0.1", "10.0.0.0/8"]',
    ),
    "secret_url": (
        '应为 http://、https:// 或 socks5:// 开头的地址，或留空 ""',
        'it must be an address that begins with http://, https:// or socks5://, or ""',
    ),
    "socket_url": (
        '应为 ws:// 或 wss:// 开头的地址，或留空 ""',
        'it must be an address that begins with ws:// or wss://, or ""',
    ),
    "database": (
        '应为 postgresql+psycopg:// 开头的地址，或留空 "" 使用 SQLite',
        'it must be an address that begins with postgresql+psycopg://, or "" for SQLite',
    ),
    "zone": (
        '应为时区名，例如 Asia/Shanghai，或留空 ""',
        'it must be a time zone such as Asia/Shanghai, or ""',
    ),
    "quiet_hours": (
        '应为起止两个时刻，例如 ["22:30", "07:30"]，或空列表 []',
        'it must be a begin and an end, such as ["22:30", "07:30"], or the empty list []',
    ),
    "clock": ("应为时刻 HH:MM，例如 03:30", "it must be a time of day as HH:MM, such as 03:30"),
}

DEFAULT_EXAMPLE = ("，例如 {default}", ", such as {default}")  # after the text of a number

KEY_NOTES: dict[str, tuple[str, str]] = {
    "channels.web.host": (
        (
            "（只在本机监听；要对外开放，请在前面放一个带 TLS 的代理，并把 channels.web.public_url "
            "设为它的地址）"
        ),
        " (it listens on this machine only; to open it to others, put a proxy with TLS in front "
        "and set channels.web.public_url to its address)",
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
        words: the fields of its sentence; a pair if the languages differ.
    """

    def __init__(
        self,
        fault: str,
        *,
        location: SourceLocation | None = None,
        words: Mapping[str, str | tuple[str, str]] | None = None,
    ) -> None:
        self.fault = fault
        self.location = location
        self.words = dict(words or {})
        super().__init__(self.say("en"))

    def say(self, lang: str) -> str:
        """Return the sentence in "zh" or "en", with the location if it is known."""
        side = 0 if lang == "zh" else 1
        words = {
            name: word if isinstance(word, str) else word[side] for name, word in self.words.items()
        }
        return (
            _format_location(self.location, side)
            + FAULT_TEXTS[self.fault][side].format(**words).rstrip()
        )

    def at(self, location: SourceLocation) -> "ConfigRejected":
        """Return the same error with this location."""
        return ConfigRejected(self.fault, location=location, words=self.words)


def _format_location(location: SourceLocation | None, side: int) -> str:
    if location is None:
        return ""
    if not location.line:
        return (f"{location.file}：", f"{location.file}: ")[side]
    zh = f"{location.file} 第 {location.line} 行第 {location.column} 列："
    return (zh, f"{location.file}, line {location.line}, column {location.column}: ")[side]
