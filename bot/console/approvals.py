"""Routes for approvals: what waits in the owner's space, deciding it, which rules there are, and
their revocation.
"""

from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import Response

from bot.access.roles import RoleResolver
from bot.agent.approval_texts import ask_reason, mixed_words, show_call, show_source
from bot.agent.approvals import Begun
from bot.console import models
from bot.tools.exec.rules import (
    ASKING_SERVER_ACTION,
    ApprovalRule,
    CommandRule,
    StoredCall,
    format_rule,
    is_in_force,
    to_rule,
)
from bot.tools.exec.tool import ExecTool
from channels.phrases import Phrase
from channels.web.requests import HttpRefusal, Route, json_response
from memory.store.automation.approval_rules import ApprovalRuleRow
from memory.store.automation.approvals import ApprovalRow
from memory.store.store import Store

OWNER_SPACE = ""  # only there commands are run
DECIDER = "web"  # in the audit chain


# The decisions: whether the call runs, and the words of a command that its rule covers, 0 for all
# of them.
DECISIONS: dict[str, tuple[bool, int | None]] = {
    "once": (True, None),
    "deny": (False, None),
    "always": (True, 0),
}


class ApprovalDecider(Protocol):
    """Applies a decision; the call runs after the reply, and after the turn that runs where it was
    asked.
    """

    async def decide_approval(
        self, row: ApprovalRow, *, approve: bool, always: int | None, by: str
    ) -> Begun: ...


class ApprovalRoutes:
    """Handlers of approvals."""

    def __init__(self, store: Store, roles: RoleResolver, decider: ApprovalDecider) -> None:
        self._store = store
        self._roles = roles
        self._decider = decider

    def calls(self) -> tuple[Route, ...]:
        """Return the routes, with the action each one needs."""
        path = "/api/v1/approvals"
        return (
            Route(
                method="GET",
                path=path,
                action="console.read",
                handler=self.list,
                reply=models.ApprovalsBody,
                is_promised=True,
            ),
            Route(
                method="POST",
                path=f"{path}/revoke",
                action="console.write",
                handler=self.revoke,
                body=models.RuleNumberBody,
                is_promised=True,
            ),
            Route(
                method="POST",
                path=f"{path}/{{id}}",
                action="approval.decide",
                handler=self.decide,
                body=models.DecisionBody,
                reply=models.DecidedBody,
                is_promised=True,
            ),
        )

    async def list(self, _: Request) -> Response:
        """Return what waits for a decision, oldest first, and the rules by number."""
        access, now = self._store.access, self._store.now()
        waiting, rules = (
            await access.open_approvals(OWNER_SPACE, now),
            await access.rules(OWNER_SPACE, now),
        )
        listed = [
            {**_rule_json(row), "in_force": await is_in_force(row, self._roles)} for row in rules
        ]
        return json_response({"waiting": [_request_json(row) for row in waiting], "rules": listed})

    async def decide(self, request: Request, body: models.DecisionBody) -> Response:
        """Decide a request as it was shown: its `digest` has to come back with the decision."""
        row = await self._store.access.approval_of_space(
            OWNER_SPACE, str(request.path_params["id"])
        )
        if row is None:
            raise HttpRefusal(404, "not_found", Phrase("there is no such request"))
        if body.digest != row.digest:
            raise HttpRefusal(
                409,
                "digest",
                Phrase("digest must be that of the request as the list shows it; read it again"),
            )
        approve, always = DECISIONS[body.decision]
        begun = await self._decider.decide_approval(row, approve=approve, always=always, by=DECIDER)
        if not begun.done:
            raise HttpRefusal(409, "closed", begun.text)
        return json_response({"state": "running" if approve else "denied"})

    async def revoke(self, _: Request, body: models.RuleNumberBody) -> Response:
        """Revoke the rule with that `number`."""
        if not await self._store.access.revoke_rule(OWNER_SPACE, body.number, DECIDER):
            raise HttpRefusal(404, "not_found", Phrase("there is no such rule"))
        return json_response({"ok": True})


def _request_json(row: ApprovalRow) -> dict[str, Any]:
    call = StoredCall.parse(row.arguments)
    shown = show_call(row.tool, call.arguments)
    why = ask_reason(row.action, call.bound)
    is_server_tool = row.action == ASKING_SERVER_ACTION
    return {
        "id": row.id,
        "tool": row.tool,
        "arguments": call.arguments,
        "kind": shown.kind,
        "shown": shown.text,
        "language": shown.language,
        "rest": shown.rest,
        "why": {"zh": why.text("zh"), "en": why.text("en")},
        "sources": [show_source(name) for name in call.sources],
        "mixed": mixed_words(call.arguments),
        "bound": call.bound,
        "tainted": call.tainted,
        "digest": row.digest,
        "lasting": not call.tainted and (is_server_tool or row.tool == ExecTool.spec.name),
        "conversation": row.conversation,
        "channel": row.party.channel,
        "by": row.party.id,
        "expires": row.expires.isoformat(),
    }


def _command_json(rule: ApprovalRule) -> dict[str, Any]:
    if not isinstance(rule, CommandRule):
        return {}
    return {
        "argv": list(rule.argv),
        "prefix": rule.is_prefix,
        "hashes": dict(rule.hashes),
        "cwd": rule.cwd,
        "level": rule.level,
    }


def _rule_json(row: ApprovalRuleRow) -> dict[str, Any]:
    rule = to_rule(row)
    return {
        "number": row.number,
        "tool": row.tool,
        "text": format_rule(rule, row.tool, "en"),
        **_command_json(rule),
        "channel": row.party.channel,
        "by": row.party.id,
        "at": row.at.isoformat(),
        "expires": row.expires.isoformat(),
    }
