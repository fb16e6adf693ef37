"""The commands /memory, /remember and /forget."""
