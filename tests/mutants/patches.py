"""The mutants: small wrong changes to the product, each with the tests that must fail on it."""

from tests.mutants.channel_patches import CHANNELS
from tests.mutants.delivery_patches import DELIVERY
from tests.mutants.doc_patches import DOCUMENTED
from tests.mutants.exec_patches import EXEC
from tests.mutants.extension_patches import EXTENSIONS
from tests.mutants.fence_patches import FENCES_AND_LIMITS
from tests.mutants.files_patches import FILES
from tests.mutants.guards_patches import GUARDS
from tests.mutants.hub_patches import HUBS
from tests.mutants.index_patches import INDEXES
from tests.mutants.install_patches import INSTALLED
from tests.mutants.model_patches import MODELS
from tests.mutants.mutant import Mutant
from tests.mutants.page_patches import PAGE
from tests.mutants.process_patches import PROCESSES
from tests.mutants.promise_patches import PROMISED
from tests.mutants.server_patches import SERVER
from tests.mutants.setup_patches import SETUP
from tests.mutants.small_model_patches import SMALL_MODELS
from tests.mutants.taint_patches import TAINT
from tests.mutants.tool_patches import TOOLS
from tests.mutants.window_patches import WINDOW

STORE = "tests/memory/store/test_contract.py"
SQLITE = "tests/memory/store/test_sqlite.py"
MACHINE = "tests/walk/test_machine.py"
TURNS = "tests/walk/test_turn_walks.py"
STORAGE = "tests/walk/test_storage.py"
GATEWAY = "tests/bot/gateway/test_gateway.py"
VALIDITY = "tests/memory/context/test_message_rules.py"
FOLD = "tests/memory/test_folding.py"
LIVES = "tests/memory/context/policies/test_policies.py::test_no_rule_is_broken_in_any_life"
PROMISES = "tests/bot/agent/test_context_promises.py"
SIXTY = (
    f"{PROMISES}::test_of_sixty_facts_each_is_in_view_summary_or_log_whatever_the_summariser_does"
)
PREFIX = (
    f"{PROMISES}::test_the_prefix_breaks_only_at_folds_and_declared_changes_though_the_clock_moves"
)
DISK = f"{STORAGE}::test_a_full_disk_refuses_new_messages_keeps_the_old_and_heals_without_a_restart"
KEPT = "tests/walk/test_failure_walks.py::test_a_request_that_is_refused_costs_no_memory"
LINKS = "tests/memory/store/test_links.py"
SPACES = "tests/bot/memory/test_spaces.py"
WORKSPACE = "tests/memory/workspace/test_files.py"
LINES = "tests/memory/longterm/test_memories.py"
EXTRACTION = "tests/memory/longterm/test_extraction.py"
QUEUE = "tests/memory/longterm/test_extraction_worker.py"
FORGETTING = "tests/memory/forgetting/test_forget.py"
FORGET = (
    "tests/bot/commands/test_forget.py"
    "::test_what_mentions_it_is_shown_and_asked_then_gone_with_a_receipt"
)
SEARCH = "tests/memory/recall/test_search.py"
RECALLED = "tests/bot/agent/test_recall_in_prompt.py"
UNKNOWN = f"{TURNS}::test_a_tool_whose_outcome_nobody_knows_is_not_run_again"


MUTANTS = (
    *PROCESSES,
    *INSTALLED,
    *WINDOW,
    *GUARDS,
    *SMALL_MODELS,
    Mutant(
        name="an update is confirmed though it could not be stored",
        guards="I1",
        file="channels/toolkit/delivery.py",
        target="store_with_retry",
        old=("await asyncio.sleep(pause)\npause = min(2 * pause, longest)"),
        new="return []",
        tests=("tests/channels/telegram/test_contract.py",),
    ),
    Mutant(
        name="a post is confirmed though it could not be stored",
        guards="I1",
        file="channels/web/routes.py",
        target="WebApi._deliver",
        old="raise HttpRefusal(503, 'storage', why, {'retry-after': '2'}) from err",
        new="return Accepted(id=why, new=True)",
        tests=(DISK,),
    ),
    Mutant(
        name="a commit does not wait for the disk",
        guards="I1",
        file="memory/store/engine/sqlite_connection.py",
        target="connect_writer",
        old="'synchronous': SYNC_AT_COMMIT",
        new="'synchronous': 0",
        tests=(f"{SQLITE}::test_every_promise_of_durability_is_set_and_read_back",),
    ),
    Mutant(
        name="no unique key on the inbox",
        guards="I2",
        file="memory/store/schema/tables.py",
        target="inbox",
        old=", UniqueConstraint('channel', 'account', 'key', name='inbox_key')",
        new="",
        tests=("tests/memory/store/test_opening.py",),
    ),
    Mutant(
        name="a known key is not looked for",
        guards="I2",
        file="memory/store/conversations/inbox.py",
        target="_accept_one",
        old="if (known := found.known):",
        new="if (known := found.known) and False:",
        tests=(f"{STORE}::TestDelivery::test_I02_a_repeated_message_is_kept_once",),
    ),
    Mutant(
        name="an empty key is taken",
        guards="I2",
        file="memory/store/conversations/inbox.py",
        target="_accept_one",
        old="if not arrival.key:",
        new="if False:",
        tests=(
            f"{STORE}::TestDelivery::test_an_empty_key_is_refused_and_nothing_of_its_batch_is_kept",
        ),
    ),
    Mutant(
        name="the same words are the same message",
        guards="I3",
        file="channels/web/routes.py",
        target="to_inbound_message",
        old="secrets.token_hex(16) if key is None else check_client_key(key)",
        new="body.text",
        tests=(
            f"{TURNS}::test_messages_that_come_while_one_is_answered_are_answered_in_order_the_same_words_twice",
        ),
    ),
    Mutant(
        name="each try has a key of its own",
        guards="I5",
        file="bot/messages.py",
        target="to_outbound_message",
        old="row.client_key",
        new="f'{row.client_key}{row.attempts}'",
        tests=(
            f"{GATEWAY}::test_a_lost_answer_with_a_key_is_sent_again_with_the_same_key_and_no_mark",
        ),
    ),
    Mutant(
        name="a part is sent before the record says so",
        guards="I5",
        file="bot/gateway/gateway.py",
        target="Gateway._send_when_ready",
        old="if await self._delivery.mark_sending(row.id) is None:",
        new="if False:",
        tests=(GATEWAY,),
    ),
    Mutant(
        name="a repeat is not marked",
        guards="I5",
        file="bot/messages.py",
        target="to_outbound_message",
        old="if row.repeats:",
        new="if False:",
        tests=(GATEWAY,),
    ),
    Mutant(
        name="a part of unknown fate is taken for sent",
        guards="I6",
        file="bot/gateway/gateway.py",
        target="Gateway._outcome_of_error",
        old="state='unknown',",
        new="state='sent',",
        tests=(GATEWAY,),
    ),
    Mutant(
        name="the lease is not compared at a commit",
        guards="I11",
        file="memory/store/engine/sqlite.py",
        target="SqliteDatabase._run_units",
        old="if newest is None or newest['lease_epoch'] != self.lease:",
        new="if newest is None:",
        tests=(f"{TURNS}::test_a_process_that_was_stopped_and_replaced_cannot_write_any_more",),
    ),
    Mutant(
        name="a call is started in the record after its effect",
        guards="I14",
        file="bot/agent/tool_calls.py",
        target="ToolRunner._run_one",
        old="await self._store.sessions.start_calls([call])",
        new=(
            "done = await self._run_started(context, call)\nawait "
            "self._store.sessions.start_calls([call])\nreturn done"
        ),
        tests=(f"{UNKNOWN}[tool.after_effect-1]",),
    ),
    Mutant(
        name="a call of unknown outcome is planned anew",
        guards="I14",
        file="memory/store/conversations/messages.py",
        target="_settle",
        old="='unknown' if row['effect'] == 'unsafe' else 'planned'",
        new="='planned'",
        tests=(
            f"{STORE}::TestTools::test_I14_what_was_started_is_run_again_only_when_that_is_safe",
            MACHINE,
        ),
    ),
    Mutant(
        name="repair drops the last words of the person",
        guards="I15",
        file="memory/context/message_rules.py",
        target="repair_messages",
        old="return tuple(_pair_calls(merged))",
        new=(
            "return tuple(_pair_calls(merged[:-1] if merged and merged[-1].role == 'user' else "
            "merged))"
        ),
        tests=(VALIDITY,),
    ),
    Mutant(
        name="results stand behind the words",
        guards="I15",
        file="memory/context/message_rules.py",
        target="_complete_results",
        old="return (*results, *(part for part in parts if not isinstance(part, ToolResult)))",
        new="return (*(part for part in parts if not isinstance(part, ToolResult)), *results)",
        tests=(VALIDITY,),
    ),
    Mutant(
        name="a fold is done without its entry in the log",
        guards="I17",
        file="memory/folding/runner.py",
        target="FoldRunner._write_log",
        old="path = await asyncio.to_thread(daily_log.append_section, files, section)",
        new="path = section.path",
        tests=(FOLD,),
    ),
    Mutant(
        name="an empty summary is taken",
        guards="I17",
        file="memory/context/summary/validation.py",
        target="_ground",
        old="if not _has_content(grounded.text):",
        new="if False:",
        tests=("tests/walk/test_context_walks.py::test_a_summary_that_says_nothing_is_not_taken",),
    ),
    Mutant(
        name="the log of a model overwrites what somebody wrote",
        guards="I23",
        file="memory/workspace/log_section.py",
        target="replace_body",
        old="if found is None or body_sha256(file.text[slice(*found)]) != expected:",
        new="if found is None:",
        tests=("tests/memory/test_late_folds.py::test_what_somebody_wrote_into_the_section_stays",),
    ),
    Mutant(
        name="an answer of an older epoch is said",
        guards="I18",
        file="memory/store/conversations/turns.py",
        target="cancel_open_turns",
        old="if (await tx.execute(_CANCEL, id=turn_row.id, now=tx.now)).rowcount:",
        new="if False:",
        tests=(f"{STORE}::TestRecovery", f"{STORE}::TestClear", MACHINE),
    ),
    Mutant(
        name="a fold of an older epoch goes on",
        guards="I18",
        file="memory/store/conversations/folds/steps.py",
        target="_is_current",
        old=(
            "return bool(conversation_row['epoch'] == epoch and conversation_row['fold_head'] == "
            "head)"
        ),
        new="return bool(conversation_row['fold_head'] == head)",
        tests=(f"{STORE}::TestFolds", MACHINE),
    ),
    Mutant(
        name="texts of a model replace a digest whatever has become of the view",
        guards="I18",
        file="memory/store/conversations/folds/steps.py",
        target="replace_texts",
        old="is_fresh = not is_open and _is_current(conversation_row, fold.epoch, fold.id)",
        new="is_fresh = True",
        tests=(f"{STORE}::TestLateTexts",),
    ),
    Mutant(
        name="an unsent answer of an older epoch is sent",
        guards="I18",
        file="memory/store/conversations/outbox.py",
        target="_settle",
        old="is_stale = row.kind != 'notice' and epochs[0] != epochs[1]",
        new="is_stale = False",
        tests=(f"{STORE}::TestRecovery", f"{STORE}::TestClear", MACHINE),
    ),
    Mutant(
        name="a clear leaves open folds alone",
        guards="I18",
        file="memory/store/conversations/clears.py",
        target="clear_conversation",
        old="await mark_open_stale(tx, conversation)",
        new="",
        tests=(f"{MACHINE}::test_after_a_clear_a_new_fold_can_be_begun_at_once",),
    ),
    Mutant(
        name="a transaction begins without the write lock",
        guards="I25",
        file="memory/store/engine/sqlite.py",
        target="SqliteDatabase._begin",
        old="writer.do('BEGIN IMMEDIATE')",
        new="writer.do('BEGIN')",
        tests=("tests/memory/store/test_fences.py",),
    ),
    Mutant(
        name="the cut is made anew after the summary",
        guards="I36",
        file="memory/store/conversations/folds/steps.py",
        target="commit",
        old=(
            "covered = {'conversation': fold.conversation, 'from_seq': fold.from_seq, 'to_seq': "
            "fold.to_seq}"
        ),
        new=(
            "covered = {'conversation': fold.conversation, 'from_seq': fold.from_seq, 'to_seq': "
            "fold.to_seq + 1}"
        ),
        tests=(f"{STORE}::TestFolds", MACHINE),
    ),
    Mutant(
        name="a fold covers nothing",
        guards="I36",
        file="memory/store/conversations/folds/steps.py",
        target="commit",
        old="await tx.execute(_INSERT_COVERAGE, fold_id=fold.id, **covered)",
        new="",
        tests=(f"{STORE}::TestFolds", MACHINE),
    ),
    Mutant(
        name="the view begins one message too early",
        guards="I36",
        file="memory/store/conversations/folds/rows.py",
        target="load_live_from",
        old="return head.to_seq + 1 if head else int(conversation_row['view_from'])",
        new="return head.to_seq if head else int(conversation_row['view_from'])",
        tests=(f"{STORE}::TestFolds", MACHINE),
    ),
    Mutant(
        name="a refused request clears the conversation",
        guards="I43",
        file="bot/agent/turn.py",
        target="TurnRunner._finish",
        old="if result.state == 'failed':",
        new=(
            "if result.state == 'failed':\n    await "
            "self._store.sessions.clear(context.conversation.id)"
        ),
        tests=(KEPT,),
    ),
    Mutant(
        name="a cut falls between two messages of a turn",
        guards="I36",
        file="memory/context/policies/planner.py",
        target="_fold_range",
        old="last.last_seq, from_turn",
        new="last.last_seq - 1, from_turn",
        tests=(LIVES,),
    ),
    Mutant(
        name="what tools answered costs nothing",
        guards="I39",
        file="memory/context/tokens.py",
        target="TokenCounter._part",
        old="return RESULT_TOKENS + self.text(part.text)",
        new="return RESULT_TOKENS",
        tests=(LIVES,),
    ),
    Mutant(
        name="a summary may say what its source does not",
        guards="I37",
        file="memory/context/summary/grounding.py",
        target="ground_text",
        old="kept = [part for part in parts if supported[part]]",
        new="supported, kept = (dict.fromkeys(parts, True), parts)",
        tests=(SIXTY,),
    ),
    Mutant(
        name="the clock stands in the prefix",
        guards="I38",
        file="bot/agent/context/fitter.py",
        target="ContextFitter.fit",
        old=(
            "view = assemble_view(session, fit_limits.system, fit_limits.tools, counter, "
            "block.text, suffix.last)"
        ),
        new=(
            "view = assemble_view(session, (*fit_limits.system, block.text), fit_limits.tools, "
            "counter, '', suffix.last)"
        ),
        tests=(PREFIX,),
    ),
    Mutant(
        name="a snapshot is taken anew for every request",
        guards="I38",
        file="bot/agent/prompt/builder.py",
        target="SystemPromptBuilder._build",
        old="if stored is None or check.reason:",
        new="if stored is not self:",
        tests=("tests/bot/agent/test_prompt.py", PREFIX),
    ),
    Mutant(
        name="the newest results become lines too",
        guards="I39",
        file="memory/context/policies/shorten_stages.py",
        target="_long_results",
        old=(
            "spared = {id(ref.result) for ref in found[len(found) - "
            "state.settings.spared_results:]}"
        ),
        new="spared = {id(ref.result) for ref in found[len(found):]}",
        tests=(
            (
                "tests/memory/context/policies/test_policies.py"
                "::test_failed_results_are_shortened_last_and_the_newest_five_never_to_a_line"
            ),
        ),
    ),
    Mutant(
        name="a part of a long log that is not parsed is not counted as left out",
        guards="prompt",
        file="memory/context/system_prompt.py",
        target="_Log._excerpt",
        old="sum(one.counts)",
        new="sum(one.counts[2:])",
        tests=(
            (
                "tests/memory/context/test_system_prompt.py"
                "::test_the_logs_newest_entries_are_first_in_after_what_people_wrote"
            ),
        ),
    ),
    Mutant(
        name="a fold that is prepared hides its turns at once",
        guards="I36",
        file="memory/store/conversations/sessions.py",
        target="_LIVE_FROM",
        old="c.view_from)",
        new="c.next_seq - 4)",
        tests=(SIXTY,),
    ),
    Mutant(
        name="an index asks for the conversations of every space",
        guards="I40",
        file="memory/store/conversations/sessions.py",
        target="_SELECT_NEXT_SEQS",
        old="conversation.c.space == bindparam('space'",
        new=(
            "(conversation.c.space == bindparam('space')) | (conversation.c.space != "
            "bindparam('space')"
        ),
        tests=("tests/memory/store/test_contract.py",),
    ),
    Mutant(
        name="all spaces share one index",
        guards="I40",
        file="memory/recall/keepers/files.py",
        target="FileIndexes.keeper",
        old=(
            "return FileIndexKeeper(space, self._folder / f'{name}.db', dependencies, "
            "self._threads, watch)"
        ),
        new=(
            "return FileIndexKeeper(space, self._folder / 'owner.db', dependencies, self._threads, "
            "watch)"
        ),
        tests=(SPACES,),
    ),
    Mutant(
        name="the rows of memory are read for every space",
        guards="I40",
        file="memory/store/longterm/memories.py",
        target="_SELECT_LISTED",
        old="memory.c.space == bindparam('space'",
        new="or_(memory.c.space == bindparam('space'), memory.c.space != bindparam('space')",
        tests=("tests/conventions/test_spaces.py", SPACES),
    ),
    Mutant(
        name="who makes a link has joined, not who typed",
        guards="I40",
        file="memory/store/linked_spaces.py",
        target="linked_space",
        old=(
            "linked = select(account_link.c.space).where(account_link.c.own_space == "
            "own_space).scalar_subquery()"
        ),
        new=(
            "linked = select(account_link.c.own_space).where(account_link.c.space == "
            "own_space).scalar_subquery()"
        ),
        tests=(LINKS,),
    ),
    Mutant(
        name="an account searches what it has joined the wrong way round",
        guards="I40",
        file="memory/store/linked_spaces.py",
        target="belongs_to_space",
        old=(
            "linked = select(account_link.c.own_space).where(account_link.c.space == "
            "bindparam('space'))"
        ),
        new=(
            "linked = select(account_link.c.space).where(account_link.c.own_space == "
            "bindparam('space'))"
        ),
        tests=(LINKS,),
    ),
    Mutant(
        name="the typist's word is enough to join",
        guards="I40",
        file="memory/store/longterm/links.py",
        target="_settle",
        old="('agreed',) if join else ('typed', 'agreed')",
        new="'typed', 'agreed'",
        tests=(LINKS,),
    ),
    Mutant(
        name="the home's log stays in the prompt of an account that has left",
        guards="I40",
        file="bot/agent/prompt/builder.py",
        target="SystemPromptBuilder._current_inputs",
        old="=session.space",
        new="=''",
        tests=(
            (
                "tests/bot/commands/test_link.py"
                "::test_a_day_log_of_the_home_leaves_the_prompt_with_the_account"
            ),
        ),
    ),
    Mutant(
        name="what a model notes need not be what the person said",
        guards="I35",
        file="memory/longterm/extraction.py",
        target="_rejection_reason",
        old="return '' if words.supports(fact.text) and words.agree(fact.text) else 'source'",
        new="return ''",
        tests=(
            f"{EXTRACTION}::test_what_they_do_not_bear_out_is_dropped_and_counted",
            f"{QUEUE}::test_numbers_that_the_model_altered_are_dropped",
        ),
    ),
    Mutant(
        name="a quotation need not be the person's",
        guards="I35",
        file="memory/longterm/extraction.py",
        target="_rejection_reason",
        old=("if not words.quoted(fact.quote):\n    return 'quote'"),
        new="",
        tests=(f"{EXTRACTION}::test_each_reason_to_drop_a_record_has_its_name",),
    ),
    Mutant(
        name="a model may note what a page told it",
        guards="I35",
        file="bot/tools/memory.py",
        target="MemoryWriteTool.run",
        old="if message.tainted:",
        new="if False:",
        tests=(
            (
                "tests/bot/tools/test_memory.py"
                "::test_I35_with_words_from_outside_in_view_only_the_persons_own_are_noted"
            ),
            f"{RECALLED}::test_I35_a_file_in_view_keeps_a_model_from_noting_what_nobody_said",
        ),
    ),
    Mutant(
        name="a write may halve a memory that no person asked to shorten",
        guards="I23",
        file="memory/longterm/memory_file.py",
        target="loses_too_much",
        old="return len(after.encode()) < MIN_LEFT_SHARE * len(before.encode())",
        new="return False",
        tests=(f"{LINES}::test_no_write_halves_the_file_without_a_persons_word",),
    ),
    Mutant(
        name="a night may take out as many lines as it likes",
        guards="I23",
        file="memory/longterm/dream_plan.py",
        target="refusal_reason",
        old="if lost > max(1.0, MAX_LOST_SHARE * count):",
        new="if False:",
        tests=(
            (
                "tests/memory/longterm/test_dream_plan.py"
                "::test_one_line_may_always_go_but_no_more_than_a_quarter"
            ),
            (
                "tests/memory/longterm/test_dream_worker.py"
                "::test_a_night_that_would_lose_too_much_changes_nothing_and_says_so"
            ),
        ),
    ),
    Mutant(
        name="a file is written over whatever somebody else made of it",
        guards="I23",
        file="memory/workspace/atomic_write.py",
        target="AtomicWrite._examine",
        old=(
            "if self.checked and hashlib.sha256(read_limited(fd, self.name)).hexdigest() != "
            "self.expected:"
        ),
        new="if False:",
        tests=(
            f"{WORKSPACE}::test_a_write_over_an_edit_is_a_conflict_and_both_texts_survive",
            f"{WORKSPACE}::test_a_new_file_is_never_written_over_an_old_one",
            f"{LINES}::test_I23_an_edit_made_while_we_think_is_kept",
        ),
    ),
    Mutant(
        name="the same memory is added a second time",
        guards="T12",
        file="memory/longterm/memories.py",
        target="_revise_candidate",
        old=(
            "_find_similar([line for line in lines if normalize_key(line.text) not in gone], "
            "candidate.category, content, threshold)"
        ),
        new="None",
        tests=(
            f"{LINES}::test_upsert_creates_then_leaves_alone_what_is_there",
            f"{LINES}::test_I22_what_a_crash_cuts_short_the_next_try_completes",
        ),
    ),
    Mutant(
        name="what is forgotten stays in the index",
        guards="I44",
        file="memory/forgetting/forget.py",
        target="ForgetService._finish",
        old="await self._recall.forget_words(row.space)",
        new="",
        tests=(FORGET,),
    ),
    Mutant(
        name="what /forget showed stays in the outbox",
        guards="I44",
        file="memory/store/longterm/erasure.py",
        target="_redact_conversation",
        old="mark_for_language(row['text'])",
        new="row['text']",
        tests=(FORGET,),
    ),
    Mutant(
        name="what was found before it was forgotten is noted after it",
        guards="I44",
        file="memory/store/longterm/erasure.py",
        target="_clear_found",
        old=(
            "mentions = row['turn_id'] in redacted.turns or redact_json(row['found'], matcher) != "
            "row['found']"
        ),
        new="mentions = False",
        tests=(
            f"{FORGETTING}::test_S58_neither_extraction_nor_a_fold_under_way_nor_the_log_brings_it_back",
        ),
    ),
    Mutant(
        name="what was cleared is recalled unasked",
        guards="I18",
        file="memory/recall/search.py",
        target="_hidden_rows",
        old="return HiddenRows(cleared_before=scope.cleared_before, live_from=scope.live_from)",
        new="return HiddenRows(cleared_before=0, live_from=scope.live_from)",
        tests=(
            f"{SEARCH}::test_I18_what_was_cleared_is_left_out_only_when_nobody_asked",
            f"{RECALLED}::test_I18_what_was_cleared_comes_only_when_it_is_asked_for",
        ),
    ),
    Mutant(
        name="little in common is enough to be recalled unasked",
        guards="recall",
        file="memory/recall/question.py",
        target="Question.of",
        old="=MIN_SHARE if request.on_behalf_of else 0",
        new="=0",
        tests=(
            f"{SEARCH}::test_little_in_common_is_found_by_whoever_asks_but_not_recalled_unasked",
        ),
    ),
    Mutant(
        name="neighbours lend nothing",
        guards="recall",
        file="memory/recall/ranking.py",
        target="_lent_scores",
        old="if other is not None and (other not in lent or share * own > lent[other][0]):",
        new="if other == candidate.row and (other not in lent or share * own > lent[other][0]):",
        tests=(
            (
                "tests/memory/recall/test_sqlite_index.py"
                "::test_a_row_lends_to_its_neighbours_in_its_session_alone"
            ),
        ),
    ),
    Mutant(
        name="what is recalled stands in the prefix",
        guards="I38",
        file="bot/agent/context/fitter.py",
        target="ContextFitter.fit",
        old=(
            "view = assemble_view(session, fit_limits.system, fit_limits.tools, counter, "
            "block.text, suffix.last)"
        ),
        new=(
            "view = assemble_view(session, (*fit_limits.system, block.text.partition('[Now: "
            "')[0]), fit_limits.tools, counter, block.text[block.text.find('[Now: '):], "
            "suffix.last)"
        ),
        tests=(
            f"{RECALLED}::test_a_fact_from_another_conversation_comes_with_its_source_and_stays_out_of_the_prefix",
            f"{RECALLED}::test_I38_thirty_turns_with_a_memory_in_between_have_one_prefix",
        ),
    ),
    Mutant(
        name="what we note ourselves is a reason to take the snapshot anew",
        guards="I38",
        file="bot/agent/prompt/builder.py",
        target="SystemPromptBuilder._check_snapshot",
        old="if stored is not None and reason == EDIT_SOURCE:",
        new="if False:",
        tests=(
            (
                "tests/bot/agent/test_changes_since_snapshot.py"
                "::test_I38_what_we_note_leaves_the_prefix_alone_and_is_told_behind_it"
            ),
            f"{RECALLED}::test_I38_thirty_turns_with_a_memory_in_between_have_one_prefix",
        ),
    ),
    *CHANNELS,
    *HUBS,
    *INDEXES,
    *FENCES_AND_LIMITS,
    *SERVER,
    *TAINT,
    *PAGE,
    *DELIVERY,
    *FILES,
    *EXEC,
    *EXTENSIONS,
    *TOOLS,
    *MODELS,
    *SETUP,
    *PROMISED,
    *DOCUMENTED,
)
