"""What the built-in tools do, said to people; what the model is told stands at each tool."""

from collections.abc import Mapping

from channels.phrases import Phrase

TOOL_TEXTS: Mapping[str, Phrase] = {
    "recall": Phrase("Shows in full what was shortened or summarised in this chat."),
    "memory_search": Phrase("Searches memory, the daily logs and all past conversations."),
    "memory_get": Phrase("Reads the lines around something found in memory."),
    "memory_write": Phrase("Notes a lasting fact in memory, and shows you what it noted."),
    "list_files": Phrase("Lists a folder of the workspace."),
    "read_file": Phrase("Reads a text file of the workspace, page by page."),
    "write_file": Phrase("Writes a whole text file of the workspace."),
    "edit_file": Phrase("Replaces one passage of a text file."),
    "find_files": Phrase("Finds files of the workspace by their names."),
    "search_files": Phrase("Searches the lines of text files by a regular expression."),
    "patch_files": Phrase("Changes several text files at once, all of them or none."),
    "file_history": Phrase("Lists former versions of a file."),
    "restore_file": Phrase("Restores a former version of a file."),
    "send_file": Phrase("Sends a file to the chat."),
    "remind": Phrase("Sets a reminder, or a task that it does later."),
    "reminders": Phrase("Lists reminders and tasks, and changes or cancels them."),
    "web_fetch": Phrase("Opens a public web page, PDF or picture and reads it."),
    "web_search": Phrase("Searches the web with the search engines that you set up."),
    "exec": Phrase("Runs a program or a script in a sandbox without network, after you approve."),
    "exec_status": Phrase("Shows the state and the output of a command in the background."),
    "exec_stop": Phrase("Ends a command in the background."),
    "delegate": Phrase("Hands parts of its work to sub-agents that work at the same time."),
    "skill": Phrase("Reads the instructions of a skill that you have switched on."),
    "find_tools": Phrase("Finds tools that do not fit into a request."),
    "use_tool": Phrase("Calls a tool that was found that way."),
    "mcp_find": Phrase("Lists what tool servers offer to read."),
    "mcp_read": Phrase("Reads something that a tool server offers."),
}
