"""Commands that change settings: /config, /model and /policy."""

import json

from bot.commands.base import Command, CommandContext, is_allowed, require
from bot.config.loader import nearest_policies
from memory.context.policies.policies import POLICIES

# Admins may set these too, in any private chat; all other keys need the owner at the terminal or console.
CONTEXT_KEYS = (
    "agent_max_context_tokens",
    "agent_max_context_turns",
    "agent_max_steps",
    "context_policy",
    "policies",
    "session_restore",
    "session_max_idle_days",
    "notify_folds",
    "language",
)


async def _config(context: CommandContext) -> str:
    key, _, value = context.arguments.partition(" ")
    file = context.services.config
    if not key:
        shown = {name: file.masked()[name] for name in CONTEXT_KEYS}
        return "\n".join(f"{name} = {_format_json(value)}" for name, value in shown.items())
    if not value.strip():
        return f"{key} = {_format_json(file.get(key))}"
    action = "config.write.context" if key.split(".")[0] in CONTEXT_KEYS else "config.write"
    require(context, action)
    file.set(key, value.strip())
    await context.store.note("config", key, "set", context.who, args={"value": file.get(key)})
    setting = f"{key} = {_format_json(file.get(key))}"
    return context.text(f"{setting}，已写入 config.json。", f"{setting}, saved.")


async def _model(context: CommandContext) -> str:
    name, chosen = context.arguments.strip(), context.conversation.model
    if not name:
        current = chosen or context.services.models.name
        provider = context.services.models.provider
        return context.text(
            f"本会话的模型：{current}（{provider}）。/model 名称 可以更换，/model default 恢复默认。",
            f"The model here: {current} ({provider}). /model NAME changes it, /model default resets it.",
        )
    new_model = "" if name == "default" else name
    await context.store.sessions.choose(context.conversation.id, model=new_model)
    shown = new_model or context.services.models.name
    return context.text(f"从下一条消息起使用 {shown}。", f"{shown} answers from the next message on.")


def _format_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# What each policy does, in Chinese and in English.
POLICY_TEXTS: dict[str, tuple[str, str]] = {
    "balanced": (
        "旧的工具结果先缩成一行；快满时在后台整理较早的一半，话题处下刀",
        "old tool results become one line; the older half is folded in the background, cut where it hurts least",
    ),
    "turns": ("轮数到了上限就整理较早的一半", "the older half is folded when the most turns are reached"),
    "budget": ("超过预算就只留最新的部分，其余写进摘要", "beyond its budget only the newest tokens stay"),
    "layers": ("窗口越满，缩得越狠：截短、一行、整理、丢弃", "shortens in steps as the window fills"),
    "boundary": ("攒到很长才整理，在话题转换的地方切", "folds late, and cuts where the topic changes"),
    "rolling": ("每隔几条消息就并入摘要，只留最近几条", "every few messages are rolled into the summary"),
}
RESET_WORDS = ("default", "默认")
CHANGE_ACTION = "config.write.context"


async def _policy(context: CommandContext) -> str:
    name = context.arguments.strip().lower()
    if not name:
        return _format_policies(context)
    require(context, CHANGE_ACTION)
    if name in RESET_WORDS:
        await context.store.sessions.choose(context.conversation.id, policy="")
        configured = context.config.context_policy
        return context.text(
            f"从下一条消息起，本会话跟随设置里的策略：{configured}。",
            f"From the next message on, this conversation follows the configured policy: {configured}.",
        )
    if name not in POLICIES:
        return _unknown_policy_text(context, name)
    await context.store.sessions.choose(context.conversation.id, policy=name)
    return context.text(
        f"从下一条消息起，本会话使用 {name}：{POLICY_TEXTS[name][0]}。/policy default 恢复默认。",
        f"From the next message on, this conversation uses {name}: {POLICY_TEXTS[name][1]}. /policy default resets it.",
    )


def _format_policies(context: CommandContext) -> str:
    own, configured = context.conversation.policy, context.config.context_policy
    current = own if own in POLICIES else configured
    source = (
        context.text(
            f"本会话自选；设置里是 {configured}", f"chosen for this conversation; the configured one is {configured}"
        )
        if own in POLICIES
        else context.text("来自设置", "as configured")
    )
    head = context.text(f"**策略** {current}（{source}）", f"**Policy** {current} ({source})")
    lines = [
        f"- {f'**{name}** ●' if name == current else name} — {context.text(*about)}"
        for name, about in POLICY_TEXTS.items()
    ]
    if not is_allowed(context, CHANGE_ACTION):
        return "\n".join([head, *lines])
    foot = context.text(
        "/policy 名称 更换，/policy default 恢复默认。", "/policy NAME changes it, /policy default resets it."
    )
    return "\n".join([head, *lines, "", foot])


def _unknown_policy_text(context: CommandContext, name: str) -> str:
    near = nearest_policies(name)
    known = context.text("、", ", ").join(POLICIES)
    if near:
        meant = context.text(" 或 ", " or ").join(near)
        return context.text(
            f"没有 {name} 这个策略。你是不是想用 {meant}？可以用：{known}。",
            f"There is no policy {name}. Did you mean {meant}? There are {known}.",
        )
    return context.text(f"没有 {name} 这个策略。可以用：{known}。", f"There is no policy {name}. There are {known}.")


SETTINGS_COMMANDS = (
    Command(
        name="policy",
        usage="[NAME]",
        usage_zh="[名称]",
        action="context.read",
        zh="查看或更换本会话的上下文策略",
        en="how this conversation is kept small; choose another way",
        run=_policy,
    ),
    Command(
        name="config",
        usage="[KEY [VALUE]]",
        usage_zh="[键 [值]]",
        action="config.read",
        zh="查看或修改设置",
        en="see or change settings",
        run=_config,
    ),
    Command(
        name="model",
        usage="[NAME]",
        usage_zh="[名称]",
        action="model.choose",
        zh="查看或更换模型",
        en="see or change the model",
        run=_model,
    ),
)
