"""The system calls that a sandboxed process may not make, as a program for the kernel's filter.

Pure.
"""

import errno
import os
import stat
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# Kinds of sockets that a program may open; in a network namespace of its own they reach nothing
# outside.
_SOCKET_FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6
_NETLINK = 16  # AF_NETLINK
# Memory that belongs to no process, so that the watcher could not count it; keys, tracing and
# kernel interfaces; and the one way to open files whose mode a filter cannot see.
_DENIED_X86_64 = {
    "shmget": 29,
    "semget": 64,
    "msgget": 68,
    "ptrace": 101,
    "add_key": 248,
    "request_key": 249,
    "keyctl": 250,
    "process_vm_readv": 310,
    "process_vm_writev": 311,
    "perf_event_open": 298,
    "memfd_create": 319,
    "bpf": 321,
    "userfaultfd": 323,
    "io_uring_setup": 425,
    "openat2": 437,
    "memfd_secret": 447,
}
_DENIED_AARCH64 = {
    "shmget": 194,
    "semget": 190,
    "msgget": 186,
    "ptrace": 117,
    "add_key": 217,
    "request_key": 218,
    "keyctl": 219,
    "process_vm_readv": 270,
    "process_vm_writev": 271,
    "perf_event_open": 241,
    "memfd_create": 279,
    "bpf": 280,
    "userfaultfd": 282,
    "io_uring_setup": 425,
    "openat2": 437,
    "memfd_secret": 447,
}
# Calls that may make a file, or change its mode: the argument that is the mode, and the one of the
# flags without which the mode means nothing (-1: none).
_MODES_X86_64 = {
    "open": (2, 2, 1),
    "creat": (85, 1, -1),
    "chmod": (90, 1, -1),
    "fchmod": (91, 1, -1),
    "mknod": (133, 1, -1),
    "openat": (257, 3, 2),
    "mknodat": (259, 2, -1),
    "fchmodat": (268, 2, -1),
    "fchmodat2": (452, 2, -1),
}
_MODES_AARCH64 = {
    "mknodat": (33, 2, -1), "fchmod": (52, 1, -1), "fchmodat": (53, 2, -1), "openat": (56, 3, 2),
    "fchmodat2": (452, 2, -1),
}  # fmt: skip
# A file of such a mode would run with the rights of the bot's user for whoever finds it on this
# machine. S_IFCHR is a bit of S_IFBLK, too, and of no other kind of file.
_REFUSED_MODE_BITS = stat.S_ISUID | stat.S_ISGID | stat.S_IFCHR
_CREATING_FLAGS = os.O_CREAT | 0o20000000  # and that of O_TMPFILE, whose other bit is O_DIRECTORY
# Requests of ioctl that allocate blocks, as `fallocate` does: FS_IOC_RESVSP, FS_IOC_RESVSP64,
# FS_IOC_ZERO_RANGE.
_ALLOCATING_REQUESTS = (0x40305828, 0x4030582A, 0x40305839)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Machine:
    #: The kernel's number for it.
    audit: int
    #: Numbers of calls.
    socket: int
    fallocate: int
    ioctl: int
    denied: Mapping[str, int]
    #: Number, and positions of mode and flags among the arguments.
    modes: Mapping[str, tuple[int, int, int]]


_MACHINES = {
    "x86_64": _Machine(
        audit=0xC000003E,
        socket=41,
        fallocate=285,
        ioctl=16,
        denied=_DENIED_X86_64,
        modes=_MODES_X86_64,
    ),
    "aarch64": _Machine(
        audit=0xC00000B7,
        socket=198,
        fallocate=47,
        ioctl=29,
        denied=_DENIED_AARCH64,
        modes=_MODES_AARCH64,
    ),
}
_X32_BIT = 0x40000000  # calls of the x32 interface on x86-64, which have numbers of their own
# BPF_LD|W|ABS, JMP|JEQ|K, JMP|JGE|K, JMP|JSET|K, RET|K
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
# offsets in struct seccomp_data, little-endian
_NUMBER, _AUDIT, _FIRST_ARGUMENT, _ARGUMENT_BYTES = 0, 4, 16, 8
_KILL, _ALLOW, _REFUSE = 0x80000000, 0x7FFF0000, 0x00050000
_Instruction = tuple[int, int, int, int]
_ALLOWED: _Instruction = (_RETURN, 0, 0, _ALLOW)


def is_known_machine(machine: str) -> bool:
    """Tell whether there is a filter for this machine, such as `x86_64`."""
    return machine in _MACHINES


def build_filter(machine: str, *, netlink: bool = False) -> bytes:
    """Return the filter: foreign interfaces are killed, denied calls get an error, the rest is
    allowed.

    Args:
        netlink: sockets by which programs ask for the network's interfaces are allowed, too.
    """
    known = _MACHINES[machine]
    no_call = (_RETURN, 0, 0, _REFUSE | errno.ENOSYS)
    program = [
        (_LOAD, 0, 0, _AUDIT),
        (_EQUAL, 1, 0, known.audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32_BIT),
        no_call,
    ]
    for number in sorted(known.denied.values()):
        program += [(_EQUAL, 0, 1, number), no_call]
    # The C library then writes to each block instead, and what is written is counted.
    no_allocation = (_RETURN, 0, 0, _REFUSE | errno.EOPNOTSUPP)
    program += [(_EQUAL, 0, 1, known.fallocate), no_allocation]
    requests = [(_EQUAL, 0, 1, request) for request in _ALLOCATING_REQUESTS]
    program += _judge(
        known.ioctl,
        [_load(1), *(part for request in requests for part in (request, no_allocation))],
    )
    for number, mode, flags in known.modes.values():
        creates = [_load(flags), (_ANY_BIT, 1, 0, _CREATING_FLAGS), _ALLOWED] if flags >= 0 else []
        no_such_mode = [
            (_ANY_BIT, 0, 1, _REFUSED_MODE_BITS),
            (_RETURN, 0, 0, _REFUSE | errno.EPERM),
        ]
        program += _judge(number, [*creates, _load(mode), *no_such_mode])
    allowed = (*_SOCKET_FAMILIES, _NETLINK) if netlink else _SOCKET_FAMILIES
    families = [part for family in allowed for part in ((_EQUAL, 0, 1, family), _ALLOWED)]
    program += _judge(
        known.socket, [_load(0), *families, (_RETURN, 0, 0, _REFUSE | errno.EAFNOSUPPORT)]
    )
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in [*program, _ALLOWED])


def _load(argument: int) -> _Instruction:
    """Load the lower half of an argument, which is all that an int has."""
    return _LOAD, 0, 0, _FIRST_ARGUMENT + _ARGUMENT_BYTES * argument


def _judge(number: int, program: Sequence[_Instruction]) -> list[_Instruction]:
    """Return a program that judges one call by its arguments; it is allowed at the end, and others
    go on behind it.
    """
    return [(_EQUAL, 0, len(program) + 1, number), *program, _ALLOWED]
