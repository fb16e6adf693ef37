"""The files that a new workspace starts with."""

from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[1] / "templates"
MEMORY_TEMPLATE = _FOLDER / "MEMORY.md"
SOUL_TEMPLATES: dict[str, Path] = {"zh": _FOLDER / "SOUL.zh.md", "en": _FOLDER / "SOUL.en.md"}
# The first line of each SOUL.md template, for people only. Exactly these lines are left out of
# prompts: any other comment in SOUL.md is the owner's text, which always goes in whole.
SOUL_HINTS = (
    "<!-- 机器人是谁，由你来定：这个文件可以随意修改。这一行不会发给模型。 -->",
    "<!-- Who the bot is: change this file as you like. This line is not sent to the model. -->",
)


def remove_hint(soul: str) -> str:
    """Return a SOUL.md without the template's hint for people at its head."""
    text = soul.removeprefix("\ufeff")
    for hint in SOUL_HINTS:
        if text.startswith(hint):
            return text.removeprefix(hint).lstrip()
    return soul


def is_soul_template(soul: bytes) -> bool:
    """Whether nobody has changed this SOUL.md since it was created."""
    return any(soul == template.read_bytes() for template in SOUL_TEMPLATES.values())
