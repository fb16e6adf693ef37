"""What commands and their sub-commands are called in Chinese, and how a typed name is read. Pure."""

import difflib
import re
import unicodedata
from collections.abc import Collection

CHINESE: dict[str, tuple[str, ...]] = {
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
"""Chinese names of each command; the first is the one that is shown."""
WORDS: dict[str, dict[str, tuple[str, ...]]] = {
    "context": {"clear": ("清空",), "fold": ("整理", "折叠"), "undo": ("撤销",), "diff": ("对比",)},
    "memory": {
        "search": ("搜索", "查找"),
        "show": ("查看", "显示"),
        "why": ("为什么", "出处"),
        "undo": ("撤销",),
    },
    "model": {"default": ("默认",)},
}
"""Chinese sub-commands where the command itself compares with the English ones only."""
MOST_NEAR = 3
CUTOFF = 0.5  # difflib's ratio
_TYPED = re.compile(r"\s*[/／]([^\s@/／]+)(?:@\w+)?(?:\s+(.*))?\s*", re.DOTALL)
_JOINERS = "\u200c\u200d"  # stand inside words of Persian and of Indian scripts
_ENGLISH = {zh: name for name, names in CHINESE.items() for zh in names}
_ENGLISH_WORDS = {
    name: {spelled: word for word, names in words.items() for spelled in (word, *names)}
    for name, words in WORDS.items()
}


def command_of(text: str) -> tuple[str, str] | None:
    """(English name in lower case, the rest) of a slash command, None for anything else (`/etc/hosts` is no command).

    A command is a slash, a name of letters of any script, then white space or the end. An unknown name stays as it is.
    """
    found = _TYPED.fullmatch(text)
    typed = unicodedata.normalize("NFKC", found[1]).lower() if found else ""
    if found is None or not typed[:1].isalpha() or not all(map(_is_of_name, typed)):
        return None
    name, rest = _ENGLISH.get(typed, typed), (found[2] or "").strip()
    first, *others = rest.split(maxsplit=1) or [""]
    word = _ENGLISH_WORDS.get(name, {}).get(first.lower())
    return name, " ".join([word, *others]) if word else rest


def acts(name: str, rest: str) -> bool:
    """Whether a command changes something, so that it must not be done twice after a crash.

    Such a command notes itself in the record before its effect (`Delivery.begin`).
    """
    line = f"{name} {rest.lower()}"
    if line == "context diff":
        return False
    return (
        line == "memory undo"
        or name in ("new", "export", "unlink", "remember")
        or (name in ("context", "config", "model", "policy", "link") and bool(rest))
    )


def shows_language(text: str) -> bool:
    """Whether a text says in which language its writer reads: English names of commands are typed by everybody."""
    return command_of(text) is None or not text.split(maxsplit=1)[0].isascii()


def nearest(name: str, known: Collection[str]) -> list[str]:
    """What an unknown name may have meant, best first and without the slash, in either language.

    Args:
        known: English names of the commands there are.
    """
    shown = dict.fromkeys(known, "")
    shown |= {zh: CHINESE[command][0] for command in known for zh in CHINESE.get(command, ())}
    for command in CHINESE.keys() & WORDS.keys() & set(known):
        for word, names in WORDS[command].items():
            shown |= dict.fromkeys(names, f"{CHINESE[command][0]} {names[0]}")
            shown.setdefault(word, f"{command} {word}")
    begun = sorted((one for one in shown if not one.isascii() and name.startswith(one)), key=len, reverse=True)
    alike = difflib.get_close_matches(name, shown, n=MOST_NEAR, cutoff=CUTOFF)
    return list(dict.fromkeys(shown[one] or one for one in (*begun, *alike)))[:MOST_NEAR]


def _is_of_name(sign: str) -> bool:
    return sign in "_" + _JOINERS or unicodedata.category(sign)[0] in "LMN"
