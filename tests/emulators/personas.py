"""What kinds of servers behind the chat completions wire do: windows, refusals in their own words,
thinking.

Each refusal is the text that a server of that kind was seen to send, with its source.
`ModelEmulator(persona=OLLAMA)` behaves so; `dataclasses.replace` makes one with another window, or
without tools.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from tests.emulators.model_replies import Reply
from tests.emulators.model_rules import Refused, seen_by_model


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An error answer. body: JSON text in which {name} stands for a field; source: where it was
    seen.
    """

    status: int
    body: str
    source: str

    def filled(self, **fields: object) -> Refused:
        body = self.body
        for name, value in fields.items():
            body = body.replace(f"{{{name}}}", str(value))
        return Refused(body, status=self.status, body=body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """One kind of server with one model.

    window: tokens of prompt and answer. overflow: "refuse" with `too_long` ({tokens}, {answer},
    {asked} and {window}), or "cut" the front of the prompt without a word. without_tools: refuses
    tools so; None where they are taken. unknown: refuses `unknown_names` of a body so ({name}).
    thinking: how it is sent, "" for none; thought: what it thinks before each answer that has no
    thinking of its own. no_thinking: what in a body turns thinking off. wants_thinking: refuses
    calls of tools in the running turn that come back without it ({index}). slots: requests that it
    answers at once.
    """

    name: str
    window: int
    overflow: Literal["refuse", "cut"] = "refuse"
    too_long: Refusal | None = None
    without_tools: Refusal | None = None
    unknown: Refusal | None = None
    unknown_names: frozenset[str] = frozenset()
    thinking: Literal["", "reasoning_content", "reasoning", "tags", "closing"] = ""
    thought: str = ""
    no_thinking: tuple[str, Any] | None = None
    wants_thinking: Refusal | None = None
    slots: int = 4

    def check(self, body: dict[str, Any], count: Callable[[Any], int]) -> None:
        """Refuse what this server refuses, in its words.

        Raises:
            Refused: it does.
        """
        if self.without_tools and body.get("tools"):
            raise self.without_tools.filled(model=body["model"])
        for name in sorted(self.unknown_names & body.keys()):
            if self.unknown:
                raise self.unknown.filled(name=name)
        if self.wants_thinking and (index := _unthought(body["messages"])) is not None:
            raise self.wants_thinking.filled(index=index)
        tokens, answer = count(seen_by_model(body)), answer_limit(body)
        if self.overflow == "refuse" and self.too_long and tokens + answer > self.window:
            raise self.too_long.filled(
                tokens=tokens, answer=answer, asked=tokens + answer, window=self.window
            )

    def seen(self, body: dict[str, Any], count: Callable[[Any], int]) -> dict[str, Any]:
        """The body as its model sees it: one that cuts drops the oldest messages after the system
        prompt.
        """
        if self.overflow != "cut":
            return body
        system = [row for row in body["messages"] if row["role"] == "system"]
        rows = [row for row in body["messages"] if row["role"] != "system"]
        while (
            len(rows) > 1
            and count(seen_by_model({**body, "messages": [*system, *rows]})) > self.window
        ):
            rows.pop(0)
        return {**body, "messages": [*system, *rows]}

    def speak(self, reply: Reply, body: dict[str, Any]) -> Reply:
        """The reply with its thinking as this server sends it."""
        thought = "" if self._is_off(body) else reply.thinking or self.thought
        if not thought or self.thinking in ("", "reasoning_content", "reasoning"):
            field = {"thinking_field"} if self.thinking == "reasoning" else set[str]()
            return replace(
                reply, thinking=thought if self.thinking else "", forms=reply.forms | field
            )
        is_open = not reply.text and reply.stop == "length"  # it was cut while it thought
        opening = "<think>\n" if self.thinking == "tags" else ""
        closing = "" if is_open else "\n</think>\n\n"
        return replace(reply, thinking="", text=f"{opening}{thought}{closing}{reply.text}")

    def _is_off(self, body: dict[str, Any]) -> bool:
        return self.no_thinking is not None and body.get(self.no_thinking[0]) == self.no_thinking[1]


def answer_limit(body: dict[str, Any]) -> int:
    """Tokens that a body asks for at most; 0 if it names no limit."""
    return int(body.get("max_tokens") or body.get("max_completion_tokens") or 0)


def _unthought(rows: list[dict[str, Any]]) -> int | None:
    """The index of a message with calls in the running turn that lacks its thinking."""
    people = [index for index, row in enumerate(rows) if row["role"] == "user"]
    start = people[-1] if people else 0
    lacking = (
        index
        for index, row in enumerate(rows)
        if index > start and row.get("tool_calls") and _lacks_thinking(row)
    )
    return next(lacking, None)


def _lacks_thinking(row: dict[str, Any]) -> bool:
    return "reasoning_content" not in row


def _openai(message: str, kind: str, **fields: object) -> str:
    return json.dumps(
        {"error": {"message": message, "type": kind, "param": None, "code": None, **fields}}
    )


_VLLM_ERROR = {"object": "error", "type": "BadRequestError", "param": None, "code": 400}
THINKING_OFF = {"enable_thinking": False}

OLLAMA = Persona(
    name="ollama",
    window=4_096,  # its default below 24 GiB of video memory
    overflow="cut",
    thinking="reasoning",
    # Source: github.com/ollama/ollama/issues/14820.
    no_thinking=("reasoning_effort", "none"),
    slots=1,
)
OLLAMA_TOOLS = Refusal(
    status=400,
    body=_openai("registry.ollama.ai/library/{model} does not support tools", "api_error"),
    source="github.com/pydantic/pydantic-ai/issues/703, github.com/louisho5/picobot/issues/6",
)
LLAMACPP = Persona(
    name="llamacpp",
    window=8_192,
    too_long=Refusal(
        status=400,
        body=_openai(
            (
                "the request exceeds the available context size. try increasing the context size "
                "or enable context shift"
            ),
            "exceed_context_size_error",
            code=400,
        ).replace('"param": null', '"n_prompt_tokens": {tokens}, "n_ctx": {window}'),
        source="github.com/ggml-org/llama.cpp/pull/15780, github.com/oobabooga/textgen/issues/7257",
    ),
    thinking="reasoning_content",
    no_thinking=("chat_template_kwargs", THINKING_OFF),
    slots=1,
)
LLAMACPP_TOOLS = Refusal(
    status=500,
    body=_openai("tools param requires --jinja flag", "server_error", code=500),
    source="github.com/defilantech/LLMKube/issues/126, github.com/containers/ramalama/issues/988",
)
LLAMACPP_OLD_TOOLS = Refusal(
    status=500,
    body=_openai("Unsupported param: tools", "server_error", code=500),
    source="github.com/ggml-org/llama.cpp/issues/10920",
)
VLLM = Persona(
    name="vllm",
    window=8_192,
    too_long=Refusal(
        status=400,
        body=json.dumps(
            {
                **_VLLM_ERROR,
                "message": "This model's maximum context length is {window} tokens. However, you "
                "requested {asked} tokens ({tokens} in the messages, {answer} in the completion). "
                "Please reduce the length of the messages or completion.",
            }
        ),
        source="github.com/vllm-project/vllm/issues/20409, github.com/ogx-ai/ogx/issues/4534",
    ),
    unknown=Refusal(
        status=400,
        body=json.dumps(
            {
                **_VLLM_ERROR,
                "message": "[{'type': 'extra_forbidden', 'loc': ('body', '{name}'), 'msg': 'Extra "
                "inputs are not permitted', 'input': 800}]",
            }
        ),
        source="github.com/1Panel-dev/MaxKB/issues/2912; vLLM before pull/10463",
    ),
    thinking="closing",
    no_thinking=("chat_template_kwargs", THINKING_OFF),
)
VLLM_NEW_TOO_LONG = Refusal(
    status=400,
    body=json.dumps(
        {
            **_VLLM_ERROR,
            "message": "This model's maximum context length is {window} tokens. However, you "
            "requested {answer} output tokens and your prompt contains at least {tokens} input "
            "tokens, for a total of at least {asked} tokens.",
        }
    ),
    source="github.com/vllm-project/vllm/issues/42474",
)
VLLM_TOOLS = Refusal(
    status=400,
    body=json.dumps(
        {
            **_VLLM_ERROR,
            "message": (
                '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to '
                "be set"
            ),
        }
    ),
    source=(
        "github.com/vllm-project/vllm/issues/9986, github.com/langchain4j/langchain4j/issues/3475"
    ),
)
LMSTUDIO = Persona(
    name="lmstudio",
    window=4_096,
    too_long=Refusal(
        status=400,
        body=json.dumps(
            {
                "error": "Trying to keep the first {tokens} tokens when context the overflows. "
                "However, the model is loaded with context length of only {window} tokens, which "
                "is not enough. Try to load the model with a larger context length, or provide a "
                "shorter input. Error Data: n/a, Additional Data: n/a"
            }
        ),
        source="github.com/lmstudio-ai/lmstudio-bug-tracker/issues/237 and /546",
    ),
    thinking="tags",
    slots=1,
)
LMSTUDIO_TOOLS = Refusal(
    status=400,
    body=json.dumps(
        {
            "error": 'Error rendering prompt with jinja template: "Cannot call something that is '
            "not a function: got "
            "UndefinedValue\".\n\nThis is usually an issue with the model's prompt template."
        }
    ),
    source="github.com/lmstudio-ai/lmstudio-bug-tracker/issues/2012",
)
DEEPSEEK = Persona(
    name="deepseek",
    window=131_072,
    too_long=VLLM.too_long,
    thinking="reasoning_content",
    no_thinking=("thinking", {"type": "disabled"}),
    wants_thinking=Refusal(
        status=400,
        body=_openai(
            "Missing `reasoning_content` field in the assistant message at message index {index}. "
            "For more information, please refer to "
            "https://api-docs.deepseek.com/guides/thinking_mode#tool-calls",
            "invalid_request_error",
            code="invalid_request_error",
        ),
        source="github.com/deepseek-ai/DeepSeek-V3/issues/1053",
    ),
)
PERSONAS = {persona.name: persona for persona in (OLLAMA, LLAMACPP, VLLM, LMSTUDIO, DEEPSEEK)}
# Tools refused, in each spelling known.
TOOL_REFUSALS = (OLLAMA_TOOLS, LLAMACPP_TOOLS, LLAMACPP_OLD_TOOLS, VLLM_TOOLS, LMSTUDIO_TOOLS)
# Parameters refused, in the words of other servers, as (name, refusal).
PARAMETER_REFUSALS: Iterable[tuple[str, Refusal]] = (
    (
        "stream_options",
        Refusal(
            status=400,
            body=json.dumps({"error": "Extra inputs are not permitted, field: 'stream_options'"}),
            source="Fireworks: github.com/FlowiseAI/Flowise/issues/2866",
        ),
    ),
    (
        "temperature",
        Refusal(
            status=400,
            body=_openai(
                "Unsupported value: 'temperature' does not support 0.3 with this model. Only the "
                "default (1) value is supported.",
                "invalid_request_error",
                param="temperature",
                code="unsupported_value",
            ),
            source="OpenAI's reasoning models; written from memory",
        ),
    ),
    (
        "max_tokens",
        Refusal(
            status=422,
            body=json.dumps(
                {
                    "type": "urn:inference-service:problem-details:unprocessable-entity",
                    "title": "Unprocessable Entity",
                    "status": 422,
                    "detail": (
                        "body -> max_tokens\n  Extra inputs are not permitted "
                        "(type=extra_forbidden)"
                    ),
                }
            ),
            source="NIM: github.com/NVIDIA/garak/issues/748",
        ),
    ),
    (
        "tool_choice",
        Refusal(
            status=422,
            body=json.dumps(
                {
                    "object": "Error",
                    "detail": [
                        {
                            "type": "extra_forbidden",
                            "loc": ["body", "tool_choice"],
                            "msg": "Extra inputs are not permitted",
                            "input": "what somebody wrote",
                        }
                    ],
                }
            ),
            source="Mistral: github.com/partITech/php-mistral/issues/76",
        ),
    ),
)
