"""Texts of approvals: the call that waits, why, what its approval depends on, and its end. Pure."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bot.tools.exec.binding import UNBOUND_KEY, UNBOUND_REST
from bot.tools.exec.rules import SERVER_FACT, StoredCall
from bot.tools.exec.tool import ExecTool
from channels.phrases import NO_PHRASE, AnyPhrase, Phrase, join_phrases
from memory.ids import format_code
from memory.store.automation.approvals import ApprovalState
from memory.text.invisible import find_mixed_words, show_invisible
from memory.text.quoting import fence_text

MAX_MIXED_WORDS = 5  # that a question names
MAX_INLINE_CHARS = 60  # of an argument that stands in the line of its call
NOTHING_BOUND: Mapping[str, str] = {}
TAINTED_BANNER = Phrase(
    "⚠️ The context holds text from outside (a file, a web page, a tool's result, a quotation), "
    "which may be what asks for this. Check it closely."
)
BOUND_TITLE = Phrase("valid only while these are unchanged")
UNBOUND_TITLE = Phrase("not covered")
# Why a call is asked for, by its action.
_REASONS: Mapping[str, Phrase] = {
    "exec": Phrase("Every command needs your approval."),
    "persona.write": Phrase("This would change the bot's persona or rules."),
    "mcp.call.ask": Phrase("This tool of server {server} is set to ask every time."),
}
_OTHER_REASON = Phrase("This tool is set to ask every time.")
DENIED_TEXT = Phrase("Denied; nothing was done.")
APPROVED_TEXT = Phrase("Approved. It runs once the current answer is finished.")
# By the state that a request has reached when somebody answers it again.
CLOSED_TEXTS: Mapping[ApprovalState, AnyPhrase] = {
    "approved": Phrase("This was already approved; it runs once the current answer is finished."),
    "running": Phrase(
        "This has already started. If the program was interrupted, it may or may not have taken "
        "effect; it is not run again."
    ),
    "done": Phrase("This was already run; it is not run again."),
    "unknown": Phrase("This was already tried, and the outcome is unknown; it is not run again."),
    "failed": Phrase("This was already tried and failed."),
    "denied": Phrase("This was already denied."),
    "ended": Phrase(
        "This approval is no longer valid: it expired, or your rights changed. Ask for it again "
        "if you still need it."
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCall:
    """A call as a person reads it."""

    #: "command": words of a program; "script"; "call" of any other tool.
    kind: Literal["command", "script", "call"]
    #: The words shell-quoted, the text of the script, or the tool with its short arguments.
    text: str
    #: Of a script.
    language: str = ""
    #: The arguments that `text` does not hold.
    rest: Mapping[str, Any]


def show_call(tool: str, arguments: Mapping[str, Any]) -> ShownCall:
    """Return a call as a person reads it; nothing of it is left out."""
    rest = dict(arguments)
    if tool == ExecTool.spec.name and arguments.get("argv"):
        return ShownCall(kind="command", text=shlex.join(rest.pop("argv")), rest=rest)
    if tool == ExecTool.spec.name and arguments.get("script"):
        language = str(rest.pop("language", "sh"))
        return ShownCall(kind="script", text=str(rest.pop("script")), language=language, rest=rest)
    short = {name: text for name, text in _argument_texts(rest).items() if _is_short(text)}
    words = [tool, *(f"{name}={shlex.quote(text)}" for name, text in short.items())]
    longer = {name: value for name, value in rest.items() if name not in short}
    return ShownCall(kind="call", text=" ".join(words), rest=longer)


def _is_short(text: str) -> bool:
    return len(text) <= MAX_INLINE_CHARS and text.isprintable()


def format_command_line(call: ShownCall) -> str:
    """Format what runs: words after a prompt, others as they are."""
    return f"$ {call.text}" if call.kind == "command" else call.text


def ask_reason(action: str, bound: Mapping[str, str]) -> Phrase:
    """Return why a call of that action is asked for."""
    server = show_invisible(bound.get(SERVER_FACT, ""))
    return _REASONS.get(action, _OTHER_REASON).fill(server=server)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalQuestion:
    """What is asked for, and how it is decided."""

    tool: str
    action: str
    call: StoredCall
    #: The code, without its hyphen.
    code: str
    #: Language of the question.
    lang: str
    #: It may be approved for good.
    is_lasting: bool = False


def format_approval_question(question: ApprovalQuestion) -> str:
    """Format the question: what runs, why it is asked, and how to approve or deny it."""
    call, lang = question.call, question.lang
    shown = show_call(question.tool, call.arguments)
    blocks = [_fence(format_command_line(shown), shown.language)]
    blocks += _argument_blocks(shown.rest)
    blocks.append(ask_reason(question.action, call.bound).text(lang))
    blocks += _warnings(call, lang)
    unbound = call.bound.get(UNBOUND_KEY, str(UNBOUND_REST))
    if unbound != str(UNBOUND_REST):
        blocks.append(_unbound_block(unbound, lang))
    blocks.append(_format_choices(question))
    return "\n\n".join(blocks)


def _format_choices(question: ApprovalQuestion) -> str:
    code = format_code(question.code)
    always = NO_PHRASE
    if question.is_lasting:
        always = Phrase("  Always: `/approve {code} always`", code=code)
    choices = Phrase(
        "Yes: `/approve {code}`  No: `/deny {code}`{always}\nValid for 10 minutes and one run; "
        "only you can approve it. What it depends on: `/approve {code} why`",
        code=code,
        always=always,
    )
    return choices.text(question.lang)


def format_dependencies(tool: str, call: StoredCall, lang: str) -> str:
    """Format what the approval of a call depends on, and what it does not cover."""
    shown = show_call(tool, call.arguments)
    blocks = [_fence(format_command_line(shown), shown.language)]
    facts = [f"{name}: {text}" for name, text in call.bound.items() if name != UNBOUND_KEY]
    if facts:
        title, text = BOUND_TITLE.text(lang), "\n".join(facts)
        blocks.append(f"`{title}`\n{fence_text(text)}")
    if unbound := call.bound.get(UNBOUND_KEY):
        blocks.append(_unbound_block(unbound, lang))
    return "\n\n".join(blocks)


def _unbound_block(unbound: str, lang: str) -> str:
    text = unbound.replace(str(UNBOUND_REST), UNBOUND_REST.text(lang))
    return f"`{UNBOUND_TITLE.text(lang)}`\n{fence_text(text)}"


def _fence(text: str, language: str) -> str:
    """Fence a text; a language stands in the line above it, as not every app shows that of a
    fence.
    """
    return f"`{language}`\n{fence_text(text)}" if language else fence_text(text)


def _argument_blocks(arguments: Mapping[str, Any]) -> list[str]:
    texts = _argument_texts(arguments)
    return [f"`{name}`\n{fence_text(text)}" for name, text in texts.items()]


def _argument_texts(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return each argument as text; what is none is shown as JSON."""
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in arguments.items()
    }


