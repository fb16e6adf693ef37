"""What every command of the command line is given: the home it is about, and how much to say."""

from dataclasses import dataclass

from bot.home import Home


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The options before the command. debug: show where an error came from."""

    home: Home
    debug: bool = False
