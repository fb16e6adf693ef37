"""Rules of approval of commands: word for word, or for whatever begins with certain words."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.access.lost_rights import may_still
from bot.access.roles import RoleResolver
from bot.errors import MnemaError, ToolFailed
from bot.tools.base import Tool
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


class RuleRefused(MnemaError):
    """There can be no such rule; the phrase says why."""

    def __init__(self, phrase: Phrase) -> None:
        super().__init__(str(phrase))
        self.phrase = phrase


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
                "Not for everything that begins with `{shown}`: it may run what it is given, or "
                "write to a file that it is given. Such a command can be approved word for word "
                "only.",
                shown=shown,
            ),
        )


def format_rule(rule: CommandRule, lang: str) -> str:
    """Format what a rule covers, in one line."""
    where = "" if rule.cwd == START_PATH else f" ({rule.cwd})"
    if not rule.argv:
        digest = next(iter(rule.hashes.values()), "")[:12]
        script = Phrase("script {language} sha256 {digest}…", language=rule.language, digest=digest)
        return f"{script.text(lang)}{where}"
    words = json.dumps(rule.argv, ensure_ascii=False)
    more = Phrase(" …").text(lang) if rule.is_prefix else ""
    return f"`{words.replace('`', '')}`{more}{where}"


def _language(given: Mapping[str, Any]) -> str:
    return str(given.get("language", "sh")) if given.get("script") else ""


def _hashes(bound: Mapping[str, str]) -> Mapping[str, str]:
    return {name: digest for name, digest in bound.items() if name.startswith(_HASH_PREFIX)}


def can_have_rules(tool: Tool | None) -> bool:
    """Tell whether calls of a tool can be approved for good: commands only."""
    return isinstance(tool, ExecTool)


async def is_in_force(row: ApprovalRuleRow, roles: RoleResolver) -> bool:
    """Tell whether a stored rule counts: its maker has to be allowed to make it at this moment."""
    return await may_still(roles, row.party, ExecTool.spec.action)


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
    for row in rows:
        rule = to_rule(row)
        counts_here = rule.survives_taint or not tainted
        if counts_here and rule.covers(given, bound) and await is_in_force(row, roles):
            return row
    return None


def build_rule(row: ApprovalRow, words: int) -> NewApprovalRule:
    """Return the rule that "always" makes of a request.

    Args:
        words: how many words of the command others have to begin with; 0: the rule covers this very
            command.

    Raises:
        RuleRefused: there can be no such rule.
    """
    given = json.loads(row.arguments)
    bound = given.pop(BOUND_KEY, {})
    if row.tool != ExecTool.spec.name or "sandbox" not in bound:
        raise RuleRefused(
            Phrase("That can be approved once only; rules are for commands."),
        )
    if given.get(TAINTED_KEY):
        raise RuleRefused(
            Phrase(
                "Words from outside were in view when it was asked for, so it can be approved "
                "once only."
            ),
        )
    rule = build_command_rule(given, bound, words)
    return NewApprovalRule(
        space=row.space,
        party=row.party,
        tool=row.tool,
        command=rule.to_json(),
        cwd=rule.cwd,
        level=rule.level,
    )


def to_rule(row: ApprovalRuleRow) -> CommandRule:
    """Parse what a stored rule covers."""
    return CommandRule.from_json(row.command, row.cwd, row.level)
