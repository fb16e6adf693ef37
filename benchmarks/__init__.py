"""What is measured, each figure beside its floor."""
