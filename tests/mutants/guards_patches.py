"""The mutants of protections that stand alone: one line each, that nothing else would miss."""

from tests.mutants.mutant import Mutant

AUDIT = "tests/bot/access/test_audit.py"
READING = "tests/bot/cli/test_reading_audit.py"
HASHED = (
    f"{AUDIT}::test_S64_an_act_that_was_edited_and_hashed_anew_is_not_what_the_next_one_follows"
)
HEADERS = (
    "tests/channels/web/test_security.py"
    "::test_every_answer_carries_the_security_headers_and_none_allows_other_origins"
)
LEASES = "tests/memory/store/test_leases.py"
ALIVE = "tests/bot/runtime/cluster/test_membership.py"
LIMITS = (
    "tests/bot/gateway/test_attachments.py"
    "::test_s37_the_program_that_opens_files_has_its_limits_before_it_looks_at_one"
)
FAILPOINT = "tests/memory/test_failpoints.py"
MODES = (
    "tests/bot/config/test_file.py"
    "::test_a_secret_that_others_may_read_or_write_is_refused_with_the_remedy"
)
NAMES = "tests/bot/commands/test_names.py"
HOOKED = (
    "tests/bot/gateway/test_gateway.py"
    "::test_S14_only_a_channel_that_takes_calls_has_an_address_for_them"
)
LOST_RIGHTS = "tests/bot/access/test_lost_rights.py"

