"""Conversions between platform messages, stored rows, and the parts that the model sees; slash
commands.

Pure.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from bot.command_names import CHINESE_NAMES, CHINESE_SUBCOMMANDS
from channels.message import (
    Address,
    Button,
    Capabilities,
    EventName,
    InboundMessage,
    LiveEvent,
    OutboundFile,
    OutboundMessage,
    Quote,
    WrittenOn,
)
from channels.phrases import Phrase
from channels.toolkit.text import mark_unfinished, replace_unstorable, split_text
from memory.context.taint import (
    EARLIER_LABEL,
    EDITED_LABEL,
    MEANWHILE_LABEL,
    OURS_LABEL,
    OUTCOME_LABEL,
    QUOTED_LABEL,
    TASK_LABEL,
    read_outcome,
)
from memory.conversation import Text, Unfinished
from memory.store.rows import (
    ALBUM_SECONDS,
    InboxKind,
    InboxRow,
    NewInboxRow,
    NewOutboxRow,
    OutboxKind,
    OutboxRow,
    Place,
)
from memory.text.quoting import speaker_name

PRESS_COMMAND = "press"  # a pressed button arrives as this command
RESUME_PREFIX = "resume:"  # of the data of the button that resumes a paused task
MAX_QUOTE_CHARS = 2_000
MAX_CHAT_NAME_CHARS = 200
# Commands that do not wait for the conversation's queue: they only read, decide, or stop what runs.
URGENT_COMMANDS = frozenset(
    (
        PRESS_COMMAND,
        "approve",
        "deny",
        "approvals",
        "tasks",
        "stop",
        "status",
        "help",
        "whoami",
        "usage",
        "trace",
    )
)
_INBOX_KINDS: dict[str, InboxKind] = {"edit": "edit", "delete": "delete", "move": "move"}
# How a call that a person decided over ended.
CallEnd = Literal["done", "failed", "unknown", "denied"]
# Commands that stop the running turn at once and then wait in the queue.
TURN_ENDING_COMMANDS = frozenset({"new", "context clear"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageBody:
    """The body of an inbox row."""

    text: str
    #: The sender's display name.
    name: str = ""
    files: tuple["StoredAttachment", ...] = ()
    #: The message it replies to.
    quote: Quote | None = None
    #: See InboundMessage.
    proven: bool = True
    #: Outcome of a call, such as one that the person approved; the program's row, not a message of
    #: theirs.
    outcome: str = ""
    #: The tool that the outcome is of.
    tool: str = ""
    #: How that call ended; None of a task beside the chat, whose text says so.
    call_end: CallEnd | None = None
    #: Id of the job whose turn this starts; the program's row, too.
    job: str = ""
    #: How that job ended before, where words from outside were in view.
    earlier: str = ""
    #: A sub-agent's task that words from outside may have shaped; the program's row, too.
    task: str = ""
    #: Id of an approval whose call this starts; the program's row, too.
    approved: str = ""
    #: See InboundMessage.
    written_on: WrittenOn = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAttachment:
    """An attachment as received."""

    #: Hash of its blob; "" while only the platform has the file.
    sha256: str
    name: str
    #: As the platform reports it.
    media_type: str
    #: Bytes.
    size: int
    #: The channel's reference to fetch it by; "" if it came with the message.
    ref: str = ""


def ends_turn(text: str) -> bool:
    """Tell whether the text is a command that stops the running turn."""
    command = parse_command(text)
    if command is None:
        return False
    name, rest = command
    return name in TURN_ENDING_COMMANDS or f"{name} {rest.lower()}" in TURN_ENDING_COMMANDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What was decided about a message before it is stored."""

    #: Space of its conversation.
    space: str
    #: Why it is not processed; "" if it is.
    ignored: str = ""
    #: It is stored as background of the next turn, not answered.
    aside: bool = False
    #: Space of the new chat id, for a chat that moves.
    to_space: str = ""

    @property
    def is_unread(self) -> bool:
        """Whether its files are not stored."""
        return bool(self.ignored) or self.aside


