"""Names of commands and sub-commands in both languages, and the parser of a typed command. Pure."""

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
# Chinese sub-commands of commands that compare only with the English ones.
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
_JOINERS = "\u200c\u200d"  # occur inside words of Persian and of Indian scripts
_ENGLISH_NAMES = {zh: name for name, names in CHINESE_NAMES.items() for zh in names}
_ENGLISH_SUBCOMMANDS = {
    name: {spelled: word for word, names in words.items() for spelled in (word, *names)}
    for name, words in CHINESE_SUBCOMMANDS.items()
}


def parse_command(text: str) -> tuple[str, str] | None:
    """Parse a slash command into its English name in lower case and the text after it.

    A command is a slash, a name of letters of any script, then white space or the end. An unknown name is returned as
    typed.

    Returns:
        None if the text is no command, such as `/etc/hosts`.
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
    """Tell whether a command changes something, so that it must not run twice after a crash.

    The store records such a command before its effect (`Delivery.mark_begun`).
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
    """Tell whether a text shows its writer's language; an English command name does not."""
    return parse_command(text) is None or not text.split(maxsplit=1)[0].isascii()


def nearest_commands(name: str, known: Collection[str]) -> list[str]:
    """Return the commands similar to an unknown name, best first, without the slash, in either language.

    Args:
        known: English names of all commands.
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
