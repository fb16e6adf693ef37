"""Tools that the owner wrote or installed: a sandboxed file, or a package in our process."""
