"""Asks Feishu for the bot's name by the vendor's own SDK: a second opinion where Feishu refuses the
settings.

The SDK runs in a process of its own: importing it takes 2 to 12 seconds of CPU and 170 MB.
"""

import asyncio
import json
import os
import sys
from typing import Literal

from channels.base import SetupFinding
from channels.feishu.settings import FeishuSettings
from channels.phrases import Phrase

SDK_SECONDS = 25.0  # for import and call; the page gives such a step thirty seconds
CALL_SECONDS = 5.0
BOT_INFO = "/open-apis/bot/v3/info"


async def check_with_sdk(settings: FeishuSettings, seconds: float = SDK_SECONDS) -> SetupFinding:
    """Return whether the SDK is refused too with settings that Feishu has refused."""
    try:
        answer = await _ask_in_process(settings, seconds)
    except TimeoutError:
        return _finding("skipped", Phrase("Feishu's own SDK did not start in time."))
    except (OSError, ValueError) as err:
        return _finding("skipped", Phrase("Feishu's own SDK did not run: {err}.", err=str(err)))
    if answer["code"] == 0:
        return _finding(
            "ok",
            Phrase(
                "Feishu's own SDK is accepted with the same settings, so the fault is in this "
                "program; please report it."
            ),
        )
    why = f"{answer['msg']} ({answer['code']})"
    return _finding("failed", Phrase("Feishu's own SDK is refused, too: {why}.", why=why))


async def _ask_in_process(settings: FeishuSettings, seconds: float) -> dict[str, object]:
    """Run this module as a program; the secret goes through its stdin.

    Raises:
        TimeoutError: it took too long, and is ended.
        ValueError, OSError: it gave no answer.
    """
    # The SDK takes its proxy from the environment; this program takes none from there.
    inherited = {
        name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")
    }
    proxies = (
        {"https_proxy": settings.proxy, "http_proxy": settings.proxy} if settings.proxy else {}
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "channels.feishu.sdk_check"),
        env=inherited | proxies,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    asked = {
        "app_id": settings.app_id,
        "app_secret": settings.app_secret,
        "domain": settings.domain,
    }
    try:
        async with asyncio.timeout(seconds):
            out, _ = await process.communicate(json.dumps(asked).encode())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise ValueError(f"it ended with exit code {process.returncode}")
    answer = json.loads(out)
    if not isinstance(answer, dict) or not isinstance(answer.get("code"), int):
        raise ValueError("no answer")
    return answer


def _finding(state: Literal["ok", "failed", "skipped"], text: Phrase) -> SetupFinding:
    return SetupFinding(step="sdk", state=state, text=text)


def main() -> None:
    """Read the settings from stdin, ask by the SDK, and print its code and message as JSON."""
    import lark_oapi as lark  # slow, see above
    from lark_oapi.core.exception import ObtainAccessTokenException

    asked = json.load(sys.stdin)
    builder = (
        lark.Client.builder()
        .app_id(asked["app_id"])
        .app_secret(asked["app_secret"])
        .timeout(CALL_SECONDS)
    )
    if asked["domain"]:
        builder = builder.domain(asked["domain"])
    request = (
        lark.BaseRequest.builder()
        .http_method(lark.HttpMethod.GET)
        .uri(BOT_INFO)
        .token_types({lark.AccessTokenType.TENANT})
        .build()
    )
    try:
        response = builder.log_level(lark.LogLevel.CRITICAL).build().request(request)
    except ObtainAccessTokenException as err:
        print(json.dumps({"code": err.code, "msg": err.msg}))
        return
    print(json.dumps({"code": response.code, "msg": response.msg}))


if __name__ == "__main__":
    main()
