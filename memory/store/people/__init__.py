"""Grants, approvals, people and their spending."""
