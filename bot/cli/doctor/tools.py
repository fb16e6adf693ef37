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
from bot.config.schema import Config, McpServerConfig
from bot.tools.exec.probe import SHARED_REASON, probe_sandbox
from bot.tools.mcp.service import source_sha256
from bot.tools.mcp.stdio import WITHOUT_SANDBOX, find_problem, is_sandboxed
from bot.tools.plugins.library import EnabledPlugin, PluginLibrary, PluginState
from bot.tools.skills.library import SkillLibrary, SkillState
from memory.workspace.files import SET_ASIDE, Workspace

SANDBOX_HINT = (
    "It needs bubblewrap 0.8 and user namespaces. Ubuntu 24.04 forbids these by AppArmor, and "
    "containers by their seccomp profile; docs/tools/exec.md says what to change. Or set "
    "tools.exec.enabled to false."
)
RENAMED_HINT = (
    "It may be your memory or that of other people. Stop the bot, look for what a command has "
    "written there, and move the rest back under the former name; docs/tools/exec.md says how."
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
    config: Config, servers: Mapping[str, McpServerSummary], home: HomeFolder, lang: str = "en"
) -> list[DoctorCheck]:
    """Say what the model may reach, and what would help; nothing of it stops the bot.

    Args:
        lang: of the reasons why there is no sandbox; the sentences around them are translated
            later.
    """
    return [
        _check_web(config),
        await _check_exec(config, lang),
        *_check_set_aside(home),
        *check_mcp(config, servers, home, lang),
        await asyncio.to_thread(_check_skills, home),
        await _check_plugins(config, home, lang),
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
        return passed("skills", "There are none.")
    text = f"{len(on)} of {len(found)} are on."
    if invalid:
        return failed(
            "skills",
            f"{text} {invalid[0].name}: {invalid[0].problem}.",
            "Correct it, or remove the folder.",
        )
    return passed(
        "skills",
        text,
        f"Changed, so off: {', '.join(changed)}. mnema skills on NAME" if changed else "",
    )


async def _check_plugins(config: Config, home: HomeFolder, lang: str) -> DoctorCheck:
    """Say which plug-in files are on, and whether they can run and have their secrets."""
    library = PluginLibrary(Workspace(home.workspace), PluginState(home.plugins_state))
    found, on = await asyncio.to_thread(library.all), library.enabled()
    if not found:
        return passed("plug-ins", "There are none.")
    text, state = f"{len(on)} of {len(found)} files are on.", library.state.load()
    for file, row in on:
        if missing := _missing_secrets(file.name, row, config):
            return failed(
                "plug-ins",
                f"{text} {file.name} lacks {missing[0]}.",
                f"Set plugins.{file.name}.env.",
            )
    if on and (reason := (await probe_sandbox()).reason):
        return failed("plug-ins", f"{text} They cannot run: {reason.text(lang)}.", SANDBOX_HINT)
    changed = [
        file.name for file in found if file.name in state and state[file.name].sha256 != file.sha256
    ]
    return passed(
        "plug-ins",
        text,
        f"Changed, so off: {', '.join(changed)}. mnema tools on NAME" if changed else "",
    )


def _missing_secrets(name: str, plugin: EnabledPlugin, config: Config) -> list[str]:
    """Return what the tools of a plug-in file need and config.json does not give it, sorted."""
    given = config.plugins[name].env if name in config.plugins else {}
    needed = {need for tool in plugin.tools for need in tool.needs}
    return sorted(need for need in needed if not given.get(need))


def check_mcp(
    config: Config, servers: Mapping[str, McpServerSummary], home: HomeFolder, lang: str = "en"
) -> list[DoctorCheck]:
    """Say of each server what is offered; one whose program, client or sandbox is missing is a
    fault.
    """
    checks = []
    for name, settings in sorted(config.mcp.items()):
        title, known = f"mcp {name}", servers.get(name)
        review = f"mnema mcp review {name}"
        fault = _find_mcp_fault(name, settings, home, lang)
        if fault is not None:
            checks.append(failed(title, *fault))
        elif known is None or known.source_sha256 != source_sha256(settings):
            checks.append(passed(title, "Its tools are not reviewed, so none is offered.", review))
        else:
            text = (
                f"{known.allowed} of {known.listed} tools are offered; {_describe_reach(settings)}."
            )
            changed = f"{known.changed} changed since the review: {review}" if known.changed else ""
            checks.append(passed(title, text, changed))
    return checks


def _find_mcp_fault(
    name: str, settings: McpServerConfig, home: HomeFolder, lang: str
) -> tuple[str, str] | None:
    """Return why a server cannot be used, and what helps."""
    if importlib.util.find_spec("mcp") is None:
        return "The client is not installed.", install_command("mcp")
    if settings.url:
        return None
    if shutil.which(settings.command[0], path=settings.env.get("PATH")) is None:
        return f"There is no program {settings.command[0]}.", f"Correct mcp.{name}.command."
    if is_sandboxed(settings) and (problem := find_problem(settings, home)):
        return (
            f"It cannot be run: {problem.text(lang)}.",
            f"Correct mcp.{name}.files; {WITHOUT_SANDBOX}.",
        )
    return None


def _describe_reach(settings: McpServerConfig) -> str:
    """Return where a server is, and which network and files its process reaches."""
    if settings.url:
        return f"it is at {settings.url}"
    network = (
        "its process reaches this machine's network"
        if settings.network
        else "its process has no network"
    )
    files = (
        f"sees {', '.join(settings.files) or 'no files'}"
        if is_sandboxed(settings)
        else "reads what the bot can"
    )
    return f"{network} and {files}"


async def _check_exec(config: Config, lang: str) -> DoctorCheck:
    name = "exec"
    if not config.tools.exec.enabled:
        return passed(name, "Off: the model cannot run commands. tools.exec.enabled turns it on.")
    if config.database_url:
        return failed(
            name,
            f"Not offered: {SHARED_REASON.text(lang)}.",
            "Set tools.exec.enabled to false, or use SQLite.",
        )
    reason = (await probe_sandbox()).reason
    if reason is None:
        return passed(
            name,
            "Commands run in a sandbox (level A, bubblewrap), each once its owner has approved it.",
        )
    return failed(name, f"Not offered: {reason.text(lang)}.", SANDBOX_HINT)


def _check_set_aside(home: HomeFolder) -> list[DoctorCheck]:
    """Name what earlier versions renamed at the end of a command: memory that nobody sees may be
    among it.
    """
    names = sorted(path.name for path in home.workspace.glob(f"*{SET_ASIDE}*"))
    if not names:
        return []
    message = (
        f"An earlier version renamed these, so what is in them is not in use: {', '.join(names)}."
    )
    return [failed("renamed files", message, RENAMED_HINT)]


def _check_web(config: Config) -> DoctorCheck:
    name, web = "web tools", config.tools.web
    if not web.fetch and not web.providers:
        return passed(name, "Off: tools.web.fetch is false, and there is no search provider.")
    providers = ", ".join(provider.name for provider in web.providers)
    fetched = "Public pages are opened" if web.fetch else "No pages are opened"
    searched = (
        f"searches go to {providers}"
        if providers
        else "there is no search, for tools.web.providers is empty"
    )
    hint = ""
    if web.fetch and importlib.util.find_spec("trafilatura") is None:
        hint = f"For the main text of a page instead of all its text: {install_command('web')}"
    return passed(name, f"{fetched}; {searched}.", hint)
