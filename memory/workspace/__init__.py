"""Files that people read and edit."""
