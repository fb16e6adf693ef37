"""What one request shows the model, and what is folded or shortened so that it fits. Pure."""
