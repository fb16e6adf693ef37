"""This process: memory settings, descriptors, the deadline of its end."""
