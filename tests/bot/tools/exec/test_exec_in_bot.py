"""`exec` as its owner meets it: asked for in a chat, approved there, run in the sandbox, seen by
the model.
"""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.console.approvals import ApprovalRoutes
from bot.models.providers.offline import Script
from bot.tools.exec.probe import SHARED_REASON
from bot.tools.exec.tool import MAX_UNBOUND_NAMES
from channels.message import Capabilities
from channels.phrases import Phrase
from channels.testing import ScriptedChannel
from memory.failpoints import arm
from tests.bot.inside import ON_POSTGRES, Inside, inside
from tests.bot.talk import call, results, words
from tests.bot.tools.exec.sandboxed import level, needs_sandbox
from tests.channels.web.server import ScriptedBot, running
from tests.killed import exit_code
from tests.walk.harness import until

ON: dict[str, Any] = {"tools": {"exec": {"enabled": True, "seconds": 20}}}
CODE = re.compile(r"/approve ([2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4})")
WAITING = "[not done: this needs the person's approval."


@asynccontextmanager
async def owned(
    folder: Path, script: Script, settings: Mapping[str, Any] | None = None, **more: Any
) -> AsyncIterator[Inside]:
    async with inside(folder, script, settings or ON, **more) as it:
        yield it


def question(it: Inside) -> str:
    """The newest question for an approval."""
    asked = [sent.text for sent in it.channel.sent if CODE.search(sent.text)]
    assert asked, [sent.text for sent in it.channel.sent]
    return asked[-1]


def code(it: Inside) -> str:
    found = CODE.search(question(it))
    assert found
    return found[1]


async def ask(it: Inside, text: str = "please") -> str:
    """Have the model ask; the question."""
    await it.text(text)
    await it.bot.settled()
    assert WAITING in results(it.model.requests[-1])[-1].text
    return question(it)


async def why(it: Inside) -> str:
    """What the approval that is asked for last depends on."""
    return await it.text(f"/approve {code(it)} why")


async def approve(it: Inside, typed: str = "") -> str:
    """Approve, and wait for what follows of it; what the person is told of the run itself."""
    told = await it.text(f"/approve {typed or code(it)}")
    await it.bot.settled()
    return told


def files_of(it: Inside) -> Path:
    """The folder that commands begin in."""
    return it.bot.workspace.root / "files"


def outcomes(it: Inside) -> list[str]:
    """What the newest request shows of outcomes."""
    return [text for text in words(it.model.requests[-1]) if "approved by the person" in text]


@needs_sandbox
async def test_it_runs_once_approved_is_told_and_the_model_sees_it_once(tmp_path: Path) -> None:
    run = call("exec", argv=["sh", "-c", "echo made > made.txt; cat notes.txt"])
    async with owned(tmp_path, [run, "It waits for you.", "It says: buy milk."]) as it:
        root = files_of(it)
        (root / "notes.txt").write_text("buy milk")
        asked = await ask(it)
        assert asked.startswith("```\n$ sh -c 'echo made > made.txt; cat notes.txt'\n```\n")
        assert "sandbox" not in asked
        assert "sandbox: A" in await why(it)
        assert "⚠️" not in asked
        assert not (root / "made.txt").exists()
        told = await approve(it)
        assert "Approved and done, `exec`" in told
        assert "buy milk" in told
        assert (root / "made.txt").read_text() == "made\n"
        [outcome] = outcomes(it)
        assert "buy milk" in outcome
        assert it.channel.sent[-1].text == "It says: buy milk."
        (root / "made.txt").unlink()
        assert "already" in await approve(it, code(it))
        assert not (root / "made.txt").exists()
        assert len(it.model.requests) == 3, "the outcome was one turn"


@needs_sandbox
async def test_the_page_approves_what_it_was_shown_and_the_chat_sees_how_it_ended(
    tmp_path: Path,
) -> None:
    run, rest = call("exec", argv=["touch", "made"]), call("exec", id="t2", argv=["touch", "more"])
    async with owned(tmp_path, [run, "asked", "seen", rest, "asked", "as you wish"]) as it:
        routes = ApprovalRoutes(it.bot.store, it.bot.roles, it.bot).calls()
        async with running(ScriptedBot(), routes) as site, site.client() as client:

            async def decide(decision: str) -> tuple[int, dict[str, str]]:
                [shown] = (await client.get("/api/v1/approvals")).json()["waiting"]
                body = {"decision": decision, "digest": shown["digest"]}
                reply = await client.post(f"/api/v1/approvals/{shown['id']}", json=body)
                return reply.status_code, {**body, "id": shown["id"]}

            await ask(it)
            status, sent = await decide("once")
            assert status == 200
            await until(
                lambda: any("Approved and done, `exec`" in one.text for one in it.channel.sent),
                "its end",
            )
            await it.bot.settled()
            assert (files_of(it) / "made").exists()
            [outcome] = outcomes(it)
            assert "done" in outcome
            assert (
                await client.post(f"/api/v1/approvals/{sent['id']}", json=sent)
            ).status_code == 409
            await ask(it, "and more")
            assert (await decide("deny"))[0] == 200
            await until(
                lambda: any("Denied" in one.text for one in it.channel.sent),
                "the notice of the refusal",
            )
            await it.bot.settled()
            assert not (files_of(it) / "more").exists()
        acts = [
            (row.action, row.result)
            for row in await it.bot.store.audit.acts(100)
            if row.actor == "web"
        ]
        assert sorted(acts) == [("exec", "denied"), ("exec", "running")]


