"""Runs the tests in forks of the process that has collected them: `pytest --forks 7`.

A process that collects all tests and imports the program takes several seconds of a core; in a fork
they are there. The next module of the list goes to the fork that is free first, so what a
module prepares is prepared once. A test whose fork ended before it has failed.
"""

import gc
import importlib
import importlib.util
import os
import pkgutil
import signal
import sys
import warnings
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from multiprocessing import get_context
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any, Protocol

import pytest

import bot
import channels
import memory
from tests.walk.nest import open_nest

TESTS = Path(__file__).resolve().parent
WALKS = TESTS / "walk"
# These wait for processes: they are taken in turn with others, which need the cores meanwhile.
WAITING = (WALKS, TESTS / "browser")
TURN = 3  # of so many modules one is of those
# What many tests load when they need it, which takes eight seconds of a core: in a run of so many
# modules each fork would.
LIBRARIES = ("aiogram.methods", "anthropic.types", "mcp", "openai.types.chat", "tiktoken")
MANY = 30
# What the modules of these folders prepare takes longer than their tests: they go to one fork.
TOGETHER = (TESTS / "install", TESTS / "conventions")


class Counter(Protocol):
    """A number that all forks share."""

    value: int

    def get_lock(self) -> Any: ...


@dataclass
class Fork:
    """A process that runs tests. reports: what it sends; its end is the end of the process."""

    pid: int
    reports: Connection
    status: int | None = None


@dataclass
class Forks:
    """The plug-in. count: of processes that run tests."""

    count: int
    _running: list[Fork] = field(default_factory=list)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """In the process that collected: fork, and pass on what the forks report. In a fork: run
        tests; afterwards it ends like every pytest, and prints nothing.
        """
        if session.testsfailed or session.config.option.collectonly:
            return None
        modules = _by_module(session.items)
        if any(TESTS in item.path.parents for item in session.items):
            _import_program()
        if len(modules) >= MANY:
            _load_libraries()
        if any(WALKS in module[0].path.parents for module in modules):
            open_nest()
        gc.freeze()
        taken = get_context("fork").Value("i", 0)
        for _ in range(min(self.count, len(modules))):
            receiver, sender = Pipe(duplex=False)
            pid = os.fork()
            if not pid:
                _become_fork(session.config, sender)
                _run_modules(modules, taken)
                return True
            sender.close()
            self._running.append(Fork(pid, receiver))
        try:
            self._pass_on_reports(session)
        finally:
            self._end()
        return True

    def _pass_on_reports(self, session: pytest.Session) -> None:
        """Until every fork has ended."""
        missing = {item.nodeid: item for item in session.items}
        open_forks = {fork.reports: fork for fork in self._running}
        while open_forks:
            for ready in wait(list(open_forks)):
                assert isinstance(ready, Connection)
                try:
                    kind, content = ready.recv()
                except EOFError:
                    _join(open_forks.pop(ready))
                    continue
                if kind == "finished":
                    missing.pop(content, None)
                elif kind == "warning":
                    _show_warning(session.config, content)
                else:
                    _show_report(session, content)
        for item in missing.values():
            _show_lost(session, item)

    def _end(self) -> None:
        """No fork outlives the run, also after Ctrl-C and with `-x`."""
        for fork in self._running:
            if fork.status is None:
                os.kill(fork.pid, signal.SIGINT)
        for fork in self._running:
            fork.reports.close()
            _join(fork)


class Reporter:
    """What a fork has in place of the terminal."""

    def __init__(self, config: pytest.Config, sender: Connection) -> None:
        self._config = config
        self._sender = sender

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._sender.send(("report", data))

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._sender.send(("finished", nodeid))

    def pytest_warning_recorded(
        self,
        warning_message: warnings.WarningMessage,
        when: str,
        nodeid: str,
        location: tuple[str, int, str] | None,
    ) -> None:
        text = str(warning_message.message)
        at = (warning_message.category, warning_message.filename, warning_message.lineno)
        self._sender.send(("warning", (text, *at, when, nodeid, location)))


