"""A server with several models, as the set-up of a model meets it: keys, a list, missing models,
tools and sight.
"""

import json
from collections.abc import Mapping
from typing import Any

from tests.emulators.model import Exchange
from tests.emulators.model_replies import Call, Reply
from tests.emulators.windows import HomeServer

MISSING = {
    "error": {
        "message": "model '{model}' not found",
        "type": "not_found_error",
        "code": "model_not_found",
    }
}
BLIND = {
    "error": {
        "message": "image input is not supported - hint: you may need to provide the mmproj",
        "code": 500,
    }
}


def obliging(body: dict[str, Any]) -> Reply:
    """Calls the tool that it is offered, and names the colour of any picture."""
    if "image_url" in json.dumps(body["messages"]):
        return Reply(text="Red.")
    return Reply(calls=(Call(name="now"),)) if body.get("tools") else Reply(text="pong")


class ModelHost(HomeServer):
    """A server at home or elsewhere, which answers GETs with its key only.

    Args:
        kind: see HomeServer; "plain" says nothing of itself but its list.
        models: windows by id, in the list's order.
        seeing: ids of the models that see.
    """

    def __init__(
        self,
        kind: str,
        models: Mapping[str, int],
        *,
        seeing: frozenset[str] = frozenset(),
        **more: Any,
    ) -> None:
        first, *others = models
        super().__init__(kind, models[first], model=first, responder=obliging, **more)
        self.others = {name: models[name] for name in others}
        self.seeing = seeing
        #: Keys that came, in order; "" for a request without one.
        self.seen_keys: list[str] = []

    async def _answer(self, path: str, headers: dict[str, str], raw: bytes, out: Exchange) -> None:
        key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        self.seen_keys.append(key)
        if self.keys is not None and key not in self.keys:
            refusal = {
                "error": {
                    "message": f"Incorrect API key provided: {key}",
                    "code": "invalid_api_key",
                }
            }
            await out.send_json(401, refusal)
            return
        if path.endswith("/chat/completions"):
            if path != "/v1/chat/completions":
                await out.send_json(404, {"detail": "Not Found"})
                return
            body = json.loads(raw)
            known = (self.model, *self.others)
            if body["model"] not in known:
                text = json.dumps(MISSING).replace("{model}", body["model"])
                await out.send_json(404, json.loads(text))
                return
            if "image_url" in json.dumps(body["messages"]) and body["model"] not in self.seeing:
                await out.send_json(500, BLIND)
                return
        await super()._answer(path, headers, raw, out)

    def _describe(self, path: str) -> dict[str, Any] | None:
        models = {self.model: self.window, **self.others}
        if path == "/v1/models":
            entries: list[dict[str, Any]] = [{"id": name, "object": "model"} for name in models]
            if self.kind == "vllm":
                entries = [{**entry, "max_model_len": models[entry["id"]]} for entry in entries]
            return {
                "object": "list",
                "data": [*entries, {"id": "text-embedding-small", "object": "model"}],
            }
        return super()._describe(path)
