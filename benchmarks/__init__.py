"""Measurements of speed, memory and quality, each with a floor."""
