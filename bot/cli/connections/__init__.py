"""Commands about what the bot is connected to: channels, MCP servers, plug-ins and skills."""
