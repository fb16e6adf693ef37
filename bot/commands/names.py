"""What commands and their sub-commands are called in Chinese, and how a typed name is read. Pure."""

import difflib
import re
import unicodedata
from collections.abc import Collection

# Chinese names of each command; the first is the one that is shown.
CHINESE_NAMES: dict[str, tuple[str, ...]] = {
    "help": ("帮助", "命令"),
    "status": ("状态",),
    "whoami": ("我是谁",),
    "stop": ("停止", "停"),
    "retry": ("重试",),
    "usage": ("用量",),
    "context": ("上下文",),
    "new": ("新对话", "新会话"),
    "memory": ("记忆",),
    "remember": ("记住",),
    "policy": ("策略",),
    "config": ("配置", "设置"),
    "model": ("模型",),
    "export": ("导出",),
    "link": ("关联",),
    "unlink": ("取消关联", "解除关联"),
    "forget": ("忘记", "忘掉"),
    "pair": ("配对",),
    "approve": ("批准", "同意"),
    "deny": ("拒绝",),
    "trace": ("追踪",),
}
# Chinese sub-commands where the command itself compares with the English ones only.
CHINESE_SUBCOMMANDS: dict[str, dict[str, tuple[str, ...]]] = {
    "context": {"clear": ("清空",), "fold": ("整理", "折叠"), "undo": ("撤销",), "diff": ("对比",)},
    "memory": {
        "search": ("搜索", "查找"),
        "show": ("查看", "显示"),
        "why": ("为什么", "出处"),
        "undo": ("撤销",),
    },
    "model": {"default": ("默认",)},
}
MAX_SUGGESTIONS = 3
SIMILARITY_CUTOFF = 0.5  # difflib's ratio
_COMMAND_PATTERN = re.compile(r"\s*[/／]([^\s@/／]+)(?:@\w+)?(?:\s+(.*))?\s*", re.DOTALL)
_JOINERS = "\u200c\u200d"  # stand inside words of Persian and of Indian scripts
_ENGLISH_NAMES = {zh: name for name, names in CHINESE_NAMES.items() for zh in names}
_ENGLISH_SUBCOMMANDS = {
    name: {spelled: word for word, names in words.items() for spelled in (word, *names)}
    for name, words in CHINESE_SUBCOMMANDS.items()
}


def parse_command(text: str) -> tuple[str, str] | None:
    """(English name in lower case, the rest) of a slash command, None for anything else (`/etc/hosts` is no command).

    A command is a slash, a name of letters of any script, then white space or the end. An unknown name stays as it is.
    """
    found = _COMMAND_PATTERN.fullmatch(text)
    typed = unicodedata.normalize("NFKC", found[1]).lower() if found else ""
    if found is None or not typed[:1].isalpha() or not all(map(_is_name_character, typed)):
        return None
    name, rest = _ENGLISH_NAMES.get(typed, typed), (found[2] or "").strip()
    first, *others = rest.split(maxsplit=1) or [""]
    word = _ENGLISH_SUBCOMMANDS.get(name, {}).get(first.lower())
    return name, " ".join([word, *others]) if word else rest


def is_mutating(name: str, rest: str) -> bool:
    """Whether a command changes something, so that it must not be done twice after a crash.

    Such a command notes itself in the store before its effect (`Delivery.begin`).
    """
    line = f"{name} {rest.lower()}"
    if line == "context diff":
        return False
    return (
        line == "memory undo"
        or name in ("new", "export", "unlink", "remember")
        or (name in ("context", "config", "model", "policy", "link") and bool(rest))
    )


def is_language_evidence(text: str) -> bool:
    """Whether a text says in which language its writer reads: English names of commands are typed by everybody."""
    return parse_command(text) is None or not text.split(maxsplit=1)[0].isascii()


def nearest_commands(name: str, known: Collection[str]) -> list[str]:
    """What an unknown name may have meant, best first and without the slash, in either language.

    Args:
        known: English names of the commands there are.
    """
    shown = dict.fromkeys(known, "")
    shown |= {zh: CHINESE_NAMES[command][0] for command in known for zh in CHINESE_NAMES.get(command, ())}
    for command in CHINESE_NAMES.keys() & CHINESE_SUBCOMMANDS.keys() & set(known):
        for word, names in CHINESE_SUBCOMMANDS[command].items():
            shown |= dict.fromkeys(names, f"{CHINESE_NAMES[command][0]} {names[0]}")
            shown.setdefault(word, f"{command} {word}")
    begun = sorted((one for one in shown if not one.isascii() and name.startswith(one)), key=len, reverse=True)
    alike = difflib.get_close_matches(name, shown, n=MAX_SUGGESTIONS, cutoff=SIMILARITY_CUTOFF)
    return list(dict.fromkeys(shown[one] or one for one in (*begun, *alike)))[:MAX_SUGGESTIONS]


def _is_name_character(sign: str) -> bool:
    return sign in "_" + _JOINERS or unicodedata.category(sign)[0] in "LMN"
