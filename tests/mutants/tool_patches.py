"""Mutants of what tools reach, of jobs and work in the background, and of tools with several
workers.
"""

from tests.mutants.mutant import Mutant

CLIENT = "tests/bot/tools/web/test_client.py"
DELIVER = "tests/bot/jobs/test_deliver.py"
PHRASES = "tests/bot/jobs/test_phrases.py"
SEVERAL = "tests/bot/runtime/cluster/test_several_bots.py"
WORKERS = "tests/walk/test_tools_of_workers.py"

TOOLS = (
    Mutant(
        name="a quarter past counts as a minute past",
        guards="times",
        file="bot/jobs/time_words.py",
        target="read_clock",
        old="minute = read_number(given['quarters']) * 15",
        new="minute = read_number(given['quarters'])",
        tests=(f"{PHRASES}::test_what_people_write_is_read_as_they_mean_it_or_refused",),
    ),
    Mutant(
        name="three o'clock is always at night",
        guards="times",
        file="bot/jobs/phrases.py",
        target="_read_hour",
        old="if is_early or (is_open and is_past):",
        new="if is_open and is_past:",
        tests=(f"{PHRASES}::test_what_people_write_is_read_as_they_mean_it_or_refused",),
    ),
    Mutant(
        name="the rest of a time counts as words",
        guards="times",
        file="bot/jobs/phrases.py",
        target="_check_rest",
        old="(_SIGN.search(rest), _MORE",
        new="(_MORE",
        tests=(f"{PHRASES}::test_what_people_write_is_read_as_they_mean_it_or_refused",),
    ),
    Mutant(
        name="a reminder that a command sets is told twice",
        guards="times",
        file="bot/commands/jobs.py",
        target="_set",
        old="row = await jobs.add(request, tell=False)",
        new="row = await jobs.add(request)",
        tests=("tests/bot/jobs/test_jobs_in_bot.py::test_a_reminder_is_set_shown_and_sent_once",),
    ),
    Mutant(
        name="a result is judged by the name of its tool",
        guards="I49",
        file="memory/context/taint.py",
        target="_is_from_outside",
        old="outside = part.call_id not in own if part.outside is None else part.outside",
        new="outside = part.call_id not in own",
        tests=(
            (
                "tests/memory/context/test_taint.py"
                "::test_a_stored_label_counts_whatever_the_tool_is_called"
            ),
        ),
    ),
    Mutant(
        name="the first address of a name is judged for all",
        guards="S41",
        file="bot/tools/web/client.py",
        target="GuardedClient.judge",
        old=(
            "if not excepted and any((is_denied(one) or is_own_address(one) for one in addresses)):"
        ),
        new=(
            "if not excepted and any((is_denied(one) or is_own_address(one) for one in "
            "addresses[:1])):"
        ),
        tests=(f"{CLIENT}::test_S41_one_denied_answer_refuses_the_name",),
    ),
    Mutant(
        name="a name is looked up again when it is dialled",
        guards="S41",
        file="bot/tools/web/client.py",
        target="pinned_backend",
        old="str(address)",
        new="host",
        tests=(f"{CLIENT}::test_S41_a_name_is_looked_up_once_and_the_judged_address_is_dialled",),
    ),
    Mutant(
        name="the processes of a command are a group and no namespace",
        guards="I47",
        file="bot/tools/exec/sandbox.py",
        target="isolation_arguments",
        old=", '--unshare-pid'",
        new="",
        tests=("tests/bot/tools/exec/test_probe.py",),
    ),
    Mutant(
        name="a task ends after the turn that did it",
        guards="I51",
        file="bot/agent/subagents/service.py",
        target="SubagentService.finish",
        old=(
            "stored = await self._store.tasks.finish_agent_turn(turn, state, final, usage, ending, "
            "compose_outcome_body, views)"
        ),
        new=(
            "stored = await self._store.delivery.finish(turn, state, final, [], usage)\n"
            "await self._store.tasks.end(subagent.task.id, ending, compose_outcome_body)"
        ),
        tests=(
            "tests/walk/test_kill_subagents.py::test_a_kill_at_any_step_loses_and_repeats_nothing",
        ),
    ),
    Mutant(
        name="what a living process runs counts as interrupted",
        guards="I50",
        file="bot/agent/approvals.py",
        target="ApprovalService.report_interrupted",
        old="lost = [row for row in rows if row.id not in running]",
        new="lost = list(rows)",
        tests=(
            (
                "tests/bot/agent/test_approvals.py"
                "::test_what_runs_and_is_held_by_a_process_was_not_interrupted"
            ),
        ),
    ),
    Mutant(
        name="what is approved runs beside the turn",
        guards="I19",
        file="bot/agent/approvals.py",
        target="ApprovalService._row_to_start",
        old="(not await self.is_busy(row.conversation))",
        new="row.id",
        tests=(
            (
                "tests/bot/commands/test_during_a_turn.py"
                "::test_what_is_approved_during_a_turn_starts_after_it_and_once"
            ),
        ),
    ),
    Mutant(
        name="an approved call of a process that was killed is told to nobody",
        guards="I50",
        file="bot/runtime/cluster/bot.py",
        target="ClusterBot._report_interrupted_approvals",
        old="await self.store.delivery.accept(new)",
        new="pass",
        tests=(
            f"{WORKERS}::test_a_call_whose_process_is_killed_when_it_has_run_is_not_run_again[page]",
        ),
    ),
    Mutant(
        name="guards that are installed are not loaded with the parts of turns",
        guards="guards",
        file="bot/runtime/turn_wiring.py",
        target="TurnComponents.open_tools",
        old="await self.plugins.load()",
        new="",
        tests=(f"{SEVERAL}::test_the_guards_that_are_installed_judge_in_every_process",),
    ),
    Mutant(
        name="a zone that another process stored is not read",
        guards="zones",
        file="bot/runtime/cluster/bot.py",
        target="ClusterBot._follow_zones",
        old="if versions <= self._zone_versions:",
        new="if True:",
        tests=(f"{SEVERAL}::test_a_zone_that_one_process_stores_is_known_to_all_of_them",),
    ),
    Mutant(
        name="a job goes on to a chat that shares no memory any more",
        guards="I40",
        file="bot/jobs/ticker.py",
        target="_is_private_chat_of",
        old="return conversation.place.kind == 'dm' and conversation.place.space == row.space",
        new="return conversation.place.kind == 'dm'",
        tests=(f"{DELIVER}::test_it_is_paused_once_the_accounts_are_apart",),
    ),
    Mutant(
        name="words from outside send a job to another chat",
        guards="taint",
        file="bot/jobs/service.py",
        target="JobService._find_chat",
        old="if here is None or here.place.kind != 'dm' or request.tainted:",
        new="if here is None or here.place.kind != 'dm':",
        tests=(f"{DELIVER}::test_neither_a_group_nor_words_from_outside_send_to_another_chat",),
    ),
    Mutant(
        name="each process tells how work gets on",
        guards="progress",
        file="bot/jobs/progress.py",
        target="_source",
        old="return f'progress:{row.id}:{minute}'",
        new="return f\"progress:{row.id}:{__import__('uuid').uuid4()}:{minute}\"",
        tests=(
            (
                "tests/bot/jobs/test_progress.py"
                "::test_a_task_is_told_of_after_2_4_8_16_and_32_minutes_and_never_twice"
            ),
        ),
    ),
    Mutant(
        name="pages stay with a process that forgets on PostgreSQL",
        guards="forget",
        file="bot/runtime/cluster/bot.py",
        target="ClusterBot.__init__",
        old="pause=super().",
        new="pause=self.turns.",
        tests=("tests/bot/tools/test_isolation_of_spaces.py::test_the_same_on_postgresql",),
    ),
    Mutant(
        name="a page is decoded by whatever codec it names",
        guards="web",
        file="bot/tools/web/page_text.py",
        target="_named_encodings",
        old="names if _ENCODINGS.fullmatch(name)",
        new="names",
        tests=(
            (
                "tests/bot/tools/web/test_large_pages.py"
                "::test_what_decodes_no_text_is_no_encoding_of_a_page"
            ),
        ),
    ),
)