@needs_sandbox
async def test_after_a_refusal_the_model_answers_once_and_asks_for_nothing(tmp_path: Path) -> None:
    run, other = call("exec", argv=["touch", "made"]), call("exec", id="t2", argv=["touch", "more"])
    async with owned(tmp_path, [run, "asked", other, "Then not."]) as it:
        await ask(it)
        assert "Denied" in await it.text(f"/deny {code(it)}")
        await it.bot.settled()
        assert it.channel.sent[-1].text == "Then not."
        [told] = [text for text in words(it.model.requests[-1]) if "refused by the person" in text]
        assert "Nothing was run" in told
        assert "they have just refused a call" in results(it.model.requests[-1])[-1].text
        assert len(it.model.requests) == 4
        assert len([sent for sent in it.channel.sent if CODE.search(sent.text)]) == 1


@needs_sandbox
async def test_after_the_outcome_words_from_outside_are_in_view(tmp_path: Path) -> None:
    run, again = call("exec", argv=["echo", "hi"]), call("exec", id="t2", argv=["echo", "ho"])
    persona = call("write_file", id="t3", path="SOUL.md", content="evil")
    async with owned(tmp_path, [run, "asked", "seen", again, "asked", persona, "refused"]) as it:
        assert "⚠️" not in await ask(it)
        await approve(it)
        assert "⚠️" in await ask(it, "and now?"), "it is asked for, with a warning"
        await it.text("then")
        assert "words from outside" in results(it.model.requests[-1])[-1].text, (
            "persona files are refused as ever"
        )


@needs_sandbox
@pytest.mark.parametrize("way", ["bytes", "new file", "cwd", "clear"])
async def test_S46_what_changed_since_voids_the_approval(tmp_path: Path, way: str) -> None:
    run = call("exec", argv=["sh", "job.sh", "more.txt"], cwd="sub")
    async with owned(tmp_path, [run, "asked", "seen"]) as it:
        folder = it.bot.workspace.root / "sub"
        folder.mkdir()
        (folder / "job.sh").write_text("touch ran")
        asked = await ask(it)
        assert "sha256" not in asked
        assert "sha256 of sub/job.sh: " in await why(it)
        held = code(it)
        if way == "bytes":
            (folder / "job.sh").write_text("touch ran evil")
        elif way == "new file":
            (folder / "more.txt").write_text("x")
        elif way == "cwd":
            folder.rename(folder.with_name("other"))
        else:
            await it.text("/context clear")
        assert "failed" in await approve(it, held)
        assert not list(it.bot.workspace.root.rglob("ran"))
        assert "failed" in await approve(it, held)


