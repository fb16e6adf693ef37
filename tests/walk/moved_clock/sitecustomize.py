"""Python imports this before anything else where it finds it: it moves the wall clock of a process
that tests start.

The file that MNEMA_TEST_CLOCK names holds by how many seconds, in a fixed width, and may be
rewritten at any moment. Monotonic clocks stay what they are, as they do on a machine whose time
somebody sets.
"""

import ctypes
import datetime
import gc
import os
import time

WIDTH = 16
_FILE = os.open(os.environ["MNEMA_TEST_CLOCK"], os.O_RDONLY | os.O_CLOEXEC)
_REAL = time.time_ns


def time_ns() -> int:
    """Unix nanoseconds by the moved clock."""
    return _REAL() + int(os.pread(_FILE, WIDTH, 0)) * 1_000_000_000


def _now(cls, tz=None):
    return cls.fromtimestamp(time_ns() / 1e9, tz)


time.time_ns = time_ns
time.time = lambda: time_ns() / 1e9
# of a type that takes no other ones in any other way
_methods = gc.get_referents(datetime.datetime.__dict__)[0]
_methods["now"] = classmethod(_now)
_methods["utcnow"] = classmethod(lambda cls: _now(cls, datetime.UTC).replace(tzinfo=None))
ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime.datetime))
