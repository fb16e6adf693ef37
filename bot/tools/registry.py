"""Which tools a house has from the start."""

from bot.tools.clock import Now
from bot.tools.files import EditFile, ListFiles, ReadFile, WriteFile
from bot.tools.memory import Recall
from bot.tools.toolset import Toolset
from memory.store.doors import Sessions
from memory.workspace import Workspace


def default_tools(workspace: Workspace, sessions: Sessions) -> Toolset:
    """The built-in ones, in the order models are told of them."""
    return Toolset(
        [
            Now(),
            Recall(sessions),
            ListFiles(workspace),
            ReadFile(workspace),
            WriteFile(workspace),
            EditFile(workspace),
        ]
    )
