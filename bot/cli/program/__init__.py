"""The program on this machine: version, extras, upgrade, and links that sign a browser in."""
