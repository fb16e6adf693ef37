"""Every module can be imported without `fork`, `fcntl`, Unix sockets and `/proc`; the doctor says
what cannot work.
"""

import builtins
import gc
import importlib
import os
import socket
import sys
from multiprocessing import get_context
from multiprocessing.connection import Connection, Pipe
from typing import Any

from bot.cli.doctor.system import check_system, find_lacking
from tests.conventions.sources import product

# by Python and by Alembic, each in a state of its own
LOADED_BY_OTHERS = (".__main__", ".migrations.env")
OURS = ("bot", "channels", "memory")
HIDDEN = {"fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "syslog"}


def import_without(names: list[str], result: Connection) -> None:
    """Import these modules again in a process that lacks what other systems do, and send why each
    cannot be; other people's libraries are loaded as they are.
    """
    gc.disable()  # what is imported stays
    for name in names:
        importlib.import_module(name)
    for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
        del sys.modules[name]

    ordinary = builtins.__import__

    def import_as_elsewhere(
        name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> Any:
        by = (globals or {}).get("__name__", "").partition(".")[0]
        if by in OURS and name.partition(".")[0] in HIDDEN:
            raise ImportError(f"no module {name} on this system")
        return ordinary(name, globals, locals, fromlist, level)

    def refuse_proc(event: str, arguments: tuple[Any, ...]) -> None:
        listed = event in ("open", "os.listdir", "os.scandir")
        if listed and str(arguments[0]).startswith("/proc"):
            raise FileNotFoundError(arguments[0])

    builtins.__import__ = import_as_elsewhere
    sys.addaudithook(refuse_proc)
    for name in ("fork", "forkpty", "register_at_fork"):
        delattr(os, name)
    del socket.AF_UNIX
    faults = {}
    for name in names:
        try:
            importlib.import_module(name)
        except (ImportError, AttributeError, OSError) as err:
            faults[name] = str(err)
    result.send(faults)
    os._exit(0)


def test_every_module_can_be_imported_without_what_other_systems_lack() -> None:
    names = [source.module for source in product() if not source.module.endswith(LOADED_BY_OTHERS)]
    assert len(names) > 400
    receiver, sender = Pipe(duplex=False)
    # a fork: whoever runs all tests has imported everything once, which takes seconds
    process = get_context("fork").Process(target=import_without, args=(names, sender))
    process.start()
    sender.close()
    with receiver:
        assert receiver.recv() == {}
    process.join()
    assert process.exitcode == 0


def test_the_doctor_says_what_cannot_work_there_in_both_languages() -> None:
    assert find_lacking() == []
    assert check_system().ok
    windows = check_system(["fcntl", "resource", "fork"])
    assert not windows.ok
    assert "mnema run" in str(windows.message)
    assert "WSL" in str(windows.hint)
    macos = check_system(["/proc"])
    assert macos.ok
    assert "/proc" in str(macos.message)
    for check in (check_system(), windows, macos):
        assert check.message.text("zh") != check.message.text("en")
