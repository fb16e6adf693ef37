"""Texts of the bot itself for people, in Chinese and English."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from bot.errors import (
    BudgetShortage,
    Damaged,
    KeyRefused,
    ModelError,
    NoSuchModel,
    Overflow,
    QuotaSpent,
    RateLimited,
    Stalled,
    Transient,
)

BilingualText = tuple[str, str]  # in Chinese and in English
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
# Tokens that a persona is advised to keep within. Source: the budget seed's SOUL_BUDGET.
LONG_SOUL_TOKENS = 3_000


def resolve_language(text: str, setting: str = "auto") -> str:
    """Return "zh" or "en": as configured, else the language of `text`."""
    if setting in ("zh", "en"):
        return setting
    return "zh" if _CJK.search(text) else "en"


def detect_machine_language(setting: str = "auto") -> str:
    """Return the language used before any message: as configured, else the machine's."""
    if setting in ("zh", "en"):
        return setting
    return "zh" if _machine_locale().startswith("zh") else "en"


def is_machine_language_known(setting: str = "auto") -> bool:
    """Tell whether the configuration or the machine names a language; the C locale names none."""
    return setting in ("zh", "en") or _machine_locale().partition(".")[0] not in ("", "C", "POSIX")


def _machine_locale() -> str:
    return next(
        filter(None, (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))), ""
    )


def choose_text(zh: str, en: str, setting: str = "auto") -> str:
    """Return the one of two texts that is in the language used before any message."""
    return zh if detect_machine_language(setting) == "zh" else en


def format_text(lang: str, key: str, **fields: object) -> str:
    """Return a text of `TEXTS` with its fields filled in."""
    zh, en = TEXTS[key]
    return (zh if lang == "zh" else en).format(**fields)


