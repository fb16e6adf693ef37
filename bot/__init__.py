"""The application in layers: command line, console, runtime, agent, tools, gateway and more."""