def to_inbox_row(
    message: InboundMessage, files: Sequence[StoredAttachment], admission: Admission, now: float
) -> NewInboxRow:
    """Convert a message to its inbox row. now: unix seconds."""
    text = f"/{PRESS_COMMAND} {message.target}" if message.act == "press" else message.text
    command = (
        parse_command(text) if message.act in ("message", "press") and not admission.aside else None
    )
    body = MessageBody(
        text=text,
        name=message.sender.name,
        files=tuple(files),
        quote=message.quote,
        proven=message.proven,
        written_on=message.written_on,
    )
    return NewInboxRow(
        place=conversation_place(message, admission.space),
        key=replace_unstorable(message.key),
        kind=_inbox_kind(message, admission, command is not None),
        sender_id=replace_unstorable(message.sender.id),
        body="" if admission.ignored or message.act in ("delete", "move") else dump_body(body),
        order_key=message.order_key,
        ignored=admission.ignored,
        urgent=command is not None and command[0] in URGENT_COMMANDS,
        not_before=now + ALBUM_SECONDS if message.album and not admission.aside else 0.0,
        target=replace_unstorable(message.target),
        to_space=admission.to_space,
        album="" if admission.aside else message.album,
        chat_name=_chat_name(message),
        is_from_page=message.written_on == "page",
    )


def _chat_name(message: InboundMessage) -> str:
    """Return the platform's name of a chat: a group's title, in private the person's name."""
    name = message.chat_title if message.kind == "group" else message.sender.name
    return " ".join(replace_unstorable(name).split())[:MAX_CHAT_NAME_CHARS]


def to_chat_move(place: Place, chat_id: str, to_space: str) -> NewInboxRow:
    """Return the row that moves a conversation to its chat's new id and that one's space."""
    return NewInboxRow(
        place=place,
        key=f"moved:{chat_id}",
        kind="move",
        sender_id="",
        body="",
        target=chat_id,
        to_space=to_space,
    )


def _inbox_kind(message: InboundMessage, admission: Admission, command: bool) -> InboxKind:
    if message.act in ("edit", "delete", "move"):
        return _INBOX_KINDS[message.act]
    if admission.aside:
        return "aside"
    return "command" if command else "message"


def conversation_place(message: InboundMessage, space: str) -> Place:
    """Return the place of a message's conversation. space: whose memory it uses."""
    address = message.address
    return Place(
        channel=address.channel,
        account=address.account,
        chat_id=address.chat_id,
        thread_id=address.thread_id,
        kind=message.kind,
        space=space,
    )


def dump_body(body: MessageBody) -> str:
    """Serialise a body as JSON; its key `shown` is what transcripts display of a message with
    files.
    """
    record: dict[str, Any] = {"text": body.text}
    if body.name:
        record["name"] = body.name
    if not body.proven:
        record["unproven"] = True
    if body.outcome:
        record |= {
            "outcome": body.outcome,
            "tool": body.tool,
            "shown": body.outcome.partition("\n")[0],
        }
        if body.call_end:
            record["call_end"] = body.call_end
    if body.job:
        record |= {"job": body.job, "earlier": body.earlier}
    for name in ("task", "approved", "written_on"):
        if value := getattr(body, name):
            record[name] = value
    if body.quote:
        quote = body.quote
        record["quote"] = [quote.text[:MAX_QUOTE_CHARS], quote.author, quote.ours, quote.author_id]
    if body.files:
        names = " ".join(f"📎 {file.name}" for file in body.files)
        record["shown"] = "\n".join(filter(None, (body.text or record.get("shown", ""), names)))
        record["files"] = [
            [file.sha256, file.name, file.media_type, file.size, file.ref] for file in body.files
        ]
    return replace_unstorable(json.dumps(record, ensure_ascii=False))


def load_body(text: str) -> MessageBody:
    """Parse what `dump_body` wrote."""
    record = json.loads(text)
    files = tuple(
        StoredAttachment(
            sha256=file[0],
            name=file[1],
            media_type=file[2],
            size=file[3],
            ref=file[4] if len(file) > 4 else "",
        )
        for file in record.get("files", ())
    )
    quoted = record.get("quote")
    quote = (
        Quote(text=quoted[0], author=quoted[1], ours=quoted[2], author_id="".join(quoted[3:]))
        if quoted
        else None
    )
    proven = not record.get("unproven", False)
    tool, outcome = read_outcome(record)
    return MessageBody(
        text=record["text"],
        name=record.get("name", ""),
        files=files,
        quote=quote,
        proven=proven,
        outcome=outcome,
        call_end=record.get("call_end"),
        tool=tool,
        job=record.get("job", ""),
        earlier=record.get("earlier", ""),
        task=record.get("task", ""),
        approved=record.get("approved", ""),
        written_on=record.get("written_on", ""),
    )


# Background messages of a group that one turn brings along, in characters; older ones are left out.
MAX_BACKGROUND_CHARS = 4_000
MAX_CONTEXT_MESSAGE_CHARS = 1_000