def _warnings(call: StoredCall, lang: str) -> Iterator[str]:
    """Yield what the person must know before they decide."""
    if call.tainted:
        sources = "\n".join(map(show_source, call.sources))
        named = f"\n{fence_text(sources)}" if sources else ""
        yield f"{TAINTED_BANNER.text(lang)}{named}"
    if mixed := _mixed_words_line(call.arguments, lang):
        yield mixed


def show_source(name: str) -> str:
    """Return in one line what words from outside came with."""
    return show_invisible(" ".join(name.split()))


def texts_in(value: Any) -> Iterator[str]:
    """Yield all texts of parsed JSON, the names in it included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name)
            yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)


def _mixed_words_line(arguments: Mapping[str, Any], lang: str) -> str:
    """Return a warning of words in letters of several scripts; "" for none."""
    words = mixed_words(arguments)
    if not words:
        return ""
    return Phrase(
        "⚠️ These words mix letters from different scripts and may not be what they look like: "
        "{words}",
        words=join_phrases(words, Phrase(", ")),
    ).text(lang)


def mixed_words(arguments: Mapping[str, Any]) -> Sequence[str]:
    """Return the first words of a call that mix letters of several scripts."""
    words = [word for text in texts_in(arguments) for word in find_mixed_words(text)]
    return words[:MAX_MIXED_WORDS]
