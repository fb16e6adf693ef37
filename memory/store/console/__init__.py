"""What the console lists of conversations and shows beside their lines."""
