"""What a service manager is told: that the bot is ready, and that it ends."""

import os
import socket
from contextlib import suppress


def notify_supervisor(state: str) -> None:
    """Send one state ("READY=1", "STOPPING=1") to whoever started this process as a service; nobody did: nothing.

    Source: sd_notify(3); the address is a path, or a name in the kernel's own space where it begins with "@".
    """
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as door:
        door.sendto(state.encode(), f"\0{address[1:]}" if address.startswith("@") else address)
