"""What a request shows the model, shortened to fit, and which of it is from outside. Pure."""
