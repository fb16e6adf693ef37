"""Turns texts into vectors, by an endpoint or by the model on this machine."""
