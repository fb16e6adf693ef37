// 登录用到的词。每个键都和 entry.en.ts 一一对应。

import type { entryEn } from "./entry.en";

export const entryZh: Record<keyof typeof entryEn, string> = {
  login_hint: "在机器人所在的机器上运行 mnema login，打开它给出的链接；也可以粘贴首次启动时显示的令牌，它保存在 data/web_token 中。",
  enter: "登录",
  wrong_token: "令牌不正确。",
  slow_down: "尝试太多，请稍候。",
  passkey_enter: "使用通行密钥",
  relogin: "请确认是你本人",
  relogin_why: "这项操作要求最近十分钟内登录过，而你的登录已超过十分钟。再次确认身份后，操作会自动继续。",
  relogin_do: "继续",
};
