"""The `mnema` command."""
