"""A WeChat official account, by its callback."""