@needs_sandbox
@pytest.mark.parametrize(
    "given",
    [{"argv": ["sh", "-c", "sh job.sh; sh link.sh"]}, {"script": "sh job.sh\nsh link.sh\n"}],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_S46_what_a_script_names_is_named_as_not_bound(
    tmp_path: Path, given: dict[str, Any], lang: str
) -> None:
    async with owned(
        tmp_path, [call("exec", **given), "asked", "seen"], {**ON, "language": lang}
    ) as it:
        (files_of(it) / "job.sh").write_text("echo one")
        (files_of(it) / "link.sh").symlink_to("job.sh")
        asked = await ask(it)
        assert "sha256 of files/job.sh" not in await why(it)
        title, rest = (
            ("`not covered`", "anything else")
            if lang == "en"
            else ("`不在批准范围内`", "它另外打开")
        )
        unbound = asked.partition(title)[2]
        assert "files/job.sh, files/link.sh, " in unbound
        assert rest in unbound
        held = code(it)
        (files_of(it) / "link.sh").unlink()
        (files_of(it) / "job.sh").write_text("echo two")
        assert "two" in await approve(it, held), "as the question says"


@needs_sandbox
async def test_a_question_counts_the_names_that_it_does_not_show(tmp_path: Path) -> None:
    names = [f"{number:02}.txt" for number in range(MAX_UNBOUND_NAMES + 1)]
    async with owned(
        tmp_path, [call("exec", script=f"cat {' '.join(names)}"), "asked", "seen"]
    ) as it:
        for name in names:
            (files_of(it) / name).touch()
        unbound = (await ask(it)).partition("`not covered`")[2]
        assert f"files/{names[-2]}, … (+1), " in unbound
        assert names[-1] not in unbound


@needs_sandbox
async def test_S46_an_approval_is_over_after_ten_minutes(tmp_path: Path) -> None:
    now = [1_800_000_000.0]
    run = call("exec", argv=["touch", "ran"])
    async with owned(tmp_path, [run, "asked"], clock=lambda: now[0]) as it:
        await ask(it)
        now[0] += 11 * 60
        assert "no longer valid" in await approve(it)
        assert not (files_of(it) / "ran").exists()


@needs_sandbox
@pytest.mark.parametrize("words", ["/stop", "/context clear", "/new"])
async def test_stop_and_a_clear_end_an_approved_command(tmp_path: Path, words: str) -> None:
    run = call("exec", argv=["sh", "-c", "touch begun; sleep 600"])
    async with owned(tmp_path, [run, "asked", "seen"]) as it:
        await ask(it)
        message = it.channel.hear(f"/approve {code(it)}", chat="c1", key="yes")
        begun = files_of(it) / "begun"
        await it.channel.until(lambda: True)
        while not begun.exists():
            await it.text("/status")
        await it.text(words)
        told = "".join(part.text for part in await it.answer(message.key))
        assert "stopped" in told


@needs_sandbox
async def test_a_script_is_shown_bound_and_run(tmp_path: Path) -> None:
    script = "import sys\nprint(6 * 7, sys.argv)\nsys.exit(3)\n"
    async with owned(
        tmp_path, [call("exec", script=script, language="python"), "asked", "seen"]
    ) as it:
        asked = await ask(it)
        assert "print(6 * 7, sys.argv)" in asked
        assert "sha256 of the script" in await why(it)
        told = await approve(it)
        assert "42 ['/run/script']" in told
        assert "exit code 3" in told


@needs_sandbox
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"argv": ["true"], "script": "true"},
        {"argv": [""]},
        {"argv": ["-u"]},
        {"argv": ["A=b", "true"]},
        {"argv": ["true", "a\0b"]},
        {"argv": ["true"], "cwd": "/etc"},
        {"argv": ["true"], "cwd": "../.."},
        {"argv": ["true"], "cwd": "link"},
        {"argv": ["cat", "../link/passwd"]},
        {"argv": ["true", "be\u202eevil"]},
        {"argv": ["true"], "seconds": 601},
    ],
)
async def test_what_cannot_be_run_is_not_asked(tmp_path: Path, given: dict[str, Any]) -> None:
    async with owned(tmp_path, [call("exec", **given), "no"]) as it:
        (it.bot.workspace.root / "link").symlink_to("/etc")
        await it.text("please")
        await it.bot.settled()
        assert WAITING not in results(it.model.requests[-1])[-1].text
        assert not [sent for sent in it.channel.sent if CODE.search(sent.text)]


@needs_sandbox
async def test_a_command_begins_in_files_and_reads_and_writes_where_it_may(tmp_path: Path) -> None:
    steps = [
        call(
            "exec",
            argv=[
                "sh",
                "-c",
                "pwd; echo fine > fine.txt; cat ../notes.txt; echo evil > ../HEARTBEAT.md",
            ],
        ),
        call(
            "exec",
            id="t2",
            argv=["sh", "-c", "pwd; ls; echo evil > evil.txt; echo fine > drafts/fine.txt"],
            cwd="/w",
        ),
        call("exec", id="t3", argv=["sh", "-c", "pwd; echo evil > evil.txt"], cwd="skills"),
    ]
    async with owned(tmp_path, [part for step in steps for part in (step, "asked", "seen")]) as it:
        root = it.bot.workspace.root
        (root / "files").rmdir()
        (root / "drafts").mkdir()
        (root / "notes.txt").write_text("buy milk")
        seen = []
        for folder in ("/w/files", "/w", "/w/skills"):
            await ask(it)
            assert f"cwd: {folder}\n" in await why(it)
            await approve(it)
            seen.append(outcomes(it)[-1])
        assert "/w/files\nbuy milk" in seen[0]
        assert "MEMORY.md" in seen[1]
        assert "/w/skills\n" in seen[2]
        found = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
        assert found - {"notes.txt"} == {
            "SOUL.md",
            "MEMORY.md",
            "files/fine.txt",
            "drafts/fine.txt",
        }


