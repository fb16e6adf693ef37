// 运行机器人的几页用到的词：用量、备份、健康、日志、经过。每个键都和 operate.en.ts 一一对应。

import type { operateEn } from "./operate.en";

export const operateZh: Record<keyof typeof operateEn, string> = {
  span_days: "{days} 天",
  span_days_label: "天数",
  stack_by: "按什么分",
  stack_model: "模型",
  stack_purpose: "用途",
  stack_who: "谁",
  measure: "看什么",
  measure_cost: "费用",
  measure_tokens: "tokens",
  measure_calls: "次数",
  usage_chart: "每天的用量",
  as_table: "用表格看",
  as_csv: "下载 CSV",
  day: "日期",
  sum: "合计",
  other_models: "其余",
  who_own: "你",
  who_others: "其他所有人",
  cached_share: "{share} 来自缓存",
  limit_of_all: "其他所有人的额度",
  others_today: "其他人今天用了",
  of_limit: "{used} / {most}",
  usage_conversations: "对话",
  not_priced: "这些模型价格未知，不计入费用：{models}。请看它们的 tokens。",
};
