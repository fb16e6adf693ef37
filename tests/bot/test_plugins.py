"""What authors of plug-ins import: definitions, strict arguments, and the context of their
tests.
"""

from typing import Annotated, Any

import pytest
from pydantic import Field

from bot.plugins import (
    Context,
    PluginError,
    PluginInvalid,
    Response,
    ScriptedContext,
    call,
    define,
    find_tools,
    run_tool,
    tool,
)
from tests.cases import every_case


@tool(effect="pure", needs=["KEY"])
async def forecast(ctx: Context, city: str, days: Annotated[int, Field(ge=1, le=9)] = 3) -> Any:
    """Forecast for a city."""
    return await ctx.fetch(f"https://weather.example/{city}/{days}", bearer="KEY")


@tool()
async def nothing(ctx: Context) -> dict[str, int]:
    """Takes no arguments."""
    return {"ok": 1}


async def unmarked(ctx: Context) -> str:
    return ""


async def test_a_tool_is_tested_as_the_bot_calls_it() -> None:
    context = ScriptedContext({"https://weather.example/Rome/3": "sunny"}, {"KEY": "k"})
    assert await call(forecast, context, city="Rome") == "sunny"
    assert context.requests == [("GET", "https://weather.example/Rome/3", "KEY")]
    assert await call(nothing, context) == '{"ok": 1}'
    with pytest.raises(PluginError, match="answered 404"):
        await call(forecast, context, city="Paris")
    with pytest.raises(PluginError, match="KEY is not there"):
        await call(forecast, ScriptedContext(), city="Rome")


@every_case(
    ("arguments", "place"),
    [
        ("{}", "'city'"),
        ('{"city": 7}', "'city'"),
        ('{"city": "x", "days": "3"}', "'days'"),
        ('{"city": "x", "days": 3.5}', "'days'"),
        ('{"city": "x", "days": 10}', "'days'"),
        ('{"city": "x", "more": 1}', "'more'"),
        ("[]", "object"),
        ("{", "JSON"),
    ],
)
async def test_arguments_are_checked_strictly(arguments: str, place: str) -> None:
    with pytest.raises(PluginError, match=place):
        await run_tool(forecast, ScriptedContext(), arguments)


def test_only_marked_functions_are_tools_and_they_need_all_that_a_model_has_to_know() -> None:
    assert list(find_tools([forecast, unmarked, 7, "x"])) == ["forecast"]
    assert define(forecast).needs == ("KEY",)
    with pytest.raises(PluginInvalid, match="async function"):
        define(unmarked)


def test_a_response_is_read_as_text_and_json() -> None:
    def response(body: bytes, charset: str) -> Response:
        return Response(
            url="u",
            status=200,
            headers={"content-type": f"text/plain; charset={charset}"},
            body=body,
        )

    assert response(b"\xe9", "latin-1").text == "é"
    assert response(b"x", "none").text == "x"
    assert Response(url="u", status=200, body=b'{"a": 1}').json() == {"a": 1}
    with pytest.raises(PluginError, match="JSON"):
        response(b"x", "utf-8").json()
