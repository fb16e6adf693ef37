"""The mutants of live views and of what is bounded: something in use is dropped, or a view's fault
is not its own.
"""

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
        target="EventHub._prune",
        old=(
            "unused = (name for name, stream in self._streams.items() if not stream.is_in_use(now))"
        ),
        new="unused = iter(self._streams)",
        tests=(HUB,),
    ),
    Mutant(
        name="the hub makes place only after there is a new room",
        guards="I8",
        file="channels/web/events.py",
        target="EventHub._stream",
        old=(
            "if stream is None:\n"
            "    self._prune()\n"
            "    stream = self._streams[conversation] = _ConversationStream(self._clock() // 1000)"
        ),
        new=(
            "if stream is None:\n"
            "    self._prune()\n"
            "    stream = self._streams[conversation] = _ConversationStream(self._clock() // "
            "1000)\nself._prune()"
        ),
        tests=(HUB,),
    ),
    Mutant(
        name="a live view that fails is the turn's fault",
        guards="I20",
        file="bot/gateway/gateway.py",
        target="Gateway.show_here",
        old="self._show_safely(channel.name, channel.show, event)",
        new="channel.show(event)",
        tests=("tests/bot/gateway/test_gateway.py",),
    ),
    Mutant(
        name="a page that cannot be moved fails the message that was stored",
        guards="I20",
        file="channels/web/channel.py",
        target="Web._notify",
        old="log.exception('page not moved')",
        new="raise",
        tests=(HUB,),
    ),
    Mutant(
        name="a reader that takes nothing keeps its connection",
        guards="connections",
        file="channels/web/connections.py",
        target="BoundedProtocol._check_writing",
        old="if self.transport.get_write_buffer_size() >= before:",
        new="if not self.transport:",
        tests=(HUB,),
    ),
    Mutant(
        name="an idle connection is closed at once",
        guards="connections",
        file="channels/web/connections.py",
        target="BoundedProtocol._half_close",
        old="self.transport.write_eof()",
        new="self.transport.close()",
        tests=(CONNECTIONS,),
    ),
    Mutant(
        name="a fault does not say that its connection ends",
        guards="connections",
        file="channels/web/server.py",
        target="_internal_error",
        old=", {'connection': 'close'}",
        new="",
        tests=(CONNECTIONS,),
    ),
    Mutant(
        name="a fetch under way is dropped for another",
        guards="I8",
        file="bot/gateway/downloads.py",
        target="Downloads._prune",
        old=(
            "for key in [key for key, download in self._downloads.items() if "
            "download.task.done()][:over]:"
        ),
        new=(
            "for key in [key for key, download in self._downloads.items() if download.task][:over]:"
        ),
        tests=("tests/bot/gateway/test_downloads.py",),
    ),
    Mutant(
        name="a file that came for one space is another's for nothing",
        guards="storage limits",
        file="bot/gateway/downloads.py",
        target="Downloads.get",
        old="key = (channel, ref, space)",
        new="key = (channel, ref, '')",
        tests=("tests/bot/gateway/test_downloads.py",),
    ),
    Mutant(
        name="an index that was handed out is closed",
        guards="I8",
        file="memory/recall/search.py",
        target="Recall._is_used",
        old="return bool(self._users[space]) or in_background or self._open[space].busy",
        new="return in_background or self._open[space].busy",
        tests=("tests/memory/recall/test_open_indexes.py",),
    ),
    Mutant(
        name="rates forget who is in line",
        guards="I9",
        file="bot/gateway/gateway.py",
        target="RateLimiter._prune",
        old=(
            "self._chats = {chat: bucket for chat, bucket in self._chats.items() if not "
            "bucket.is_full(now)}"
        ),
        new=(
            "self._chats = {chat: bucket for chat, bucket in self._chats.items() if "
            "bucket.is_full(now)}"
        ),
        tests=(BOUNDS,),
    ),
    Mutant(
        name="a prompt is forgotten before it is recorded",
        guards="I42",
        file="bot/agent/prompt/builder.py",
        target="SystemPromptBuilder._add_unstored",
        old="if len(self._unstored) > MAX_UNSTORED_SNAPSHOTS:",
        new="if len(self._unstored) > MAX_CACHED_CONVERSATIONS:",
        tests=(BOUNDS,),
    ),
    Mutant(
        name="the answer being shown makes place for those that wait",
        guards="I8",
        file="channels/wecom/channel.py",
        target="LiveStreams.register",
        old="idle = (id for id, known in self._calls.items() if known.key not in self._streams)",
        new="idle = (id for id, known in self._calls.items() if known.key)",
        tests=(CHANNEL_BOUNDS,),
    ),
)
