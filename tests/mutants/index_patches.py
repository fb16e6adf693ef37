"""Wrong changes to recall's indexes."""

from tests.mutants.mutant import Mutant

CONTRACT = "tests/memory/recall/test_index_contract.py"
POSTGRES = "tests/memory/recall/test_postgres.py"

INDEXES = (
    Mutant(
        name="a query of PostgreSQL's index reads every space",
        guards="I40",
        file="memory/recall/postgres_index.py",
        old='return f"(SELECT * FROM mnema_index.{table} WHERE space = %(space)s) AS {table}"',
        new='return f"(SELECT * FROM mnema_index.{table} WHERE space = %(space)s OR TRUE) AS {table}"',
        tests=(f"{POSTGRES}::test_I40_no_way_to_look_shows_another_space",),
    ),
    Mutant(
        name="a source is taken out of PostgreSQL's index for every space",
        guards="I40",
        file="memory/recall/postgres_index.py",
        old="DELETE FROM mnema_index.entry WHERE space = %(space)s AND source",
        new="DELETE FROM mnema_index.entry WHERE (space = %(space)s OR TRUE) AND source",
        tests=(f"{POSTGRES}::test_I40_changing_one_space_leaves_the_others_as_they_are",),
    ),
    Mutant(
        name="what is forgotten stays among the index's words",
        guards="I44",
        file="memory/recall/postgres_index.py",
        old='("posting", "vector", "entry", "speaker", "source", "space")',
        new='("vector", "entry", "speaker", "source", "space")',
        tests=(f"{POSTGRES}::test_I44_a_space_that_is_forgotten_is_in_no_table",),
    ),
    Mutant(
        name="two processes may change one space's index at once",
        guards="recall",
        file="memory/recall/postgres_index.py",
        old='LOCK_SPACE = f"{SPACE} FOR UPDATE"',
        new="LOCK_SPACE = SPACE",
        tests=(
            f"{POSTGRES}::test_while_another_process_indexes_the_others_search_what_is_there",
            f"{POSTGRES}::test_processes_that_index_the_same_at_once_put_each_row_in_once",
        ),
    ),
    Mutant(
        name="the record is asked what there is before the index is ours",
        guards="recall",
        file="memory/recall/postgres_spaces.py",
        old="""            await self._in_thread(lambda: index.begin_changing(self._timeouts.wait))
            ends = await dependencies.store.sessions.next_seqs(self.space)
""",
        new="""            ends = await dependencies.store.sessions.next_seqs(self.space)
            await self._in_thread(lambda: index.begin_changing(self._timeouts.wait))
""",
        tests=(f"{POSTGRES}::test_what_another_process_has_indexed_meanwhile_is_not_taken_for_gone",),
    ),
    Mutant(
        name="two processes make the index's tables at once",
        guards="recall",
        file="memory/recall/postgres_pool.py",
        old='    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))\n',
        new="",
        tests=(f"{POSTGRES}::test_processes_that_start_at_once_make_the_tables_once",),
    ),
    Mutant(
        name="a connection whose network swallows everything is waited for",
        guards="recall",
        file="memory/recall/postgres_spaces.py",
        old="            self._connections.close_stuck()\n",
        new="",
        tests=(f"{POSTGRES}::test_a_network_that_swallows_everything_holds_nobody_for_ever",),
    ),
    Mutant(
        name="a vector that comes before others is not told to who has read those",
        guards="recall",
        file="memory/recall/sqlite_index.py",
        old="            self._removed_vectors += any(row <= newest for row, _, _ in vectors)\n",
        new="",
        tests=(f"{CONTRACT}::TestFile::test_a_vector_that_is_lost_or_stands_before_others_is_told_by_the_stamp",),
    ),
    Mutant(
        name="all rows of a day's log are made before the first is compared with what is held",
        guards="recall",
        file="memory/recall/sqlite_index.py",
        old="            return skip_unchanged(indexed, rows, _columns_of)\n",
        new="            return skip_unchanged(indexed, list(rows), _columns_of)\n",
        tests=(f"{CONTRACT}::TestFile::test_of_a_long_file_few_rows_are_held_at_a_time",),
    ),
)
