"""What the adapters share."""
