"""Builds, starts, schedules and closes the bot."""
