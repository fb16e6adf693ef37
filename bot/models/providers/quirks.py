"""What one model at one endpoint does not take, learnt from its refusals and answers. Pure."""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

from bot.models.base import Request
from bot.models.catalog import supports_effort
from bot.models.providers.failures import ProviderFailure, shorten_words

# Names of the limit of the answer; the second is that of OpenAI's newer models.
LIMIT_FIELDS = ("max_tokens", "max_completion_tokens")
# What servers read to turn thinking off; each ignores, or refuses by name, what it does not know.
# Source: Ollama (issue 14820), vLLM and llama.cpp (the template's argument), Qwen and SiliconFlow,
# GLM and DeepSeek.
THINKING_OFF = {
    "reasoning_effort": '"none"',
    "chat_template_kwargs": '{"enable_thinking":false}',
    "enable_thinking": "false",
    "thinking": '{"type":"disabled"}',
}
# Statuses with which servers refuse what they do not support. Source: tests/emulators/personas.py;
# OpenRouter has 404.
_REFUSED = frozenset((400, 404, 405, 422, 500, 501))

_WORD = re.compile(r"\w+")
_UNSUPPORTED = re.compile(
    r"unsupported|not (?:be )?supported|not support|unknown|unrecogni[sz]ed|unexpected|not "
    r"permitted|not allowed|extra_forbidden|only the default",
    re.IGNORECASE,
)
_UNSUPPORTED_CODES = frozenset(("unsupported_parameter", "unsupported_value", "unknown_parameter"))
_TOOL = r"(?:tools?(?:[ _-]?(?:calls?|calling|choice|use))?|functions?[ _-]?call(?:s|ing)?)\b"
_NEED = r"(?:support|enabl|parser|jinja)"
_TOOLS = re.compile(
    rf"\b{_TOOL}.{{0,80}}{_NEED}|{_NEED}.{{0,80}}\b{_TOOL}|jinja", re.IGNORECASE | re.DOTALL
)
_THINKING_MISSING = re.compile(
    r"missing.{0,40}reasoning_content|reasoning_content.{0,80}(?:missing|passed back)", re.I
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelQuirks:
    """What one model at one endpoint does not take, and how it thinks."""

    #: Fields of the request that it refuses.
    left_out: frozenset[str] = frozenset()
    #: Its words when it refused tools; "" while it takes them.
    tools_refused: str = ""
    #: Only a closing tag ends its thinking: text is held until then.
    closes_only: bool = False
    #: It refuses calls of the running turn that come back without their thinking.
    wants_thinking: bool = False
    #: How its thinking came last: in a field of its own, in tags, or not at all so far.
    thinking: Literal["", "field", "tags"] = ""
    #: Whether its last answer came as a stream; None before the first.
    streams: bool | None = None


NO_QUIRKS = ModelQuirks()


def option_fields(request: Request, quirks: ModelQuirks) -> dict[str, str]:
    """Return the fields of a body that a server may refuse, as JSON text, without those that this
    one does.
    """
    limit = next((name for name in LIMIT_FIELDS if name not in quirks.left_out), "")
    fields = {limit: str(request.max_tokens)} if limit else {}
    if request.tools and not quirks.tools_refused and not request.may_call:
        fields["tool_choice"] = '"none"'
    # A model with effort levels takes no temperature. Source: OpenAI's reasoning models.
    if request.temperature is not None and not supports_effort(request.model):
        fields["temperature"] = str(request.temperature)
    if not request.may_think:
        fields |= THINKING_OFF
    fields["stream_options"] = '{"include_usage":true}'
    return {name: value for name, value in fields.items() if name not in quirks.left_out}


def learn_from_refusal(
    quirks: ModelQuirks, failure: ProviderFailure, sent: Collection[str]
) -> ModelQuirks | None:
    """Return the quirks with which to send a refused request again; None if its refusal teaches
    nothing.

    Args:
        sent: names of the refused request's fields.
    """
    if failure.status not in _REFUSED:
        return None
    refused = _refused_fields(failure, sent)
    if fields := refused - {"tools"}:
        return replace(quirks, left_out=quirks.left_out | fields)
    if not quirks.wants_thinking and _THINKING_MISSING.search(failure.text):
        return replace(quirks, wants_thinking=True)
    if "tools" in refused or ("tools" in sent and _TOOLS.search(failure.text)):
        return replace(quirks, tools_refused=shorten_words(failure.text))
    return None


def merge_refusals(known: ModelQuirks, learnt: ModelQuirks) -> ModelQuirks:
    """Return what is known with what a request has learnt meanwhile from refusals."""
    return replace(
        known,
        left_out=known.left_out | learnt.left_out,
        tools_refused=learnt.tools_refused or known.tools_refused,
        wants_thinking=known.wants_thinking or learnt.wants_thinking,
    )


def _refused_fields(failure: ProviderFailure, sent: Collection[str]) -> frozenset[str]:
    """Return the fields that a refusal names as not supported."""
    has_code = bool(_UNSUPPORTED_CODES.intersection(failure.kinds))
    if not has_code and not _UNSUPPORTED.search(failure.text):
        return frozenset()
    optional = {
        *LIMIT_FIELDS,
        *THINKING_OFF,
        "tools",
        "tool_choice",
        "temperature",
        "stream_options",
    }.intersection(sent)
    named = optional.intersection([failure.param, *_WORD.findall(failure.text)])
    # Some say only that there is one: newer models of OpenAI's were the first to refuse the limit's
    # old name.
    limit = (
        frozenset(LIMIT_FIELDS[:1]).intersection(sent)
        if "unsupported_parameter" in failure.kinds
        else frozenset()
    )
    return frozenset(named) or limit
