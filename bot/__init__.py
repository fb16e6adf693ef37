"""The application: agent, models, tools, access, gateway, commands, console and command line."""
