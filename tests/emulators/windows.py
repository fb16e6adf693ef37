"""Servers at home with a small window: what they say of it, how they refuse what is too long, and
one that cuts it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.emulators.model import Exchange, ModelEmulator, Seen, _open_headers
from tests.emulators.model_replies import Reply
from tests.emulators.model_rules import seen_by_model

QWEN = "qwen3:8b"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """How a server refuses what is too long."""

    #: With {prompt}, {answer} and {window}.
    text: str
    type: str
    #: Where the text was seen.
    source: str
    status: int = 400
    #: Whether the numbers are fields of the error too, as llama.cpp has them.
    has_fields: bool = False
    #: A request that fits only without its answer is refused too.
    counts_answer: bool = True


# Texts as they were seen in public issues, test suites and code of clients.
REFUSALS: Mapping[str, Refusal] = {
    "vllm": Refusal(
        text="'max_tokens' or 'max_completion_tokens' is too large: {answer}. This model's maximum "
        "context length is {window} tokens and your request has {prompt} input tokens ({answer} > "
        "{window} - {prompt}).",
        type="BadRequestError",
        source="vLLM 0.13, entrypoints/openai/serving_engine.py",
    ),
    "vllm-old": Refusal(
        text="This model's maximum context length is {window} tokens. However, you requested "
        "{whole} tokens ({prompt} in the messages, {answer} in the completion). Please reduce the "
        "length of the messages or completion.",
        type="BadRequestError",
        source="vLLM issue 20409",
    ),
    "vllm-new": Refusal(
        text="This model's maximum context length is {window} tokens. However, you requested "
        "{answer} output tokens and your prompt contains at least {prompt} input tokens, for a "
        "total of at least {whole} tokens.",
        type="BadRequestError",
        source="vLLM issue 42474",
    ),
    "vllm-passed": Refusal(
        text="You passed {prompt} input tokens and requested {answer} output tokens. However, the "
        "model's context length is only {window} tokens, resulting in a maximum input length of "
        "{left} tokens. Please reduce the length of the input prompt. (parameter=input_tokens, "
        "value={prompt})",
        type="BadRequestError",
        source="public test suites of vLLM's clients",
    ),
    "llamacpp": Refusal(
        text="the request exceeds the available context size, try increasing it",
        type="exceed_context_size_error",
        source="llama.cpp, tools/server",
        has_fields=True,
        counts_answer=False,
    ),
    "lmstudio": Refusal(
        text="Trying to keep the first {prompt} tokens when context the overflows. However, the "
        "model is loaded with context length of only {window} tokens, which is not enough. Try to "
        "load the model with a larger context length, or provide a shorter input.",
        type="invalid_request_error",
        source="lmstudio-bug-tracker issue 546",
        counts_answer=False,
    ),
}


class HomeServer(ModelEmulator):
    """A model server as people run one at home.

    Args:
        kind: "ollama", which cuts what is too long, or a key of REFUSALS.
        speaks: whether it answers questions about its window.
        parallel: requests that it says to answer at once, where its kind says that.
    """

    def __init__(
        self,
        kind: str,
        window: int,
        *,
        model: str = QWEN,
        speaks: bool = True,
        parallel: int = 4,
        **more: Any,
    ) -> None:
        super().__init__(window=window, **more)
        self.kind, self.model, self.speaks, self.parallel = kind, model, speaks, parallel
        self.lenient = True  # it refuses in words of its own
        #: Of models beside the first, by id.
        self.others: dict[str, int] = {}
        #: Paths of the questions that came.
        self.asked: list[str] = []

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    async def _answer(self, path: str, headers: dict[str, str], raw: bytes, out: Exchange) -> None:
        if not path.endswith("/chat/completions"):
            self.asked.append(path)
            said = self._describe(path) if self.speaks else None
            await out.send_json(
                404 if said is None else 200, said or {"error": {"message": "not found"}}
            )
            return
        body = json.loads(raw)
        refusal = REFUSALS.get(self.kind)
        if refusal is None or (error := self._refuse(refusal, body)) is None:
            await super()._answer(path, headers, raw, out)
            return
        self.failed += 1
        seen = Seen(
            wire="chat",
            path=path,
            raw=raw,
            body=body,
            headers=_open_headers(headers),
            refused=error["message"],
        )
        self.requests.append(seen)
        await out.send_json(refusal.status, {"error": error})

    def _describe(self, path: str) -> dict[str, Any] | None:
        """What it says of itself at a path; None for a path that it does not have."""
        entry: dict[str, Any] = {"id": self.model, "object": "model"}
        match self.kind.partition("-")[0], path:
            case "vllm", "/v1/models":
                windows = {self.model: self.window, **self.others}
                listed = [
                    {**entry, "id": name, "max_model_len": window}
                    for name, window in windows.items()
                ]
                return {"object": "list", "data": listed}
            case _, "/v1/models":
                return {"object": "list", "data": [entry]}
            case "llamacpp", "/props":
                return {
                    "default_generation_settings": {"n_ctx": self.window},
                    "total_slots": self.parallel,
                }
            case "lmstudio", "/api/v0/models":
                loaded = {
                    "state": "loaded",
                    "loaded_context_length": self.window,
                    "max_context_length": 131_072,
                }
                return {"object": "list", "data": [{**entry, **loaded}]}
            case "ollama", "/api/ps":
                loaded = {"name": self.model, "model": self.model, "context_length": self.window}
                return {"models": [loaded] if self.requests else []}
            case "ollama", "/api/show":
                return {
                    "parameters": "temperature 0.6",
                    "model_info": {"qwen3.context_length": 40_960},
                }
        return None

    def _refuse(self, refusal: Refusal, body: dict[str, Any]) -> dict[str, Any] | None:
        prompt, window = (
            self.counts(seen_by_model(body)),
            self.others.get(body["model"], self.window),
        )
        answer = int(body.get("max_tokens") or 0)
        if prompt + (answer if refusal.counts_answer else 0) <= window:
            return None
        left, whole = window - answer, prompt + answer
        text = refusal.text.format(
            prompt=prompt, answer=answer, window=window, left=left, whole=whole
        )
        error = {"message": text, "type": refusal.type, "code": refusal.status, "param": None}
        return (
            {**error, "n_prompt_tokens": prompt, "n_ctx": window} if refusal.has_fields else error
        )

    def _usage(self, reply: Reply, seen: Seen) -> dict[str, int]:
        """Count what was read: Ollama drops the front, and its count stands just below the
        window.
        """
        used = super()._usage(reply, seen)
        if self.kind == "ollama":
            used["input_tokens"] = min(used["input_tokens"], self.window - 100)
        return used
