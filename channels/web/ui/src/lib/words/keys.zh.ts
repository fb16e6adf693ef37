// 快速跳转和快捷键列表用到的词。每个键都和 keys.en.ts 一一对应。

import type { keysEn } from "./keys.en";

export const keysZh: Record<keyof typeof keysEn, string> = {
  keys: "按键",
  key_palette: "前往任何地方",
  key_keys: "显示这些按键",
  key_commands: "命令（在消息框里）",
  key_send: "发送，或采用高亮的命令",
  key_line: "换行",
  key_escape: "关闭最上层，或停止回答",
  key_arrows: "在列表中移动",
  palette: "前往",
  palette_find: "对话、人、文件、设置或命令",
  palette_page: "页面",
  palette_conversation: "对话",
  palette_person: "人",
  palette_file: "文件",
  palette_setting: "设置",
  palette_command: "命令",
  palette_message: "消息",
};
