"""The system calls that a sandboxed process may not make, as a program for the kernel's filter. Pure."""

import errno
import struct

# Kinds of sockets that a program may open; in a network namespace of its own they reach nothing outside.
_SOCKET_FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6
# Memory that belongs to no process, so that the watcher could not count it; keys, tracing and kernel interfaces.
_DENIED_X86_64 = {
    "shmget": 29, "semget": 64, "msgget": 68, "ptrace": 101, "add_key": 248, "request_key": 249, "keyctl": 250,
    "process_vm_readv": 310, "process_vm_writev": 311, "perf_event_open": 298, "memfd_create": 319, "bpf": 321,
    "userfaultfd": 323, "io_uring_setup": 425, "memfd_secret": 447,
}  # fmt: skip
_DENIED_AARCH64 = {
    "shmget": 194, "semget": 190, "msgget": 186, "ptrace": 117, "add_key": 217, "request_key": 218, "keyctl": 219,
    "process_vm_readv": 270, "process_vm_writev": 271, "perf_event_open": 241, "memfd_create": 279, "bpf": 280,
    "userfaultfd": 282, "io_uring_setup": 425, "memfd_secret": 447,
}  # fmt: skip
# Machine: the kernel's number for it, the number of `socket`, the denied calls.
_MACHINES = {
    "x86_64": (0xC000003E, 41, _DENIED_X86_64),
    "aarch64": (0xC00000B7, 198, _DENIED_AARCH64),
}
_X32_BIT = 0x40000000  # calls of the x32 interface on x86-64, which have numbers of their own
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # BPF_LD|W|ABS, JMP|JEQ|K, JMP|JGE|K, RET|K
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data, little-endian
_KILL, _ALLOW, _REFUSE = 0x80000000, 0x7FFF0000, 0x00050000


def is_known_machine(machine: str) -> bool:
    """Tell whether there is a filter for this machine, such as `x86_64`."""
    return machine in _MACHINES


def build_filter(machine: str) -> bytes:
    """Return the filter: foreign interfaces are killed, denied calls get an error, the rest is allowed."""
    audit, socket, denied = _MACHINES[machine]
    no_call, no_family = _REFUSE | errno.ENOSYS, _REFUSE | errno.EAFNOSUPPORT
    program = [
        (_LOAD, 0, 0, _MACHINE),
        (_EQUAL, 1, 0, audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32_BIT),
        (_RETURN, 0, 0, no_call),
    ]
    for number in sorted(denied.values()):
        program += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, no_call)]
    families = len(_SOCKET_FAMILIES)
    program += [(_EQUAL, 0, families + 2, socket), (_LOAD, 0, 0, _FIRST_ARGUMENT)]
    program += [(_EQUAL, families - index, 0, family) for index, family in enumerate(_SOCKET_FAMILIES)]
    program += [(_RETURN, 0, 0, no_family), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)
