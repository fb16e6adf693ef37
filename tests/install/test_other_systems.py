"""Every module can be imported without `fork`, `fcntl`, Unix sockets and `/proc`; the doctor says
what cannot work.
"""

import subprocess
import sys

from bot.cli.doctor.system import check_system, find_lacking
from tests.conventions.sources import ROOT, product

# by Python and by Alembic, each in a state of its own
LOADED_BY_OTHERS = (".__main__", ".migrations.env")
# Other people's libraries are loaded as they are; then ours again, without what some systems lack.
HIDING = """
import builtins, gc, importlib, os, socket, sys

gc.disable()  # what is imported stays
names = sys.argv[1:]
for name in names:
    importlib.import_module(name)
ours = ("bot", "channels", "memory")
for name in [name for name in sys.modules if name.partition(".")[0] in ours]:
    del sys.modules[name]

hidden = {"fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "syslog"}
ordinary = builtins.__import__

def import_as_elsewhere(name, globals=None, locals=None, fromlist=(), level=0):
    by = (globals or {}).get("__name__", "").partition(".")[0]
    if by in ours and name.partition(".")[0] in hidden:
        raise ImportError(f"no module {name} on this system")
    return ordinary(name, globals, locals, fromlist, level)

def refuse_proc(event, arguments):
    if event in ("open", "os.listdir", "os.scandir") and str(arguments[0]).startswith("/proc"):
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
print(faults or "all")
"""


def test_every_module_can_be_imported_without_what_other_systems_lack() -> None:
    names = [source.module for source in product() if not source.module.endswith(LOADED_BY_OTHERS)]
    assert len(names) > 400
    ran = subprocess.run(
        [sys.executable, "-c", HIDING, *names],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.stdout == "all\n", ran.stderr[-2000:]


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
