"""The commands /help, /status, /whoami, /usage, /stop and /retry."""

import time

from bot.access.budgets import (
    budget_account,
    format_money,
    format_usage,
    limits_for_actor,
    report_spans,
    start_of_day,
    total_usage,
)
from bot.access.permissions import cap_role
from bot.command_names import CHINESE_NAMES
from bot.commands.base import MAX_NAME_CHARS, Command, CommandContext, is_allowed
from bot.gateway.channel_status import format_channel_status
from bot.memory.outcome_texts import describe_outcomes
from bot.messages import parse_command
from bot.models.facts import format_error, format_facts
from bot.models.health import format_model_status, notable_statuses
from bot.texts import SEE_HELP, UNKNOWN_COMMAND, format_span
from channels.phrases import NO_PHRASE, Phrase
from memory.conversation import Part, Text

MAX_SKILL_CHARS = 60_000  # of a skill that a person names


async def _help(context: CommandContext) -> str:
    """List the commands that this person may use, or explain one."""
    if context.arguments:
        return _explain(context, context.arguments.split()[0].lstrip("/"))
    allowed = (
        command for command in context.commands.values() if is_allowed(context, command.action)
    )
    return "\n".join(_help_line(context, command) for command in allowed)


def _explain(context: CommandContext, word: str) -> str:
    parsed = parse_command(f"/{word}")
    command = context.commands.get(parsed[0]) if parsed else None
    if command is None or not is_allowed(context, command.action):
        near = SEE_HELP.text(context.lang)
        return UNKNOWN_COMMAND.fill(name=word[:MAX_NAME_CHARS], near=near).text(context.lang)
    names = [f"/{command.name}", *(f"/{name}" for name in CHINESE_NAMES[command.name])]
    spelled = context.text(Phrase("You can also type: ")) + context.text(Phrase(", ")).join(names)
    return f"{_help_line(context, command)}\n{spelled}"


def _help_line(context: CommandContext, command: Command) -> str:
    if context.lang == "zh":
        name, also = command.name_zh, Phrase(" (/{name})", name=command.name)
    else:
        name, also = command.name, NO_PHRASE
    typed = f"/{name} {command.usage.text(context.lang)}".rstrip()
    return context.text(
        Phrase("{typed}{also} — {about}", typed=typed, also=also, about=command.about)
    )


async def _status(context: CommandContext) -> str:
    services, now, lang = context.services, context.services.now(), context.lang
    up, active = format_span(now - services.started, lang), await _count_active(context)
    model = f"{services.models.provider} · {services.models.name}"
    lines = [
        context.text(Phrase("up {up}", up=up)),
        context.text(Phrase("model {model}", model=model)),
        context.text(Phrase("active conversations {active}", active=active)),
    ]
    if context.actor.role in ("owner", "admin") and context.scope.kind != "group":
        lines += [
            format_model_status(state, lang) for state in notable_statuses(services.models.states())
        ]
        lines += await _background_lines(context)
        lines += [
            format_channel_status(state, now.timestamp(), lang)
            for state in services.channels().values()
        ]
        if context.config.tools.exec.enabled:
            lines.append(_format_sandbox(context))
    return "\n".join(lines)


async def _background_lines(context: CommandContext) -> list[str]:
    """Say what is known of the models, and what became of the work beside replies."""
    models, lang = context.services.models, context.lang
    facts = models.facts() if models.provider != "offline" else ()
    lines = [format_facts(each, lang) for each in facts]
    if context.actor.role == "owner":  # a server's words may quote what people wrote
        lines += filter(None, (format_error(each, time.monotonic(), lang) for each in facts))
    return lines + [
        context.text(line) for line in describe_outcomes(await context.store.outcomes.newest())
    ]


def _format_sandbox(context: CommandContext) -> str:
    reason = context.services.sandbox().reason
    if reason is None:
        return context.text(Phrase("command sandbox A (bubblewrap)"))
    return describe_missing_exec(context, reason)


def describe_missing_exec(context: CommandContext, reason: Phrase) -> str:
    """Say why no commands are offered."""
    return context.text(Phrase("exec is not offered: {reason}", reason=reason))


async def _count_active(context: CommandContext) -> int:
    """Count conversations with work; this command does not count as work of its own
    conversation.
    """
    own_id, store = context.conversation.id, context.store
    others = [id for id in await store.delivery.waiting() if id != own_id]
    session = await store.sessions.load(own_id, turns=1)
    return len(others) + bool(session.running)


