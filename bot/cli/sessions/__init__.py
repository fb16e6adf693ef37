"""`mnema sessions`: stored conversations, their import, and the audit of reading them."""
