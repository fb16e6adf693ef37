"""The SDK is imported without its types of requests and answers, or whole: a call and a refusal are
the same.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.by_night import by_night

SAVED_MB = 30  # less is not worth a partial import

# Imports the SDK as the client does, asks once and is refused once, and imports the whole
# afterwards.
PROGRAM = """
import asyncio, json, sys
from bot.models.providers import anthropic_sdk
import httpx2

sdk = getattr(anthropic_sdk, sys.argv[1])()
refused = httpx2.Response(529, json={"type": "error", "error": {"type": "overloaded_error", \
"message": "busy"}})
answers = [httpx2.Response(200, text="data: {}\\n\\n"), refused]

def loaded():
    return sorted(name for name in sys.modules if name.split(".")[0] in ("anthropic", "aiohttp"))

async def ask():
    transport = httpx2.MockTransport(lambda request: answers.pop(0))
    url, http = "http://127.0.0.1:1", httpx2.AsyncClient(transport=transport)
    async with sdk.AsyncAnthropic(api_key="k", base_url=url, max_retries=0, http_client=http) as \
client:
        for _ in (1, 2):
            response = await client.post(
                "/v1/messages", cast_to=httpx2.Response, content=b"{}", stream=True, \
stream_cls=sdk.AsyncStream[object]
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


MEASURED = """
import sys
from bot.models.providers import anthropic_sdk
import httpx2, psutil

before = psutil.Process().memory_info().rss
getattr(anthropic_sdk, sys.argv[1])().AsyncAnthropic(api_key="k")
print((psutil.Process().memory_info().rss - before) / 1e6)
"""


def run(program: str, how: str) -> list[str]:
    ran = subprocess.run(
        [sys.executable, "-c", program, how],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


@pytest.mark.kill
def test_a_call_and_its_refusal_need_only_a_part_of_the_sdk() -> None:
    at_reply, refusal, loaded, same = map(json.loads, run(PROGRAM, "load_sdk"))
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


@by_night
@pytest.mark.kill
def test_a_call_and_its_refusal_are_the_same_with_the_whole_sdk() -> None:
    _, refusal, loaded, same = map(json.loads, run(PROGRAM, "import_whole_sdk"))
    assert refusal == [529, "overloaded_error"]
    assert {"anthropic", "anthropic.types.message"} <= set(loaded)
    assert same == [True] * 4


@by_night
@pytest.mark.kill
def test_the_partial_import_still_saves_what_it_is_for() -> None:
    whole, part = (
        float(run(MEASURED, how)[0]) for how in ("import_whole_sdk", "import_partial_sdk")
    )
    assert whole - part > SAVED_MB


def test_an_sdk_that_is_built_otherwise_is_imported_whole(tmp_path: Path) -> None:
    """One without the modules that are known of it."""
    (tmp_path / "anthropic").mkdir()
    names = "AsyncAnthropic = AsyncStream = object\nAPIError = APIStatusError = ValueError\n"
    (tmp_path / "anthropic" / "__init__.py").write_text(names)
    program = (
        "from bot.models.providers.anthropic_sdk import load_sdk; "
        "print(load_sdk().APIError.__name__)"
    )
    path = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=path
    )
    assert ran.stdout == "ValueError\n"
