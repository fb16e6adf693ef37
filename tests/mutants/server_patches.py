"""The mutants of the server and of how a process ends."""

from tests.mutants.mutant import Mutant

DEADLINE = "tests/walk/test_shutdown_deadline.py"
MOVED = "tests/walk/test_database_moved.py"

SERVER = (
    Mutant(
        name="a process that holds the interpreter is waited for",
        guards="SIGTERM",
        file="bot/shutdown_deadline.py",
        old="        os.kill(parent, signal.SIGKILL)\n",
        new="        pass\n",
        tests=(DEADLINE,),
    ),
    Mutant(
        name="a hung writer is waited for until it is killed",
        guards="SIGTERM",
        file="bot/shutdown_deadline.py",
        old="    os._exit(OVERDUE)\n",
        new="    return\n",
        tests=(DEADLINE,),
    ),
    Mutant(
        name="what is stored in a removed file is confirmed",
        guards="I1",
        file="memory/store/sqlite.py",
        old="        self._check_file()\n",
        new="",
        tests=(MOVED,),
    ),
    Mutant(
        name="a removed log of the database is not missed",
        guards="I1",
        file="memory/store/database_file.py",
        old='(str(path), f"{path}-wal")',
        new="(str(path),)",
        tests=(MOVED,),
    ),
)