def _import_program() -> None:
    """Import every module of the program, for each fork would do so for itself."""
    for package in (bot, channels, memory):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith(("__main__", ".migrations.env")):
                importlib.import_module(module.name)


def _load_libraries() -> None:
    """Load what is slow and many tests share; without an extra its libraries are missing."""
    from bot.agent.context.calibration import load_best_counter  # slow for who runs one test

    for name in LIBRARIES:
        if importlib.util.find_spec(name.partition(".")[0]):
            importlib.import_module(name)
    importlib.import_module("tests.emulators.model_rules").load_types()
    load_best_counter()


def _by_module(items: Sequence[pytest.Item]) -> list[list[pytest.Item]]:
    """The tests in the order in which forks take them, those of a module together."""
    modules = [list(found) for _, found in groupby(items, key=_unit)]
    waiting = deque(module for module in modules if _waits(module))
    others = deque(module for module in modules if not _waits(module))
    ordered = []
    while waiting or others:
        if waiting and (not others or len(ordered) % TURN == 0):
            ordered.append(waiting.popleft())
        else:
            ordered.append(others.popleft())
    return ordered


def _unit(item: pytest.Item) -> Path:
    return next((folder for folder in TOGETHER if folder in item.path.parents), item.path)


def _waits(module: Sequence[pytest.Item]) -> bool:
    return any(folder in module[0].path.parents for folder in WAITING)


def _become_fork(config: pytest.Config, sender: Connection) -> None:
    """Let go of what a fork shares with the process that it comes from: the files into which output
    is captured, and the terminal.
    """
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.stop_global_capturing()
        capture.start_global_capturing()
        capture.suspend_global_capture(in_=False)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored, as after `&`
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(Reporter(config, sender))
    os.environ.pop("MNEMA_FAILED_TESTS", None)  # the other process notes them


def _run_modules(modules: Sequence[Sequence[pytest.Item]], taken: Counter) -> None:
    module = _take(modules, taken)
    while module:
        for item, after in pairwise(module):
            item.ihook.pytest_runtest_protocol(item=item, nextitem=after)
        following = _take(modules, taken)
        after = following[0] if following else None
        module[-1].ihook.pytest_runtest_protocol(item=module[-1], nextitem=after)
        module = following


def _take(modules: Sequence[Sequence[pytest.Item]], taken: Counter) -> Sequence[pytest.Item]:
    """The next module that no fork has taken; nothing at the end."""
    with taken.get_lock():
        at = taken.value
        taken.value += 1
    return modules[at] if at < len(modules) else ()


def _join(fork: Fork) -> None:
    if fork.status is None:
        _, fork.status = os.waitpid(fork.pid, 0)


def _show_report(session: pytest.Session, data: dict[str, Any]) -> None:
    hook = session.config.hook
    report = hook.pytest_report_from_serializable(config=session.config, data=data)
    hook.pytest_runtest_logreport(report=report)
    if session.shouldfail:
        raise session.Failed(session.shouldfail)


def _show_warning(config: pytest.Config, content: tuple[Any, ...]) -> None:
    text, category, filename, line, when, nodeid, location = content
    message = warnings.WarningMessage(category(text), category, filename, line)
    config.hook.pytest_warning_recorded.call_historic(
        kwargs={
            "warning_message": message,
            "when": when,
            "nodeid": nodeid,
            "location": location,
        }
    )


def _show_lost(session: pytest.Session, item: pytest.Item) -> None:
    """A test that has not been run to its end: its process ended before."""
    report = pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords={},
        outcome="failed",
        longrepr="the process that had to run this test ended before its end",
        when="call",
    )
    session.config.hook.pytest_runtest_logreport(report=report)


def can_fork() -> bool:
    """Whether a process with what the program imports goes on after a fork: libraries of macOS do
    not.
    """
    return sys.platform == "linux"
