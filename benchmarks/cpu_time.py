"""CPU seconds of this process and of other processes; child processes are counted apart."""

import resource
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuTime:
    """CPU seconds, user and system together."""

    #: Of the process itself, all its threads included.
    own: float
    #: Of its child processes that have ended and were waited for.
    children: float

    def __sub__(self, before: "CpuTime") -> "CpuTime":
        return CpuTime(own=self.own - before.own, children=self.children - before.children)

    @property
    def total(self) -> float:
        """Both together."""
        return self.own + self.children


def cpu_of_this() -> CpuTime:
    """Return what this process has used so far, in microseconds' resolution."""
    return CpuTime(own=_used(resource.RUSAGE_SELF), children=_used(resource.RUSAGE_CHILDREN))


def cpu_of(pid: int) -> CpuTime:
    """Return what another process has used so far, in steps of 10 ms."""
    import psutil  # not among the packages of a plain setup, where `cpu_of_this` is enough

    used = psutil.Process(pid).cpu_times()
    return CpuTime(own=used.user + used.system, children=used.children_user + used.children_system)


def _used(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime
