"""Wrong changes to recall's indexes."""

from tests.mutants.mutant import Mutant

CONTRACT = "tests/memory/recall/test_index_contract.py"
KEEPERS = "tests/memory/recall/test_keepers.py"
POSTGRES = "tests/memory/recall/test_postgres.py"
WHOSE = "tests/memory/recall/test_whose_words.py"

INDEXES = (
    Mutant(
        name="a query of PostgreSQL's index reads every space",
        guards="I40",
        file="memory/store/postgres/index_statements.py",
        target="_of_space",
        old="return f'(SELECT * FROM mnema_index.{table} WHERE space = %(space)s) AS {table}'",
        new=(
            "return f'(SELECT * FROM mnema_index.{table} WHERE space = %(space)s OR TRUE) AS "
            "{table}'"
        ),
        tests=(f"{POSTGRES}::test_I40_no_way_to_look_shows_another_space",),
    ),
    Mutant(
        name="a source is taken out of PostgreSQL's index for every space",
        guards="I40",
        file="memory/store/postgres/index_statements.py",
        target="DROP_ENTRIES",
        old="space = %(space)s",
        new="(space = %(space)s OR TRUE)",
        tests=(f"{POSTGRES}::test_I40_changing_one_space_leaves_the_others_as_they_are",),
    ),
    Mutant(
        name="what is forgotten stays among the index's words",
        guards="I44",
        file="memory/store/postgres/index_statements.py",
        target="DROP_SPACE",
        old="('posting', 'vector'",
        new="('vector'",
        tests=(f"{POSTGRES}::test_I44_a_space_that_is_forgotten_is_in_no_table",),
    ),
    Mutant(
        name="two processes may change one space's index at once",
        guards="recall",
        file="memory/store/postgres/index_statements.py",
        target="LOCK_SPACE",
        old="LOCK_SPACE = f'{SPACE} FOR UPDATE'",
        new="LOCK_SPACE = SPACE",
        tests=(
            f"{POSTGRES}::test_while_another_process_indexes_the_others_search_what_is_there",
            f"{POSTGRES}::test_processes_that_index_the_same_at_once_put_each_row_in_once",
        ),
    ),
    Mutant(
        name="the record is asked what there is before the index is ours",
        guards="recall",
        file="memory/store/postgres/index_keeper.py",
        target="PostgresIndexKeeper._sync",
        old=(
            "await self._step(lambda _: index.begin_changing(self._timeouts.wait))\n"
            "await sync_index(self._step, self._dependencies, self.space)"
        ),
        new=(
            "begun = []\n"
            "async def run(work):\n"
            "    if not begun:\n"
            "        await self._step(lambda _: index.begin_changing(self._timeouts.wait))\n"
            "        begun.append(True)\n"
            "    return await self._step(work)\n"
            "await sync_index(run, self._dependencies, self.space)"
        ),
        tests=(
            f"{POSTGRES}::test_what_another_process_has_indexed_meanwhile_is_not_taken_for_gone",
        ),
    ),
    Mutant(
        name="what a search found missing while it was being indexed counts as indexed",
        guards="recall",
        file="memory/recall/keepers/files.py",
        target="FileIndexKeeper._lacks_since",
        old="return min(self._missing.since, self._syncing.since)",
        new="return self._missing.since",
        tests=(f"{KEEPERS}::test_a_fresh_search_waits_for_what_is_being_indexed",),
    ),
    Mutant(
        name="one slow search sends all that wait to the threads",
        guards="recall",
        file="memory/recall/keepers/files.py",
        target="FileIndexKeeper._run_reading",
        old=(
            "self._read_seconds += NEWEST_WEIGHT * (time.thread_time() - began - "
            "self._read_seconds)"
        ),
        new="self._read_seconds += time.thread_time() - began - self._read_seconds",
        tests=(
            f"{KEEPERS}::test_a_small_file_is_read_on_the_loops_thread_unless_its_reads_are_heavy_on_average",
        ),
    ),
    Mutant(
        name="what an update that failed was to index is forgotten",
        guards="recall",
        file="memory/recall/keepers/files.py",
        target="FileIndexKeeper._sync",
        old="self._note(missing)",
        new="",
        tests=(f"{KEEPERS}::test_what_an_update_that_failed_did_not_index_is_indexed_by_the_next",),
    ),
    Mutant(
        name="an index is deleted under those who read it",
        guards="I44",
        file="memory/recall/keepers/files.py",
        target="_ReadQueue.paused",
        old="await asyncio.wrap_future(idle)",
        new="pass",
        tests=(
            f"{KEEPERS}::test_I44_an_index_is_deleted_only_once_nobody_reads_it_and_is_empty_for_the_next",
        ),
    ),
    Mutant(
        name="a deleted conversation is not reported to the index",
        guards="recall",
        file="memory/store/conversations/lifecycle.py",
        target="delete_conversation",
        old="tx.changed.update({(row['space'], id)} if row else ())",
        new="",
        tests=(
            (
                "tests/memory/recall/test_search.py"
                "::test_a_deleted_conversation_is_gone_from_the_next_search"
            ),
        ),
    ),
    Mutant(
        name="an overflow of the kernel's queue is no reason to compare",
        guards="recall",
        file="memory/workspace/folder_watch.py",
        target="FolderWatches.read_events",
        old="if mask & _IN_Q_OVERFLOW:",
        new="if False:",
        tests=(
            "tests/memory/workspace/test_folder_watch.py"
            "::test_where_the_kernel_dropped_events_anything_may_have_changed",
        ),
    ),
    Mutant(
        name="two processes make the index's tables at once",
        guards="recall",
        file="memory/store/postgres/index_connections.py",
        target="create_tables",
        old="connection.execute('SELECT pg_advisory_xact_lock(%s)', (_LOCK,))",
        new="",
        tests=(f"{POSTGRES}::test_processes_that_start_at_once_make_the_tables_once",),
    ),
    Mutant(
        name="a connection whose network swallows everything is waited for",
        guards="recall",
        file="memory/store/postgres/index_keeper.py",
        target="PostgresIndexKeeper._in_thread",
        old="self._connections.close_stuck()",
        new="",
        tests=(f"{POSTGRES}::test_a_network_that_swallows_everything_holds_nobody_for_ever",),
    ),
    Mutant(
        name="a removed vector is not told to who has read it",
        guards="recall",
        file="memory/recall/sqlite_index.py",
        target="_SCHEMA",
        old="INSERT INTO vector(row, data) SELECT old.id, NULL WHERE old.embedded;",
        new="",
        tests=(f"{CONTRACT}::TestFile::test_changes_of_vectors_are_read_in_their_order",),
    ),
    Mutant(
        name="all rows of a day's log are made before the first is compared with what is held",
        guards="recall",
        file="memory/recall/sqlite_index.py",
        target="SqliteIndex._skip_unchanged",
        old="return skip_unchanged(indexed, rows, tuple)",
        new="return skip_unchanged(indexed, list(rows), tuple)",
        tests=(f"{CONTRACT}::TestFile::test_of_a_long_file_few_rows_are_held_at_a_time",),
    ),
    Mutant(
        name="the bot's rows rank like a person's",
        guards="recall",
        file="memory/recall/ranking.py",
        target="rank_rows",
        old="bot_factor if speaker == BOT_SPEAKER else 1.0",
        new="1.0",
        tests=(
            "tests/memory/recall/test_sqlite_index.py"
            "::test_a_persons_words_come_before_the_bots_that_match_as_well",
        ),
    ),
    Mutant(
        name="an answer of the bot is not found by its question, though it is asked for",
        guards="recall",
        file="memory/recall/ranking.py",
        target="rank_rows",
        old="if asks_bot or row.speaker != BOT_SPEAKER",
        new="if row.speaker != BOT_SPEAKER",
        tests=(
            f"{WHOSE}::test_an_answer_of_the_bot_without_a_word_of_the_question_is_found_if_it_is_asked_for",
        ),
    ),
    Mutant(
        name="words that stand together count like words apart",
        guards="recall",
        file="memory/recall/hits.py",
        target="_raise_phrases",
        old="scores[number] *= 1 + PHRASE_BONUS * share",
        new="scores[number] *= 1",
        tests=(f"{WHOSE}::test_words_that_stand_together_count_more_than_the_same_words_apart",),
    ),
)
