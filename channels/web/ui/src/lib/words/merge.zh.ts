// 两处同时改动时用到的词。每个键都和 merge.en.ts 一一对应。

import type { mergeEn } from "./merge.en";

export const mergeZh: Record<keyof typeof mergeEn, string> = {
  take_theirs: "改用对方的版本",
  conflict_base: "改动之前",
  conflict_stored: "文件里现在",
  conflict_mine: "你的",
  keep_mine: "用我的",
  merge_open: "文件刚在别处被改动。不同位置的改动都已在下面的文字里；两边改到同一处的，由你决定：",
  merge_done: "文件刚在别处被改动。下面的文字已包含两边的改动，看一遍再保存。",
  merge_text: "合并结果：保存的就是这些内容",
  merge_theirs: "只用文件里的",
  merge_mine: "只用我写的",
  file_gone: "文件刚在别处被删除。保存会重新创建它。",
  line: "第 {line} 行",
  lines: "第 {first}–{last} 行",
};
