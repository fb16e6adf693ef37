"""The application, in layers: command line, console, runtime, agent, tools, gateway, access, models."""
