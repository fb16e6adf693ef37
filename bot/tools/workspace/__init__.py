"""Tools that list, read, write, search, patch and send files, and keep former versions."""
