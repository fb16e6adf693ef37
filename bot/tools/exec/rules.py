"""Rules of approval: commands word for word, or whatever begins with certain words, and tools of
MCP servers.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from bot.access.lost_rights import may_still
from bot.access.roles import RoleResolver
from bot.errors import MnemaError, ToolFailed
from bot.tools.base import BoundTool, Tool
from bot.tools.exec.sandbox import START_PATH
from bot.tools.exec.tool import ExecTool
from channels.phrases import Phrase
from memory.store.automation.approval_rules import ApprovalRuleRow, NewApprovalRule
from memory.store.automation.approvals import ApprovalRow
from memory.store.people.access import AccessRecords

# Programs that run nothing of what they are given and write to no file that they are given: they
# only read. So a rule may cover whatever follows their name, and one for a whole command of theirs
# counts beside words from outside too. A program that is not named here counts as one that does:
# shells, interpreters, env, xargs, find, sudo and make run their arguments; git runs what the
# configuration of a repository says, whose file anybody may have written; uniq, tree, file and
# pdftotext write to a file that is named to them.
PREFIX_PROGRAMS = frozenset(
    {
        "basename",
        "cat",
        "cksum",
        "cmp",
        "column",
        "comm",
        "cut",
        "date",
        "df",
        "dirname",
        "du",
        "echo",
        "fold",
        "grep",
        "head",
        "jq",
        "join",
        "ls",
        "md5sum",
        "nl",
        "od",
        "paste",
        "readlink",
        "realpath",
        "rev",
        "seq",
        "sha1sum",
        "sha256sum",
        "sha512sum",
        "stat",
        "tac",
        "tail",
        "tr",
        "wc",
    }
)
_LEVELS = {"C": 0, "B": 1, "A": 2}  # of the sandbox, by strength
_HASH_PREFIX = "sha256 of "
# beside the arguments in the stored text; no argument of a tool has such a name
BOUND_KEY = "#bound"
TAINTED_KEY = "#tainted"  # the same: words from outside were in view when it was asked for
SOURCES_KEY = "#sources"  # the same: what those words came with, newest first
ASKING_SERVER_ACTION = "mcp.call.ask"  # of a tool of an MCP server that asks each time
SERVER_FACT = "server"
SERVER_TOOL_FACT = "sha256 of the tool"  # as the owner reviewed it


class RuleRefused(MnemaError):
    """There can be no such rule; the phrase says why."""

    def __init__(self, phrase: Phrase) -> None:
        super().__init__(str(phrase))
        self.phrase = phrase


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCall:
    """A call that waits for an approval, as it is stored."""

    arguments: Mapping[str, Any]
    #: What the approval depends on beside the arguments.
    bound: Mapping[str, str]
    #: Words from outside were in view when it was asked for.
    tainted: bool
    #: What they came with, newest first.
    sources: Sequence[str]

    @classmethod
    def parse(cls, text: str) -> "StoredCall":
        """Parse the stored JSON text."""
        given = json.loads(text)
        return cls(
            bound=given.pop(BOUND_KEY, {}),
            tainted=given.pop(TAINTED_KEY, False),
            sources=given.pop(SOURCES_KEY, ()),
            arguments=given,
        )

    def dump(self) -> str:
        """Serialise it as JSON text that its digest covers."""
        record: dict[str, Any] = {**self.arguments, BOUND_KEY: dict(self.bound)}
        if self.tainted:
            record |= {TAINTED_KEY: True, SOURCES_KEY: list(self.sources)}
        return json.dumps(record, ensure_ascii=False, sort_keys=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerToolRule:
    """A tool of an MCP server that runs without a question in the chats of a space."""

    server: str
    #: SHA-256 of the tool as the owner reviewed it.
    sha256: str

    def to_json(self) -> str:
        """Serialise it."""
        return json.dumps({"rule": "server tool", **asdict(self)}, ensure_ascii=False)

    def covers(self, tool: Tool, bound: Mapping[str, str]) -> bool:
        """Tell whether a call of that tool may run by this rule.

        Args:
            bound: what an approval of it would depend on now.
        """
        return tool.spec.origin == self.server and bound.get(SERVER_TOOL_FACT) == self.sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRule:
    """The commands that run without a question."""

    #: Words of the command; () for a script.
    argv: tuple[str, ...]
    #: Further words may follow.
    is_prefix: bool
    #: Language of the script; "" without one.
    language: str
    #: It runs in the background, for up to an hour.
    background: bool
    #: SHA-256 of the script and of each file that the words name, by their names in the question.
    hashes: Mapping[str, str]
    #: Working folder in the sandbox.
    cwd: str
    #: Level of the sandbox that it was approved under; a weaker one does not do.
    level: str

    def to_json(self) -> str:
        """Serialise the words and hashes."""
        record = {
            "argv": self.argv,
            "is_prefix": self.is_prefix,
            "language": self.language,
            "background": self.background,
            "hashes": dict(sorted(self.hashes.items())),
        }
        return json.dumps(record, ensure_ascii=False)

    @classmethod
    def from_json(cls, command: str, cwd: str, level: str) -> "CommandRule":
        """Parse what `to_json` wrote."""
        record = json.loads(command)
        return cls(**{**record, "argv": tuple(record["argv"])}, cwd=cwd, level=level)

    @property
    def survives_taint(self) -> bool:
        """Whether words from outside can steer nothing by it: it is one command, as it was shown,
        that only reads.
        """
        return not self.is_prefix and bool(self.argv) and self.argv[0] in PREFIX_PROGRAMS

    def covers(self, given: Mapping[str, Any], bound: Mapping[str, str]) -> bool:
        """Tell whether a command may run by this rule.

        Args:
            given: its arguments.
            bound: what an approval of it would depend on now.
        """
        if bool(given.get("background")) != self.background or bound.get("cwd") != self.cwd:
            return False
        if _LEVELS.get(bound.get("sandbox", ""), 0) < _LEVELS.get(self.level, 3):
            return False
        argv = tuple(given.get("argv", ()))
        if self.is_prefix:
            # a rule of a version that allowed more programs
            if self.argv[0] not in PREFIX_PROGRAMS:
                return False
            begins = argv[: len(self.argv)] == self.argv and not given.get("script")
            return begins and all(word.isprintable() for word in argv)
        return (
            argv == self.argv
            and _language(given) == self.language
            and _hashes(bound) == self.hashes
        )


def build_command_rule(
    given: Mapping[str, Any], bound: Mapping[str, str], words: int = 0
) -> CommandRule:
    """Return the rule that covers an approved command.

    Args:
        given: its arguments.
        bound: what its approval depends on.
        words: how many of its words others have to begin with; 0: the rule covers this very
            command.

    Raises:
        RuleRefused: what begins with these words may run something else.
    """
    argv = tuple(given.get("argv", ()))
    if words:
        _check_prefix(argv, words)
    return CommandRule(
        argv=argv[:words] if words else argv,
        is_prefix=bool(words),
        language=_language(given),
        background=bool(given.get("background")),
        hashes={} if words else _hashes(bound),
        cwd=bound["cwd"],
        level=bound["sandbox"],
    )


def _check_prefix(argv: Sequence[str], words: int) -> None:
    if not 1 <= words <= len(argv):
        raise RuleRefused(
            Phrase(
                "The command has {count} words, and a script can only be approved as a whole.",
                count=len(argv),
            ),
        )
    if argv[0] not in PREFIX_PROGRAMS or not all(word.isprintable() for word in argv[:words]):
        shown = " ".join(argv[:words])
        raise RuleRefused(
            Phrase(
                "Commands that begin with `{shown}` cannot all be approved: such a command may "
                "run what it is given, or write to a file that it is given. It can be approved "
                "word for word only.",
                shown=shown,
            ),
        )


def format_rule(rule: "ApprovalRule", tool: str, lang: str) -> str:
    """Format what a rule covers, in one line.

    Args:
        tool: the name of the rule's tool.
    """
    if isinstance(rule, ServerToolRule):
        return f"`{tool}` ({rule.server})"
    where = "" if rule.cwd == START_PATH else f" ({rule.cwd})"
    if not rule.argv:
        digest = next(iter(rule.hashes.values()), "")[:12]
        script = Phrase("script {language} sha256 {digest}…", language=rule.language, digest=digest)
        return f"{script.text(lang)}{where}"
    is_one_line = all(word.isprintable() for word in rule.argv)
    words = shlex.join(rule.argv) if is_one_line else json.dumps(rule.argv, ensure_ascii=False)
    more = Phrase(" …").text(lang) if rule.is_prefix else ""
    return f"`{words.replace('`', '')}`{more}{where}"


def _language(given: Mapping[str, Any]) -> str:
    return str(given.get("language", "sh")) if given.get("script") else ""


def _hashes(bound: Mapping[str, str]) -> Mapping[str, str]:
    return {name: digest for name, digest in bound.items() if name.startswith(_HASH_PREFIX)}


def can_have_rules(tool: Tool | None) -> bool:
    """Tell whether calls of a tool can be approved for good: commands, and tools of MCP servers."""
    if tool is None:
        return False
    return isinstance(tool, ExecTool) or tool.spec.action == ASKING_SERVER_ACTION


async def is_in_force(row: ApprovalRuleRow, roles: RoleResolver) -> bool:
    """Tell whether a stored rule counts: its maker has to be allowed to make it at this moment."""
    is_command = row.tool == ExecTool.spec.name
    action = ExecTool.spec.action if is_command else ASKING_SERVER_ACTION
    return await may_still(roles, row.party, action)


async def find_covering_rule(
    access: AccessRecords,
    roles: RoleResolver,
    tool: Tool | None,
    arguments: Any,
    space: str,
    now: float,
    *,
    tainted: bool,
) -> ApprovalRuleRow | None:
    """Return a rule in force by which a call may run without a question; None if there is none.

    Args:
        arguments: what the tool's `arguments` parsed.
        now: unix seconds.
        tainted: words from outside are in view, so it has to be a rule that survives them.
    """
    if not isinstance(tool, BoundTool) or not can_have_rules(tool):
        return None
    stored = await access.rules(space, now)
    rows = [row for row in stored if row.tool == tool.spec.name]
    if not rows:
        return None
    try:
        bound = await tool.bind(arguments)
    except ToolFailed:
        return None  # the question says why
    given = arguments.given()
    for row in rows:
        covers = _covers(to_rule(row), tool, given, bound, tainted=tainted)
        if covers and await is_in_force(row, roles):
            return row
    return None


def _covers(
    rule: "ApprovalRule",
    tool: Tool,
    given: Mapping[str, Any],
    bound: Mapping[str, str],
    *,
    tainted: bool,
) -> bool:
    if isinstance(rule, ServerToolRule):
        return not tainted and rule.covers(tool, bound)
    return (rule.survives_taint or not tainted) and rule.covers(given, bound)


def build_rule(row: ApprovalRow, words: int) -> NewApprovalRule:
    """Return the rule that "always" makes of a request.

    Args:
        words: how many words of the command others have to begin with; 0: the rule covers this very
            command.

    Raises:
        RuleRefused: there can be no such rule.
    """
    call = StoredCall.parse(row.arguments)
    is_command = row.tool == ExecTool.spec.name and "sandbox" in call.bound
    is_server_tool = row.action == ASKING_SERVER_ACTION and not words
    if not is_command and not is_server_tool:
        raise RuleRefused(
            Phrase(
                "This can be approved once only; rules are for commands and whole tools of a "
                "server."
            ),
        )
    if call.tainted:
        raise RuleRefused(
            Phrase(
                "Text from outside was in the context when it was asked for, so it can be "
                "approved once only."
            ),
        )
    new = NewApprovalRule(
        space=row.space, party=row.party, tool=row.tool, command="", cwd="", level=""
    )
    if is_command:
        rule = build_command_rule(call.arguments, call.bound, words)
        return replace(new, command=rule.to_json(), cwd=rule.cwd, level=rule.level)
    server_rule = ServerToolRule(
        server=call.bound.get(SERVER_FACT, ""),
        sha256=call.bound.get(SERVER_TOOL_FACT, ""),
    )
    return replace(new, command=server_rule.to_json())


ApprovalRule = CommandRule | ServerToolRule


def to_rule(row: ApprovalRuleRow) -> ApprovalRule:
    """Parse what a stored rule covers."""
    record = json.loads(row.command)
    if record.pop("rule", "") == "server tool":
        return ServerToolRule(**record)
    return CommandRule.from_json(row.command, row.cwd, row.level)