TEXTS: dict[str, tuple[str, str]] = {
    "command_interrupted": (
        "执行 {command} 时程序中断了，可能已经生效，不会自动重做。请用 /context 看看现状再决定。",
        (
            "I was interrupted during {command}. It may have taken effect and is not repeated "
            "automatically. See /context."
        ),
    ),
    "turn": ("第 {number} 轮", "turn {number}"),
    "stopped": ("已停止。", "Stopped."),
    "nothing_runs": ("现在没有正在进行的回复。", "Nothing is running."),
    "stop_sent": ("正在停止。", "Stopping."),
    "given_up": (
        (
            "我在打开这条消息时多次被中断，已经放弃。如果还需要回答，请重新发送；如果带有文件，"
            "请先不要附上文件。"
        ),
        "I was interrupted several times while opening this message and gave up. If you still need "
        "an answer, send it again; if it had files, leave them out.",
    ),
    "interrupted": (
        "处理这条消息时程序多次中断，已放弃。可以用 /retry 再试一次。",
        "I was interrupted several times while working on this and gave up. /retry tries again.",
    ),
    "machine_failed": (
        "我运行的这台机器出了故障，没能回答；所有者已收到通知。请过一会儿再发一次。（{trace}）",
        "I could not answer because of a fault on the machine I run on. The owner has been told. "
        "Please try again later. ({trace})",
    ),
    "model_failed": (
        "模型现在没能回答：{why}消息已保存，可以用 /retry 再试。（{trace}）",
        "The model did not answer: {why} Your message is saved; /retry tries again. ({trace})",
    ),
    "server_words": ("服务器的原话：{words}", "The server's words: {words}"),
    "why_busy": ("服务繁忙或暂时中断。", "it is overloaded or cannot be reached right now."),
    "why_rate": ("请求过于频繁。", "too many requests."),
    "why_key": ("密钥无效、未付费或没有权限。", "its key is invalid, unpaid or not authorised."),
    "why_model": ("没有叫这个名字的模型。", "there is no model with that name."),
    "why_quota": ("已达到额度上限。", "its spending or plan limit has been reached."),
    "why_stalled": ("等待太久没有回应。", "it did not respond in time."),
    "why_damaged": ("回答中途断开或无法读取。", "its answer was cut off or could not be read."),
    "why_overflow": ("内容超过了模型的窗口。", "the conversation does not fit its window."),
    "why_other": ("请求被拒绝。", "it refused the request."),
    "refused": ("模型拒绝回答这个请求。{detail}", "The model declined this request. {detail}"),
    "no_answer": ("（模型没有给出内容）", "(no answer)"),
    "only_thought": (
        (
            "（模型把整个回答都用在思考上，没有给出内容。可以用 /retry 再试；所有者可以把 "
            "llm.max_output_tokens 调大。）"
        ),
        "(The model used its whole answer for thinking and wrote nothing else. /retry tries again; "
        "the owner can raise llm.max_output_tokens.)",
    ),
    "cut": ("（已截断）", "(cut)"),
    "steps_spent": (
        "（已用完 {steps} 步，先总结到这里）",
        "(all {steps} steps are used up; this is how far I got)",
    ),
    "time_spent": (
        "（这个回答已用了 {minutes} 分钟，先总结到这里）",
        "(this answer has taken {minutes} minutes; this is how far I got)",
    ),
    "time_note": (
        (
            "[{minutes} minutes are used, and no more time is left. Call no more tools: say so and "
            "sum up.]"
        ),
        (
            "[{minutes} minutes are used, and no more time is left. Call no more tools: say so and "
            "sum up.]"
        ),
    ),
    "too_long": (
        "这个回答超过 {minutes} 分钟，已经结束；工具做过的事不变。可以用 /retry 再试一次。",
        (
            "This answer took more than {minutes} minutes and was stopped. What tools have done "
            "stays. /retry tries again."
        ),
    ),
    "spare_model": (
        "（{chosen} 暂时用不了，这次由 {spare} 回答）",
        "({chosen} is not available right now; {spare} answered)",
    ),
    "steps_note": (
        (
            "[All {steps} steps are used. Call no more tools: say that the step limit is reached "
            "and sum up.]"
        ),
        (
            "[All {steps} steps are used. Call no more tools: say that the step limit is reached "
            "and sum up.]"
        ),
    ),
    "same_call": (
        "同一个工具（{tool}）用同样的参数已经调用了 5 次，我停下来了。请告诉我接下来怎么做。",
        "I called {tool} five times with the same arguments and stopped. Tell me how to continue.",
    ),
    "repeated": ("（可能重复）", "(possibly repeated)"),
    "fold_failed": (
        "对话太长，要先整理，可是日志写不进去（{why}）。消息已保存；解决之后用 /retry 再试。",
        "This conversation has to be folded first, but the daily log cannot be written ({why}). "
        "Your message is saved; fix that, then send /retry.",
    ),
    "budget_small": (
        "上下文预算太小：agent_max_context_tokens 至少要 {least}；现在是 {max_tokens}，"
        "固定部分就占 {fixed}（其中工具 {tools}）。",
        "The context budget is too small: agent_max_context_tokens must be at least {least}; it is "
        "{max_tokens}, of which the fixed prompt takes {fixed} (tools {tools}).",
    ),
    "window_small": (
        "这个模型的窗口是 {window} tokens；其中 {reserve} 留给回答，固定部分占 {fixed}（其中工具 "
        "{tools}）。请让服务器至少读 {least_window}，并把 llm.context_window 设成这个数；或者用 "
        "tools.off 关掉一些工具。",
        "This model's window is {window} tokens; {reserve} are kept for the answer and the fixed "
        "prompt takes {fixed} (tools {tools}). Set llm.context_window to at least {least_window}, "
        "on a server that reads as much, or turn tools off with tools.off.",
    ),
    "message_large": (
        (
            "这一步太长：请求至少要 {least} tokens，agent_max_context_tokens 只有 {max_tokens}。"
            "请把它调大，或发短一些。"
        ),
        "This is too long: the request needs {least} tokens, and agent_max_context_tokens is "
        "{max_tokens}. Raise it, or send less at once.",
    ),
    "message_large_for_window": (
        (
            "这一步太长：请求至少要 {least} tokens；这个模型的窗口是 {window}，其中 {reserve} "
            "留给回答。请发短一些。"
        ),
        "This is too long: the request needs {least} tokens; this model's window is {window}, of "
        "which {reserve} are kept for the answer. Send less at once.",
    ),
    "soul_large": (
        "SOUL.md 占 {soul} tokens，它总是整篇放入；请把它改短。",
        "SOUL.md takes {soul} of these tokens and is always sent whole; shorten it.",
    ),
    "file_refused": ("附件未读取：{why}", "Attachment not read: {why}"),
    "file_away": ("没能从平台取到", "the platform did not deliver it"),
    "not_in_a_group": (
        "这里不能这样做；请私聊我。",
        "That is not available in a group. Write to me in a private chat.",
    ),
    "denied": ("这里不能这样做。", "That is not available to you here."),
    "unknown_command": ("没有 /{name} 这个命令。{near}", "There is no command /{name}. {near}"),
    "nearest": ("你是不是想用：{names}？", "Did you mean {names}?"),
    "see_help": ("用 /帮助 查看全部。", "/help lists all commands."),
    "away": (
        "我离开了 {span}；这期间的 {count} 条消息会依次回答。",
        "I was away for {span}. I will answer the {count} messages from that time in order.",
    ),
    "dropped_part": (
        "一部分回复没能送达：{why}",
        "A part of the answer could not be delivered: {why}",
    ),
    "fold_started": (
        "正在整理较早的 {turns} 轮对话：现有 {before} tokens…",
        "Folding the oldest {turns} turns: {before} tokens now…",
    ),
    "fold_started_one": (
        "正在整理较早的 {turns} 轮对话：现有 {before} tokens…",
        "Folding the oldest turn: {before} tokens now…",
    ),
    "fold_done": (
        "已整理第 {turns} 轮，写入 {file}：{before} → {after} tokens（{percent}%）。",
        "Folded turns {turns} into {file}: {before} → {after} tokens ({percent}%).",
    ),
    "fold_done_one": (
        "已整理第 {turns} 轮，写入 {file}：{before} → {after} tokens（{percent}%）。",
        "Folded turn {turns} into {file}: {before} → {after} tokens ({percent}%).",
    ),
    "command_broke": (
        "这个命令没有做成：{why}。可以再试一次。（{trace}）",
        "That did not work: {why}. You can try again. ({trace})",
    ),
}


