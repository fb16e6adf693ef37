// 向导里服务器没有说的词，键与 wizard.en.ts 相同。

import type { wizardEn } from "./wizard.en";

export const wizardZh: Record<keyof typeof wizardEn, string> = {
  key_where: "在 {host} 获取",
  look_again: "再找一次",
  looking: "正在询问服务器…",
  server_said: "服务器的原话：",
  found_none: "服务器上还没有，请输入名称。",
  found_unlisted: "列表里没有名称含有这些字的，将按输入的名称使用。",
  more_found: "还有 {count} 个：输入名称的一部分来查找。",
  test_passed: "现在可以完成了。",
  test_failed: "测试没有通过。",
  state_ok: "✓ 正常",
  state_no: "– 不支持",
  state_unknown: "? 请留意",
  state_failed: "✗ 失败",
};
