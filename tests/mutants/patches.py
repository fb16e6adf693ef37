"""The mutants: small wrong changes to the product, each with the tests that must fail on it."""

from dataclasses import dataclass

STORE = "tests/memory/store/test_contract.py"
SQLITE = "tests/memory/store/test_sqlite.py"
MACHINE = "tests/walk/test_machine.py"
TURNS = "tests/walk/test_turn_walks.py"
STORAGE = "tests/walk/test_storage.py"
GATEWAY = "tests/bot/test_gateway.py"
VALIDITY = "tests/memory/context/test_validity.py"
FOLD = "tests/memory/test_fold.py"
LIVES = "tests/memory/context/test_policies.py::test_no_rule_is_broken_in_any_life"
PROMISES = "tests/bot/test_context_promises.py"
SIXTY = f"{PROMISES}::test_of_sixty_facts_each_is_in_view_summary_or_log_whatever_the_summariser_does"
PREFIX = f"{PROMISES}::test_the_prefix_breaks_only_at_folds_and_declared_changes_though_the_clock_moves"
DISK = f"{STORAGE}::test_a_full_disk_refuses_new_messages_keeps_the_old_and_heals_without_a_restart"
KEPT = "tests/walk/test_failure_walks.py::test_a_request_that_is_refused_costs_no_memory"
LINKS = "tests/memory/store/test_links.py"
SPACES = "tests/bot/test_spaces.py"
UNKNOWN = f"{TURNS}::test_a_tool_whose_outcome_nobody_knows_is_not_run_again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One wrong change. guards: the invariant it breaks; old: text that stands exactly once in `file`.

    tests: node ids, every one of which is run; at least one has to fail.
    """

    name: str
    guards: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


MUTANTS = (
    Mutant(
        name="an update is confirmed though it could not be stored",
        guards="I1",
        file="channels/telegram.py",
        old="            await asyncio.sleep(pause)\n            pause = min(2 * pause, LONGEST_PAUSE)\n",
        new="            return\n",
        tests=("tests/channels/test_telegram_contract.py",),
    ),
    Mutant(
        name="a post is confirmed though it could not be stored",
        guards="I1",
        file="channels/web/api.py",
        old='            raise Refused(503, "storage", why, {"retry-after": "2"}) from err\n',
        new="            return Accepted(id=why, new=True)\n",
        tests=(DISK,),
    ),
    Mutant(
        name="a commit does not wait for the disk",
        guards="I1",
        file="memory/store/connection.py",
        old='        "synchronous": 2,',
        new='        "synchronous": 0,',
        tests=(f"{SQLITE}::test_every_promise_of_durability_is_set_and_read_back",),
    ),
    Mutant(
        name="no unique key on the inbox",
        guards="I2",
        file="memory/store/tables.py",
        old='    UniqueConstraint("channel", "account", "key", name="inbox_key"),\n',
        new="",
        tests=("tests/memory/store/test_opening.py",),
    ),
    Mutant(
        name="a known key is not looked for",
        guards="I2",
        file="memory/store/inbox.py",
        old="    if known:\n",
        new="    if False:\n",
        tests=(f"{STORE}::TestDelivery::test_I02_a_repeated_message_is_kept_once",),
    ),
    Mutant(
        name="an empty key is taken",
        guards="I2",
        file="memory/store/inbox.py",
        old="    if not arrival.key:\n",
        new="    if False:\n",
        tests=(f"{STORE}::TestDelivery::test_an_empty_key_is_refused_and_nothing_of_its_batch_is_kept",),
    ),
    Mutant(
        name="the same words are the same message",
        guards="I3",
        file="channels/web/post.py",
        old="_key(fields.get('key'))}\"",
        new='text}"',
        tests=(f"{TURNS}::test_messages_that_come_while_one_is_answered_are_answered_in_order_the_same_words_twice",),
    ),
    Mutant(
        name="each try has a key of its own",
        guards="I5",
        file="bot/reply.py",
        old="        client_key=row.client_key,\n",
        new='        client_key=f"{row.client_key}{row.attempts}",\n',
        tests=(f"{GATEWAY}::test_a_lost_answer_with_a_key_is_sent_again_with_the_same_key_and_no_mark",),
    ),
    Mutant(
        name="a part is sent before the record says so",
        guards="I5",
        file="bot/gateway.py",
        old="(claimed := await self._delivery.sending(row.id))",
        new="(claimed := row)",
        tests=(GATEWAY,),
    ),
    Mutant(
        name="a repeat is not marked",
        guards="I5",
        file="bot/reply.py",
        old="    if row.repeats:\n",
        new="    if False:\n",
        tests=(GATEWAY,),
    ),
    Mutant(
        name="a part of unknown fate is taken for sent",
        guards="I6",
        file="bot/gateway.py",
        old='Fate(state="unknown", ',
        new='Fate(state="sent", ',
        tests=(GATEWAY,),
    ),
    Mutant(
        name="the lease is not compared at a commit",
        guards="I11",
        file="memory/store/database.py",
        old='held is None or held["lease_epoch"] != self.lease',
        new="held is None",
        tests=(f"{TURNS}::test_a_process_that_was_stopped_and_replaced_cannot_write_any_more",),
    ),
    Mutant(
        name="a call is started in the record after its effect",
        guards="I14",
        file="bot/agent/calls.py",
        old="            await self._sessions.start_calls([call])\n        return await self._effect(job, call)\n",
        new=(
            "            done = await self._effect(job, call)\n"
            "            await self._sessions.start_calls([call])\n"
            "            return done\n"
            "        return await self._effect(job, call)\n"
        ),
        tests=(f"{UNKNOWN}[tool.after_effect-1]",),
    ),
    Mutant(
        name="a call of unknown outcome is planned anew",
        guards="I14",
        file="memory/store/calls.py",
        old='became="unknown" if row["effect"] == "unsafe" else "planned"',
        new='became="planned"',
        tests=(f"{STORE}::TestTools::test_I14_what_was_started_is_run_again_only_when_that_is_safe", MACHINE),
    ),
    Mutant(
        name="repair drops the last words of the person",
        guards="I15",
        file="memory/context/validity.py",
        old="    return tuple(_paired(merged))\n",
        new='    return tuple(_paired(merged[:-1] if merged and merged[-1].role == "user" else merged))\n',
        tests=(VALIDITY,),
    ),
    Mutant(
        name="results stand behind the words",
        guards="I15",
        file="memory/context/validity.py",
        old="    return (*results, *(part for part in parts if not isinstance(part, ToolResult)))\n",
        new="    return (*(part for part in parts if not isinstance(part, ToolResult)), *results)\n",
        tests=(VALIDITY,),
    ),
    Mutant(
        name="a fold is done without its entry in the log",
        guards="I17",
        file="memory/fold.py",
        old="await asyncio.to_thread(daily_log.append, files, self._section(row))",
        new="self._section(row).path",
        tests=(FOLD,),
    ),
    Mutant(
        name="an empty summary is taken",
        guards="I17",
        file="memory/context/checking.py",
        old="    if any(not _says(text.text) or text.share_dropped > MOST_DROPPED for text in texts):\n",
        new="    if any(text.share_dropped > MOST_DROPPED for text in texts):\n",
        tests=("tests/walk/test_context_walks.py::test_a_summary_that_says_nothing_is_not_taken",),
    ),
    Mutant(
        name="an answer of an older epoch is said",
        guards="I18",
        file="memory/store/turns.py",
        old='    if home["epoch"] != held.epoch:\n',
        new="    if False:\n",
        tests=(f"{STORE}::TestRecovery", f"{STORE}::TestClear", MACHINE),
    ),
    Mutant(
        name="a fold of an older epoch goes on",
        guards="I18",
        file="memory/store/folding.py",
        old='    return bool(home["epoch"] == epoch and home["fold_head"] == head)\n',
        new='    return bool(home["fold_head"] == head)\n',
        tests=(f"{STORE}::TestFolds", MACHINE),
    ),
    Mutant(
        name="an unsent answer of an older epoch is sent",
        guards="I18",
        file="memory/store/outbox.py",
        old='    moved: bool = home["epoch"] != held["epoch"]\n',
        new="    moved = False\n",
        tests=(f"{STORE}::TestRecovery", f"{STORE}::TestClear", MACHINE),
    ),
    Mutant(
        name="a clear leaves open folds alone",
        guards="I18",
        file="memory/store/clearing.py",
        old="    await stale_open(tx, id)\n    if log_only is not None:\n",
        new="    if log_only is not None:\n",
        tests=(f"{MACHINE}::test_after_a_clear_a_new_fold_can_be_begun_at_once",),
    ),
    Mutant(
        name="a transaction begins without the write lock",
        guards="I25",
        file="memory/store/database.py",
        old='        writer.do("BEGIN IMMEDIATE")\n        tx',
        new='        writer.do("BEGIN")\n        tx',
        tests=(f"{SQLITE}::test_I25_a_lock_that_is_let_go_in_time_is_waited_for",),
    ),
    Mutant(
        name="the cut is made anew after the summary",
        guards="I36",
        file="memory/store/folding.py",
        old="by=held.id, first=held.from_seq, last=held.to_seq",
        new="by=held.id, first=held.from_seq, last=held.to_seq + 1",
        tests=(f"{STORE}::TestFolds", MACHINE),
    ),
    Mutant(
        name="a fold covers nothing",
        guards="I36",
        file="memory/store/folding.py",
        old="        await tx.run(_COVER, row=held.conversation, by=held.id, first=held.from_seq, last=held.to_seq)\n",
        new="",
        tests=(f"{STORE}::TestFolds", MACHINE),
    ),
    Mutant(
        name="the view begins one message too early",
        guards="I36",
        file="memory/store/folding.py",
        old="    return head.to_seq + 1 if head else",
        new="    return head.to_seq if head else",
        tests=(f"{STORE}::TestFolds", MACHINE),
    ),
    Mutant(
        name="a refused request clears the conversation",
        guards="I43",
        file="bot/turn.py",
        old='        if ended.state == "failed":\n',
        new=(
            '        if ended.state == "failed":\n'
            "            await self._works.store.sessions.clear(job.conversation.id)\n"
        ),
        tests=(KEPT,),
    ),
    Mutant(
        name="a cut falls between two messages of a turn",
        guards="I36",
        file="memory/context/plan.py",
        old="        to_seq=last.last_seq,\n",
        new="        to_seq=last.last_seq - 1,\n",
        tests=(LIVES,),
    ),
    Mutant(
        name="what tools answered costs nothing",
        guards="I39",
        file="memory/context/counter.py",
        old="                return PER_RESULT + self.text(part.text)\n",
        new="                return PER_RESULT\n",
        tests=(LIVES,),
    ),
    Mutant(
        name="a summary may say what its source does not",
        guards="I37",
        file="memory/context/grounding.py",
        old='        kept = [part for part in parts if known.holds(_OUR_MARKS.sub("", part), names=not heading)]\n',
        new="        kept = parts\n",
        tests=(SIXTY,),
    ),
    Mutant(
        name="the clock stands in the prefix",
        guards="I38",
        file="bot/agent/fit.py",
        old="view=assemble(session, setting.system, setting.tools, counter, tail)",
        new='view=assemble(session, (*setting.system, tail), setting.tools, counter, "")',
        tests=(PREFIX,),
    ),
    Mutant(
        name="a snapshot is taken anew for every request",
        guards="I38",
        file="bot/agent/prompt.py",
        old="        if kept is None or reason:\n",
        new="        if kept is not self:\n",
        tests=("tests/bot/test_prompt.py", PREFIX),
    ),
    Mutant(
        name="the newest results become lines too",
        guards="I39",
        file="memory/context/shortening.py",
        old="found[len(found) - now.numbers.spared_results :]",
        new="found[len(found) :]",
        tests=(
            "tests/memory/context/test_policies.py::test_failed_results_are_shortened_last_and_the_newest_five_never_to_a_line",
        ),
    ),
    Mutant(
        name="a fold that is prepared hides its turns at once",
        guards="I36",
        file="memory/store/views.py",
        old='    live_from = home["view_from"] if home["head_to_seq"] is None else home["head_to_seq"] + 1\n',
        new='    live_from = home["next_seq"] - 4 if home["head_to_seq"] is None else home["head_to_seq"] + 1\n',
        tests=(SIXTY,),
    ),
    Mutant(
        name="a search of what was said forgets the space",
        guards="I40",
        file="memory/store/views.py",
        old="        belongs(message.c.space),\n",
        new='        or_(message.c.space == bindparam("space"), message.c.space != bindparam("space")),\n',
        tests=(LINKS, "tests/house/test_spaces.py"),
    ),
    Mutant(
        name="an index takes in what was said in every space",
        guards="I40",
        file="memory/store/ends.py",
        old='    conversation.c.space == bindparam("space"), conversation.c.next_seq > 1\n',
        new=(
            '    (conversation.c.space == bindparam("space")) | (conversation.c.space != bindparam("space")),\n'
            "    conversation.c.next_seq > 1,\n"
        ),
        tests=(SPACES,),
    ),
    Mutant(
        name="all spaces share one index",
        guards="I40",
        file="memory/recall/keeping.py",
        old="""f"{f'space-{space}' if space else 'owner'}.db\"""",
        new='"owner.db"',
        tests=(SPACES,),
    ),
    Mutant(
        name="the rows of memory are read for every space",
        guards="I40",
        file="memory/store/memories.py",
        old='        memory.c.space == bindparam("home"),\n        or_(bindparam("in_state")',
        new=(
            '        or_(memory.c.space == bindparam("home"), memory.c.space != bindparam("home")),\n'
            '        or_(bindparam("in_state")'
        ),
        tests=("tests/house/test_spaces.py", SPACES),
    ),
    Mutant(
        name="who makes a link has joined, not who typed",
        guards="I40",
        file="memory/store/homes.py",
        old="select(account_link.c.space).where(account_link.c.own_space == own)",
        new="select(account_link.c.own_space).where(account_link.c.space == own)",
        tests=(LINKS,),
    ),
    Mutant(
        name="an account searches what it has joined the wrong way round",
        guards="I40",
        file="memory/store/homes.py",
        old='select(account_link.c.own_space).where(account_link.c.space == bindparam("space"))\n    return',
        new='select(account_link.c.space).where(account_link.c.own_space == bindparam("space"))\n    return',
        tests=(LINKS,),
    ),
    Mutant(
        name="the typist's word is enough to join",
        guards="I40",
        file="memory/store/links.py",
        old='(("agreed",) if join else ("typed", "agreed"))',
        new='("typed", "agreed")',
        tests=(LINKS,),
    ),
    Mutant(
        name="the home's log stays in the prompt of an account that has left",
        guards="I40",
        file="bot/agent/prompt.py",
        old="            space=session.space,\n            epoch=session.epoch,\n",
        new='            space="",\n            epoch=session.epoch,\n',
        tests=("tests/bot/test_link.py::test_a_day_log_of_the_home_leaves_the_prompt_with_the_account",),
    ),
)
