"""What a process of the bot does: all of it, or with PostgreSQL one part."""

from typing import Literal, get_args

ProcessRole = Literal["all", "gateway", "worker"]
PROCESS_ROLES: tuple[ProcessRole, ...] = get_args(ProcessRole)
