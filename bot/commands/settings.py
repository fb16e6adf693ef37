"""Commands that change settings: /config, /model and /policy."""

import json
from functools import partial

from bot.commands.base import Command, CommandContext, is_allowed, require
from bot.config.key_texts import POLICY_SETTING_TEXTS
from bot.config.keys import KEYS, LIST_ITEM, ConfigKey, describe_key
from bot.config.loader import find_named_key, nearest_policies
from bot.models.setup.listing import ModelListing
from bot.texts import format_shortage
from memory.context.policies.policies import POLICIES, Policy, build_policy

# Admins may set these too, in any private chat; all other keys need the owner at the terminal or
# console.
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


MAX_LISTED_MODELS = 30


async def _config(context: CommandContext) -> str:
    key, _, value = context.arguments.partition(" ")
    file = context.services.config
    if not key:
        shown = {name: file.masked()[name] for name in CONTEXT_KEYS}
        foot = context.text(
            "/config 键 看说明，例如 /config language。",
            "/config KEY explains one, as /config language.",
        )
        return "\n".join(
            [*(f"{name} = {_format_json(value)}" for name, value in shown.items()), "", foot]
        )
    if not value.strip():
        return _explain_key(context, key)
    require(context, _write_action(key))
    if refusal := await _find_refusal(context, key, value.strip()):
        return refusal
    file.set(key, value.strip())
    await context.store.note("config", key, "set", context.who, args={"value": file.get(key)})
    setting = f"{key} = {_format_json(file.get(key))}"
    return context.text(f"{setting}，已写入 config.json。", f"{setting}, saved.")


async def _find_refusal(context: CommandContext, key: str, value: str) -> str:
    """Say why no request would fit with this value; "" if it does, or if none fits with the present
    one either.
    """
    services = context.services
    config = services.config.preview_value(key, value)
    model = context.conversation.model or services.models.name
    find = partial(services.fitter.find_shortage, context.conversation.place.space)
    before = await find(context.config, model, services.models.window(model))
    if before is not None:
        return ""
    shortage = await find(config, model, services.models.window_with(config, model))
    if shortage is None:
        return ""
    text = format_shortage(context.lang, shortage)
    return context.text(f"没有改：{text}", f"Not changed. {text}")


def _write_action(key: str) -> str:
    return CHANGE_ACTION if key.split(".")[0] in CONTEXT_KEYS else "config.write"


def _explain_key(context: CommandContext, name: str) -> str:
    """Explain a key: meaning, current value, default, what it accepts, and an example of a
    change.
    """
    value, key = context.services.config.get(name), find_named_key(name)
    if key is None:  # all settings of one policy
        policy = build_policy(name.split(".")[1], context.config.policies)
        return "\n".join(
            [
                f"**{policy.name}** — {context.text(*POLICY_TEXTS[policy.name])}",
                *_all_settings(context, policy),
            ]
        )
    head = [f"**{context.text(*key.title)}**", context.text(*key.about)]
    if key.form == "section":
        return "\n".join([*head, *_section_lines(context, key)])
    default = _format_json(key.default)
    same = _format_json(value) == default
    mark = (
        context.text("（默认）", " (default)")
        if same
        else context.text(f"（默认 {default}）", f" (default {default})")
    )
    accepts = (
        context.text(*ANY_TEXT)
        if key.form in ("text", "secret")
        else context.text(*describe_key(key, with_default=False))
    )
    return "\n".join(
        [
            *head,
            f"{name} = {_format_json(value)}{mark}",
            context.text(f"{accepts}。", f"{accepts[0].upper()}{accepts[1:]}."),
            _example_line(context, key),
        ]
    )


def _example_line(context: CommandContext, key: ConfigKey) -> str:
    example = f"/config {key.name} {key.example}"
    if is_allowed(context, _write_action(key.name)):
        return context.text(f"示例：{example}", f"Example: {example}")
    return context.text(
        f"只能在终端或网页里改，例如：{example}", f"Only in the terminal or on the page: {example}"
    )


def _section_lines(context: CommandContext, section: ConfigKey) -> list[str]:
    """List the keys of a section with their values, and the sections in it with their titles."""
    lines = []
    for key in KEYS.values():
        if key.path[:-1] != section.path or LIST_ITEM in key.path:
            continue
        if key.form == "section":
            lines.append(f"{key.name} — {context.text(*key.title)}")
        else:
            lines.append(f"{key.name} = {_format_json(context.services.config.get(key.name))}")
    return lines


