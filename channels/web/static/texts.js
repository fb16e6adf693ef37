// Every word the page says, in Chinese and in English.

const WORDS = {
  new: ["New conversation", "新对话"],
  untitled: ["New conversation", "新对话"],
  memory: ["Memory", "记忆"],
  logout: ["Sign out", "退出"],
  menu: ["Conversations", "对话列表"],
  placeholder: ["Message, or / for commands", "写点什么，/ 查看命令"],
  readonly: ["This conversation belongs to {channel}; here it can only be read.", "此对话属于 {channel}，这里只能查看。"],
  send: ["Send", "发送"],
  stop: ["Stop", "停止"],
  attach: ["Attach files", "添加附件"],
  down: ["To the newest", "回到最新"],
  remove: ["Remove", "移除"],
  copy: ["Copy", "复制"],
  copied: ["Copied", "已复制"],
  earlier: ["Show earlier messages", "显示更早的消息"],
  hello: ["What shall we remember today?", "今天想记住些什么？"],
  hello_more: [
    "Nothing said here is lost: older turns are folded into your daily log and can always be found again.",
    "这里说过的话不会丢：较早的内容会整理进每日日志，随时可以找回。",
  ],
  thinking: ["Thinking…", "思考中…"],
  step: ["step {step}", "第 {step} 步"],
  tool: ["Using {tool}…", "正在使用 {tool}…"],
  sending: ["Sending…", "发送中…"],
  failed: ["Not sent: {why}", "未发送：{why}"],
  again: ["Try again", "重试"],
  stopped: ["Asked to stop.", "已请求停止。"],
  offline: ["Reconnecting…", "正在重新连接…"],
  unreachable: ["the server does not answer", "服务器没有响应"],
  too_many_files: ["At most 10 files and 25 MB in one message.", "每条消息最多 10 个附件、共 25 MB。"],
  context: ["Context", "上下文"],
  tokens: ["tokens", "token"],
  turns: ["turns", "轮"],
  folds: ["folds", "次整理"],
  system: ["System", "系统"],
  tools: ["Tools", "工具"],
  summary: ["Summary", "摘要"],
  history: ["History", "历史"],
  running: ["Running turn", "进行中"],
  policy: ["Policy", "策略"],
  messages: ["Messages", "消息"],
  characters: ["Characters", "字符"],
  counter: ["Counter", "计数器"],
  last_error: ["last error", "最近误差"],
  cache: ["Cache share", "缓存占比"],
  fold_row: ["Turns {from}–{to}: {before} → {after} tokens", "第 {from}–{to} 轮：{before} → {after} token"],
  no_folds: ["Nothing is folded yet.", "还没有整理过。"],
  fold_busy: ["Folding older turns…", "正在整理较早的内容…"],
  fold_done: ["Folded: {before} → {after} tokens", "已整理：{before} → {after} token"],
  close: ["Close", "关闭"],
  back: ["Back", "返回"],
  save: ["Save", "保存"],
  saved: ["Saved.", "已保存。"],
  edited: ["edited", "已修改"],
  discard: ["Leave without saving?", "不保存就离开吗？"],
  conflict: [
    "Somebody changed this file meanwhile. Copy what you need, then read it again.",
    "文件已被他人修改。请先复制需要的内容，再重新读取。",
  ],
  reread: ["Read it again", "重新读取"],
  search: ["Search memory", "搜索记忆"],
  nothing: ["Nothing found.", "没有找到。"],
  no_files: ["There are no memory files yet.", "还没有记忆文件。"],
  login_hint: [
    "Paste the token that was shown at the first start. It is kept in data/web_token.",
    "请粘贴首次启动时显示的令牌，它保存在 data/web_token 中。",
  ],
  token: ["Token", "令牌"],
  enter: ["Sign in", "登录"],
  wrong_token: ["That token is wrong.", "令牌不正确。"],
  slow_down: ["Too many tries; wait a moment.", "尝试太多，请稍候。"],
};

export const zh = (navigator.language || "en").toLowerCase().startsWith("zh");
document.documentElement.lang = zh ? "zh" : "en";

/** The words for a key, with {name} filled in. */
export function t(key, values = {}) {
  const words = WORDS[key] ? WORDS[key][zh ? 1 : 0] : key;
  return words.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

export const number = (value) => new Intl.NumberFormat(zh ? "zh" : "en").format(Math.round(value || 0));

/** A moment as people say it: the time today, else the date. */
export function when(text) {
  const moment = new Date(text);
  const today = moment.toDateString() === new Date().toDateString();
  const shape = today ? { hour: "2-digit", minute: "2-digit" } : { month: "short", day: "numeric" };
  return new Intl.DateTimeFormat(navigator.language, shape).format(moment);
}

export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
