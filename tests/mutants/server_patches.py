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
        old="        os.kill(parent, signal.SIGKILL)\n",
        new="        pass\n",
        tests=(f"{DEADLINE}::test_a_process_that_cannot_end_is_ended_and_nothing_confirmed_is_lost[{GRIPPED}]",),
    ),
    Mutant(
        name="a hung writer is waited for until it is killed",
        guards="SIGTERM",
        file="bot/runtime/process.py",
        old="    os._exit(OVERDUE_EXIT)\n",
        new="    return\n",
        tests=(f"{DEADLINE}::test_a_process_that_cannot_end_is_ended_and_nothing_confirmed_is_lost[{HUNG}]",),
    ),
    Mutant(
        name="what is stored in a removed file is confirmed",
        guards="I1",
        file="memory/store/engine/sqlite.py",
        old="            self._check_file()\n",
        new="",
        tests=(MOVED,),
    ),
    Mutant(
        name="a removed log of the database is not missed",
        guards="I1",
        file="memory/store/engine/sqlite_connection.py",
        old='(str(path), f"{path}-wal")',
        new="(str(path),)",
        tests=(MOVED,),
    ),
    Mutant(
        name="half a header is waited for",
        guards="availability",
        file="channels/web/connections.py",
        old="            self._header_timer = self.loop.call_later(self._group.header_seconds, self._refuse_slow)\n",
        new="            return\n",
        tests=(CONNECTIONS,),
    ),
    Mutant(
        name="silent connections keep their places",
        guards="availability",
        file="channels/web/connections.py",
        old="next(iter(self._silent or self._idle), None) or",
        new="",
        tests=(CONNECTIONS,),
    ),
    Mutant(
        name="an answer that nobody reads holds its connection",
        guards="availability",
        file="channels/web/connections.py",
        old="        if self.transport.get_write_buffer_size() >= before:\n",
        new="        if False:\n",
        tests=(CONNECTIONS,),
    ),
    Mutant(
        name="a login opens as many streams as it likes",
        guards="availability",
        file="channels/web/events.py",
        old="        if streams.count >= streams.most:\n",
        new="        if False:\n",
        tests=(CONNECTIONS,),
    ),
    Mutant(
        name="each failed accept is a traceback",
        guards="availability",
        file="bot/cli/run.py",
        old="        asyncio.get_running_loop().set_exception_handler(AcceptErrorLogger())\n",
        new="",
        tests=(DESCRIPTORS,),
    ),
    Mutant(
        name="the soft limit of descriptors stays",
        guards="availability",
        file="bot/cli/run.py",
        old="    raise_descriptor_limit()\n",
        new="",
        tests=(DESCRIPTORS,),
    ),
    Mutant(
        name="the public cookie travels without TLS",
        guards="S26",
        file="channels/web/auth.py",
        old='        secure = "; Secure" if self._came_by_proxy(headers) else ""\n',
        new='        secure = ""\n',
        tests=(BEHIND,),
    ),
    Mutant(
        name="the public origin is taken under loopback",
        guards="S26",
        file="channels/web/auth.py",
        old='b"https://" if host == public else b"http://"',
        new='b"https://" if public else b"http://"',
        tests=(BEHIND,),
    ),
    Mutant(
        name="anybody says which client they are",
        guards="S23",
        file="channels/web/auth.py",
        old="    if address is None or not _is_listed(address, proxies):\n        return peer\n",
        new="    if address is None:\n        return peer\n",
        tests=(BEHIND,),
    ),
    Mutant(
        name="the left-most hop is believed",
        guards="S23",
        file="channels/web/auth.py",
        old="        if not _is_listed(address, proxies):\n            break\n",
        new="",
        tests=(BEHIND,),
    ),
    Mutant(
        name="the doctor does not mind another host",
        guards="S25",
        file="bot/cli/doctor/channels.py",
        old='    if [name.lower() for name in echo["host"]] != [host]:\n',
        new="    if False:\n",
        tests=(DOCTOR,),
    ),
    Mutant(
        name="a server that ends waits for bodies that do not come",
        guards="SIGTERM",
        file="channels/web/body_limits.py",
        old="            wait.reschedule(0.0)\n",
        new="            pass\n",
        tests=("tests/channels/web/test_body_limits.py::test_a_server_that_stops_waits_for_no_body",),
    ),
    Mutant(
        name="the time of a large upload runs while it waits for its turn",
        guards="availability",
        file="channels/web/body_limits.py",
        old="        loop = asyncio.get_running_loop()\n",
        new="        loop = asyncio.get_running_loop()\n        loop.call_later(self._times.stall, self.stop)\n",
        tests=(
            "tests/channels/web/test_large_bodies.py::test_the_time_of_a_large_upload_begins_when_its_turn_has_come",
        ),
    ),
    Mutant(
        name="any number of large uploads may wait",
        guards="availability",
        file="channels/web/requests.py",
        old="        if self._waiting >= MAX_WAITING_BODIES:\n",
        new="        if False:\n",
        tests=(
            "tests/channels/web/test_large_bodies.py"
            "::test_one_more_than_may_wait_is_refused_when_it_has_come_and_no_other_is",
        ),
    ),
)
