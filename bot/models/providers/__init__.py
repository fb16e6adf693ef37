"""One module for each model API."""
