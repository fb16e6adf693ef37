"""Tool calls that run only after the person has approved exactly that call."""

import asyncio
import hashlib
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import structlog

from bot.access.permissions import AccessScope, Actor, authorize
from bot.agent.approval_keys import (
    ALWAYS_PREFIX,
    APPROVE_PREFIX,
    DENY_PREFIX,
    hash_answer,
    hash_button_key,
)
from bot.agent.approval_texts import (
    APPROVED_TEXT,
    CLOSED_TEXTS,
    DENIED_TEXT,
    ApprovalQuestion,
    format_approval_question,
    format_dependencies,
    texts_in,
)
from bot.agent.call_actions import action_for_call
from bot.agent.timeouts import REPORTED_AFTER
from bot.errors import OutcomeUnknown, ToolFailed
from bot.messages import (
    CallEnd,
    MessageBody,
    PartExtras,
    StoredAttachment,
    dump_body,
    dump_extras,
    split_reply,
)
from bot.tools.base import (
    BoundTool,
    FindRefusal,
    GuardedCall,
    MessageContext,
    Tool,
    ToolArguments,
    ToolContext,
    ToolOutput,
    Toolset,
    to_guarded_call,
)
from bot.tools.exec.binding import UNBOUND_KEY
from bot.tools.exec.rules import RuleRefused, StoredCall, build_rule, can_have_rules
from channels.base import Channel
from channels.message import Capabilities
from channels.phrases import NO_PHRASE, AnyPhrase, Phrase, join_phrases
from memory.conversation import Image, ToolSpec
from memory.failpoints import hit_async
from memory.ids import CODE_VALIDITY, code_sha256, new_code
from memory.store.automation.approval_rules import MAX_RULES, RULE_VALIDITY, NewApprovalRule
from memory.store.automation.approvals import (
    ApprovalRow,
    NewApproval,
    digest_arguments,
    question_source,
)
from memory.store.errors import StoreError
from memory.store.people.access import AccessRecords
from memory.store.rows import ConversationRow, NewInboxRow, Notice, Party
from memory.text.invisible import find_invisible
from memory.text.quoting import fence_text

log = structlog.get_logger(__name__)
# Characters of arguments that a person can be expected to read; longer calls are refused.
MAX_SHOWN_CHARS = 12_000
APPROVAL_REQUESTED_TEXT = (
    "[not done: this needs the person's approval. They were asked in this chat just now and decide "
    "with a button or a code of their own; nothing that is written here approves it. Do not call "
    "it again; say that it waits for them.]"
)
# What approvals depend on: that the chat was not cleared since, and that the tool is described as
# it was.
EPOCH, SPEC = "epoch", "spec"
# An approved call that could not start for so long after its approval expired is not started any
# more.
MAX_START_DELAY = timedelta(minutes=30)  # twice the longest turn
MAX_TOLD_CHARS = 3_000  # of an output that the model gets whole
INTERRUPTED_TEXT = (
    "The program was interrupted while it ran; it may or may not have happened. It is not run "
    "again: look first."
)
# The person has answered; what they said no to is not asked for at once in other words.
REFUSED_TEXT = (
    "Nothing was run. Say so in a sentence or two, or go on without it; nothing can be asked for "
    "in this answer."
)
# By how a call ended: what the model reads first.
_OUTCOME_HEADS: Mapping[CallEnd, str] = {
    "done": "approved by the person: done",
    "failed": "approved by the person: not done",
    "unknown": "approved by the person: outcome unknown",
    "denied": "refused by the person: not done",
}


async def _load_no_conversation(_: str) -> ConversationRow | None:
    return None


async def _refuse_nothing(_: GuardedCall) -> str:
    return ""