GUARDS = (
    Mutant(
        name="a changed configuration ends nothing of who lost a role",
        guards="S09",
        file="bot/runtime/bot.py",
        target="Bot._on_config_changed",
        old="await self.lost_rights.end()",
        new="",
        tests=(
            f"{LOST_RIGHTS}::test_a_running_turn_ends_with_the_role_of_its_person",
            f"{LOST_RIGHTS}::test_S09_what_was_asked_of_somebody_ends_with_their_role",
        ),
    ),
    Mutant(
        name="a start ends nothing of who lost a role meanwhile",
        guards="S09",
        file="bot/runtime/bot.py",
        target="Bot.open",
        old="await self.lost_rights.end()",
        new="",
        tests=(
            f"{LOST_RIGHTS}::test_S09_a_question_ends_with_a_role_that_was_taken_while_the_bot_was_stopped",
            f"{LOST_RIGHTS}::test_a_task_of_a_former_owner_runs_without_the_owners_memory",
        ),
    ),
    Mutant(
        name="the chat of a former owner uses the owner's memory until its person writes",
        guards="I40",
        file="bot/access/lost_rights.py",
        target="LostRights.end",
        old="await self._move_chat(chat)",
        new="pass",
        tests=(f"{LOST_RIGHTS}::test_a_task_of_a_former_owner_runs_without_the_owners_memory",),
    ),
    Mutant(
        name="a turn that was begun is gone on with, whatever its person may do",
        guards="S09",
        file="bot/agent/turn.py",
        target="TurnRunner._process",
        old="if not subagent and (not await self._check_access(row, body, conversation, actor)):",
        new=(
            "if not subagent and (not row.turn_id) and (not await self._check_access(row, body, "
            "conversation, actor)):"
        ),
        tests=(
            f"{LOST_RIGHTS}::test_a_turn_that_was_under_way_is_not_taken_up_for_who_was_removed_meanwhile",
        ),
    ),
    Mutant(
        name="an act need not follow the one before it",
        guards="S64",
        file="memory/store/audit.py",
        target="_fault_of",
        old="if row['prev_hash'] != before:",
        new="if False:",
        tests=(HASHED,),
    ),
    Mutant(
        name="an act's hash does not cover the one before it",
        guards="S64",
        file="memory/store/audit.py",
        target="_COVERED",
        old=", 'prev_hash'",
        new="",
        tests=(HASHED,),
    ),
    Mutant(
        name="the command line reads another person's chat without a row",
        guards="audit",
        file="bot/cli/common.py",
        target="note_reading",
        old="if not acts:",
        new="if acts:",
        tests=(f"{READING}::test_each_reading_of_another_persons_chat_is_one_row",),
    ),
    Mutant(
        name="what cannot be written down is read all the same",
        guards="audit",
        file="bot/cli/common.py",
        target="note_reading",
        old="except (StoreError, OSError) as err:",
        new=("except (StoreError, OSError) as err:\n    return"),
        tests=(f"{READING}::test_what_cannot_be_written_down_is_not_read",),
    ),
    Mutant(
        name="any site may frame the page by its policy",
        guards="headers",
        file="channels/web/server.py",
        target="SECURITY_HEADERS",
        old="ancestors 'none';",
        new="ancestors *;",
        tests=(HEADERS,),
    ),
    Mutant(
        name="any site may frame the page",
        guards="headers",
        file="channels/web/server.py",
        target="SECURITY_HEADERS",
        old="'x-frame-options', b'DENY'), (",
        new="'x-frame-options', b'ALLOWALL'), (",
        tests=(HEADERS,),
    ),
    Mutant(
        name="the page runs scripts from anywhere",
        guards="headers",
        file="channels/web/server.py",
        target="SECURITY_HEADERS",
        old="-src 'self'; style",
        new="-src * 'unsafe-inline'; style",
        tests=(HEADERS,),
    ),
    Mutant(
        name="a duty that another has is taken",
        guards="I11",
        file="memory/store/engine/leases.py",
        target="_TAKE_DUTY",
        old=", or_(duty.c.lease == bindparam('lease'), is_lease_void(duty.c.lease))",
        new="",
        tests=(LEASES,),
    ),
    Mutant(
        name="a duty that another has is let go of",
        guards="I11",
        file="memory/store/engine/leases.py",
        target="_RELEASE_DUTY",
        old=", duty.c.lease == bindparam('lease')",
        new="",
        tests=(LEASES,),
    ),
    Mutant(
        name="a duty is begun whoever has it",
        guards="I11",
        file="bot/runtime/cluster/membership.py",
        target="Membership._lead",
        old=(
            "if name not in self.last_beat.duties_of_others and await self._leases.take(name):\n"
            "    break"
        ),
        new=("await self._leases.take(name)\nbreak"),
        tests=(ALIVE,),
    ),
    Mutant(
        name="a lease that is over is renewed",
        guards="I11",
        file="memory/store/engine/leases.py",
        target="_RENEW",
        old=", process.c.until > database_clock()",
        new="",
        tests=(LEASES, ALIVE),
    ),
    Mutant(
        name="a process goes on though its lease is over",
        guards="I11",
        file="bot/runtime/cluster/membership.py",
        target="Membership._renew",
        old="if not held:",
        new="if False:",
        tests=(ALIVE,),
    ),
    Mutant(
        name="a fold costs nothing until its summary is stored",
        guards="S65",
        file="bot/agent/loop.py",
        target="Agent._check_budget",
        old="folds = int(self._fitter.folding.has_open_cost(context.conversation.id))",
        new="folds = 0",
        tests=("tests/bot/access/test_over_budget.py",),
    ),
    Mutant(
        name="a group in which only its owner has spoken is clean",
        guards="taint",
        file="bot/agent/turn_context.py",
        target="is_tainted",
        old="return context.scope.kind == 'group' or is_view_tainted(session)",
        new="return False or is_view_tainted(session)",
        tests=(
            (
                "tests/bot/commands/test_acts.py"
                "::test_a_group_is_always_tainted_though_nothing_but_its_owner_has_spoken"
            ),
        ),
    ),
    Mutant(
        name="what opens files has no limits",
        guards="S37",
        file="bot/gateway/attachment_worker.py",
        target="main",
        old="_set_limits()",
        new="",
        tests=(LIMITS,),
    ),
    Mutant(
        name="what opens files takes all memory",
        guards="S37",
        file="bot/gateway/attachment_worker.py",
        target="_set_limits",
        old="resource.RLIMIT_AS: MAX_MEMORY_BYTES,",
        new="",
        tests=(LIMITS,),
    ),
    Mutant(
        name="what opens files computes for ever",
        guards="S37",
        file="bot/gateway/attachment_worker.py",
        target="_set_limits",
        old=", resource.RLIMIT_CPU: CPU_SECONDS",
        new="",
        tests=(LIMITS,),
    ),
    Mutant(
        name="what opens files writes as much as it likes",
        guards="S37",
        file="bot/gateway/attachment_worker.py",
        target="_set_limits",
        old=", resource.RLIMIT_FSIZE: MAX_OUTPUT_BYTES",
        new="",
        tests=(LIMITS,),
    ),
    Mutant(
        name="what opens files leaves its memory on the disk",
        guards="S37",
        file="bot/gateway/attachment_worker.py",
        target="_set_limits",
        old=", resource.RLIMIT_CORE: 0",
        new="",
        tests=(LIMITS,),
    ),
    Mutant(
        name="failpoints act in every process",
        guards="failpoints",
        file="memory/failpoints.py",
        target="arm",
        old="if environ.get('MNEMA_TEST') != '1':",
        new="if False:",
        tests=(FAILPOINT,),
    ),
    Mutant(
        name="arguments that were changed since are run",
        guards="S08",
        file="bot/agent/approvals.py",
        target="ApprovalService._outcome",
        old="if tool is None or digest_arguments(row.arguments) != row.digest:",
        new="if tool is None:",
        tests=(
            (
                "tests/bot/agent/test_approvals.py"
                "::test_arguments_that_are_not_those_that_were_shown_are_not_run"
            ),
        ),
    ),
    Mutant(
        name="a call that trickles is waited for longer",
        guards="S21",
        file="channels/web/requests.py",
        target="BodyTimes.webhook",
        old="webhook: float = 5.0",
        new="webhook: float = 20.0",
        tests=(
            (
                "tests/channels/test_hooks_attacks.py"
                "::test_S21_a_body_that_trickles_is_closed_after_five_seconds"
            ),
        ),
    ),
    Mutant(
        name="a group may read the configuration's secrets",
        guards="modes",
        file="bot/config/file.py",
        target="ConfigFile._refuse_open_mode",
        old="if mode & 63 and any(list_secrets(json_source.parse_config_json(text).value)):",
        new="if mode & 7 and any(list_secrets(json_source.parse_config_json(text).value)):",
        tests=(MODES,),
    ),
    Mutant(
        name="a group may write the configuration",
        guards="modes",
        file="bot/config/file.py",
        target="ConfigFile._refuse_open_mode",
        old="if mode & 63 and any(list_secrets(json_source.parse_config_json(text).value)):",
        new="if mode & 36 and any(list_secrets(json_source.parse_config_json(text).value)):",
        tests=(MODES,),
    ),
    Mutant(
        name="a group may read the token",
        guards="modes",
        file="channels/web/auth.py",
        target="_read_token",
        old="if found.st_mode & 63:",
        new="if found.st_mode & 7:",
        tests=(
            "tests/channels/web/test_server.py",
            "tests/bot/cli/test_main.py::test_a_home_whose_token_a_group_may_read_does_not_start",
        ),
    ),
    Mutant(
        name="every channel has an address for calls",
        guards="S14",
        file="bot/gateway/gateway.py",
        target="Gateway.hooked",
        old=(
            "return cast(HasWebhook, channel) if channel is not None and channel.capabilities.hook "
            "else None"
        ),
        new="return cast(HasWebhook, channel) if channel is not None else None",
        tests=(HOOKED,),
    ),
    Mutant(
        name="telegram takes calls whatever its mode",
        guards="S14",
        file="channels/telegram/channel.py",
        target="Telegram.__init__",
        old="settings.mode == 'webhook'",
        new="True",
        tests=(
            (
                "tests/bot/gateway/test_gateway.py"
                "::test_S14_telegram_takes_calls_only_where_it_is_told_to"
            ),
        ),
    ),
    Mutant(
        name="a run of exclamation marks is looked at from each of them",
        guards="growth",
        file="channels/feishu/cards.py",
        target="_IMAGE_MARKS",
        old="_IMAGE_MARKS = re.compile('(?<!!)!++(?=\\\\[)')",
        new="_IMAGE_MARKS = re.compile('!+(?=\\\\[)')",
        tests=(
            (
                "tests/channels/feishu/test_cards.py"
                "::test_four_times_the_text_takes_about_four_times_as_long"
            ),
        ),
    ),
    Mutant(
        name="a command of other letters reaches the model",
        guards="commands",
        file="bot/messages.py",
        target="_is_name_character",
        old="return sign in '_' + _JOINERS or unicodedata.category(sign)[0] in 'LMN'",
        new="return sign.isascii()",
        tests=(NAMES,),
    ),
    Mutant(
        name="a channel without credentials is on in the example",
        guards="example",
        file="channels/toolkit/settings.py",
        target="CredentialChannelSettings.enabled",
        old="Field(False,",
        new="Field(True,",
        tests=("tests/conventions/test_example_config.py",),
    ),
    Mutant(
        name="a turn that waited for a forgetting says what was said before it",
        guards="forgetting",
        file="bot/agent/turn.py",
        target="TurnRunner._run_turn",
        old="if has_waited:",
        new="if False:",
        tests=("tests/bot/agent/test_speakers.py",),
    ),
)
