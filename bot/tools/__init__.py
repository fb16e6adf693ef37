"""What a model may do besides talk."""
