"""Routes of the console to run a bot: usage, backups, health, logs and traces."""
