"""Model clients with retries, fallback and health, the catalog of models, and embeddings."""
