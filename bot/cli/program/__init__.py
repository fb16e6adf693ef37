"""The program on this machine: its version, extras and upgrade, and links that sign a browser
in.
"""
