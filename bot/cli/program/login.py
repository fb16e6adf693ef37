"""`mnema login` and the link of `mnema run`: signs a browser in at the page, once and for ten
minutes.
"""

import html
import os
import sys
import threading
import webbrowser
from collections.abc import Sequence
from pathlib import Path

import typer

from bot.config.home import HomeFolder
from bot.errors import MnemaError
from bot.runtime.store_access import call_running_bot_now
from bot.texts import show_before_messages
from channels.phrases import Phrase
from memory.workspace.atomic_write import write_atomic
from memory.workspace.safe_path import PathRefused

_LINK_NOTE = Phrase("signs one browser in, once, within 10 minutes")
# without any of them Linux has no browser to open
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
_REDIRECT = """\
<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={link}">
<title>mnema</title>
<p><a href="{link}">mnema</a></p>
"""


def login(ctx: typer.Context) -> int:
    """Print a link that signs one browser in at the page of the running bot, once and within 10
    minutes.
    """
    from bot.config.file import ConfigFile

    home: HomeFolder = ctx.obj
    url = home.address()
    if not url:
        raise MnemaError(
            show_before_messages(
                Phrase(
                    "No page is running for {root}: start mnema run, then mnema login prints a "
                    "link.",
                    root=home.root,
                ),
            )
        )
    file = ConfigFile(home.config)
    file.load()
    code = call_running_bot_now(home, "POST", "/api/v1/login-codes", {})["code"]
    print("\n".join(login_links(url, file.current.channels.web.public_url, code)))
    print(f"({link_note(file.current.language)})", file=sys.stderr)
    return 0


def link_note(language: str) -> str:
    """Say what a link is good for. language: as configured."""
    return show_before_messages(_LINK_NOTE, language)


def login_links(url: str, public_url: str, code: str) -> Sequence[str]:
    """Return the link for this machine, and the one under the public address where there is one."""
    from channels.web.sessions import login_link

    return [login_link(site, code) for site in (url, public_url.rstrip("/")) if site]


def open_browser(link: str, page: Path) -> None:
    """Open a link in the person's browser, where this machine has a display; a browser that blocks
    is left alone.

    Args:
        page: is written to lead on to the link: other accounts of the machine see the arguments of
            a browser's process, and must not see the code.
    """
    if sys.platform == "linux" and not any(os.environ.get(name) for name in _DISPLAYS):
        return
    try:
        write_atomic(page, _REDIRECT.format(link=html.escape(link)).encode())
    except (PathRefused, OSError) as err:
        why = show_before_messages(Phrase("No browser was opened: open the link above"))
        print(f"mnema: {why} ({err}).", file=sys.stderr)
        return
    threading.Thread(
        target=webbrowser.open, args=(page.as_uri(),), daemon=True, name="open browser"
    ).start()
