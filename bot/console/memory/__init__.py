"""The memory part of the console: facts, days, nights, files, search, and their owners."""
