// Words of the palette and of the list of keys. Every key is in keys.zh.ts too.

export const keysEn = {
  keys: "Keys",
  key_palette: "Go to anything",
  key_keys: "Show these keys",
  key_commands: "Commands, in the message box",
  key_send: "Send, or use the highlighted command",
  key_line: "New line",
  key_escape: "Close the top window, or stop the answer",
  key_arrows: "Move through lists",
  palette: "Go to",
  palette_find: "Conversation, person, file, setting or command",
  palette_page: "page",
  palette_conversation: "conversation",
  palette_person: "person",
  palette_file: "file",
  palette_setting: "setting",
  palette_command: "command",
  palette_message: "message",
};
