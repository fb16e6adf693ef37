"""The outcome of a sub-agent: its last message, checked against what it saw, and cut to size.
Pure.
"""

import re
from collections.abc import Callable, Sequence

from memory.context.summary.grounding import ground_text
from memory.context.summary.transcript import list_utterances
from memory.conversation import Message, ToolResult

MAX_OUTCOME_TOKENS = 1_500
MAX_NAMED_FILES = 20
MAX_PATH_CHARS = 200
_WORD = re.compile(r"[^\s`\"'()\[\]{}<>|*,;:!?，。；：、！？“”「」（）《》]+")
_FILE_SUFFIXES = frozenset(
    {
        *(
            "c",
            "cfg",
            "cpp",
            "css",
            "csv",
            "docx",
            "gif",
            "go",
            "h",
            "htm",
            "html",
            "ini",
            "java",
            "jpeg",
            "jpg",
            "js",
        ),
        *(
            "json",
            "jsonl",
            "log",
            "md",
            "pdf",
            "png",
            "pptx",
            "py",
            "rs",
            "sh",
            "sql",
            "svg",
            "toml",
            "ts",
            "tsv",
            "txt",
        ),
        *("webp", "xlsx", "xml", "yaml", "yml", "zip"),
    }
)
NOTHING_LOOKED_UP = "[it looked nothing up: this is the model's own word]"


def build_outcome(
    answer: str,
    messages: Sequence[Message],
    count: Callable[[str], int],
    hash_file: Callable[[str], str],
) -> str:
    """Return the text by which the asking model learns of the task.

    Sentences with facts that are in nothing the sub-agent saw are left out, files that it names are
    checked.

    Args:
        messages: of its conversation, without the answer.
        count: tokens of a text.
        hash_file: returns the SHA-256 of a file of the space, "" if there is none.
    """
    lines: list[str] = []
    named = find_file_names(answer)
    if any(isinstance(part, ToolResult) for message in messages for part in message.parts):
        seen = "\n".join(utterance.text for utterance in list_utterances(messages))
        grounded = ground_text(answer, seen)
        answer = grounded.text
        if grounded.dropped:
            lines.append(
                f"[left out: {len(grounded.dropped)} sentences with facts that are in nothing it "
                "saw]"
            )
    else:
        lines.append(NOTHING_LOOKED_UP)
    answer, is_cut = _cut(answer, count)
    if is_cut:
        lines.append("[cut]")
    for path in named:
        digest = hash_file(path)
        lines.append(
            f"[file {path}: sha256 {digest[:16]}]" if digest else f"[file {path}: there is none]"
        )
    return "\n".join(filter(None, (answer, *lines)))


def find_file_names(text: str) -> list[str]:
    """Return the names in a text that look like files of the workspace, each once."""
    found: dict[str, None] = {}
    for word in _WORD.findall(text):
        path = word.strip(".").removeprefix("./")
        stem, _, suffix = path.rpartition(".")
        is_short = 0 < len(path) <= MAX_PATH_CHARS and not path.startswith("/")
        if is_short and stem and not stem.endswith("/") and suffix.lower() in _FILE_SUFFIXES:
            found[path] = None
    return list(found)[:MAX_NAMED_FILES]


def _cut(text: str, count: Callable[[str], int]) -> tuple[str, bool]:
    """Cut a text to MAX_OUTCOME_TOKENS."""
    tokens, is_cut = count(text), False
    while tokens > MAX_OUTCOME_TOKENS:
        text, is_cut = text[: int(len(text) * MAX_OUTCOME_TOKENS / tokens * 0.98)].rstrip(), True
        tokens = count(text)
    return text, is_cut