def format_shortage(lang: str, shortage: BudgetShortage) -> str:
    """Format why a request cannot fit: what binds, and what to change; names SOUL.md when it is the
    reason.
    """
    if shortage.is_message:
        key = "message_large_for_window" if shortage.is_window else "message_large"
    else:
        key = "window_small" if shortage.is_window else "budget_small"
    names = ("window", "reserve", "max_tokens", "fixed", "tools", "least", "least_window")
    text = format_text(lang, key, **{name: f"{getattr(shortage, name):,}" for name in names})
    if shortage.soul <= LONG_SOUL_TOKENS:
        return text
    space = "" if lang == "zh" else " "
    return f"{text}{space}{format_text(lang, 'soul_large', soul=f'{shortage.soul:,}')}"


def format_duration(seconds: float, lang: str) -> str:
    """Format a duration in one or two units; below a minute in seconds."""
    whole = max(0, int(seconds))
    sizes = (whole // 86_400, whole // 3_600 % 24, whole // 60 % 60)
    names = ("天", "小时", "分钟", "秒") if lang == "zh" else ("d", "h", "min", "s")
    given = [f"{count} {name}" for count, name in zip(sizes, names, strict=False) if count]
    return " ".join(given[:2]) or f"{whole} {names[3]}"


def format_span(time: timedelta, lang: str) -> str:
    """Format a duration in one or two units."""
    return format_duration(time.total_seconds(), lang)


# Notices of failed model calls: one plain sentence, no text of the provider.

REASON_KEYS: tuple[tuple[type[ModelError], str], ...] = (
    (KeyRefused, "why_key"),
    (NoSuchModel, "why_model"),
    (QuotaSpent, "why_quota"),
    (RateLimited, "why_rate"),
    (Stalled, "why_stalled"),
    (Overflow, "why_overflow"),
    (Damaged, "why_damaged"),
    (Transient, "why_busy"),
)


def reason_key(err: ModelError) -> str:
    """Return the key of the text that says why a call failed."""
    return next((key for kind, key in REASON_KEYS if isinstance(err, kind)), "why_other")


def failure_reason(err: ModelError, lang: str) -> str:
    """Return the reason of a failed call, for people."""
    return format_text(lang, reason_key(err))


def format_turn_failure(err: ModelError, lang: str, trace_id: str, words: str = "") -> str:
    """Format the notice of a failed turn. words: the server's own, for the owner alone."""
    text = format_text(lang, "model_failed", why=failure_reason(err, lang), trace=trace_id)
    return f"{text}\n{format_text(lang, 'server_words', words=words)}" if words else text


@dataclass(frozen=True, slots=True)
class Reason:
    """A clause that says why, in English and Chinese, without a full stop."""

    #: Templates; each `{}` stands for one of the fields, in their order.
    en: str
    zh: str
    #: What differs, such as the words of another program, which are shown as they are.
    fields: tuple[str, ...] = ()

    def text(self, lang: str) -> str:
        """Return the clause in a language, "zh" or "en"."""
        return (self.zh if lang == "zh" else self.en).format(*self.fields)

    def within(self, en: str, zh: str) -> "Reason":
        """Return a longer clause, in whose templates this one stands at the `{}`."""
        return Reason(en.replace("{}", self.en), zh.replace("{}", self.zh), self.fields)

    def __str__(self) -> str:
        return self.text("en")


def from_system(err: Exception) -> Reason:
    """Return what the system says of an error."""
    return Reason("{}", "系统报错：{}", (str(err),))


def join_reasons(reasons: Sequence[Reason]) -> Reason:
    """Return several reasons as one clause."""
    return Reason(
        "; ".join(reason.en for reason in reasons),
        "；".join(reason.zh for reason in reasons),
        tuple(field for reason in reasons for field in reason.fields),
    )
