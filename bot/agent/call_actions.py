"""Which action a call needs, and which are asked for while words from outside are in view. Pure."""

import unicodedata

from bot.tools.base import ToolArguments
from memory.conversation import ToolSpec

# Files and folders of the owner's space that define the bot's persona and rules.
PERSONA_FILES = frozenset({"soul.md", "agents.md", "rules.md", "rules", "heartbeat.md"})
EXTENSION_FOLDERS = frozenset({"skills", "tools"})
GIT_FOLDER = ".git"  # the configuration and hooks in it are run by git, whatever the command is
# Actions that are asked for, with a warning, although words from outside are in view; the others
# are refused then.
ASKED_WHEN_TAINTED = frozenset({"exec", "mcp.call.ask", "plugin.call.ask"})


def action_for_call(spec: ToolSpec, arguments: ToolArguments, space: str) -> str:
    """Return the action of a call: its tool's, or a stricter one for some files. Pure.

    In the owner's space ("") the persona files ask for approval. What is in the folders of skills
    and tools is run or followed as the owner enabled it, and git runs what its own folder says, so
    no model writes there, in no space.
    """
    if spec.action != "files.write":
        return spec.action
    paths = [_folded_names(path) for path in arguments.written_paths()]
    tops = {names[0] for names in paths if names}
    if tops & EXTENSION_FOLDERS or any(GIT_FOLDER in names for names in paths):
        return "extension.write"
    return "persona.write" if not space and tops & PERSONA_FILES else spec.action


def _folded_names(path: str) -> list[str]:
    """Return the names of a path as the least strict file system compares them."""
    names = (
        unicodedata.normalize("NFKC", name).strip().rstrip(" .").casefold()
        for name in path.split("/")
    )
    return [name for name in names if name]
