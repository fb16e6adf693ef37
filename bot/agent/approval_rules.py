"""Rules of approval of commands: which one covers a call, and what a person's "always" makes."""

import json
from typing import Any

from bot.errors import ToolFailed
from bot.tools.base import Tool
from bot.tools.exec.rules import CommandRule, RuleRefused, build_command_rule
from bot.tools.exec.tool import ExecTool
from memory.store.people.access import AccessRecords
from memory.store.people.approval_rules import ApprovalRuleRow, NewApprovalRule
from memory.store.people.rows import ApprovalRow

BOUND_KEY = "#bound"  # beside the arguments in the stored text; no argument of a tool has such a name
TAINTED_KEY = "#tainted"  # the same: words from outside were in view when it was asked for


def can_have_rules(tool: Tool | None) -> bool:
    """Tell whether calls of a tool can be approved for good: commands only."""
    return isinstance(tool, ExecTool)


async def find_covering_rule(
    access: AccessRecords, tool: Tool | None, arguments: Any, space: str, now: float
) -> ApprovalRuleRow | None:
    """Return a rule by which a call may run without a question; None if there is none.

    Args:
        arguments: what the tool's `arguments` parsed.
        now: unix seconds.
    """
    if not isinstance(tool, ExecTool):
        return None
    rows = await access.rules(space, now)
    if not rows:
        return None
    try:
        bound = await tool.bind(arguments)
    except ToolFailed:
        return None  # the question says why
    given = arguments.given()
    return next((row for row in rows if to_rule(row).covers(given, bound)), None)


def build_rule(row: ApprovalRow, words: int) -> NewApprovalRule:
    """Return the rule that "always" makes of a request.

    Args:
        words: how many words of the command others have to begin with; 0: the rule covers this very command.

    Raises:
        RuleRefused: there can be no such rule.
    """
    given = json.loads(row.arguments)
    bound = given.pop(BOUND_KEY, {})
    if row.tool != ExecTool.spec.name or "sandbox" not in bound:
        raise RuleRefused(
            "That can be approved once only; rules are for commands.", "这个只能批准一次；只有命令可以总是批准。"
        )
    if given.get(TAINTED_KEY):
        raise RuleRefused(
            "Words from outside were in view when it was asked for, so it can be approved once only.",
            "提出请求时对话里有外来的文字，所以只能批准一次。",
        )
    rule = build_command_rule(given, bound, words)
    return NewApprovalRule(
        space=row.space, party=row.party, tool=row.tool, command=rule.to_json(), cwd=rule.cwd, level=rule.level
    )


def to_rule(row: ApprovalRuleRow) -> CommandRule:
    """Parse what a stored rule covers."""
    return CommandRule.from_json(row.command, row.cwd, row.level)
