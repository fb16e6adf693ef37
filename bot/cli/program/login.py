"""`mnema login` and the link of `mnema run`: signs a browser in at the page, once and for ten
minutes.
"""

import os
import sys
import threading
import webbrowser
from collections.abc import Sequence

import typer

from bot.config.home import HomeFolder
from bot.errors import MnemaError
from bot.runtime.store_access import call_running_bot_now

LINK_NOTE = "signs one browser in, once, within 10 minutes"
# without any of them Linux has no browser to open
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


def login(ctx: typer.Context) -> int:
    """Print a link that signs one browser in at the page of the running bot, once and within 10
    minutes.
    """
    from bot.config.file import ConfigFile

    home: HomeFolder = ctx.obj
    url = home.address()
    if not url:
        raise MnemaError(
            f"No page is open for {home.root}: start mnema run, then mnema login prints a link."
        )
    file = ConfigFile(home.config)
    file.load()
    code = call_running_bot_now(home, "POST", "/api/v1/login-codes", {})["code"]
    print("\n".join(login_links(url, file.current.channels.web.public_url, code)))
    print(f"It {LINK_NOTE}.", file=sys.stderr)
    return 0


def login_links(url: str, public_url: str, code: str) -> Sequence[str]:
    """Return the link for this machine, and the one under the public address where there is one."""
    from channels.web.sessions import login_link

    return [login_link(site, code) for site in (url, public_url.rstrip("/")) if site]


def open_browser(link: str) -> None:
    """Open a link in the person's browser, where this machine has a display; a browser that blocks
    is left alone.
    """
    if sys.platform == "linux" and not any(os.environ.get(name) for name in _DISPLAYS):
        return
    threading.Thread(target=webbrowser.open, args=(link,), daemon=True, name="open browser").start()