def sender_name(body: MessageBody, row: InboxRow, kind: str) -> str:
    """Return the sender's name in a group; "" in a private chat."""
    return speaker_name(body.name, row.sender_id, row.conversation) if kind == "group" else ""


def format_quote(body: MessageBody, row: InboxRow, kind: str) -> list[Text]:
    """Return the quoted or forwarded text as a part, if there is any."""
    quote = body.quote
    if quote is None or not quote.text.strip():
        return []
    if quote.ours:
        return [Text(text=quote.text, aside=OURS_LABEL)]
    whose = quote.author_id if kind == "group" else ""
    return [
        Text(
            text=quote.text,
            by=speaker_name(quote.author, whose, row.conversation),
            aside=QUOTED_LABEL,
        )
    ]


def format_outcome(body: MessageBody) -> list[Text]:
    """Return what the program says in a row, as parts: outcomes, or a task that is not the person's
    own words.
    """
    outcome = [Text(text=body.outcome, by=body.tool, aside=OUTCOME_LABEL)] if body.outcome else []
    labelled = ((body.earlier, EARLIER_LABEL), (body.task, TASK_LABEL))
    return [*outcome, *(Text(text=text, aside=label) for text, label in labelled if text)]


def format_background(rows: Sequence[tuple[InboxRow, MessageBody]], kind: str) -> list[Text]:
    """Return the newest background messages that fit, oldest first."""
    parts: list[Text] = []
    left = MAX_BACKGROUND_CHARS
    for row, body in reversed(rows):
        text = body.text.strip()[:MAX_CONTEXT_MESSAGE_CHARS]
        left -= len(text)
        if left < 0:
            break
        if text:
            aside = EDITED_LABEL if row.kind == "edit" else MEANWHILE_LABEL
            parts.append(Text(text=text, by=sender_name(body, row, kind), aside=aside))
    return parts[::-1]


def album_caption(texts: Iterable[str]) -> str:
    """Join the texts of an album's messages; usually only one has a caption."""
    return "\n".join(filter(None, (text.strip() for text in texts)))


# Kept free in each part for the repeat mark; also with idempotency keys, which platforms forget
# after a while.
REPEAT_MARK_CHARS = 40
UNFINISHED_MARK_CHARS = 80  # and for the mark of an unfinished answer, with the end of a code block


def split_reply(
    text: str,
    kind: OutboxKind,
    capabilities: Capabilities,
    left: int | None = None,
    unfinished: Unfinished | None = None,
    reserved: int = 0,
) -> list[NewOutboxRow]:
    """Split a reply into parts within the platform's limit; at least one.

    Args:
        left: messages that may still be sent; if they are too few, parts become as long as the
            platform allows.
        unfinished: how it was left, if it was not finished; the last part is marked when it is
            sent.
        reserved: units to leave free in each part beside those for marks.
    """
    text = replace_unstorable(text).strip() or "…"
    limit, longest = capabilities.limit, capabilities.longest
    marks = REPEAT_MARK_CHARS + (UNFINISHED_MARK_CHARS if unfinished else 0) + reserved
    pieces = split_text(text, limit - marks, capabilities.unit) if limit else [text]
    if left is not None and len(pieces) > left and longest > limit:
        pieces = split_text(text, longest - marks, capabilities.unit)
    valid = capabilities.key_valid if capabilities.keyed else 0.0
    parts = [
        NewOutboxRow(kind=kind, text=piece, part_no=number, parts=len(pieces), key_valid=valid)
        for number, piece in enumerate(pieces)
    ]
    if unfinished:
        parts[-1] = replace(parts[-1], payload=dump_extras(PartExtras(unfinished=unfinished)))
    return parts


def join_parts(first: Sequence[NewOutboxRow], then: Sequence[NewOutboxRow]) -> list[NewOutboxRow]:
    """Number the parts of two texts as those of one reply."""
    parts = [*first, *then]
    return [replace(part, part_no=number, parts=len(parts)) for number, part in enumerate(parts)]


def message_seen_event(message: OutboundMessage) -> LiveEvent:
    """Return the event that lets other viewers show a stored line."""
    name: EventName = "notice" if message.kind == "notice" else "reply"
    return LiveEvent(
        address=message.address,
        name=name,
        message_id=message.reply_to,
        text="",
        line=message.line,
        facts={"id": message.id},
    )


