"""Checks of what the model's tools need."""

import importlib.util

from bot.cli.doctor.channels import DoctorCheck, failed, passed
from bot.config.extras import install_command
from bot.config.schema import Config
from bot.tools.exec.probe import SHARED_REASON, probe_sandbox

SANDBOX_HINT = (
    "It needs bubblewrap 0.8 and user namespaces. Ubuntu 24.04 forbids these by AppArmor, and containers by their"
    " seccomp profile; docs/tools/exec.md says what to change. Or set tools.exec.enabled to false."
)


async def check_tools(config: Config) -> list[DoctorCheck]:
    """Say what the model may reach, and what would help; nothing of it stops the bot."""
    return [_check_web(config), await _check_exec(config)]


async def _check_exec(config: Config) -> DoctorCheck:
    name = "exec"
    if not config.tools.exec.enabled:
        return passed(name, "Off: the model cannot run commands. tools.exec.enabled turns it on.")
    if config.database_url:
        return failed(name, f"Not offered: {SHARED_REASON}.", "Set tools.exec.enabled to false, or use SQLite.")
    found = await probe_sandbox()
    if found.level == "A":
        return passed(name, "Commands run in a sandbox (level A, bubblewrap), each once its owner has approved it.")
    return failed(name, f"Not offered: {found.reason}.", SANDBOX_HINT)


def _check_web(config: Config) -> DoctorCheck:
    name, web = "web tools", config.tools.web
    if not web.fetch and not web.providers:
        return passed(name, "Off: tools.web.fetch is false, and there is no search provider.")
    providers = ", ".join(provider.name for provider in web.providers)
    fetched = "Public pages are opened" if web.fetch else "No pages are opened"
    searched = f"searches go to {providers}" if providers else "there is no search, for tools.web.providers is empty"
    hint = ""
    if web.fetch and importlib.util.find_spec("trafilatura") is None:
        hint = f"For the main text of a page instead of all its text: {install_command('web')}"
    return passed(name, f"{fetched}; {searched}.", hint)
