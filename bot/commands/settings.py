"""Commands that set: /config and /model."""

import json

from bot.access.permissions import authorize
from bot.commands.base import Command, CommandContext
from bot.config.policies import nearest_policies
from bot.errors import AccessDenied
from bot.texts import format_text
from memory.context.policies.policies import POLICIES

# What admins too may set, and in any private chat; everything else takes the owner at the terminal or console.
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


async def _config(asked: CommandContext) -> str:
    key, _, value = asked.rest.partition(" ")
    file = asked.desk.config
    if not key:
        shown = {name: file.masked()[name] for name in CONTEXT_KEYS}
        return "\n".join(f"{name} = {_format_json(value)}" for name, value in shown.items())
    if not value.strip():
        return f"{key} = {_format_json(file.get(key))}"
    action = "config.write.context" if key.split(".")[0] in CONTEXT_KEYS else "config.write"
    if not authorize(asked.actor, action, "", asked.where).allowed:
        raise AccessDenied(format_text(asked.lang, "denied"))
    file.set(key, value.strip())
    await asked.desk.store.note("config", key, "set", asked.who, args={"value": file.get(key)})
    return asked.either(
        f"{key} = {_format_json(file.get(key))}，已写入 config.json。", f"{key} = {_format_json(file.get(key))}, saved."
    )


async def _model(asked: CommandContext) -> str:
    name, chosen = asked.rest.strip(), asked.conversation.model
    if not name:
        current = chosen or asked.desk.model_name()
        return asked.either(
            f"本会话的模型：{current}（{asked.desk.provider()}）。/model 名称 可以更换，/model default 恢复默认。",
            f"The model here: {current} ({asked.desk.provider()}). /model NAME changes it, /model default resets it.",
        )
    fresh = "" if name == "default" else name
    await asked.desk.store.sessions.choose(asked.conversation.id, model=fresh)
    shown = fresh or asked.desk.model_name()
    return asked.either(f"从下一条消息起使用 {shown}。", f"{shown} answers from the next message on.")


def _format_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


SETTINGS_COMMANDS = (
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


# The command /policy: how this conversation's context is kept small, and the other ways there are.

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


async def _policy(asked: CommandContext) -> str:
    name = asked.rest.strip().lower()
    if not name:
        return _format_policies(asked)
    if not authorize(asked.actor, CHANGE_ACTION, "", asked.where).allowed:
        raise AccessDenied(format_text(asked.lang, "denied"))
    if name in RESET_WORDS:
        await asked.desk.store.sessions.choose(asked.conversation.id, policy="")
        usual = asked.config.context_policy
        return asked.either(
            f"从下一条消息起，本会话跟随设置里的策略：{usual}。",
            f"From the next message on, this conversation follows the configured policy: {usual}.",
        )
    if name not in POLICIES:
        return _unknown_policy_text(asked, name)
    await asked.desk.store.sessions.choose(asked.conversation.id, policy=name)
    return asked.either(
        f"从下一条消息起，本会话使用 {name}：{POLICY_TEXTS[name][0]}。/policy default 恢复默认。",
        f"From the next message on, this conversation uses {name}: {POLICY_TEXTS[name][1]}. /policy default resets it.",
    )


def _format_policies(asked: CommandContext) -> str:
    own, usual = asked.conversation.policy, asked.config.context_policy
    current = own if own in POLICIES else usual
    source = (
        asked.either(f"本会话自选；设置里是 {usual}", f"chosen for this conversation; the configured one is {usual}")
        if own in POLICIES
        else asked.either("来自设置", "as configured")
    )
    head = asked.either(f"**策略** {current}（{source}）", f"**Policy** {current} ({source})")
    lines = [
        f"- {f'**{name}** ●' if name == current else name} — {asked.either(*about)}"
        for name, about in POLICY_TEXTS.items()
    ]
    if not authorize(asked.actor, CHANGE_ACTION, "", asked.where).allowed:
        return "\n".join([head, *lines])
    foot = asked.either(
        "/policy 名称 更换，/policy default 恢复默认。", "/policy NAME changes it, /policy default resets it."
    )
    return "\n".join([head, *lines, "", foot])


def _unknown_policy_text(asked: CommandContext, name: str) -> str:
    near = nearest_policies(name)
    known = asked.either("、", ", ").join(POLICIES)
    if near:
        meant = asked.either(" 或 ", " or ").join(near)
        return asked.either(
            f"没有 {name} 这个策略。你是不是想用 {meant}？可以用：{known}。",
            f"There is no policy {name}. Did you mean {meant}? There are {known}.",
        )
    return asked.either(f"没有 {name} 这个策略。可以用：{known}。", f"There is no policy {name}. There are {known}.")


POLICY_COMMAND = Command(
    name="policy",
    usage="[NAME]",
    usage_zh="[名称]",
    action="context.read",
    zh="查看或更换本会话的上下文策略",
    en="how this conversation is kept small; choose another way",
    run=_policy,
)
