"""The mutants of live views and of what is bounded: something in use is dropped, or a view's fault is not its own."""

from tests.mutants.mutant import Mutant

HUB = "tests/channels/web/test_event_hub.py"
CONNECTIONS = "tests/channels/web/test_kept_connections.py"
BOUNDS = "tests/bot/runtime/test_bounds.py"
CHANNEL_BOUNDS = "tests/channels/test_bounds.py"

HUBS = (
    Mutant(
        name="the hub drops rooms that are read or written in",
        guards="I8",
        file="channels/web/events.py",
        old="            unused = (name for name, stream in self._streams.items() if not stream.is_in_use(now))\n",
        new="            unused = iter(self._streams)\n",
        tests=(HUB,),
    ),
    Mutant(
        name="the hub makes place only after there is a new room",
        guards="I8",
        file="channels/web/events.py",
        old="        self._streams.move_to_end(conversation)\n        return stream\n",
        new="        self._prune()\n        self._streams.move_to_end(conversation)\n        return stream\n",
        tests=(HUB,),
    ),
    Mutant(
        name="a live view that fails is the turn's fault",
        guards="I20",
        file="bot/gateway/gateway.py",
        old="            self._show_safely(channel.name, channel.show, event)  # type: ignore[attr-defined]\n",
        new="            channel.show(event)  # type: ignore[attr-defined]\n",
        tests=("tests/bot/gateway/test_gateway.py",),
    ),
    Mutant(
        name="a page that cannot be moved fails the message that was stored",
        guards="I20",
        file="channels/web/channel.py",
        old='            log.exception("page not moved")\n',
        new="            raise\n",
        tests=(HUB,),
    ),
    Mutant(
        name="a reader that takes nothing keeps its connection",
        guards="connections",
        file="channels/web/connections.py",
        old="        if self.transport.get_write_buffer_size() >= before:\n",
        new="        if not self.transport:\n",
        tests=(HUB,),
    ),
    Mutant(
        name="an idle connection is closed at once",
        guards="connections",
        file="channels/web/connections.py",
        old="            self.transport.write_eof()\n",
        new="            self.transport.close()\n",
        tests=(CONNECTIONS,),
    ),
    Mutant(
        name="a fault does not say that its connection ends",
        guards="connections",
        file="channels/web/server.py",
        old='the log has the trace", {"connection": "close"})',
        new='the log has the trace")',
        tests=(CONNECTIONS,),
    ),
    Mutant(
        name="a fetch under way is dropped for another",
        guards="I8",
        file="bot/gateway/downloads.py",
        old="if download.task.done()][:over]",
        new="if download.task][:over]",
        tests=("tests/bot/gateway/test_downloads.py",),
    ),
    Mutant(
        name="a file that came for one space is another's for nothing",
        guards="storage limits",
        file="bot/gateway/downloads.py",
        old="        key = (channel, ref, space)\n",
        new='        key = (channel, ref, "")\n',
        tests=("tests/bot/gateway/test_downloads.py",),
    ),
    Mutant(
        name="an index that was handed out is closed",
        guards="I8",
        file="memory/recall/search.py",
        old="        return bool(self._users[space]) or in_background",
        new="        return in_background",
        tests=("tests/memory/recall/test_open_indexes.py",),
    ),
    Mutant(
        name="rates forget who is in line",
        guards="I9",
        file="bot/gateway/gateway.py",
        old="for chat, bucket in self._chats.items() if not bucket.is_full(now)}",
        new="for chat, bucket in self._chats.items() if bucket.is_full(now)}",
        tests=(BOUNDS,),
    ),
    Mutant(
        name="a prompt is forgotten before it is recorded",
        guards="I42",
        file="bot/agent/prompt/builder.py",
        old="            if len(self._unstored) > MAX_UNSTORED_SNAPSHOTS:\n",
        new="            if len(self._unstored) > MAX_CACHED_CONVERSATIONS:\n",
        tests=(BOUNDS,),
    ),
    Mutant(
        name="the answer being shown makes place for those that wait",
        guards="I8",
        file="channels/wecom/channel.py",
        old="if known.key not in self._streams)",
        new="if known.key)",
        tests=(CHANNEL_BOUNDS,),
    ),
)
