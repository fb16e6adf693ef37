"""Commands about what the bot is connected to: channels, and servers of tools."""