def to_address(place: Place) -> Address:
    """Return a conversation's address on its channel."""
    return Address(
        channel=place.channel,
        account=place.account,
        chat_id=place.chat_id,
        thread_id=place.thread_id,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PartExtras:
    """What is sent with a text: a file, buttons, a mark; or which sent message gets the text."""

    #: Hash of the file's blob; "" for no file.
    sha256: str = ""
    name: str = ""
    media_type: str = ""
    picture: bool = False
    #: Pairs of label and data.
    buttons: tuple[tuple[str, str], ...] = ()
    #: See OutboundMessage.
    replaces: str = ""
    #: How the answer that ends here was left (Unfinished), "" for a finished one.
    unfinished: str = ""
    #: Of a question for an approval: its code, which no other row has.
    code: str = ""


def dump_extras(extras: PartExtras) -> str:
    """Serialise extras for an outbox row."""
    return json.dumps(asdict(extras), ensure_ascii=False)


def load_extras(payload: str) -> PartExtras:
    """Parse what `dump_extras` wrote; "" means none."""
    if not payload:
        return PartExtras()
    record = json.loads(payload)
    return PartExtras(
        **{**record, "buttons": tuple((label, data) for label, data in record["buttons"])}
    )


def to_outbound_message(row: OutboxRow, lang: str, data: bytes | None = None) -> OutboundMessage:
    """Convert an outbox row to what its channel sends, marked if it is unfinished or may have
    arrived already.

    Args:
        data: the bytes of its file.
    """
    extras = load_extras(row.payload)
    file = None
    if extras.sha256 and data is not None:
        file = OutboundFile(
            name=extras.name, media_type=extras.media_type, data=data, picture=extras.picture
        )
    text = mark_unfinished(row.text, extras.unfinished, lang)
    if row.repeats:
        text = f"{Phrase('(possibly repeated)').text(lang)}\n{text}".rstrip()
    return OutboundMessage(
        id=row.id,
        address=to_address(row.place),
        client_key=row.client_key,
        text=text,
        kind=row.kind,
        reply_to=row.reply_to,
        reply_to_key=row.reply_to_key,
        part_no=row.part_no,
        parts=row.parts,
        repeated=row.repeats > 0,
        plain=row.plain,
        line=row.line,
        file=file,
        buttons=tuple(Button(text=label, data=pressed) for label, pressed in extras.buttons),
        replaces=extras.replaces,
    )


# Slash commands: the parser of a typed one, and what follows from its name

_COMMAND_PATTERN = re.compile(r"\s*[/／]([^\s@/／]+)(?:@\w+)?(?:\s+(.*))?\s*", re.DOTALL)
_JOINERS = "\u200c\u200d"  # occur inside words of Persian and of Indian scripts
_ENGLISH_NAMES = {zh: name for name, names in CHINESE_NAMES.items() for zh in names}
_ENGLISH_SUBCOMMANDS = {
    name: {spelled: word for word, names in words.items() for spelled in (word, *names)}
    for name, words in CHINESE_SUBCOMMANDS.items()
}


def parse_command(text: str) -> tuple[str, str] | None:
    """Parse a slash command into its English name in lower case and the text after it.

    A command is a slash, a name of letters of any script, then white space or the end. An unknown
    name is returned as typed.

    Returns:
        None if the text is no command, such as `/etc/hosts`.
    """
    found = _COMMAND_PATTERN.fullmatch(text)
    typed = unicodedata.normalize("NFKC", found[1]).lower() if found else ""
    if found is None or not typed[:1].isalpha() or not all(map(_is_name_character, typed)):
        return None
    name, rest = _ENGLISH_NAMES.get(typed, typed), (found[2] or "").strip()
    first, *others = rest.split(maxsplit=1) or [""]
    word = _ENGLISH_SUBCOMMANDS.get(name, {}).get(first.lower())
    return name, " ".join([word, *others]) if word else rest


def is_mutating(name: str, rest: str) -> bool:
    """Tell whether a command changes something, so that it must not run twice after a crash.

    The store records such a command before its effect (`Delivery.mark_begun`).
    """
    line = f"{name} {rest.lower()}"
    if line in ("context diff", "context all"):
        return False
    return (
        line == "memory undo"
        or name in ("new", "export", "unlink", "remember", "remind")
        or (name in ("context", "model", "policy", "link", "tasks", "approvals") and bool(rest))
        or (name == "config" and len(rest.split(maxsplit=1)) > 1)
    )


def is_language_evidence(text: str) -> bool:
    """Tell whether a text shows its writer's language; an English command name does not."""
    return parse_command(text) is None or not text.split(maxsplit=1)[0].isascii()


def _is_name_character(sign: str) -> bool:
    return sign in "_" + _JOINERS or unicodedata.category(sign)[0] in "LMN"