@needs_sandbox
@pytest.mark.parametrize("name", ["files", "skills"])
async def test_where_the_workspace_is_not_as_it_must_be_nothing_is_asked(
    tmp_path: Path, name: str
) -> None:
    async with owned(tmp_path, [call("exec", argv=["true"]), "no"]) as it:
        (it.bot.workspace.root / name).rmdir()
        (it.bot.workspace.root / name).symlink_to("memory")
        await it.text("please")
        assert "Nothing was run" in results(it.model.requests[-1])[-1].text
        assert name in results(it.model.requests[-1])[-1].text


def offered(it: Inside) -> bool:
    return "exec" in {spec.name for spec in it.model.requests[-1].tools}


async def test_it_is_off_by_default(tmp_path: Path) -> None:
    async with owned(tmp_path, ["hi"], {"tools": {}}) as it:
        await it.text("hello")
        assert not offered(it)


async def test_S50_it_is_offered_only_where_the_sandbox_holds(tmp_path: Path) -> None:
    async with owned(tmp_path, ["hi", "ho"]) as it:
        await it.text("hello")
        assert offered(it) == (level().level == "A")
        assert ("command sandbox A" in await it.text("/status")) == (level().level == "A")
        it.bot.exec_tools.refuse(Phrase("{words}", words="a test says so"))
        assert "exec is not offered: a test says so" in await it.text("/status")
        assert "不提供 exec：a test says so" in await it.text("/状态")
        await it.text("and now")
        assert not offered(it)


async def test_the_owner_is_told_why_commands_are_not_offered(tmp_path: Path) -> None:
    async with owned(tmp_path, ["hi"]) as it:
        await it.text("hello")
        it.bot.exec_tools.refuse(SHARED_REASON)
        told = await it.text("/tools")
        assert "exec is not offered: on PostgreSQL" in told
        assert "/stop" in told
        told_in_chinese = await it.text("/工具")
        assert "不提供 exec：使用 PostgreSQL" in told_in_chinese
    async with owned(tmp_path, ["hi"], {"tools": {}}) as it:
        assert "exec is not offered" not in await it.text("/tools"), (
            "who has not asked for it need not hear of it"
        )


@needs_sandbox
@pytest.mark.parametrize(
    ("lists", "sender", "kind"),
    [
        ({"allow": ["7"]}, "7", "dm"),
        ({"owners": ["7"], "allow": ["g"]}, "8", "group"),
        ({"owners": ["7"], "allow": ["g"]}, "7", "group"),
    ],
)
async def test_S45_nobody_else_and_no_group_gets_it(
    tmp_path: Path, lists: dict[str, Any], sender: str, kind: str
) -> None:
    settings = {**ON, "channels": {"telegram": lists}}
    channel = ScriptedChannel(name="telegram", account="b", capabilities=Capabilities(buttons=True))
    async with owned(
        tmp_path, [call("exec", argv=["touch", "ran"]), "no"], settings, channel=channel
    ) as it:
        chat = "g" if kind == "group" else sender
        await it.say("run it", chat=chat, sender=sender, kind=kind, addressed=True)
        await it.bot.settled()
        assert not offered(it)
        assert "There is no tool" in results(it.model.requests[-1])[-1].text
        assert not list(it.bot.workspace.root.rglob("ran"))


async def killed_once_it_ran(home: Path, typed: Path) -> None:
    run = call("exec", argv=["sh", "-c", "echo once >> ran.txt"])
    async with owned(home, [run, "asked", "seen"]) as it:
        await ask(it)
        typed.write_text(code(it))
        assert arm({"MNEMA_TEST": "1", "MNEMA_FP": "approval.ran:kill9"})
        await approve(it)


@needs_sandbox
@pytest.mark.skipif(
    ON_POSTGRES, reason="a killed process keeps its lease there; test_tools_of_workers.py kills it"
)
@pytest.mark.kill
async def test_killed_once_it_ran_it_is_unknown_and_not_run_again(tmp_path: Path) -> None:
    home, typed = tmp_path / "home", tmp_path / "code"
    home.mkdir()
    assert await exit_code(killed_once_it_ran, home, typed) == -9
    ran = home / "workspace" / "files" / "ran.txt"
    assert ran.read_text() == "once\n"
    async with owned(home, ["I do not know whether it ran."]) as it:
        await it.bot.settled()
        assert any("interrupted" in sent.text for sent in it.channel.sent), (
            "the command of the one who approved it is answered"
        )
        for _ in range(2):
            assert "may or may not have taken effect" in await approve(it, typed.read_text())
        assert ran.read_text() == "once\n"
        assert len(it.model.requests) == 1, "the model is told once"
        assert "outcome unknown" in outcomes(it)[0]
    async with owned(home, ["never asked"]) as it:
        await it.bot.settled()
        assert it.model.requests == []
