"""A WeCom smart bot, by its WebSocket."""
