// Every word the page says, in Chinese and in English.

const WORDS = {
  new: ["New conversation", "新对话"],
  untitled: ["New conversation", "新对话"],
  memory: ["Memory", "记忆"],
  logout: ["Sign out", "退出"],
  menu: ["Conversations", "对话列表"],
  commands: ["Commands", "命令"],
  talk: ["Messages", "消息"],
  answer_began: ["Answering.", "正在回答。"],
  answer_there: ["The answer is there.", "回答好了。"],
  code: ["Code", "代码"],
  table: ["Table", "表格"],
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
  trace: ["what became of it", "处理经过"],
  hello: ["What shall we remember today?", "今天想记住些什么？"],
  hello_more: [
    "Nothing said here is lost: older turns are folded into your daily log and can always be found again.",
    "这里说过的话不会丢：较早的内容会整理进每日日志，随时可以找回。",
  ],
  more_conversations: ["Show earlier conversations", "显示更早的对话"],
  chat_of: ["Chat of {who}", "{who} 的私聊"],
  others: ["This is another person's private chat", "这是别人的私聊"],
  others_more: ["Opening it is written to the audit list.", "打开这段私聊会记入审计日志。"],
  others_open: ["Open it", "打开"],
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
  context_label: [
    "Context: {tokens} of {most} tokens, {turns} of {turns_most} turns. Show all of it.",
    "上下文：{tokens} / {most} token，{turns} / {turns_most} 轮。查看全部。",
  ],
  tokens: ["tokens", "token"],
  turns: ["turns", "轮"],
  Turns: ["Turns", "轮数"],
  system: ["System", "系统"],
  tools: ["Tools", "工具"],
  summary: ["Summary", "摘要"],
  history: ["History", "历史"],
  running: ["Running turn", "进行中"],
  free: ["Free", "空余"],
  rules: ["Rules", "规则"],
  awareness: ["What it can do", "能力说明"],
  log: ["Today's diary", "今日日记"],
  left_out: ["Left out to fit: {what}", "为控制长度而省略：{what}"],
  policy: ["Policy", "策略"],
  policy_own: ["{policy} (chosen here)", "{policy}（本对话自选）"],
  messages: ["Messages", "消息"],
  roles: ["{all} (you {user}, it {assistant})", "{all}（你 {user}，助手 {assistant}）"],
  characters: ["Characters", "字符"],
  counter: ["Counter", "计数器"],
  counter_value: ["{name} × {factor}, off by {error} %", "{name} × {factor}，误差 {error}%"],
  cache: ["From cache, last answer", "上次回答的缓存命中"],
  next_fold: ["Next fold", "下次整理"],
  room: ["Room by the model's window and count", "按模型的窗口与计数最多"],
  or: [" or ", "，或"],
  mark_tokens: ["at {at} tokens", "到 {at} token"],
  mark_turns: ["after {at} turns", "满 {at} 轮"],
  mark_messages: ["at {at} messages", "到 {at} 条消息"],
  mark_new_messages: ["after {at} new messages (now {now})", "满 {at} 条新消息（现 {now}）"],
  mark_new_tokens: ["after {at} new tokens (now {now})", "满 {at} 新 token（现 {now}）"],
  folds: ["Folds", "整理记录"],
  no_folds: ["Nothing is folded yet.", "还没有整理过。"],
  in_view: ["In view now: {turns}", "现在可见：{turns}"],
  turn_one: ["turn {from}", "第 {from} 轮"],
  turn_many: ["turns {from}–{to}", "第 {from}–{to} 轮"],
  nothing_yet: ["no turns", "没有对话轮次"],
  by_model: ["summary by the model", "由模型总结"],
  by_extract: ["extract, word for word", "原文摘录"],
  reason_turns: ["The number of turns was reached.", "轮数到了上限。"],
  reason_tokens: ["The tokens had reached the threshold.", "token 到了阈值。"],
  reason_messages: ["Enough messages had come together.", "消息积累到了阈值。"],
  reason_overflow: ["The model said the request was too long.", "模型说请求太长。"],
  reason_restart: ["The program had started anew.", "程序重新启动。"],
  reason_context_fold: ["Asked for by /context fold.", "由 /context fold 要求。"],
  cut_at: [
    "Cut before turn {turn}, the best of {count} places ({score} points: {terms}).",
    "切在第 {turn} 轮之前：{count} 处里得分最高（{score} 分：{terms}）。",
  ],
  term_base: ["base", "基础"],
  term_tool_result: ["after a tool result", "工具结果之后"],
  term_reply: ["after an answer", "回答之后"],
  term_tool_sequence: ["inside tool work", "工具调用之中"],
  term_break: ["natural break", "自然停顿"],
  term_error: ["near an error", "临近错误"],
  term_topic: ["change of topic", "话题转换"],
  step_planned: ["planned", "已计划"],
  step_summarised: ["summarised", "已总结"],
  step_logged: ["written", "已写入"],
  step_folded: ["done", "完成"],
  fold_planned: ["Folding {turns}: summarising…", "正在整理{turns}：总结中…"],
  fold_summarised: ["Folding {turns}: checking the summary…", "正在整理{turns}：核对摘要…"],
  fold_digest: ["Folding {turns}: the words themselves are kept…", "正在整理{turns}：改用原文摘录…"],
  fold_logged: ["Folding {turns}: written to the diary…", "正在整理{turns}：已写入日记…"],
  fold_folded: ["Folded {turns}: {before} → {after} tokens ({saved})", "已整理{turns}：{before} → {after} token（{saved}）"],
  fold_stale: ["Not folded: the context changed meanwhile.", "没有整理：上下文在其间变了。"],
  close: ["Close", "关闭"],
  back: ["Back", "返回"],
  save: ["Save", "保存"],
  saved: ["Saved.", "已保存。"],
  edited: ["edited", "已修改"],
  discard: ["Leave without saving?", "不保存就离开吗？"],
  conflict: [
    "Somebody changed this file meanwhile; both texts are here. Put together what you need: saving puts yours in its place.",
    "文件已被他人修改，两个版本都在这里。请合并需要的内容；保存会以你的版本取代它。",
  ],
  theirs: ["What the file says now", "文件现在的内容"],
  take_theirs: ["Take theirs instead", "改用对方的版本"],
  search: ["Search memory", "搜索记忆"],
  nothing: ["Nothing found.", "没有找到。"],
  said_in: ["said in turn {turn}", "第 {turn} 轮所说"],
  notes: ["Notes", "笔记"],
  diary: ["Diary", "日记"],
  nights: ["What nights changed", "夜间整理记录"],
  no_files: ["There are no memory files yet.", "还没有记忆文件。"],
  channels: ["Channels", "渠道"],
  models: ["Models and cost", "模型与花费"],
  model_up: ["answers", "正常"],
  model_untried: ["not asked yet", "还没用过"],
  model_resting: ["left out for a while", "暂停使用"],
  model_refused: ["of no use", "用不了"],
  asked_again: ["Asked again in {seconds} s.", "{seconds} 秒后再试。"],
  after_a_change: ["Not asked again until the settings of llm change.", "改好 llm 的设置之前不会再用。"],
  span_today: ["Today", "今天"],
  span_month: ["This month", "本月"],
  span_30_days: ["30 days", "30 天"],
  nothing_used: ["Nothing used.", "没有用量。"],
  calls: ["{calls} ×", "{calls} 次"],
  for_turn: ["answers", "对话"],
  for_fold: ["folds", "整理"],
  for_extract: ["memories", "记事"],
  for_dream: ["dreams", "夜间整理"],
  price_unknown: ["price not known", "价格未知"],
  groups_and_earlier: ["groups, and earlier use", "群和较早的用量"],
  mood_up: ["connected", "已连接"],
  mood_connecting: ["connecting…", "正在连接…"],
  mood_asking: ["waits for its login", "等待登录"],
  mood_deaf: ["nothing heard from the platform", "平台没有回音"],
  mood_down: ["down", "已断开"],
  mood_logged_out: ["logged out", "已退出登录"],
  mood_contended: ["stands by: another program receives", "在旁等候：另一个程序正在接收"],
  since: ["Since", "从何时起"],
  heard: ["Last heard", "最近回音"],
  last_error: ["Last error", "最近出错"],
  quota: ["Left", "余量"],
  qr: ["QR code to scan", "要扫描的二维码"],
  enter_digits: ["Send", "提交"],
  handed_over: ["Handed over.", "已提交。"],
  asking: ["Who asks to be let in", "谁想和我聊天"],
  nobody_asks: ["Nobody.", "暂时没有。"],
  until: ["until {when}", "{when} 前有效"],
  a_group: ["group", "群"],
  their_code: ["The code they tell you", "对方告诉你的代码"],
  approve: ["Let in", "同意"],
  deny: ["Refuse", "拒绝"],
  allow: ["Allow", "允许"],
  done: ["Done.", "完成。"],
  locked: ["Too many wrong codes: no code is taken until {when}.", "错误的代码太多：{when} 前不再接受代码。"],
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

/** A moment with its date and its time. */
export function moment(text) {
  const shape = { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" };
  return new Intl.DateTimeFormat(navigator.language, shape).format(new Date(text));
}

/** How long ago a moment was. */
export function ago(text) {
  const seconds = Math.max(0, (Date.now() - new Date(text)) / 1000);
  const [size, unit] = [[86400, "day"], [3600, "hour"], [60, "minute"]].find(([least]) => seconds >= least) ?? [1, "second"];
  return new Intl.RelativeTimeFormat(zh ? "zh" : "en", { numeric: "always" }).format(-Math.floor(seconds / size), unit);
}

/** What was saved, as people say it: −96 %. */
export function saved(before, after) {
  const percent = before > 0 ? Math.round(100 * (1 - after / before)) : 0;
  return `${percent >= 0 ? "−" : "+"}${Math.abs(percent)}${zh ? "%" : " %"}`;
}

/** What was left out of a part, as the server names it: "## Tea: 3 paragraphs". */
export function leftOut(item) {
  if (!zh) return item;
  return item.replace(/:? *(\d+) paragraphs?$/, "：$1 段").replace(/(\d+) lines?$/, "$1 行").replace(/(\d+) headings?$/, "$1 个标题");
}

export const turnsOf = (from, to) => t(from === to ? "turn_one" : "turn_many", { from, to });

export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
