"""The mutants of commands in the sandbox and of what an approval is bound to."""

from tests.mutants.mutant import Mutant

LOST_RIGHTS = "tests/bot/access/test_lost_rights.py"
SANDBOX = "tests/bot/tools/exec/test_sandbox.py"
PROBE = "tests/bot/tools/exec/test_probe.py"
BOT = "tests/bot/tools/exec/test_exec_in_bot.py"
GUARDED = "tests/bot/tools/exec/test_guarded_in_bot.py"

EXEC = (
    Mutant(
        name="a sandbox with a hole is good enough",
        guards="S50",
        file="bot/tools/exec/probe.py",
        target="_judge",
        old="if not leaks:",
        new="if True:",
        tests=(PROBE,),
    ),
    Mutant(
        name="a command outlives the bot",
        guards="I47",
        file="bot/tools/exec/sandbox.py",
        target="isolation_arguments",
        old=", '--die-with-parent'",
        new="",
        tests=(SANDBOX,),
    ),
    Mutant(
        name="a command sees the files of other spaces",
        guards="I40",
        file="bot/tools/exec/binding.py",
        target="sort_folders",
        old="if original == SPACES_FOLDER:",
        new="if False:",
        tests=(
            f"{SANDBOX}::test_a_command_changes_unguarded_folders_alone_and_sees_no_other_space",
        ),
    ),
    Mutant(
        name="what is made while a command runs lies in a mount that it may write to",
        guards="I49",
        file="bot/tools/exec/sandbox.py",
        target="build_arguments",
        old="arguments += ['--dir', '/run', '--ro-bind', str(command.space), SPACE_PATH]",
        new="arguments += ['--dir', '/run', '--bind', str(command.space), SPACE_PATH]",
        tests=(PROBE,),  # those of the sandbox are left out then
    ),
    Mutant(
        name="the first words of another person are seen by the command that runs",
        guards="I40",
        file="bot/tools/exec/binding.py",
        target="sort_folders",
        old="for name in (FILES_FOLDER, SPACES_FOLDER):",
        new="for name in (FILES_FOLDER,):",
        tests=(
            f"{SANDBOX}::test_what_is_replaced_or_made_while_a_command_runs_is_guarded_from_it",
        ),
    ),
    Mutant(
        name="names that a command gave are the person's own",
        guards="I49",
        file="bot/tools/workspace/command_labels.py",
        target="CommandLabels._begin",
        old="await self._labels.label_names(OWNER_SPACE, folders)",
        new="",
        tests=(f"{GUARDED}::test_names_that_a_command_gives_are_words_from_outside_while_it_runs",),
    ),
    Mutant(
        name="tools see other people's memory that an earlier version renamed",
        guards="I40",
        file="memory/workspace/files.py",
        target="SpaceFiles._names",
        old="if parts and original_name(parts[0]) in self._hidden:",
        new="if parts and parts[0].casefold() in self._hidden:",
        tests=("tests/memory/workspace/test_files.py::test_spaces_do_not_see_each_other",),
    ),
    Mutant(
        name="memory is held for each process alone",
        guards="sandbox",
        file="bot/tools/exec/runner.py",
        target="_find_excess",
        old=(
            "if resident > limits.memory_bytes and sum((_own_bytes(one) for one in tree)) > "
            "limits.memory_bytes:"
        ),
        new="if False and sum((_own_bytes(one) for one in tree)) > limits.memory_bytes:",
        tests=(SANDBOX,),
    ),
    Mutant(
        name="what an approval depends on is not compared",
        guards="I50",
        file="bot/agent/approvals.py",
        target="ApprovalService._outcome",
        old="{*now, *bound} - {UNBOUND_KEY} if now.get(name) != bound.get(name)",
        new="{*now, *bound} - {UNBOUND_KEY} if False",
        tests=(f"{BOT}::test_S46_what_changed_since_voids_the_approval",),
    ),
    Mutant(
        name="the outcome is stored though the approval had ended",
        guards="I50",
        file="memory/store/automation/approvals.py",
        target="set_state",
        old=(
            "if is_late or not (await tx.execute(_SET_STATE, id=id, state=former, "
            "new_state=state)).rowcount:"
        ),
        new=(
            "moved = await tx.execute(_SET_STATE, id=id, state=former, new_state=state)\n"
            "if not moved.rowcount and outcome is None:"
        ),
        tests=("tests/memory/store/test_access.py::TestApprovals",),
    ),
    Mutant(
        name="the output of a command is not from outside",
        guards="I49",
        file="memory/context/taint.py",
        target="_is_from_outside",
        old="return not is_own_words(part)",
        new="return not is_own_words(part) and part.aside != OUTCOME_LABEL",
        tests=(f"{BOT}::test_after_the_outcome_words_from_outside_are_in_view",),
    ),
    Mutant(
        name="an old rule for whatever begins with git still holds",
        guards="I50",
        file="bot/tools/exec/rules.py",
        target="CommandRule.covers",
        old="if self.argv[0] not in PREFIX_PROGRAMS:",
        new="if not self.argv:",
        tests=("tests/bot/tools/exec/test_rules.py",),
    ),
    Mutant(
        # exec.md: a rule for exactly one command
        name="a rule for a command that reads ends with its own output",
        guards="rules",
        file="bot/tools/exec/rules.py",
        target="CommandRule.survives_taint",
        old="return not self.is_prefix and bool(self.argv) and (self.argv[0] in PREFIX_PROGRAMS)",
        new="return False",
        tests=(
            "tests/bot/tools/exec/test_rules_in_bot.py"
            "::test_a_rule_for_a_command_that_reads_is_used_ten_times_in_four_chats_without_a_question",
        ),
    ),
    Mutant(
        name="a model may write the configuration that git runs",
        guards="I50",
        file="bot/agent/call_actions.py",
        target="action_for_call",
        old="if tops & EXTENSION_FOLDERS or any((GIT_FOLDER in names for names in paths)):",
        new="if tops & EXTENSION_FOLDERS:",
        tests=("tests/bot/agent/test_approvals.py",),
    ),
    Mutant(
        name="a rule of approval goes by the program's last name",
        guards="I50",
        file="bot/tools/exec/rules.py",
        target="CommandRule.covers",
        old="argv = tuple(given.get('argv', ()))",
        new="argv = tuple((one.rpartition('/')[2] for one in given['argv']))",
        tests=("tests/bot/tools/exec/test_rules.py",),
    ),
    Mutant(
        name="a rule of approval holds beside words from outside",
        guards="I50",
        file="bot/tools/exec/rules.py",
        target="_covers",
        old="return (rule.survives_taint or not tainted) and rule.covers(given, bound)",
        new="return rule.covers(given, bound)",
        tests=("tests/bot/tools/exec/test_rules_in_bot.py",),
    ),
    Mutant(
        name="the owner is not told why there are no commands",
        guards="exec",
        file="bot/commands/tools.py",
        target="_tools",
        old="if context.config.tools.exec.enabled and (why := context.services.sandbox().reason):",
        new="if False:",
        tests=(
            (
                "tests/bot/tools/exec/test_exec_in_bot.py"
                "::test_the_owner_is_told_why_commands_are_not_offered"
            ),
        ),
    ),
    Mutant(
        name="a Chinese reader is told in English why there are no commands",
        guards="exec",
        file="bot/commands/info.py",
        target="describe_missing_exec",
        old="reason=reason",
        new="reason=str(reason)",
        tests=(
            f"{BOT}::test_the_owner_is_told_why_commands_are_not_offered",
            f"{BOT}::test_S50_it_is_offered_only_where_the_sandbox_holds",
        ),
    ),
    Mutant(
        name="doctor says in English in a Chinese sentence why there is no sandbox",
        guards="exec",
        file="bot/cli/doctor/tools.py",
        target="_check_exec",
        old="reason=SHARED_REASON",
        new="reason=str(SHARED_REASON)",
        tests=(f"{PROBE}::test_doctor_says_whether_commands_run_and_what_would_help",),
    ),
    Mutant(
        name="a Chinese reader is told in English why a server has no sandbox",
        guards="mcp",
        file="bot/tools/mcp/stdio.py",
        target="open_stdio",
        old="process.refused = err.reason if isinstance(err, SandboxError) else NO_PHRASE",
        new="",
        tests=(
            (
                "tests/bot/tools/mcp/test_server_files.py"
                "::test_where_there_is_no_sandbox_nothing_is_started"
            ),
        ),
    ),
    Mutant(
        name="a rule of approval counts though its maker may not make it any more",
        guards="S09",
        file="bot/tools/exec/rules.py",
        target="find_covering_rule",
        old="if covers and await is_in_force(row, roles):",
        new="if covers:",
        tests=(
            f"{LOST_RIGHTS}::test_a_rule_of_somebody_who_was_removed_while_the_bot_was_stopped_does_not_count",
            f"{LOST_RIGHTS}::test_a_rule_counts_only_while_its_maker_may_run_commands_and_is_shown_as_such",
        ),
    ),
    Mutant(
        name="a rule stays its first maker's when somebody else approves it again",
        guards="S09",
        file="memory/store/automation/approval_rules.py",
        target="_EXTEND",
        old=", person=bindparam('new_person')",
        new="",
        tests=(f"{LOST_RIGHTS}::test_a_rule_that_somebody_else_approves_again_is_theirs",),
    ),
    Mutant(
        name="a sub-agent has all tools of its space",
        guards="sub-agents",
        file="bot/agent/tool_calls.py",
        target="ToolRunner._tools_of",
        old="return toolset.only(context.subagent.tools) if context.subagent else toolset",
        new="return toolset",
        tests=("tests/bot/agent/subagents/test_subagents_in_bot.py",),
    ),
    Mutant(
        name="outcomes are told with each task of a call",
        guards="I51",
        file="memory/store/automation/background_tasks.py",
        target="end_task",
        old="if rows[0].detached and 'running' not in states and (states != {'cancelled'}):",
        new="if rows[0].detached and states != {'cancelled'}:",
        tests=("tests/memory/store/test_background_tasks.py",),
    ),
    Mutant(
        name="what a consent does not cover is not said",
        guards="I50",
        file="bot/agent/approval_texts.py",
        target="format_approval_question",
        old="if unbound != str(UNBOUND_REST):",
        new="if False:",
        tests=(f"{BOT}::test_S46_what_a_script_names_is_named_as_not_bound",),
    ),
    Mutant(
        name="files named inside a script are not found",
        guards="I50",
        file="bot/tools/exec/binding.py",
        target="find_inner_names",
        old="names = {name for text in texts for name in _split_names(text) - {text}}",
        new="names = {name for text in texts for name in ()}",
        tests=("tests/bot/tools/exec/test_binding.py",),
    ),
    Mutant(
        name="the number of files is not limited",
        guards="S49",
        file="bot/tools/exec/runner.py",
        target="_find_excess",
        old="if files.is_exceeded(pid):",
        new="if False:",
        tests=(f"{SANDBOX}::test_S49_a_million_empty_files_are_bounded",),
    ),
    Mutant(
        name="files that others make end a command",
        guards="S49",
        file="bot/tools/exec/runner.py",
        target="FileCount.is_exceeded",
        old=(
            "return self._in_memory(pid) > self._most or (self._may_be_exceeded() and self._made() "
            "> self._most)"
        ),
        new="return self._in_memory(pid) > self._most or self._may_be_exceeded()",
        tests=("tests/bot/tools/exec/test_file_count.py",),
    ),
    Mutant(
        name="blocks are allocated without being counted",
        guards="S49",
        file="bot/tools/exec/seccomp.py",
        target="build_filter",
        old="program += [(_EQUAL, 0, 1, known.fallocate), no_allocation]",
        new="",
        tests=(f"{SANDBOX}::test_S49_blocks_are_not_allocated_without_being_written_and_counted",),
    ),
    Mutant(
        name="a command leaves a set-uid file",
        guards="S47",
        file="bot/tools/exec/seccomp.py",
        target="_REFUSED_MODE_BITS",
        old="_REFUSED_MODE_BITS = stat.S_ISUID | stat.S_ISGID | stat.S_IFCHR",
        new="_REFUSED_MODE_BITS = stat.S_ISGID | stat.S_IFCHR",
        tests=(f"{SANDBOX}::test_no_file_gets_rights_of_its_owner_and_no_device_is_made",),
    ),
    Mutant(
        name="a file of a skill is read as it is now",
        guards="S59",
        file="bot/tools/skills/library.py",
        target="SkillLibrary.read",
        old="if hash_files(contents) != skill.sha256:",
        new="if not contents:",
        tests=(
            (
                "tests/bot/tools/skills/test_skills.py"
                "::test_S59_a_file_that_changed_unseen_since_the_review_is_not_read"
            ),
        ),
    ),
    Mutant(
        name="a script runs beside files of its skill that changed",
        guards="I50",
        file="bot/tools/skills/service.py",
        target="SkillTools.find_sha256",
        old="await asyncio.to_thread(self.library.read, found)",
        new="pass",
        tests=("tests/bot/tools/skills/test_skills_in_bot.py",),
    ),
    Mutant(
        name="an MCP server runs without a sandbox unless it is given folders",
        guards="S47",
        file="bot/tools/mcp/stdio.py",
        target="is_sandboxed",
        old="return not settings.url and ALL_FILES not in settings.files",
        new="return False",
        tests=("tests/bot/tools/mcp/test_server_files.py",),
    ),
    Mutant(
        name="an MCP server writes to all that it sees",
        guards="S47",
        file="bot/tools/mcp/stdio.py",
        target="_mounts",
        old="yield from ('--bind' if one.writable else '--ro-bind', str(one.path), str(one.path))",
        new="yield from ('--bind', str(one.path), str(one.path))",
        tests=("tests/bot/tools/mcp/test_server_files.py",),
    ),
    Mutant(
        name="an MCP server may be shown the bot's keys",
        guards="S47",
        file="bot/tools/mcp/stdio.py",
        target="visible_paths",
        old="_check_private(path, home)",
        new="",
        tests=("tests/bot/tools/mcp/test_server_files.py",),
    ),
)
