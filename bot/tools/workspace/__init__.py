"""The tools that list, read, write, search, patch and send files of a space, and keep their former contents."""
