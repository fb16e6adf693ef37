"""Configuration: what config.json may hold, how it is read, changed and watched."""
