"""Commands that change settings: /config, /model and /policy."""

import json
from functools import partial

from bot.commands.base import Command, CommandContext, is_allowed, require
from bot.config.keys import KEYS, LIST_ITEM, ConfigKey, describe_key, policy_number_meaning
from bot.config.loader import find_named_key, nearest_policies
from bot.models.setup.listing import ModelListing
from bot.texts import format_shortage
from channels.phrases import Capitalized, Phrase, join_phrases
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
            Phrase("/config KEY explains a setting, as in /config language."),
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
    return context.text(Phrase("{setting}, saved.", setting=setting))


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
    return context.text(Phrase("Not changed. {words}", words=text))


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
                f"**{policy.name}** — {context.text(POLICY_TEXTS[policy.name])}",
                *_all_settings(context, policy),
            ]
        )
    head = [f"**{context.text(key.title)}**", context.text(key.about)]
    if key.form == "section":
        return "\n".join([*head, *_section_lines(context, key)])
    default = _format_json(key.default)
    same = _format_json(value) == default
    mark = (
        context.text(Phrase(" (default)"))
        if same
        else context.text(Phrase(" (default {default})", default=default))
    )
    accepts = ANY_TEXT if key.form in ("text", "secret") else describe_key(key, with_default=False)
    return "\n".join(
        [
            *head,
            f"{name} = {_format_json(value)}{mark}",
            context.text(Phrase("{accepts}.", accepts=Capitalized(accepts))),
            _example_line(context, key),
        ]
    )


def _example_line(context: CommandContext, key: ConfigKey) -> str:
    example = f"/config {key.name} {key.example}"
    if is_allowed(context, _write_action(key.name)):
        return context.text(Phrase("Example: {example}", example=example))
    return context.text(
        Phrase("Can be changed only in the terminal or on the page: {example}", example=example)
    )


def _section_lines(context: CommandContext, section: ConfigKey) -> list[str]:
    """List the keys of a section with their values, and the sections in it with their titles."""
    lines = []
    for key in KEYS.values():
        if key.path[:-1] != section.path or LIST_ITEM in key.path:
            continue
        if key.form == "section":
            lines.append(f"{key.name} — {context.text(key.title)}")
        else:
            lines.append(f"{key.name} = {_format_json(context.services.config.get(key.name))}")
    return lines


async def _model(context: CommandContext) -> str:
    name, chosen = context.arguments.strip(), context.conversation.model
    if not name:
        current = chosen or context.services.models.name
        provider = context.services.models.provider
        head = context.text(
            Phrase(
                "The model here: {current} ({provider}). /model NAME changes it, /model default "
                "resets it.",
                current=current,
                provider=provider,
            ),
        )
        return "\n".join(
            [head, *_format_listing(context, current, await context.services.models.list_models())]
        )
    new_model = "" if name == "default" else name
    await context.store.sessions.choose(context.conversation.id, model=new_model)
    shown = new_model or context.services.models.name
    return context.text(Phrase("{shown} answers from the next message on.", shown=shown))


def _format_listing(
    context: CommandContext, current: str, listing: ModelListing | None
) -> list[str]:
    """List what the server has, and which of it is used for what."""
    if listing is None:
        return []
    if listing.fault is not None:
        why = context.text(listing.fault.text)
        return [
            context.text(Phrase("The other models on the server are not known. {why}", why=why))
        ]
    uses = {
        context.services.models.fast_name: context.text(Phrase(" (summaries)")),
        current: context.text(Phrase(" ● (here)")),
    }
    # Those in use come first: a list may be long.
    listed = sorted(listing.models, key=lambda model: model.id not in uses)
    lines = [context.text(Phrase("The server has:"))]
    lines += [f"- {model.id}{uses.get(model.id, '')}" for model in listed[:MAX_LISTED_MODELS]]
    more = len(listed) - MAX_LISTED_MODELS
    if more > 0:
        lines.append(context.text(Phrase("And {more} more.", more=more)))
    return lines


