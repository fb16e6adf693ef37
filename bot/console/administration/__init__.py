"""Routes that manage the bot: its settings, channels, people, and extensions."""
