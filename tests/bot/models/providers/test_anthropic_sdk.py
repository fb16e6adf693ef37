"""The SDK is imported without its types of requests and answers, which take ten times as long and 46 MB."""

import json
import subprocess
import sys

import pytest

# Imports the SDK as the client does, asks once and is refused once, and imports the whole afterwards.
PROGRAM = """
import asyncio, json, sys
from bot.models.providers.anthropic import load_sdk
import httpx2

sdk = load_sdk()
refused = httpx2.Response(529, json={"type": "error", "error": {"type": "overloaded_error", "message": "busy"}})
answers = [httpx2.Response(200, text="data: {}\\n\\n"), refused]

def loaded():
    return sorted(name for name in sys.modules if name.split(".")[0] in ("anthropic", "aiohttp"))

async def ask():
    transport = httpx2.MockTransport(lambda request: answers.pop(0))
    url, http = "http://127.0.0.1:1", httpx2.AsyncClient(transport=transport)
    async with sdk.AsyncAnthropic(api_key="k", base_url=url, max_retries=0, http_client=http) as client:
        for _ in (1, 2):
            response = await client.post(
                "/v1/messages", cast_to=httpx2.Response, content=b"{}", stream=True, stream_cls=sdk.AsyncStream[object]
            )
            await response.aclose()
            print(len(loaded()))
try:
    asyncio.run(ask())
except sdk.APIStatusError as err:
    print(json.dumps([err.status_code, err.body["error"]["type"]]))
print(json.dumps(loaded()))
import anthropic
import anthropic.lib._tracing
print(json.dumps([getattr(anthropic, name) is getattr(sdk, name) for name in sdk._fields]))
"""


@pytest.mark.kill
def test_a_call_and_its_refusal_need_only_a_part_of_the_sdk() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == 0, ran.stderr
    at_reply, refusal, loaded, same = map(json.loads, ran.stdout.splitlines())
    assert refusal == [529, "overloaded_error"]
    assert {
        "aiohttp",
        "anthropic",
        "anthropic.types",
        "anthropic._error_classes",
        "anthropic.types.message",
        "anthropic.resources",
    }.isdisjoint(loaded)
    assert at_reply < 60
    assert len(loaded) < 200
    assert same == [True] * 4
