"""The mutants of the server and of how a process ends."""

from tests.mutants.mutant import Mutant

DEADLINE = "tests/walk/test_shutdown_deadline.py"
HUNG, GRIPPED = "claim.in_txn@1:hang-75", "claim.in_txn@1:grip--9"
MOVED = "tests/walk/test_database_moved.py"
CONNECTIONS = "tests/channels/web/test_connections.py"
DESCRIPTORS = "tests/walk/test_descriptors.py"
BEHIND = "tests/channels/web/test_behind_proxy.py"
DOCTOR = "tests/bot/cli/test_doctor_public.py"

SERVER = (
    Mutant(
        name="a process that holds the interpreter is waited for",
        guards="SIGTERM",
        file="bot/runtime/shutdown_watcher.py",
        target="watch",
        old="os.kill(parent, signal.SIGKILL)",
        new="pass",
        tests=(
            f"{DEADLINE}::test_a_process_that_cannot_end_is_ended_and_nothing_confirmed_is_lost[{GRIPPED}]",
        ),
    ),
    Mutant(
        name="a hung writer is waited for until it is killed",
        guards="SIGTERM",
        file="bot/runtime/process.py",
        target="_exit_after",
        old="os._exit(OVERDUE_EXIT)",
        new="return",
        tests=(
            f"{DEADLINE}::test_a_process_that_cannot_end_is_ended_and_nothing_confirmed_is_lost[{HUNG}]",
        ),
    ),
    Mutant(
        name="what is stored in a removed file is confirmed",
        guards="I1",
        file="memory/store/engine/sqlite.py",
        target="SqliteDatabase._commit_batch",
        old="self._check_file()",
        new="",
        tests=(MOVED,),
    ),
    Mutant(
        name="a removed log of the database is not missed",
        guards="I1",
        file="memory/store/engine/sqlite_connection.py",
        target="DatabaseFile.__init__",
        old=(
            "self._opened = [(name, _device_and_inode(name)) for name in (str(path), "
            "f'{path}-wal')]"
        ),
        new="self._opened = [(name, _device_and_inode(name)) for name in (str(path),)]",
        tests=(MOVED,),
    ),
    Mutant(
        name="half a header is waited for",
        guards="availability",
        file="channels/web/connections.py",
        target="BoundedProtocol._watch_header",
        old=(
            "self._header_timer = self.loop.call_later(self._group.header_seconds, "
            "self._refuse_slow)"
        ),
        new="return",
        tests=(CONNECTIONS,),
    ),
    Mutant(
        name="silent connections keep their places",
        guards="availability",
        file="channels/web/connections.py",
        target="ConnectionLimiter._most_dispensable",
        old="next(iter(self._silent or self._idle), None) or",
        new="",
        tests=(CONNECTIONS,),
    ),
    Mutant(
        name="an answer that nobody reads holds its connection",
        guards="availability",
        file="channels/web/connections.py",
        target="BoundedProtocol._check_writing",
        old="if self.transport.get_write_buffer_size() >= before:",
        new="if False:",
        tests=(CONNECTIONS,),
    ),
    Mutant(
        name="a login opens as many streams as it likes",
        guards="availability",
        file="channels/web/events.py",
        target="EventStream.__call__",
        old="if streams.count >= streams.most:",
        new="if False:",
        tests=(CONNECTIONS,),
    ),
    Mutant(
        name="each failed accept is a traceback",
        guards="availability",
        file="bot/cli/run.py",
        target="_BotProcess.run",
        old="asyncio.get_running_loop().set_exception_handler(AcceptErrorLogger())",
        new="",
        tests=(DESCRIPTORS,),
    ),
    Mutant(
        name="the soft limit of descriptors stays",
        guards="availability",
        file="bot/cli/run.py",
        target="run",
        old="raise_descriptor_limit()",
        new="",
        tests=(DESCRIPTORS,),
    ),
    Mutant(
        name="the public cookie travels without TLS",
        guards="S26",
        file="channels/web/auth.py",
        target="RequestGuard.set_cookie",
        old="secure = '; Secure' if self._came_by_proxy(headers) else ''",
        new="secure = ''",
        tests=(BEHIND,),
    ),
    Mutant(
        name="the public origin is taken under loopback",
        guards="S26",
        file="channels/web/auth.py",
        target="is_same_origin",
        old="if host == public",
        new="if public",
        tests=(BEHIND,),
    ),
    Mutant(
        name="anybody says which client they are",
        guards="S23",
        file="channels/web/throttle.py",
        target="client_address",
        old="if address is None or not _is_listed(address, proxies):",
        new="if address is None:",
        tests=(BEHIND,),
    ),
    Mutant(
        name="the left-most hop is believed",
        guards="S23",
        file="channels/web/throttle.py",
        target="client_address",
        old=("if not _is_listed(address, proxies):\n    break"),
        new="",
        tests=(BEHIND,),
    ),
    Mutant(
        name="the doctor does not mind another host",
        guards="S25",
        file="bot/cli/doctor/channels.py",
        target="_altered_headers",
        old="if [name.lower() for name in echo['host']] != [host]:",
        new="if False:",
        tests=(DOCTOR,),
    ),
    Mutant(
        name="a server that ends waits for bodies that do not come",
        guards="SIGTERM",
        file="channels/web/requests.py",
        target="BodyLimiter.stop",
        old="wait.reschedule(0.0)",
        new="pass",
        tests=(
            "tests/channels/web/test_body_limits.py::test_a_server_that_stops_waits_for_no_body",
        ),
    ),
    Mutant(
        name="the time of a large upload runs while it waits for its turn",
        guards="availability",
        file="channels/web/requests.py",
        target="BodyLimiter.__call__",
        old="loop = asyncio.get_running_loop()",
        new=("loop = asyncio.get_running_loop()\nloop.call_later(self._times.stall, self.stop)"),
        tests=(
            (
                "tests/channels/web/test_large_bodies.py"
                "::test_the_time_of_a_large_upload_begins_when_its_turn_has_come"
            ),
        ),
    ),
    Mutant(
        name="any number of large uploads may wait",
        guards="availability",
        file="channels/web/requests.py",
        target="LargeBodies._acquire",
        old="if self._waiting >= MAX_WAITING_BODIES:",
        new="if False:",
        tests=(
            "tests/channels/web/test_large_bodies.py"
            "::test_one_more_than_may_wait_is_refused_when_it_has_come_and_no_other_is",
        ),
    ),
)
