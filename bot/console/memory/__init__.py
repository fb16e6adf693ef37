"""The memory part of the console: facts, days, nights, files, search, and whose memory they are of."""
