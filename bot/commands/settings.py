"""Commands that set: /config and /model."""

import json

from bot.access import authorize
from bot.commands.base import Asked, Command
from bot.errors import Denied
from bot.texts import say

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
"""What admins too may set, and in any private chat; everything else takes the owner at the terminal or console."""


async def _config(asked: Asked) -> str:
    key, _, value = asked.rest.partition(" ")
    file = asked.desk.config
    if not key:
        shown = {name: file.masked()[name] for name in CONTEXT_KEYS}
        return "\n".join(f"{name} = {_json(value)}" for name, value in shown.items())
    if not value.strip():
        return f"{key} = {_json(file.get(key))}"
    action = "config.write.context" if key.split(".")[0] in CONTEXT_KEYS else "config.write"
    if not authorize(asked.actor, action, "", asked.where).allowed:
        raise Denied(say(asked.lang, "denied"))
    file.set(key, value.strip())
    await asked.desk.store.note("config", key, "set", asked.who, args={"value": file.get(key)})
    return asked.either(
        f"{key} = {_json(file.get(key))}，已写入 config.json。", f"{key} = {_json(file.get(key))}, saved."
    )


async def _model(asked: Asked) -> str:
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


def _json(value: object) -> str:
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
