"""The way from every earlier version of the tables to this one."""
