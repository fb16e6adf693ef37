"""This machine's program: version, extras, upgrade, and links that sign a browser in."""
