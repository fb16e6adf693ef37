"""How people and the model talk in these tests: every message carries a token, every answer names
it.
"""

import json
import random
import re
from collections.abc import Callable
from typing import Any

from tests.emulators.model_replies import (
    Call,
    Reply,
    extract_text,
    fold_text,
    is_extract,
    is_fold,
    plain,
)

TOKEN = re.compile(r"«([^«»]+)»")
_LONG = re.compile(r"\bat length\b")
LONG_PARTS = 3
_RECALLED = re.compile(r"\[Recalled (\w+):.*?\[End of recalled \1\]", re.DOTALL)
_USE = re.compile(r"\buse (\w+) (\{.*\})")


def asked(token: str, words: str = "what do you make of it?") -> str:
    """A message that can be told from every other one."""
    return f"«{token}» {words}"


def asked_for(token: str, tool: str, **arguments: Any) -> str:
    """A message that makes the model call a tool before it answers."""
    return f"«{token}» use {tool} {json.dumps(arguments)}"


def asked_at_length(token: str) -> str:
    """A message whose answer takes several parts on a platform with a limit."""
    return f"«{token}» tell me at length"


def tokens_in(text: str) -> list[str]:
    """The tokens in a text, in order."""
    return TOKEN.findall(text)


def answer(body: dict[str, Any]) -> Reply:
    """Call the tool that was asked for, once; else name the token of the newest message of a
    person.
    """
    if is_fold(body):
        return Reply(text=fold_text(body))
    if is_extract(body):
        return Reply(text=extract_text(body))
    newest = body["messages"][-1]
    blocks = newest["content"] if isinstance(newest["content"], list) else []
    results = newest["role"] == "tool" or any(
        block.get("type") == "tool_result" for block in blocks
    )
    words = _newest_words(body)
    found, wanted = tokens_in(words), _USE.search(words)
    if wanted and not results:
        id = "call_" + re.sub(r"\W", "_", found[-1] if found else "")
        return Reply(
            text="I look.", calls=(Call(id=id, name=wanted[1], input=json.loads(wanted[2])),)
        )
    token = found[-1] if found else "?"
    if _LONG.search(words.rpartition("«")[2]):
        return Reply(
            text="\n\n".join(f"«{token}» {at}: {'word ' * 600}" for at in range(LONG_PARTS)),
            delta=900,
        )
    return Reply(text=f"re «{token}»")


def hesitant(random_: random.Random, longest: float) -> Callable[[dict[str, Any]], Reply]:
    """The same, after a pause of up to `longest` seconds."""

    def responder(body: dict[str, Any]) -> Reply:
        told = answer(body)
        return Reply(text=told.text, calls=told.calls, wait=random_.uniform(0, longest))

    return responder


def shown(body: dict[str, Any]) -> str:
    """All words of a request's messages, tool results included."""
    return "\n".join(_words(row.get("content")) for row in body.get("messages") or [])


def _words(content: Any) -> str:
    if not isinstance(content, list):
        return plain(content)
    told = [plain(block.get("content")) for block in content if block.get("type") == "tool_result"]
    return "\n".join([plain(content), *told])


def _newest_words(body: dict[str, Any]) -> str:
    for row in reversed(body["messages"]):
        if row["role"] == "user" and (words := _RECALLED.sub("", plain(row["content"]))):
            return words
    return ""
