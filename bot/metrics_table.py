"""Which figures there are for a machine that watches: name, kind, labels and meaning of each, in order."""

from dataclasses import dataclass

from bot.exposition import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One figure, without the prefix of its name. labels: names of what it is split by, none of them a person's."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()


def _gauge(name: str, help: str, *labels: str) -> Known:
    return Known(name=name, kind="gauge", help=help, labels=labels)


def _counter(name: str, help: str, *labels: str) -> Known:
    return Known(name=name, kind="counter", help=help, labels=labels)


def _times(name: str, help: str, *labels: str) -> Known:
    return Known(name=name, kind="histogram", help=help, labels=labels)


TABLE = (
    _gauge("inbox_depth", "Messages stored and not yet answered."),
    _gauge("inbox_oldest_age_s", "Age of the oldest message that is due and not answered, seconds."),
    _counter("updates_total", "Messages that channels brought, repeats too.", "channel", "dup"),
    _times("ack_seconds", "From a message's arrival to the commit after which its platform is told."),
    _counter("turns_total", "Turns that have ended, by the record.", "outcome"),
    _times("turn_seconds", "From the beginning of a turn in this process to its end in the record."),
    _counter("turn_faults_total", "Tries to answer that ended in an error of this machine or of mnema.", "error"),
    _gauge("outbox_depth", "Parts of answers not yet sent."),
    _counter("outbox_unknown_total", "Parts of which nobody knows whether they arrived."),
    _counter("send_total", "Tries to send a part.", "channel", "code"),
    _times("ratelimited_seconds", "Pauses that platforms asked for."),
    _gauge("channel_up", "Whether messages come in by a channel, 1 or 0.", "channel"),
    _gauge("channel_last_ok_age_s", "Seconds since the last good sign of a channel's platform.", "channel"),
    _counter("llm_requests_total", "Requests to models, each try.", "model", "outcome"),
    _counter("llm_tokens_total", "Tokens used, by the record; input is what came from no cache.", "kind"),
    _counter("llm_cost_total", "US dollars for models whose price is known, by the record."),
    _times("tool_seconds", "How long tool calls took.", "tool", "outcome"),
    _gauge("folds_open", "Folds under way."),
    _counter("folds_total", "Folds that have ended, by the record.", "method", "outcome"),
    _gauge("ledger_faults", "Breaches of the coverage ledger at the last look."),
    _counter("ledger_faults_total", "Breaches of the coverage ledger that looks found anew."),
    _counter("history_repairs_total", "Requests whose history had to be mended to be valid."),
    _counter("prefix_breaks_total", "Changes of requests' prefixes.", "reason"),
    _gauge("conversations", "Conversations that people see."),
    _counter("db_busy_total", "Transactions given up because others were in the way, or the server was away."),
    _gauge("db_bytes", "Size of the database."),
    _gauge("wal_bytes", "Size of the database's log."),
    _gauge("disk_free_bytes", "Free room where the home is."),
    _counter("auth_denied_total", "Messages, commands, tool calls and requests of the page that were not allowed."),
    _gauge("loop_lag_seconds", "How late the event loop was at worst in the last 30 seconds."),
)