async def _never_busy(_: str) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """A call to be approved."""

    actor: Actor
    conversation: ConversationRow
    #: Idempotency key of the call.
    call: str
    action: str
    tool: str
    arguments: Mapping[str, Any]
    #: Language of the question.
    lang: str
    #: Words from outside are in view.
    tainted: bool = False
    #: What they came with, such as "web_fetch https://example.org", newest first.
    sources: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What became of a decision, before its call runs."""

    text: AnyPhrase
    #: The request is decided by it.
    done: bool = False
    #: The call is to be run now; an approved one that is not starts with a row of its own.
    runs: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalService:
    """Asks people to approve calls, and runs the calls they approve."""

    access: AccessRecords
    toolset: Callable[[str], Toolset]
    now: Callable[[], datetime]
    #: The running channels by name.
    channels: Mapping[str, Channel]
    #: Marks an approval, by its id, as run by this process; False if another process runs it.
    hold: Callable[[str], Awaitable[bool]]
    #: Takes that mark back.
    release: Callable[[str], Awaitable[None]]
    #: Loads the ids of the approvals that some process has marked.
    held: Callable[[], Awaitable[Set[str]]]
    #: Loads the conversation that a call was asked in.
    conversation: Callable[[str], Awaitable[ConversationRow | None]] = _load_no_conversation
    #: Asks the guards, once more when an approved call runs.
    find_refusal: FindRefusal = _refuse_nothing
    #: Tells whether a conversation has a turn that runs or is about to.
    is_busy: Callable[[str], Awaitable[bool]] = _never_busy

    async def ask(self, request: ApprovalRequest) -> str:
        """Ask the person of this turn, once per call; return what the model reads.

        Raises:
            ToolFailed: the arguments are too long to read, have invisible characters, or cannot be
                run.
        """
        arguments = json.dumps(request.arguments, ensure_ascii=False, sort_keys=True)
        call = StoredCall(
            arguments=request.arguments,
            bound={},
            tainted=request.tainted,
            sources=request.sources,
        )
        if len(arguments) > MAX_SHOWN_CHARS or _has_invisible_characters(request.arguments):
            raise ToolFailed(
                "This needs the person's approval, and they have to see all of it: at most "
                f"{MAX_SHOWN_CHARS:,} characters, none of them invisible."
            )
        tool = self.toolset(request.conversation.place.space).get(request.tool)
        if tool is not None:
            bound = await self._bind(
                tool, tool.arguments.parse(request.arguments), request.conversation.id
            )
            call = replace(call, bound=bound)
            arguments = call.dump()
        code, button_key = new_code(), secrets.token_urlsafe(24)
        approval = NewApproval(
            party=_to_party(request.actor),
            conversation=request.conversation.id,
            space=request.conversation.place.space,
            call=request.call,
            action=request.action,
            tool=request.tool,
            arguments=arguments,
            code_sha256=code_sha256(code),
            press_sha256=hash_button_key(button_key),
            expires=self.now() + CODE_VALIDITY,
        )
        is_lasting = can_have_rules(tool) and not request.tainted
        question = ApprovalQuestion(
            tool=request.tool,
            action=request.action,
            call=call,
            code=code,
            lang=request.lang,
            is_lasting=is_lasting,
        )
        await self.access.ask(approval, [self._to_notice(request, question, button_key)])
        return APPROVAL_REQUESTED_TEXT

    async def report_interrupted(self) -> list[NewInboxRow]:
        """Return messages by which the model sees what ran when its process ended; each has a key
        of its own.
        """
        rows = await self.access.running_approvals(self.now() - REPORTED_AFTER)
        # Read after the rows: one that has ended in between has told so itself, by the same key.
        running = await self.held() if rows else frozenset[str]()
        lost = [row for row in rows if row.id not in running]
        found = [await self._to_message(row, "unknown", INTERRUPTED_TEXT) for row in lost]
        return [message for message in found if message is not None]

    async def _bind(self, tool: Tool, arguments: Any, conversation: str) -> Mapping[str, str]:
        """Return what the approval of a call depends on beside its arguments."""
        spec = {SPEC: _hash_spec(tool.spec)}
        if not isinstance(tool, BoundTool):
            return spec
        row = await self.conversation(conversation)
        return {**await tool.bind(arguments), **spec, EPOCH: str(row.epoch if row else 0)}

    async def decide(
        self,
        actor: Actor,
        where: AccessScope,
        key: str,
        *,
        approve: bool,
        always: int | None = None,
    ) -> AnyPhrase | None:
        """Apply a person's decision and return the reply; None if they have no request with that
        key.

        Args:
            key: the typed code, or the data of the pressed button.
            always: make it a rule, too: for this command (0), or for all that begin with that many
                of its words.
        """
        row = await self.access.approval(hash_answer(key), _to_party(actor))
        if row is None:
            return None
        begun = await self.begin(row, actor, where, approve=approve, always=always)
        if not begun.runs:
            return begun.text
        return join_phrases([begun.text, await self._run(row, actor)], NO_PHRASE)

    async def explain(self, actor: Actor, key: str, lang: str) -> str:
        """Return what an approval that still waits depends on; "" if this person has no such
        request.

        Args:
            key: the typed code.
        """
        row = await self.access.approval(hash_answer(key), _to_party(actor))
        if row is None:
            return ""
        if row.state != "asked":
            return CLOSED_TEXTS[row.state].text(lang)
        return format_dependencies(row.tool, StoredCall.parse(row.arguments), lang)

    async def finish_elsewhere(
        self, row: ApprovalRow, actor: Actor, begun: Begun, lang: str
    ) -> Notice:
        """Run a call that was begun from another place; return the notice for the chat that
        asked.
        """
        outcome = begun.text
        if begun.runs:
            outcome = join_phrases([outcome, await self._run(row, actor)], NO_PHRASE)
        channel = self.channels.get(row.party.channel)
        out = split_reply(
            outcome.text(lang), "notice", channel.capabilities if channel else Capabilities()
        )
        return Notice(conversation=row.conversation, source=f"decided:{row.id}", out=tuple(out))

    async def begin(
        self,
        row: ApprovalRow,
        actor: Actor,
        where: AccessScope,
        by: str = "",
        *,
        approve: bool,
        always: int | None = None,
    ) -> Begun:
        """Store a person's decision; the call is to be run only if the result says so.

        Args:
            actor: the person who was asked, with the rights they have now.
            by: who decided, for the audit chain; "" for the person.
            always: see `decide`.
        """
        has_begun = row.state not in ("asked", "approved")
        if has_begun or (approve and row.state == "approved"):
            return Begun(text=CLOSED_TEXTS[row.state])
        if not approve:
            outcome = await self._to_message(row, "denied", REFUSED_TEXT)
            moved = await self.access.move(row.id, row.state, "denied", outcome, by=by)
            return Begun(text=DENIED_TEXT if moved else CLOSED_TEXTS["ended"], done=moved)
        if not authorize(actor, row.action, row.space, replace(where, space=row.space)).allowed:
            await self.access.move(row.id, "asked", "ended", by=by)
            return Begun(text=CLOSED_TEXTS["ended"])
        try:
            rule = build_rule(row, always) if always is not None else None
        except RuleRefused as err:
            return Begun(text=err.phrase)  # nothing was run, and the request stays open
        return await self._approve(row, rule, by)

    async def _approve(self, row: ApprovalRow, rule: NewApprovalRule | None, by: str) -> Begun:
        """Store an approval and the rule it makes; the call runs now, or after the running turn."""
        later = await self._row_to_start(row)
        if later is None:
            refusal = await self._start(row, by)
        else:
            was_asked = await self.access.move(row.id, "asked", "approved", later, by=by)
            refusal = None if was_asked else CLOSED_TEXTS["ended"]
        if refusal is not None:
            return Begun(text=refusal)
        made_rule = await self._add_rule(rule) if rule else NO_PHRASE
        if later is None:
            return Begun(text=made_rule, done=True, runs=True)
        return Begun(text=join_phrases([made_rule, APPROVED_TEXT], NO_PHRASE), done=True)

    async def _row_to_start(self, row: ApprovalRow) -> NewInboxRow | None:
        """Return the row that starts an approved call after the turn that runs where it was asked;
        None if none does.

        A call that a group's turn asked for starts at once: its output is for the private chat that
        approved it.
        """
        conversation = await self.conversation(row.conversation)
        if (
            conversation is None
            or conversation.place.kind == "group"
            or not await self.is_busy(row.conversation)
        ):
            return None
        return NewInboxRow(
            # which a link leads from
            place=replace(conversation.place, space=conversation.own_space),
            key=f"approved:{row.id}",
            kind="approval",
            sender_id=row.party.id,
            body=dump_body(MessageBody(text="", approved=row.id)),
            by_program=True,
        )

    async def run_approved(self, id: str, actor: Actor, where: AccessScope) -> AnyPhrase:
        """Run a call that was approved while a turn ran, and return the reply; it runs once,
        however often this does.

        Args:
            id: of the approval.
            actor: the person who was asked, with the rights they have now.
        """
        row = await self.access.approval_of_space(where.space, id)
        if row is None or row.state != "approved":
            return CLOSED_TEXTS[row.state if row else "ended"]
        is_late = self.now() > row.expires + MAX_START_DELAY
        if is_late or not authorize(actor, row.action, row.space, where).allowed:
            await self.access.move(row.id, "approved", "ended")
            return CLOSED_TEXTS["ended"]
        return await self._start(row) or await self._run(row, actor)

    async def _start(self, row: ApprovalRow, by: str = "") -> AnyPhrase | None:
        """Store that a call runs; return why it does not start."""
        # Held before it is stored as running: what runs and is held by nobody was interrupted.
        if not await self.hold(row.id):
            return CLOSED_TEXTS["running"]
        if not await self.access.move(row.id, row.state, "running", by=by):
            return CLOSED_TEXTS["ended"]  # or this process runs it, and goes on holding it
        return None

    async def _add_rule(self, rule: NewApprovalRule) -> AnyPhrase:
        row = await self.access.add_rule(rule)
        if row is None:
            return Phrase(
                "No rule was saved: there are already {max_rules}. Use /approvals to revoke "
                "some.\n",
                max_rules=MAX_RULES,
            )
        days = RULE_VALIDITY.days
        return Phrase(
            "Rule {number} saved: I will not ask again for {days} days. /approvals shows and "
            "revokes it.\n",
            number=row.number,
            days=days,
        )

    async def _run(self, row: ApprovalRow, actor: Actor) -> AnyPhrase:
        try:
            return await self._run_held(row, actor)
        finally:
            await self.release(row.id)

    async def _run_held(self, row: ApprovalRow, actor: Actor) -> AnyPhrase:
        end, output = await self._outcome(row, actor)
        text = output if isinstance(output, str) else output.text
        await hit_async("approval.ran")
        outcome = await self._to_message(
            row, end, text, () if isinstance(output, str) else output.images
        )
        await self.access.move(row.id, "running", end, outcome)
        if outcome is not None and len(text) > MAX_TOLD_CHARS:
            text = f"{text[:MAX_TOLD_CHARS]}…"
        if EPOCH in StoredCall.parse(row.arguments).bound:
            text = f"\n\n{fence_text(text)}"
        if end == "unknown":
            return Phrase(
                "Approved, but it is not known whether `{tool}` took effect; check first: {words}",
                tool=row.tool,
                words=text,
            )
        if end == "done":
            return Phrase("Approved and done, `{tool}`: {words}", tool=row.tool, words=text)
        return Phrase("Approved, but `{tool}` failed: {words}", tool=row.tool, words=text)

    async def _to_message(
        self, row: ApprovalRow, end: CallEnd, text: str, images: Sequence[Image] = ()
    ) -> NewInboxRow | None:
        """Return the message by which the model sees the outcome of a bound call; None once the
        chat was cleared.
        """
        conversation = await self.conversation(row.conversation)
        bound = StoredCall.parse(row.arguments).bound
        if conversation is None or str(conversation.epoch) != bound.get(EPOCH):
            return None
        pictures = [
            StoredAttachment(
                sha256=image.sha256, name=f"picture {number}", media_type=image.media_type, size=0
            )
            for number, image in enumerate(images, start=1)
        ]
        body = MessageBody(
            text="",
            outcome=f"{_OUTCOME_HEADS[end]}\n{text}",
            tool=row.tool,
            call_end=end,
            files=tuple(pictures),
        )
        return NewInboxRow(
            # which a link leads from
            place=replace(conversation.place, space=conversation.own_space),
            key=f"approval:{row.id}",
            kind="message",
            sender_id=row.party.id,
            body=dump_body(body),
            by_program=True,
        )

    async def _outcome(self, row: ApprovalRow, actor: Actor) -> tuple[CallEnd, str | ToolOutput]:
        """Run exactly the stored call, with the person's own rights."""
        tool = self.toolset(row.space).get(row.tool)
        if tool is None or digest_arguments(row.arguments) != row.digest:
            return "failed", "it is not what was asked, or there is no such tool any more."
        try:
            call = StoredCall.parse(row.arguments)
            bound = call.bound
            arguments = tool.arguments.parse(call.arguments)
            now = await self._bind(tool, arguments, row.conversation)
            if changed := sorted(
                name for name in {*now, *bound} - {UNBOUND_KEY} if now.get(name) != bound.get(name)
            ):
                return (
                    "failed",
                    f"what it depends on has changed since: {', '.join(changed)}. Nothing was run.",
                )
            if why := await self._find_objection(tool, arguments, row, actor):
                return "failed", why
            async with asyncio.timeout(tool.spec.seconds):
                return "done", await tool.run(arguments, self._context(row, actor))
        except OutcomeUnknown as err:
            return "unknown", str(err)
        except ToolFailed as err:
            return "failed", str(err)
        except TimeoutError:
            return "unknown", f"It took longer than {tool.spec.seconds:.0f} s and was given up."
        except StoreError:
            raise
        except Exception as err:
            log.error("approved tool broke", tool=row.tool, error=type(err).__name__, exc_info=True)
            return "failed", f"{type(err).__name__}."

    async def _find_objection(
        self, tool: Tool, arguments: ToolArguments, row: ApprovalRow, actor: Actor
    ) -> str:
        """Return why a guard, or what the tool asks for by now, forbids an approved call; "" if
        nothing does.
        """
        if action_for_call(tool.spec, arguments, row.space) != row.action:
            return "it needs another consent by now than the one that was given. Nothing was run."
        guarded = to_guarded_call(
            tool.spec,
            arguments,
            space=row.space,
            conversation=row.conversation,
            channel=row.party.channel,
            person=actor.id,
        )
        return await self.find_refusal(guarded)

    def _context(self, row: ApprovalRow, actor: Actor) -> ToolContext:
        async def load_message() -> MessageContext:
            # The person has read the complete call.
            return MessageContext(channel=row.party.channel, tainted=False)

        return ToolContext(
            conversation=row.conversation,
            space=row.space,
            now=self.now,
            idem_key=row.call,
            actor=actor,
            load_message=load_message,
        )

    def _to_notice(
        self, request: ApprovalRequest, question: ApprovalQuestion, button_key: str
    ) -> Notice:
        channel = self.channels.get(request.conversation.place.channel)
        capabilities = channel.capabilities if channel else Capabilities()
        out = split_reply(format_approval_question(question), "notice", capabilities)
        buttons: list[tuple[str, str]] = []
        if capabilities.buttons:
            once, deny, always = (
                word.text(request.lang)
                for word in (Phrase("Approve"), Phrase("Deny"), Phrase("Always"))
            )
            buttons = [
                (once, f"{APPROVE_PREFIX}{button_key}"),
                (deny, f"{DENY_PREFIX}{button_key}"),
            ]
            if question.is_lasting:
                buttons.append((always, f"{ALWAYS_PREFIX}{button_key}"))
        extras = PartExtras(buttons=tuple(buttons), code=question.code)
        out[-1] = replace(out[-1], payload=dump_extras(extras))
        return Notice(
            conversation=request.conversation.id,
            source=question_source(request.call),
            out=tuple(out),
        )


def _has_invisible_characters(arguments: Mapping[str, Any]) -> bool:
    """Tell whether there are characters that a person cannot see; line ends and the joints of emoji
    are fine.
    """
    return any(find_invisible(text) or _has_unprintable(text) for text in texts_in(arguments))


def _has_unprintable(text: str) -> bool:
    return any(not sign.isprintable() and sign not in "\n\t\u200d" for sign in text)


def _hash_spec(spec: ToolSpec) -> str:
    """Return the SHA-256 of all that a tool is described by."""
    return hashlib.sha256(json.dumps(asdict(spec), sort_keys=True).encode()).hexdigest()


def _to_party(actor: Actor) -> Party:
    return Party(channel=actor.channel, account=actor.account, subject="user", id=actor.id)