async def _whoami(context: CommandContext) -> str:
    role = cap_role(context.actor, context.scope)
    return context.text(
        Phrase(
            "channel {channel} · your id {id} · role {role}",
            channel=context.actor.channel,
            id=context.actor.id,
            role=role,
        ),
    )


async def _usage(context: CommandContext) -> str:
    """Show everyone's usage to owner and admins in private, the sender's own otherwise."""
    everyone = context.actor.role in ("owner", "admin") and context.scope.kind != "group"
    who, rows = "" if everyone else budget_account(context.actor), list[str]()
    people = everyone and context.actor.role == "owner"
    for span, since in report_spans(context.services.now()).values():
        used = await context.store.spending.sum_by_person(since, who)
        rows += [f"**{context.text(span)}**", *format_usage(used, context.lang, people=people)]
    return "\n".join([*rows, *await _limits(context)])


async def _limits(context: CommandContext) -> list[str]:
    """Show what is left of today's limits; nothing for a role without limits."""
    limits = limits_for_actor(context.config.budgets, context.actor)
    if limits is None:
        return []
    now = context.services.now()
    used = total_usage(
        await context.store.spending.sum_by_person(start_of_day(now), budget_account(context.actor))
    )
    left = []
    if limits.tokens_per_day:
        left.append(f"{max(0, limits.tokens_per_day - used.tokens):,} tokens")
    if limits.money_per_day:
        left.append(format_money(max(0.0, limits.money_per_day - used.money)))
    return (
        [
            context.text(Phrase("left today: "))
            + context.text(Phrase(", ", context="clauses")).join(left)
        ]
        if left
        else []
    )


async def _stop(context: CommandContext) -> str:
    stopped = await context.services.stop(context.conversation.id)
    reply = Phrase("Stopping.") if stopped else Phrase("Nothing is running.")
    return reply.text(context.lang)


async def _retry(context: CommandContext) -> str:
    return context.text(Phrase("There is no message to retry."))


async def _skills(context: CommandContext) -> str:
    skills = [
        skill for _, skill in context.services.skills.enabled(context.conversation.place.space)
    ]
    if not skills:
        return context.text(
            Phrase(
                "No skills are on here. The owner adds them in the terminal with mnema skills add."
            ),
        )
    return "\n".join(f"- **{skill.name}**: {skill.description}" for skill in skills)


INFO_COMMANDS = (
    Command(
        name="help",
        usage=Phrase("[COMMAND]"),
        action="help",
        about=Phrase("list all commands, or explain one"),
        run=_help,
    ),
    Command(
        name="status",
        usage=NO_PHRASE,
        action="status",
        about=Phrase("see whether everything works"),
        run=_status,
    ),
    Command(
        name="whoami",
        usage=NO_PHRASE,
        action="whoami",
        about=Phrase("see your id and role"),
        run=_whoami,
    ),
    Command(
        name="stop",
        usage=NO_PHRASE,
        action="turn.stop",
        about=Phrase("stop the running answer"),
        run=_stop,
    ),
    Command(
        name="retry",
        usage=NO_PHRASE,
        action="turn.retry",
        about=Phrase("answer the latest message again"),
        run=_retry,
    ),
    Command(
        name="usage",
        usage=NO_PHRASE,
        action="usage.own",
        about=Phrase("see tokens used and what they cost"),
        run=_usage,
    ),
)


async def _skill(context: CommandContext) -> str | tuple[Part, ...]:
    """Have the model follow a skill that the person names."""
    name, _, words = context.arguments.partition(" ")
    skills = {
        skill.name: skill
        for _, skill in context.services.skills.enabled(context.conversation.place.space)
    }
    if name not in skills:
        known = ", ".join(skills) or "-"
        return context.text(Phrase("There is no such skill here. Available: {known}", known=known))
    wish = context.text(Phrase("Follow the skill {name}. {words}", name=name, words=words)).strip()
    return Text(text=skills[name].body[:MAX_SKILL_CHARS], aside=f"skill {name}"), Text(text=wish)


SKILL_COMMAND = Command(
    name="skill",
    usage=Phrase("NAME [WORDS]"),
    action="skill.read",
    about=Phrase("have the bot follow a skill"),
    run=_skill,
)
SKILLS_COMMAND = Command(
    name="skills",
    usage=NO_PHRASE,
    action="status",
    about=Phrase("see which skills are on"),
    run=_skills,
)
