"""Commands about what the bot is connected to: channels, MCP servers, and plug-ins."""
