"""Checks of what the model's tools need."""

import asyncio
import importlib.util
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.cli.doctor.channels import DoctorCheck, failed, passed
from bot.config.extras import install_command
from bot.config.home import HomeFolder
from bot.config.schema import Config
from bot.config.sections.extensions import McpServerConfig
from bot.tools.exec.probe import SHARED_REASON, probe_sandbox
from bot.tools.mcp.service import source_sha256
from bot.tools.mcp.stdio import WITHOUT_SANDBOX, find_problem, is_sandboxed
from bot.tools.plugins.library import EnabledPlugin, PluginLibrary, PluginState
from bot.tools.skills.library import SkillLibrary, SkillState
from channels.phrases import NO_PHRASE, Phrase, untranslated
from memory.workspace.files import SET_ASIDE, Workspace

SANDBOX_HINT = Phrase(
    "The sandbox needs bubblewrap 0.8 and user namespaces. Ubuntu 24.04 blocks them with "
    "AppArmor, containers with their seccomp profile; docs/tools/exec.md says what to change. Or "
    "set tools.exec.enabled to false."
)
RENAMED_HINT = Phrase(
    "They may hold your memory or other people's. Stop the bot, check what a command may have "
    "written there, and move the rest back to its old name; docs/tools/exec.md says how."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServerSummary:
    """What is stored of a server of tools."""

    source_sha256: str
    listed: int
    allowed: int
    changed: int


async def load_mcp_servers(store: Any) -> dict[str, McpServerSummary]:
    """Load what is stored of each server, by name."""
    rows = await store.mcp.tools()
    return {
        server.id: McpServerSummary(
            source_sha256=server.source_sha256,
            listed=sum(row.listed for row in rows if row.server == server.id),
            allowed=sum(row.allowed for row in rows if row.server == server.id),
            changed=sum(row.changed for row in rows if row.server == server.id),
        )
        for server in await store.mcp.servers()
    }


async def check_tools(
    config: Config, servers: Mapping[str, McpServerSummary], home: HomeFolder
) -> list[DoctorCheck]:
    """Say what the model may reach, and what would help; nothing of it stops the bot."""
    return [
        _check_web(config),
        await _check_exec(config),
        *_check_set_aside(home),
        *check_mcp(config, servers, home),
        await asyncio.to_thread(_check_skills, home),
        await _check_plugins(config, home),
    ]


def _check_skills(home: HomeFolder) -> DoctorCheck:
    library = SkillLibrary(Workspace(home.workspace), SkillState(home.skills_state))
    found, on = library.all(), library.enabled("")
    state = library.state.load()
    changed = [
        one.name for one in found if one.name in state and state[one.name].sha256 != one.sha256
    ]
    invalid = [one for one in found if one.problem]
    if not found:
        return passed("skills", Phrase("There are none."))
    text = Phrase("{on} of {all} are on.", on=len(on), all=len(found))
    if invalid:
        return failed(
            "skills",
            Phrase(
                "{on} of {all} are on. {name}: {problem}.",
                on=len(on),
                all=len(found),
                name=invalid[0].name,
                problem=invalid[0].problem,
            ),
            Phrase("Fix the skill, or remove its folder."),
        )
    return passed(
        "skills",
        text,
        Phrase(
            "Turned off because they changed: {changed}. mnema skills on NAME",
            changed=", ".join(changed),
        )
        if changed
        else NO_PHRASE,
    )


async def _check_plugins(config: Config, home: HomeFolder) -> DoctorCheck:
    """Say which plug-in files are on, and whether they can run and have their secrets."""
    library = PluginLibrary(Workspace(home.workspace), PluginState(home.plugins_state))
    found, on = await asyncio.to_thread(library.all), library.enabled()
    if not found:
        return passed("plug-ins", Phrase("There are none."))
    counts, state = {"on": len(on), "all": len(found)}, library.state.load()
    for file, row in on:
        if missing := _missing_secrets(file.name, row, config):
            return failed(
                "plug-ins",
                Phrase(
                    "{on} of {all} files are on. {name} lacks {secret}.",
                    name=file.name,
                    secret=missing[0],
                ).fill(**counts),
                Phrase("Set plugins.{name}.env.", name=file.name),
            )
    if on and (reason := (await probe_sandbox()).reason):
        message = Phrase("{on} of {all} files are on. They cannot run: {reason}.", reason=reason)
        return failed("plug-ins", message.fill(**counts), SANDBOX_HINT)
    changed = [
        file.name for file in found if file.name in state and state[file.name].sha256 != file.sha256
    ]
    return passed(
        "plug-ins",
        Phrase("{on} of {all} files are on.").fill(**counts),
        Phrase(
            "Turned off because they changed: {changed}. mnema tools on NAME",
            changed=", ".join(changed),
        )
        if changed
        else NO_PHRASE,
    )


def _missing_secrets(name: str, plugin: EnabledPlugin, config: Config) -> list[str]:
    """Return what the tools of a plug-in file need and config.json does not give it, sorted."""
    given = config.plugins[name].env if name in config.plugins else {}
    needed = {need for tool in plugin.tools for need in tool.needs}
    return sorted(need for need in needed if not given.get(need))


def check_mcp(
    config: Config, servers: Mapping[str, McpServerSummary], home: HomeFolder
) -> list[DoctorCheck]:
    """Say of each server what is offered; one whose program, client or sandbox is missing is a
    fault.
    """
    checks = []
    for name, settings in sorted(config.mcp.items()):
        title, known = f"mcp {name}", servers.get(name)
        review = f"mnema mcp review {name}"
        fault = _find_mcp_fault(name, settings, home)
        if fault is not None:
            checks.append(failed(title, *fault))
        elif known is None or known.source_sha256 != source_sha256(settings):
            checks.append(
                passed(
                    title,
                    Phrase("Its tools have not been reviewed, so the model gets none of them."),
                    untranslated(review),
                )
            )
        else:
            text = Phrase(
                "{allowed} of {listed} tools are offered; {reach}.",
                allowed=known.allowed,
                listed=known.listed,
                reach=_describe_reach(settings),
            )
            changed = (
                Phrase(
                    "{changed} changed since the review: {review}",
                    changed=known.changed,
                    review=review,
                )
                if known.changed
                else NO_PHRASE
            )
            checks.append(passed(title, text, changed))
    return checks


def _find_mcp_fault(
    name: str, settings: McpServerConfig, home: HomeFolder
) -> tuple[Phrase, Phrase] | None:
    """Return why a server cannot be used, and what helps."""
    if importlib.util.find_spec("mcp") is None:
        return Phrase("The client is not installed."), untranslated(install_command("mcp"))
    if settings.url:
        return None
    if shutil.which(settings.command[0], path=settings.env.get("PATH")) is None:
        return Phrase("There is no program {command}.", command=settings.command[0]), Phrase(
            "Correct mcp.{name}.command.", name=name
        )
    if is_sandboxed(settings) and (problem := find_problem(settings, home)):
        return (
            Phrase("It cannot be run: {reason}.", reason=problem),
            Phrase("Correct mcp.{name}.files; {way_out}.", name=name, way_out=WITHOUT_SANDBOX),
        )
    return None


def _describe_reach(settings: McpServerConfig) -> Phrase:
    """Return where a server is, and which network and files its process reaches."""
    if settings.url:
        return Phrase("it is at {url}", url=settings.url)
    if settings.network:
        network = Phrase("its process can use this machine's network")
    else:
        network = Phrase("its process has no network")
    if not is_sandboxed(settings):
        files = Phrase("reads whatever the bot can")
    elif settings.files:
        files = Phrase("sees {files}", files=", ".join(settings.files))
    else:
        files = Phrase("sees no files")
    return Phrase("{network} and {files}", network=network, files=files)


async def _check_exec(config: Config) -> DoctorCheck:
    name = "exec"
    if not config.tools.exec.enabled:
        return passed(
            name,
            Phrase("Off: the model cannot run commands. Set tools.exec.enabled to change that."),
        )
    if config.database_url:
        return failed(
            name,
            Phrase("Not offered: {reason}.", reason=SHARED_REASON),
            Phrase("Set tools.exec.enabled to false, or use SQLite."),
        )
    reason = (await probe_sandbox()).reason
    if reason is None:
        return passed(
            name,
            Phrase(
                "Commands run in a sandbox (level A, bubblewrap), each only after the owner has "
                "approved it."
            ),
        )
    return failed(name, Phrase("Not offered: {reason}.", reason=reason), SANDBOX_HINT)


def _check_set_aside(home: HomeFolder) -> list[DoctorCheck]:
    """Name what earlier versions renamed at the end of a command: memory that nobody sees may be
    among it.
    """
    names = sorted(path.name for path in home.workspace.glob(f"*{SET_ASIDE}*"))
    if not names:
        return []
    message = Phrase(
        "An earlier version renamed these, so their contents are not in use: {names}.",
        names=", ".join(names),
    )
    return [failed("renamed files", message, RENAMED_HINT)]


def _check_web(config: Config) -> DoctorCheck:
    name, web = "web tools", config.tools.web
    if not web.fetch and not web.providers:
        return passed(
            name, Phrase("Off: tools.web.fetch is false, and there is no search provider.")
        )
    providers = ", ".join(provider.name for provider in web.providers)
    if not providers:
        message = Phrase(
            "Public pages can be opened; there is no search, because tools.web.providers is empty."
        )
    elif web.fetch:
        message = Phrase("Public pages can be opened; searches go to {providers}.")
    else:
        message = Phrase("No pages are opened; searches go to {providers}.")
    hint = NO_PHRASE
    if web.fetch and importlib.util.find_spec("trafilatura") is None:
        hint = Phrase(
            "To get the main text of a page instead of all its text: {install_command}",
            install_command=install_command("web"),
        )
    return passed(name, message.fill(providers=providers), hint)
