"""Configuration: what config.json may hold, how it is read, changed and watched."""

from bot.config.build import defaults, example
from bot.config.file import ConfigFile
from bot.config.keys import known_secrets
from bot.config.schema import Config
from bot.config.words import Refused, Spot

__all__ = ["Config", "ConfigFile", "Refused", "Spot", "defaults", "example", "known_secrets"]
