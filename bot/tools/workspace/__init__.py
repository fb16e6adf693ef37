"""The tools that search the files of a space, patch them, and keep their former contents."""
