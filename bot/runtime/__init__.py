"""Builds, starts, schedules and closes the bot, and opens its store and its HTTP port."""
