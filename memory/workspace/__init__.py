"""Files that people read and edit, safe access to them, and stored attachments."""