def _format_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# What each policy does, in Chinese and in English.
POLICY_TEXTS: dict[str, Phrase] = {
    "balanced": Phrase(
        "old tool results shrink to one line; the older half is folded in the background, split "
        "where a topic ends"
    ),
    "turns": Phrase("the older half is folded at the turn limit"),
    "budget": Phrase("only the newest tokens within the budget stay"),
    "layers": Phrase("shortens in steps as the window fills"),
    "boundary": Phrase("folds late, and splits where the topic changes"),
    "rolling": Phrase("every few messages are merged into the summary"),
}
RESET_WORDS = ("default", "默认")
CHANGE_ACTION = "config.write.context"
ANY_TEXT = Phrase("any text")
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
            Phrase(
                "From the next message on, this conversation follows the configured policy: "
                "{configured}.",
                configured=configured,
            ),
        )
    if name not in POLICIES:
        return _unknown_policy_text(context, name)
    await context.store.sessions.choose(context.conversation.id, policy=name)
    return context.text(
        Phrase(
            "From the next message on, this conversation uses {name}: {about}. /policy default "
            "resets it.",
            name=name,
            about=POLICY_TEXTS[name],
        ),
    )


def _format_policies(context: CommandContext) -> str:
    own, configured = context.conversation.policy, context.config.context_policy
    current = own if own in POLICIES else configured
    source = (
        context.text(
            Phrase(
                "chosen for this conversation; the configured one is {configured}",
                configured=configured,
            ),
        )
        if own in POLICIES
        else context.text(Phrase("as configured"))
    )
    head = context.text(Phrase("**Policy** {current} ({source})", current=current, source=source))
    lines = [head, _format_limits(context)]
    for name, about in POLICY_TEXTS.items():
        lines.append(f"- {f'**{name}** ●' if name == current else name} — {context.text(about)}")
        lines.append(
            f"  {_format_key_settings(context, build_policy(name, context.config.policies))}"
        )
    lines += [
        "",
        context.text(
            Phrase("/config policies.{current} explains each number.", current=current),
        ),
    ]
    if is_allowed(context, CHANGE_ACTION):
        lines.append(
            context.text(
                Phrase("/policy NAME changes it, /policy default resets it."),
            )
        )
    return "\n".join(lines)


def _format_limits(context: CommandContext) -> str:
    turns, tokens = context.config.agent_max_context_turns, context.config.agent_max_context_tokens
    return context.text(
        Phrase(
            "At most {tokens:,} tokens; balanced and turns also fold at {turns} turns.",
            tokens=tokens,
            turns=turns,
        ),
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
    notes = (
        [context.text(Phrase("default {default:,}", default=default))] if value != default else []
    )
    window, limit = policy.settings.window, context.config.agent_max_context_tokens
    if name == "fold_tokens" and limit < window:  # the policy's tokens are those of its window
        notes.append(context.text(Phrase("here {limit:,}", limit=value * limit // window)))
    return f"{value:,}" + (
        context.text(
            Phrase(" ({notes})", notes=join_phrases(notes, Phrase(", ", context="clauses")))
        )
        if notes
        else ""
    )


def _all_settings(context: CommandContext, policy: Policy) -> list[str]:
    lines = [
        f"- {name} {_format_setting(context, policy, name)} — "
        f"{context.text(policy_number_meaning(name))}"
        for name in policy.setting_names
    ]
    name = KEY_SETTINGS.get(policy.name, policy.setting_names)[-1]
    key = find_named_key(f"policies.{policy.name}.{name}")
    return [*lines, _example_line(context, key)] if key else lines


def _unknown_policy_text(context: CommandContext, name: str) -> str:
    near = nearest_policies(name)
    known = context.text(Phrase(", ")).join(POLICIES)
    if near:
        meant = context.text(Phrase(" or ")).join(near)
        return context.text(
            Phrase(
                "There is no policy {name}. Did you mean {meant}? Available: {known}.",
                name=name,
                meant=meant,
                known=known,
            ),
        )
    return context.text(
        Phrase("There is no policy {name}. Available: {known}.", name=name, known=known)
    )


SETTINGS_COMMANDS = (
    Command(
        name="policy",
        usage=Phrase("[NAME]"),
        action="context.read",
        about=Phrase("see or change how this conversation's context is kept small"),
        run=_policy,
    ),
    Command(
        name="config",
        usage=Phrase("[KEY [VALUE]]"),
        action="config.read",
        about=Phrase("see or change settings"),
        run=_config,
    ),
    Command(
        name="model",
        usage=Phrase("[NAME]"),
        action="model.choose",
        about=Phrase("see or change the model"),
        run=_model,
    ),
)