async def _model(context: CommandContext) -> str:
    name, chosen = context.arguments.strip(), context.conversation.model
    if not name:
        current = chosen or context.services.models.name
        provider = context.services.models.provider
        head = context.text(
            (
                f"本会话的模型：{current}（{provider}）。/model 名称 可以更换，/model default "
                "恢复默认。"
            ),
            (
                f"The model here: {current} ({provider}). /model NAME changes it, /model default "
                "resets it."
            ),
        )
        return "\n".join(
            [head, *_format_listing(context, current, await context.services.models.list_models())]
        )
    new_model = "" if name == "default" else name
    await context.store.sessions.choose(context.conversation.id, model=new_model)
    shown = new_model or context.services.models.name
    return context.text(
        f"从下一条消息起使用 {shown}。", f"{shown} answers from the next message on."
    )


def _format_listing(
    context: CommandContext, current: str, listing: ModelListing | None
) -> list[str]:
    """List what the server has, and which of it is used for what."""
    if listing is None:
        return []
    if listing.fault is not None:
        why = context.text(*listing.fault.text)
        return [
            context.text(
                f"不知道服务器还有哪些模型：{why}", f"What else the server has is not known. {why}"
            )
        ]
    uses = {
        context.services.models.fast_name: context.text("（摘要）", " (summaries)"),
        current: context.text(" ●（这里）", " ● (here)"),
    }
    # Those in use come first: a list may be long.
    listed = sorted(listing.models, key=lambda model: model.id not in uses)
    lines = [context.text("服务器有：", "The server has:")]
    lines += [f"- {model.id}{uses.get(model.id, '')}" for model in listed[:MAX_LISTED_MODELS]]
    more = len(listed) - MAX_LISTED_MODELS
    if more > 0:
        lines.append(context.text(f"还有 {more} 个。", f"And {more} more."))
    return lines


def _format_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# What each policy does, in Chinese and in English.
POLICY_TEXTS: dict[str, tuple[str, str]] = {
    "balanced": (
        "旧的工具结果先缩成一行；快满时在后台整理较早的一半，在话题转换处分开",
        (
            "old tool results become one line; the older half is folded in the background, cut "
            "where it hurts least"
        ),
    ),
    "turns": (
        "轮数到了上限就整理较早的一半",
        "the older half is folded when the most turns are reached",
    ),
    "budget": (
        "超过预算就只留最新的部分，其余写进摘要",
        "beyond its budget only the newest tokens stay",
    ),
    "layers": (
        "窗口越满，压缩越多：先截短，再缩成一行，再整理，最后丢弃",
        "shortens in steps as the window fills",
    ),
    "boundary": (
        "攒到很长才整理，在话题转换的地方切",
        "folds late, and cuts where the topic changes",
    ),
    "rolling": (
        "每隔几条消息就并入摘要，只留最近几条",
        "every few messages are rolled into the summary",
    ),
}
RESET_WORDS = ("default", "默认")
CHANGE_ACTION = "config.write.context"
ANY_TEXT = ("任意文字", "any text")
# The settings that say when a policy acts and how much it leaves; /policy lists them and the
# changed ones. Without an entry here all are listed.
KEY_SETTINGS: dict[str, tuple[str, ...]] = {
    "balanced": ("snip_chars", "line_at", "fold_at", "keep_most"),
    "turns": ("snip_chars", "text_only_below"),
    "budget": ("most_tokens", "fold_tokens", "keep_tokens"),
    "layers": ("snip_chars", "line_at", "fold_at", "drop_at"),
    "boundary": ("fold_tokens", "fold_messages", "keep"),
    "rolling": ("every_messages", "every_tokens", "keep_messages", "keep_tokens"),
}


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
            (
                "From the next message on, this conversation follows the configured policy: "
                f"{configured}."
            ),
        )
    if name not in POLICIES:
        return _unknown_policy_text(context, name)
    await context.store.sessions.choose(context.conversation.id, policy=name)
    return context.text(
        f"从下一条消息起，本会话使用 {name}：{POLICY_TEXTS[name][0]}。/policy default 恢复默认。",
        (
            f"From the next message on, this conversation uses {name}: {POLICY_TEXTS[name][1]}. "
            "/policy default resets it."
        ),
    )


