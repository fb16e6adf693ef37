"""The heap of the C library, and what a service manager receives from a bot over a real socket."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from bot.runtime.process import notify_supervisor
from tests.emulators.model import ModelEmulator
from tests.walk.harness import scene
from tests.walk.speech import answer

HEAPS = """
import ctypes, sys, threading
from bot.runtime.process import use_single_arena

asked = sys.argv[1] == "shared" and use_single_arena()
libc = ctypes.CDLL("libc.so.6")
libc.malloc.restype = ctypes.c_void_p
gate = threading.Barrier(4)

def work():
    gate.wait()
    for _ in range(1000):
        libc.malloc(1000)
    gate.wait()

threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc.fdopen.restype = ctypes.c_void_p
libc.fflush.argtypes = [ctypes.c_void_p]
out = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, out)
libc.fflush(out)
"""


def heaps(how: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", HEAPS, how], capture_output=True, text=True, check=True
    )
    return done.stdout.count("<heap nr")


@pytest.mark.skipif(sys.platform != "linux", reason="only the GNU C library has several")
def test_threads_that_work_at_the_same_time_have_one_heap() -> None:
    if heaps("apart") == 1:
        pytest.skip("this C library has one heap anyway")
    assert heaps("shared") == 1


LARGE = """
import ctypes, sys
from bot.runtime.process import use_single_arena

asked = sys.argv[1] == "shared" and use_single_arena()
libc = ctypes.CDLL("libc.so.6")
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]

def used():
    with open("/proc/self/statm") as told:
        return int(told.read().split()[1]) * 4096

def piece(size):
    made = libc.malloc(size)
    ctypes.memset(made, 1, size)
    return made

libc.free(piece(30_000_000))  # from here on the C library would keep what is smaller
before = used()
for _ in range(5):
    large, small = piece(4_000_000), piece(2_000)
    libc.free(large)
print(used() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only the GNU C library keeps it")
def test_a_large_piece_goes_back_to_the_system_even_after_a_larger_one() -> None:
    def kept(how: str) -> int:
        done = subprocess.run(
            [sys.executable, "-c", LARGE, how], capture_output=True, text=True, check=True
        )
        return int(done.stdout)

    if kept("apart") < 2_000_000:
        pytest.skip("this C library gives it back anyway")
    assert kept("shared") < 500_000


@pytest.mark.parametrize("kind", ["a path", "a name"])
def test_a_state_arrives_as_one_datagram(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(path if kind == "a path" else f"\0{path}")
        listening.settimeout(5)
        monkeypatch.setenv("NOTIFY_SOCKET", path if kind == "a path" else f"@{path}")
        notify_supervisor("READY=1")
        assert listening.recv(100) == b"READY=1"


def test_without_a_manager_or_with_a_deaf_one_nothing_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    notify_supervisor("READY=1")
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "nobody"))
    notify_supervisor("READY=1")


async def test_a_bot_says_when_it_is_ready_and_when_it_ends(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(5)
        async with scene(tmp_path / "bot", ModelEmulator(responder=answer)) as talk:
            talk.bot.extra["NOTIFY_SOCKET"] = str(tmp_path / "notify")
            await talk.bot.start()
            assert listening.recv(100) == b"READY=1"
            assert (await talk.web.ask("GET", "/readyz")).status_code == 200
            assert await talk.bot.term() == 0
            assert listening.recv(100) == b"STOPPING=1"
