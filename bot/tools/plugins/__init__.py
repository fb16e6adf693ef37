"""Tools that the owner wrote or installed: a file in a sandboxed child process, or a package in our own."""