def _format_policies(context: CommandContext) -> str:
    own, configured = context.conversation.policy, context.config.context_policy
    current = own if own in POLICIES else configured
    source = (
        context.text(
            f"本会话自选；设置里是 {configured}",
            f"chosen for this conversation; the configured one is {configured}",
        )
        if own in POLICIES
        else context.text("来自设置", "as configured")
    )
    head = context.text(f"**策略** {current}（{source}）", f"**Policy** {current} ({source})")
    lines = [head, _format_limits(context)]
    for name, about in POLICY_TEXTS.items():
        lines.append(f"- {f'**{name}** ●' if name == current else name} — {context.text(*about)}")
        lines.append(
            f"  {_format_key_settings(context, build_policy(name, context.config.policies))}"
        )
    lines += [
        "",
        context.text(
            f"/config policies.{current} 逐个说明。",
            f"/config policies.{current} explains each number.",
        ),
    ]
    if is_allowed(context, CHANGE_ACTION):
        lines.append(
            context.text(
                "/policy 名称 更换，/policy default 恢复默认。",
                "/policy NAME changes it, /policy default resets it.",
            )
        )
    return "\n".join(lines)


def _format_limits(context: CommandContext) -> str:
    turns, tokens = context.config.agent_max_context_turns, context.config.agent_max_context_tokens
    return context.text(
        f"上限 {tokens:,} tokens；balanced 和 turns 满 {turns} 轮也整理。",
        f"At most {tokens:,} tokens; balanced and turns also fold at {turns} turns.",
    )


def _format_key_settings(context: CommandContext, policy: Policy) -> str:
    """List a policy's key settings and the changed ones, such as "fold_at 0.8 (default 0.75)"."""
    names = dict.fromkeys(
        (*KEY_SETTINGS.get(policy.name, policy.setting_names), *_changed_settings(policy))
    )
    return " · ".join(f"{name} {_format_setting(context, policy, name)}" for name in names)


def _changed_settings(policy: Policy) -> list[str]:
    default = POLICIES[policy.name].settings
    return [
        name
        for name in policy.setting_names
        if getattr(policy.settings, name) != getattr(default, name)
    ]


def _format_setting(context: CommandContext, policy: Policy, name: str) -> str:
    value, default = (
        getattr(settings, name) for settings in (policy.settings, POLICIES[policy.name].settings)
    )
    notes = [context.text(f"默认 {default:,}", f"default {default:,}")] if value != default else []
    window, limit = policy.settings.window, context.config.agent_max_context_tokens
    if name == "fold_tokens" and limit < window:  # the policy's tokens are those of its window
        notes.append(
            context.text(
                f"按上限缩为 {value * limit // window:,}", f"here {value * limit // window:,}"
            )
        )
    return f"{value:,}" + (
        context.text(f"（{'，'.join(notes)}）", f" ({', '.join(notes)})") if notes else ""
    )


def _all_settings(context: CommandContext, policy: Policy) -> list[str]:
    lines = [
        f"- {name} {_format_setting(context, policy, name)} — "
        f"{context.text(*POLICY_SETTING_TEXTS[name])}"
        for name in policy.setting_names
    ]
    name = KEY_SETTINGS.get(policy.name, policy.setting_names)[-1]
    key = find_named_key(f"policies.{policy.name}.{name}")
    return [*lines, _example_line(context, key)] if key else lines


def _unknown_policy_text(context: CommandContext, name: str) -> str:
    near = nearest_policies(name)
    known = context.text("、", ", ").join(POLICIES)
    if near:
        meant = context.text(" 或 ", " or ").join(near)
        return context.text(
            f"没有 {name} 这个策略。你是不是想用 {meant}？可以用：{known}。",
            f"There is no policy {name}. Did you mean {meant}? There are {known}.",
        )
    return context.text(
        f"没有 {name} 这个策略。可以用：{known}。", f"There is no policy {name}. There are {known}."
    )


SETTINGS_COMMANDS = (
    Command(
        name="policy",
        usage="[NAME]",
        usage_zh="[名称]",
        action="context.read",
        zh="查看或更换本会话的上下文策略",
        en="see or change how this conversation is kept within its limits",
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
