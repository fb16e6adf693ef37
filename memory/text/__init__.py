"""Pure functions over texts; one of each."""
