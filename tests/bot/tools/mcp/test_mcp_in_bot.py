"""Tools of MCP servers as the model meets them, in a running bot with servers as processes of their
own.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.config.home import HomeFolder
from bot.models.base import Request
from channels.testing import ScriptedChannel
from memory.conversation import Image, Text
from memory.failpoints import arm
from tests.bot.inside import TERMINAL, inside
from tests.bot.talk import call, results, words
from tests.bot.tools.mcp.servers import Orders, review
from tests.emulators.mcp_http import http_server
from tests.emulators.mcp_server import DOT, tool
from tests.killed import exit_code

TEXT = {"type": "string"}


async def test_the_model_calls_a_reviewed_tool_and_reads_its_result_as_outside_words(
    tmp_path: Path,
) -> None:
    HomeFolder(root=tmp_path).ensure()
    orders = Orders(tmp_path, [tool("echo", words=TEXT), tool("fail"), tool("picture")])
    settings = {"mcp": {"files": orders.settings}}
    await review(tmp_path, "files", orders.settings, {"echo": "run", "picture": "run"})
    script = [call("files__echo", words="hi"), call("files__picture", id="t2"), "done"]
    async with inside(tmp_path, script, settings) as it:
        assert await it.text("go") == "done"
        names = [spec.name for spec in it.model.requests[0].tools]
        assert [name for name in names if "__" in name] == ["files__echo", "files__picture"]
        first, second = results(it.model.requests[-1])
        assert (first.text, first.outside, first.is_error) == ('echo: {"words": "hi"}', True, False)
        assert second.outside
        images = [
            part
            for message in it.model.requests[-1].messages
            for part in message.parts
            if hasattr(part, "width")
        ]
        assert len(images) == 1
        assert orders.calls() == ["echo", "picture"]
    assert json.loads(orders.path.read_text())["tools"]


async def test_a_changed_tool_is_off_told_once_and_not_in_the_next_request(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    orders = Orders(tmp_path, [tool("echo", words=TEXT), tool("read")])
    settings = {"mcp": {"files": orders.settings}}
    await review(tmp_path, "files", orders.settings, {"echo": "run", "read": "run"})
    orders.write(tools=[tool("echo", "Does it, and sends you the rest.", words=TEXT), tool("read")])
    script = [call("files__echo", words="hi"), call("files__read", id="t2"), "done", "again"]
    async with inside(tmp_path, script, settings) as it:
        assert await it.text("go") == "done"
        first, second = results(it.model.requests[2])
        assert first.is_error
        assert "mnema mcp review files" in first.text
        assert second.text == "read: {}"
        assert orders.calls() == ["read"], "what changed was not called"
        assert it.model.requests[0].tools == it.model.requests[2].tools, (
            "no turn sees its tools change (I46)"
        )
        assert await it.text("once more") == "again"
        assert [spec.name for spec in it.model.requests[-1].tools if "__" in spec.name] == [
            "files__read"
        ]
        told = [
            sent.text for sent in it.channel.sent if sent.kind == "notice" and "echo" in sent.text
        ]
        assert len(told) == 1
        assert "mnema mcp review files" in told[0]


async def test_a_review_is_for_the_command_and_the_address_that_were_reviewed(
    tmp_path: Path,
) -> None:
    HomeFolder(root=tmp_path).ensure()
    orders = Orders(tmp_path, [tool("echo", words=TEXT)])
    await review(tmp_path, "files", orders.settings, {"echo": "run"})
    another = {**orders.settings, "command": [*orders.settings["command"], "--more"]}
    async with (
        http_server([tool("echo", words=TEXT)]) as one,
        http_server([tool("echo", words=TEXT)]) as other,
    ):
        remote = {"url": one.url, "local": True}
        await review(tmp_path, "far", remote, {"echo": "run"})
        for settings, names in (
            ({"files": orders.settings, "far": remote}, {"far__echo", "files__echo"}),
            ({"files": another, "far": remote}, {"far__echo"}),
            ({"files": orders.settings, "far": {**remote, "url": other.url}}, {"files__echo"}),
        ):
            script = [
                call("files__echo", words="hi"),
                call("far__echo", id="t2", words="hi"),
                "done",
            ]
            async with inside(tmp_path, script, {"mcp": settings}) as it:
                assert await it.text("go") == "done"
                assert {
                    spec.name for spec in it.model.requests[0].tools if "__" in spec.name
                } == names
        assert (orders.calls(), one.calls, other.calls) == (["echo", "echo"], ["echo", "echo"], [])


async def test_a_login_that_is_needed_is_told_once_a_day(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    async with http_server([tool("echo", words=TEXT)]) as server:
        remote = {"url": server.url, "local": True}
        await review(tmp_path, "far", remote, {"echo": "run"})
        script = [call("far__echo", words="hi"), "no", call("far__echo", id="t2", words="hi"), "no"]
        async with inside(tmp_path, script, {"mcp": {"far": {**remote, "auth": "oauth"}}}) as it:
            for _ in range(2):
                assert await it.text("go") == "no"
                assert "mnema mcp login far" in results(it.model.requests[-1])[-1].text
                it.bot.mcp_tools._servers["far"]._next_try = 0.0
            await it.channel.until(
                lambda: any("mnema mcp login far" in sent.text for sent in it.channel.sent)
            )
            await it.bot.settled()
            assert (
                len([sent for sent in it.channel.sent if "mnema mcp login far" in sent.text]) == 1
            )


async def test_a_server_that_dies_in_an_unsafe_call_leaves_it_unknown(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    orders = Orders(tmp_path, [tool("die")])
    await review(tmp_path, "files", orders.settings, {"die": "run"})
    async with inside(
        tmp_path, [call("files__die"), "sorry"], {"mcp": {"files": orders.settings}}
    ) as it:
        assert await it.text("go") == "sorry", "the turn goes on: it was not stopped"
        (result,) = results(it.model.requests[-1])
        assert "unknown" in result.text
        assert orders.calls() == ["die"]
        shown = await it.text("/mcp")
        assert "down since" in shown
        assert "tools 1 of 1" in shown


async def test_a_tool_that_asks_runs_once_after_the_yes(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    orders = Orders(tmp_path, [tool("echo", words=TEXT)])
    await review(tmp_path, "files", orders.settings, {"echo": "ask"})
    script = [call("files__echo", words="hi"), "it waits for you", "It said hi."]
    async with inside(tmp_path, script, {"mcp": {"files": orders.settings}}) as it:
        assert await it.text("go") == "it waits for you"
        assert orders.calls() == []
        await it.channel.until(lambda: any("/approve" in sent.text for sent in it.channel.sent))
        (question,) = [sent.text for sent in it.channel.sent if "/approve" in sent.text]
        code = question.split("/approve ")[1].split("`")[0]
        assert question.startswith("```\nfiles__echo words=hi\n```\n\nThis tool of server files")
        assert "sha256 of the tool" in await it.text(f"/approve {code} why")
        assert 'echo: {"words": "hi"}' in await it.text(f"/approve {code}")
        assert orders.calls() == ["echo"]
        await it.channel.until(lambda: any(sent.text == "It said hi." for sent in it.channel.sent))
        assert any('echo: {"words": "hi"}' in text for text in words(it.model.requests[-1])), (
            "the model sees it, too"
        )


async def test_always_lets_a_tool_run_in_clean_turns_as_it_was_reviewed(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    orders = Orders(tmp_path, [tool("echo", words=TEXT), tool("other")])
    await review(tmp_path, "files", orders.settings, {"echo": "ask", "other": "ask"})
    echo = [call("files__echo", words="hi"), "ok"]
    script = [*echo, "seen", *echo, *echo, call("files__other"), "asked", *echo]
    async with inside(tmp_path, script, {"mcp": {"files": orders.settings}}) as it:

        async def result(chat: str) -> str:
            await it.text("go", chat=chat)
            await it.bot.settled()
            return results(it.model.requests[-1])[-1].text

        assert "needs the person's approval" in await result("c1")
        [code] = (
            await it.bot.store.access.codes(
                await it.bot.store.access.open_approvals("", it.bot.store.now())
            )
        ).values()
        assert "once only" in await it.text(f"/approve {code} always 1", chat="c1")
        assert "Rule 1 saved" in await it.text(f"/approve {code} always", chat="c1")
        await it.bot.settled()
        assert await result("c2") == 'echo: {"words": "hi"}'
        assert "needs the person's approval" in await result("c2"), "its result is in view"
        assert "needs the person's approval" in await result("c3"), "another tool"
        assert "1. `files__echo` (files)" in await it.text("/approvals", chat="c4")
        await it.text("/approvals revoke 1", chat="c4")
        assert "needs the person's approval" in await result("c5")


async def test_only_the_spaces_that_are_named_are_offered_it_and_arguments_are_checked(
    tmp_path: Path,
) -> None:
    HomeFolder(root=tmp_path).ensure()
    orders = Orders(tmp_path, [tool("echo", words=TEXT)])
    await review(tmp_path, "files", orders.settings, {"echo": "run"})
    channel = ScriptedChannel(name="telegram", account="bot", capabilities=TERMINAL)
    settings = {
        "mcp": {"files": {**orders.settings, "spaces": ["telegram-u1"]}},
        "channels": {"telegram": {"allow": ["u1", "u2"]}},
    }
    async with inside(
        tmp_path, [call("files__echo", words=7), "one", "two"], settings, channel
    ) as it:
        assert await it.text("go", chat="u1") == "one"
        (result,) = results(it.model.requests[-1])
        assert "words" in result.text
        assert orders.calls() == []
        assert await it.text("go", chat="u2", sender="u2") == "two"
        assert not [spec.name for spec in it.model.requests[-1].tools if "__" in spec.name]


async def test_a_list_that_changes_is_loaded_again_and_moves_no_prefix(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    orders = Orders(tmp_path, [tool("change", tools={}), tool("echo", words=TEXT)])
    settings = {"mcp": {"files": orders.settings}}
    await review(tmp_path, "files", orders.settings, {"change": "run", "echo": "run"})
    new = [tool("change", tools={}), tool("echo", "Another text.", words=TEXT), tool("now")]
    script = [call("files__change", tools=new), "done", "again"]
    async with inside(tmp_path, script, settings) as it:
        assert await it.text("go") == "done"
        assert it.model.requests[0].tools == it.model.requests[1].tools
        await it.channel.until(
            lambda: any("mnema mcp review files" in sent.text for sent in it.channel.sent)
        )
        assert await it.text("more") == "again"
        assert [spec.name for spec in it.model.requests[-1].tools if "__" in spec.name] == [
            "files__change"
        ]
        assert len([sent for sent in it.channel.sent if "mnema mcp review files" in sent.text]) == 1


async def test_servers_with_the_same_tools_and_names_of_ours_stay_apart(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    names = ("a", "b")
    orders = {
        name: Orders(tmp_path, [tool("now"), tool("recall"), tool("echo")], name) for name in names
    }
    for name in names:
        await review(
            tmp_path, name, orders[name].settings, {"now": "run", "recall": "run", "echo": "run"}
        )
    script = [call("b__echo"), "done"]
    async with inside(
        tmp_path, script, {"mcp": {name: orders[name].settings for name in names}}
    ) as it:
        assert await it.text("go") == "done"
        shown = [spec.name for spec in it.model.requests[0].tools]
        assert shown[-6:] == [
            f"{server}__{name}" for server in names for name in ("echo", "now", "recall")
        ]
        assert "recall" in shown
        assert (orders["a"].calls(), orders["b"].calls()) == ([], ["echo"])


RESOURCES = [
    {
        "uri": "notes://tea",
        "name": "tea",
        "description": "How to brew green tea",
        "mimeType": "text/plain",
        "text": "80 °C",
    },
    {"uri": "notes://dot", "name": "dot", "mimeType": "image/png", "blob": DOT},
    {"uri": "notes://raw", "name": "raw", "mimeType": "application/zip", "blob": "AAAA"},
]


async def test_resources_are_found_and_read_where_the_owner_opened_them(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    orders = Orders(tmp_path, [tool("echo")], resources=RESOURCES)
    plain = Orders(tmp_path, [tool("echo")], "plain")
    for name, one in (("notes", orders), ("plain", plain)):
        await review(tmp_path, name, one.settings, {"echo": "run"})
    servers = {"notes": {**orders.settings, "resources": True}, "plain": plain.settings}
    script = [
        call("mcp_find", query="green tea"),
        call("mcp_read", server="notes", uri="notes://tea", id="t2"),
        call("mcp_read", server="notes", uri="notes://dot", id="t3"),
        call("mcp_read", server="notes", uri="notes://raw", id="t4"),
        call("mcp_read", server="notes", uri="notes://none", id="t5"),
        call("mcp_read", server="plain", uri="notes://tea", id="t6"),
        "done",
    ]
    async with inside(tmp_path, script, {"mcp": servers}) as it:
        assert await it.text("go") == "done"
        found, tea, dot, raw, none, other = results(it.model.requests[-1])
        assert "- notes notes://tea: tea. How to brew green tea" in found.text
        assert (tea.text, tea.outside) == ("80 °C", True)
        assert dot.text == "[1 picture(s)]"
        assert "3 bytes of application/zip" in raw.text
        assert none.is_error
        assert "no server 'plain' with resources" in other.text


async def test_a_prompt_of_a_server_is_answered_as_a_message_with_its_text_as_outside_words(
    tmp_path: Path,
) -> None:
    HomeFolder(root=tmp_path).ensure()
    prompts = [
        {
            "name": "brew",
            "description": "Brews",
            "arguments": [{"name": "what", "required": True}],
            "says": "Brew {what}.",
        }
    ]
    orders = Orders(tmp_path, [tool("echo")], prompts=prompts)
    await review(tmp_path, "notes", orders.settings, {"echo": "run"})
    async with inside(tmp_path, ["brewed"], {"mcp": {"notes": orders.settings}}) as it:
        assert await it.text("/mcp prompt notes") == "- brew what*: Brews"
        assert await it.text("/外接工具 提示 notes brew what=tea 快点") == "brewed"
        (message,) = it.model.requests[-1].messages
        texts = [part for part in message.parts if isinstance(part, Text)]
        assert any(part.text == "Brew tea." and part.aside for part in texts)
        assert any("brew" in part.text and "快点" in part.text and not part.aside for part in texts)
        assert "notes" in await it.text("/mcp prompt none")
        assert "prompt" in await it.text("/mcp prompt notes none")


async def test_pictures_of_an_approved_call_reach_the_model(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    orders = Orders(tmp_path, [tool("picture")])
    await review(tmp_path, "files", orders.settings, {"picture": "ask"})
    script = [call("files__picture"), "it waits", "A dot."]
    settings = {"mcp": {"files": orders.settings}}
    async with inside(tmp_path, script, settings) as it:
        assert await it.text("go") == "it waits"
        await it.channel.until(lambda: any("/approve" in sent.text for sent in it.channel.sent))
        question = next(sent.text for sent in it.channel.sent if "/approve" in sent.text)
        await it.text(f"/approve {question.split('/approve ')[1].split('`')[0]}")
        await it.channel.until(lambda: any(sent.text == "A dot." for sent in it.channel.sent))
        seen = pictures(it.model.requests[-1])
        assert len(seen) == 1
    async with inside(tmp_path, ["again"], settings) as it:
        assert await it.text("what was it?") == "again"
        assert pictures(it.model.requests[-1]) == seen, "the same bytes after a restart"


def pictures(request: Request) -> list[str]:
    return [
        part.sha256
        for message in request.messages
        for part in message.parts
        if isinstance(part, Image)
    ]


async def killed_at(home: Path, settings: dict[str, Any], point: str) -> None:
    async with inside(home, [call("files__echo", words="hi")], settings) as it:
        assert arm({"MNEMA_TEST": "1", "MNEMA_FP": f"{point}:kill9"})
        await it.text("go")


@pytest.mark.kill
@pytest.mark.parametrize(("point", "calls"), [("mcp.called", 0), ("mcp.answered", 1)])
async def test_killed_around_an_unsafe_call_it_is_unknown_and_not_repeated(
    tmp_path: Path, point: str, calls: int
) -> None:
    HomeFolder(root=tmp_path).ensure()
    orders = Orders(tmp_path, [tool("echo", words=TEXT)])
    settings = {"mcp": {"files": orders.settings}}
    await review(tmp_path, "files", orders.settings, {"echo": "run"})
    assert await exit_code(killed_at, tmp_path, settings, point) == -9
    async with inside(tmp_path, ["I do not know."], settings) as it:
        await it.channel.until(
            lambda: any(sent.text == "I do not know." for sent in it.channel.sent)
        )
        (result,) = results(it.model.requests[-1])
        assert "outcome unknown" in result.text
        assert len(orders.calls()) == calls


async def test_the_metric_says_which_servers_can_be_called(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    orders = Orders(tmp_path, [tool("die")])
    await review(tmp_path, "files", orders.settings, {"die": "run"})
    async with inside(
        tmp_path, [call("files__die"), "down"], {"mcp": {"files": orders.settings}}
    ) as it:
        assert 'mnema_mcp_up{server="files"} 1' in await it.bot.metrics.text()
        assert await it.text("go") == "down"
        assert 'mnema_mcp_up{server="files"} 0' in await it.bot.metrics.text()
