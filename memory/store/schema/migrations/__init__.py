"""Upgrades of the tables from every earlier version."""
