"""Clients of the model APIs, one module each."""
