"""Threads of a bot share one heap of the C library, and large pieces are not left in it."""

import subprocess
import sys

import pytest

HEAPS = """
import ctypes, sys, threading
from bot.runtime.process.malloc import use_single_arena

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
    done = subprocess.run([sys.executable, "-c", HEAPS, how], capture_output=True, text=True, check=True)
    return done.stdout.count("<heap nr")


@pytest.mark.skipif(sys.platform != "linux", reason="only the GNU C library has several")
def test_threads_that_work_at_the_same_time_have_one_heap() -> None:
    if heaps("apart") == 1:
        pytest.skip("this C library has one heap anyway")
    assert heaps("shared") == 1


LARGE = """
import ctypes, sys
from bot.runtime.process.malloc import use_single_arena

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
        done = subprocess.run([sys.executable, "-c", LARGE, how], capture_output=True, text=True, check=True)
        return int(done.stdout)

    if kept("apart") < 2_000_000:
        pytest.skip("this C library gives it back anyway")
    assert kept("shared") < 500_000
