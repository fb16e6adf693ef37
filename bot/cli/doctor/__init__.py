"""`mnema doctor`: every check."""
