"""The mutants of protections that stand alone: one line each, that nothing else would miss."""

from tests.mutants.mutant import Mutant

AUDIT = "tests/bot/access/test_audit.py"
READING = "tests/bot/cli/test_reading_audit.py"
HASHED = f"{AUDIT}::test_S64_an_act_that_was_edited_and_hashed_anew_is_not_what_the_next_one_follows"
HEADERS = (
    "tests/channels/web/test_security.py::test_every_answer_carries_the_security_headers_and_none_allows_other_origins"
)
LEASES = "tests/memory/store/test_leases.py"
ALIVE = "tests/bot/runtime/cluster/test_membership.py"
LIMITS = (
    "tests/bot/gateway/test_attachments.py::test_s37_the_program_that_opens_files_has_its_limits_before_it_looks_at_one"
)
FAILPOINT = "tests/memory/test_failpoints.py"
MODES = "tests/bot/config/test_file.py::test_a_secret_that_others_may_read_or_write_is_refused_with_the_remedy"
NAMES = "tests/bot/commands/test_names.py"
HOOKED = "tests/bot/gateway/test_gateway.py::test_S14_only_a_channel_that_takes_calls_has_an_address_for_them"
LOST_RIGHTS = "tests/bot/access/test_lost_rights.py"

GUARDS = (
    Mutant(
        name="a changed configuration ends nothing of who lost a role",
        guards="S09",
        file="bot/runtime/bot.py",
        old="        await self.lost_rights.end()\n        await self.channel_manager",
        new="        await self.channel_manager",
        tests=(
            f"{LOST_RIGHTS}::test_a_running_turn_ends_with_the_role_of_its_person",
            f"{LOST_RIGHTS}::test_S09_what_was_asked_of_somebody_ends_with_their_role",
        ),
    ),
    Mutant(
        name="a start ends nothing of who lost a role meanwhile",
        guards="S09",
        file="bot/runtime/bot.py",
        old="        await self.lost_rights.end()\n        await self.job_times",
        new="        await self.job_times",
        tests=(
            f"{LOST_RIGHTS}::test_S09_a_question_ends_with_a_role_that_was_taken_while_the_bot_was_stopped",
            f"{LOST_RIGHTS}::test_a_task_of_a_former_owner_runs_without_the_owners_memory",
        ),
    ),
    Mutant(
        name="the chat of a former owner uses the owner's memory until its person writes",
        guards="I40",
        file="bot/access/lost_rights.py",
        old="        await self._move_chats()\n",
        new="",
        tests=(f"{LOST_RIGHTS}::test_a_task_of_a_former_owner_runs_without_the_owners_memory",),
    ),
    Mutant(
        name="a command in the background outlives the right to run it",
        guards="S09",
        file="bot/access/lost_rights.py",
        old="if not await self._may(task.person, _TASK_ACTIONS[task.kind], task.conversation):",
        new='if task.kind != "exec" and not await self._may(task.person, "delegate", task.conversation):',
        tests=(f"{LOST_RIGHTS}::test_a_command_in_the_background_ends_when_a_granted_role_is_revoked",),
    ),
    Mutant(
        name="a turn that was begun is gone on with, whatever its person may do",
        guards="S09",
        file="bot/agent/turn.py",
        old="if not subagent and not await self._check_access(",
        new="if not subagent and not row.turn_id and not await self._check_access(",
        tests=(f"{LOST_RIGHTS}::test_a_turn_that_was_under_way_is_not_taken_up_for_who_was_removed_meanwhile",),
    ),
    Mutant(
        name="an act need not follow the one before it",
        guards="S64",
        file="memory/store/audit.py",
        old='    if row["prev_hash"] != before:\n',
        new="    if False:\n",
        tests=(HASHED,),
    ),
    Mutant(
        name="an act's hash does not cover the one before it",
        guards="S64",
        file="memory/store/audit.py",
        old='"decision", "result", "prev_hash")\n',
        new='"decision", "result")\n',
        tests=(HASHED,),
    ),
    Mutant(
        name="the command line reads another person's chat without a row",
        guards="audit",
        file="bot/cli/common.py",
        old="    if not acts:\n",
        new="    if acts:\n",
        tests=(f"{READING}::test_each_reading_of_another_persons_chat_is_one_row",),
    ),
    Mutant(
        name="what cannot be written down is read all the same",
        guards="audit",
        file="bot/cli/common.py",
        old="    except (StoreError, OSError) as err:\n",
        new="    except (StoreError, OSError) as err:\n        return\n",
        tests=(f"{READING}::test_what_cannot_be_written_down_is_not_read",),
    ),
    Mutant(
        name="any site may frame the page by its policy",
        guards="headers",
        file="channels/web/server.py",
        old="frame-ancestors 'none'",
        new="frame-ancestors *",
        tests=(HEADERS,),
    ),
    Mutant(
        name="any site may frame the page",
        guards="headers",
        file="channels/web/server.py",
        old='b"x-frame-options", b"DENY"',
        new='b"x-frame-options", b"ALLOWALL"',
        tests=(HEADERS,),
    ),
    Mutant(
        name="the page runs scripts from anywhere",
        guards="headers",
        file="channels/web/server.py",
        old="script-src 'self';",
        new="script-src * 'unsafe-inline';",
        tests=(HEADERS,),
    ),
    Mutant(
        name="a duty that another has is taken",
        guards="I11",
        file="memory/store/engine/leases.py",
        old=(
            '.where(duty.c.name == bindparam("name"), '
            'or_(duty.c.lease == bindparam("lease"), is_lease_void(duty.c.lease)))\n'
        ),
        new='.where(duty.c.name == bindparam("name"))\n',
        tests=(LEASES,),
    ),
    Mutant(
        name="a duty that another has is let go of",
        guards="I11",
        file="memory/store/engine/leases.py",
        old=(
            '_RELEASE_DUTY = delete(duty).where(duty.c.name == bindparam("name"), duty.c.lease == bindparam("lease"))\n'
        ),
        new='_RELEASE_DUTY = delete(duty).where(duty.c.name == bindparam("name"))\n',
        tests=(LEASES,),
    ),
    Mutant(
        name="a duty is begun whoever has it",
        guards="I11",
        file="bot/runtime/cluster/membership.py",
        old=(
            "                if name not in self.last_beat.duties_of_others and await self._leases.take(name):\n"
            "                    break\n"
        ),
        new="                await self._leases.take(name)\n                break\n",
        tests=(ALIVE,),
    ),
    Mutant(
        name="a lease that is over is renewed",
        guards="I11",
        file="memory/store/engine/leases.py",
        old='    .where(process.c.lease == bindparam("lease"), process.c.until > database_clock())\n    .values(until',
        new='    .where(process.c.lease == bindparam("lease"))\n    .values(until',
        tests=(LEASES, ALIVE),
    ),
    Mutant(
        name="a process goes on though its lease is over",
        guards="I11",
        file="bot/runtime/cluster/membership.py",
        old="            if not held:\n",
        new="            if False:\n",
        tests=(ALIVE,),
    ),
    Mutant(
        name="a fold costs nothing until its summary is stored",
        guards="S65",
        file="bot/agent/loop.py",
        old="        folds = int(self._fitter.folding.has_open_cost(context.conversation.id))\n",
        new="        folds = 0\n",
        tests=("tests/bot/access/test_over_budget.py",),
    ),
    Mutant(
        name="a group in which only its owner has spoken is clean",
        guards="taint",
        file="bot/agent/turn_context.py",
        old='context.scope.kind == "group"',
        new="False",
        tests=(
            "tests/bot/commands/test_acts.py::test_a_group_is_always_tainted_though_nothing_but_its_owner_has_spoken",
        ),
    ),
    Mutant(
        name="what opens files has no limits",
        guards="S37",
        file="bot/gateway/attachment_worker.py",
        old='    """Run as `python attachment_worker.py picture|thumbnail|pdf`."""\n    _set_limits()\n',
        new='    """Run as `python attachment_worker.py picture|thumbnail|pdf`."""\n',
        tests=(LIMITS,),
    ),
    Mutant(
        name="what opens files takes all memory",
        guards="S37",
        file="bot/gateway/attachment_worker.py",
        old="        resource.RLIMIT_AS: MAX_MEMORY_BYTES,\n",
        new="",
        tests=(LIMITS,),
    ),
    Mutant(
        name="what opens files computes for ever",
        guards="S37",
        file="bot/gateway/attachment_worker.py",
        old="        resource.RLIMIT_CPU: CPU_SECONDS,\n",
        new="",
        tests=(LIMITS,),
    ),
    Mutant(
        name="what opens files writes as much as it likes",
        guards="S37",
        file="bot/gateway/attachment_worker.py",
        old="        resource.RLIMIT_FSIZE: MAX_OUTPUT_BYTES,\n",
        new="",
        tests=(LIMITS,),
    ),
    Mutant(
        name="what opens files leaves its memory on the disk",
        guards="S37",
        file="bot/gateway/attachment_worker.py",
        old="        resource.RLIMIT_CORE: 0,\n",
        new="",
        tests=(LIMITS,),
    ),
    Mutant(
        name="failpoints act in every process",
        guards="failpoints",
        file="memory/failpoints.py",
        old='    if environ.get("MNEMA_TEST") != "1":\n',
        new="    if False:\n",
        tests=(FAILPOINT,),
    ),
    Mutant(
        name="arguments that were changed since are run",
        guards="S08",
        file="bot/agent/approvals.py",
        old="        if tool is None or digest_arguments(row.arguments) != row.digest:\n",
        new="        if tool is None:\n",
        tests=("tests/bot/agent/test_approvals.py::test_arguments_that_are_not_those_that_were_shown_are_not_run",),
    ),
    Mutant(
        name="a call that trickles is waited for longer",
        guards="S21",
        file="channels/web/body_limits.py",
        old="    webhook: float = 5.0\n",
        new="    webhook: float = 20.0\n",
        tests=("tests/channels/test_hooks_attacks.py::test_S21_a_body_that_trickles_is_closed_after_five_seconds",),
    ),
    Mutant(
        name="a group may read the configuration's secrets",
        guards="modes",
        file="bot/config/file.py",
        old="            if mode & 0o077 and ",
        new="            if mode & 0o007 and ",
        tests=(MODES,),
    ),
    Mutant(
        name="a group may write the configuration",
        guards="modes",
        file="bot/config/file.py",
        old="            if mode & 0o077 and ",
        new="            if mode & 0o044 and ",
        tests=(MODES,),
    ),
    Mutant(
        name="a group may read the token",
        guards="modes",
        file="channels/web/auth.py",
        old="        if found.st_mode & 0o077:\n",
        new="        if found.st_mode & 0o007:\n",
        tests=(
            "tests/channels/web/test_server.py",
            "tests/bot/cli/test_main.py::test_a_home_whose_token_a_group_may_read_does_not_start",
        ),
    ),
    Mutant(
        name="every channel has an address for calls",
        guards="S14",
        file="bot/gateway/gateway.py",
        old="if channel is not None and channel.capabilities.hook else None\n",
        new="if channel is not None else None\n",
        tests=(HOOKED,),
    ),
    Mutant(
        name="telegram takes calls whatever its mode",
        guards="S14",
        file="channels/telegram/channel.py",
        old='            hook=settings.mode == "webhook",\n',
        new="            hook=True,\n",
        tests=("tests/bot/gateway/test_gateway.py::test_S14_telegram_takes_calls_only_where_it_is_told_to",),
    ),
    Mutant(
        name="a run of exclamation marks is looked at from each of them",
        guards="growth",
        file="channels/feishu/cards.py",
        old='_IMAGE_MARKS = re.compile(r"(?<!!)!++(?=\\[)")\n',
        new='_IMAGE_MARKS = re.compile(r"!+(?=\\[)")\n',
        tests=("tests/channels/feishu/test_cards.py::test_four_times_the_text_takes_about_four_times_as_long",),
    ),
    Mutant(
        name="a command of other letters reaches the model",
        guards="commands",
        file="bot/messages.py",
        old='    return sign in "_" + _JOINERS or unicodedata.category(sign)[0] in "LMN"\n',
        new="    return sign.isascii()\n",
        tests=(NAMES,),
    ),
    Mutant(
        name="a channel without credentials is on in the example",
        guards="example",
        file="channels/toolkit/settings.py",
        old='        False, description="Off keeps the settings and starts nothing; left out',
        new='        True, description="Off keeps the settings and starts nothing; left out',
        tests=("tests/conventions/test_example_config.py",),
    ),
    Mutant(
        name="a fold that a turn waited for is not in what it has spent",
        guards="S65",
        file="bot/agent/loop.py",
        old="            if fitted.session.turns is not session.turns:\n",
        new="            if False:\n",
        tests=("tests/bot/access/test_over_budget.py",),
    ),
    Mutant(
        name="a turn that waited for a forgetting says what was said before it",
        guards="forgetting",
        file="bot/agent/turn.py",
        old="            if has_waited:\n",
        new="            if False:\n",
        tests=("tests/bot/agent/test_speakers.py",),
    ),
)
