"""Model clients, retries and fallbacks, and the catalog of models."""
