"""The mutants of commands in the sandbox and of what an approval is bound to."""

from tests.mutants.mutant import Mutant

SANDBOX = "tests/bot/tools/exec/test_sandbox.py"
PROBE = "tests/bot/tools/exec/test_probe.py"
BOT = "tests/bot/tools/exec/test_exec_in_bot.py"
GUARDED = "tests/bot/tools/exec/test_guarded_in_bot.py"

EXEC = (
    Mutant(
        name="a sandbox with a hole is good enough",
        guards="S50",
        file="bot/tools/exec/probe.py",
        old='    return "it does not hold: " + "; ".join(leaks) if leaks else ""\n',
        new='    return ""\n',
        tests=(PROBE,),
    ),
    Mutant(
        name="a command outlives the bot",
        guards="I47",
        file="bot/tools/exec/sandbox.py",
        old='"--die-with-parent", ',
        new="",
        tests=(SANDBOX,),
    ),
    Mutant(
        name="a command sees the files of other spaces",
        guards="I40",
        file="bot/tools/exec/binding.py",
        old="        if original == SPACES_FOLDER:\n",
        new="        if False:\n",
        tests=(f"{SANDBOX}::test_a_command_changes_unguarded_folders_alone_and_sees_no_other_space",),
    ),
    Mutant(
        name="what is made while a command runs lies in a mount that it may write to",
        guards="I49",
        file="bot/tools/exec/sandbox.py",
        old='"--ro-bind", str(command.space), SPACE_PATH]',
        new='"--bind", str(command.space), SPACE_PATH]',
        tests=(PROBE,),  # those of the sandbox are left out then
    ),
    Mutant(
        name="the first words of another person are seen by the command that runs",
        guards="I40",
        file="bot/tools/exec/binding.py",
        old="            for name in (FILES_FOLDER, SPACES_FOLDER):\n",
        new="            for name in (FILES_FOLDER,):\n",
        tests=(f"{SANDBOX}::test_what_is_replaced_or_made_while_a_command_runs_is_guarded_from_it",),
    ),
    Mutant(
        name="names that a command gave are the person's own",
        guards="I49",
        file="bot/tools/exec/tool.py",
        old="        await self._label(command.writable)\n",
        new="",
        tests=(f"{GUARDED}::test_names_that_a_command_gives_are_words_from_outside_while_it_runs",),
    ),
    Mutant(
        name="tools see other people's memory that an earlier version renamed",
        guards="I40",
        file="memory/workspace/files.py",
        old="        if parts and original_name(parts[0]) in self._hidden:\n",
        new="        if parts and parts[0].casefold() in self._hidden:\n",
        tests=("tests/memory/workspace/test_files.py::test_spaces_do_not_see_each_other",),
    ),
    Mutant(
        name="memory is held for each process alone",
        guards="sandbox",
        file="bot/tools/exec/runner.py",
        old="        if resident > limits.memory_bytes and",
        new="        if False and",
        tests=(SANDBOX,),
    ),
    Mutant(
        name="what an approval depends on is not compared",
        guards="I50",
        file="bot/agent/approvals.py",
        old="            if now != bound:\n",
        new="            if False:\n",
        tests=(f"{BOT}::test_S46_what_changed_since_voids_the_approval",),
    ),
    Mutant(
        name="the outcome is stored though the approval had ended",
        guards="I50",
        file="memory/store/people/approvals.py",
        old="    if is_late or not (await tx.execute(_SET_STATE, id=id, state=former, new_state=state)).rowcount:\n",
        new=(
            "    moved = await tx.execute(_SET_STATE, id=id, state=former, new_state=state)\n"
            "    if not moved.rowcount and outcome is None:\n"
        ),
        tests=("tests/memory/store/test_access.py::TestApprovals",),
    ),
    Mutant(
        name="the output of a command is not from outside",
        guards="I49",
        file="memory/context/taint.py",
        old="            return not is_own_words(part)\n",
        new="            return not is_own_words(part) and part.aside != OUTCOME_LABEL\n",
        tests=(f"{BOT}::test_after_the_outcome_words_from_outside_are_in_view",),
    ),
    Mutant(
        name="an old rule for whatever begins with git still holds",
        guards="I50",
        file="bot/tools/exec/rules.py",
        old="            if self.argv[0] not in PREFIX_PROGRAMS:",
        new="            if not self.argv:",
        tests=("tests/bot/tools/exec/test_rules.py",),
    ),
    Mutant(
        name="a model may write the configuration that git runs",
        guards="I50",
        file="bot/agent/approvals.py",
        old=" or any(GIT_FOLDER in names for names in paths):",
        new=":",
        tests=("tests/bot/agent/test_approvals.py",),
    ),
    Mutant(
        name="a rule of approval goes by the program's last name",
        guards="I50",
        file="bot/tools/exec/rules.py",
        old='        argv = tuple(given.get("argv", ()))\n        if self.is_prefix:\n',
        new='        argv = tuple(one.rpartition("/")[2] for one in given["argv"])\n        if self.is_prefix:\n',
        tests=("tests/bot/tools/exec/test_rules.py",),
    ),
    Mutant(
        name="a rule of approval holds beside words from outside",
        guards="I50",
        file="bot/agent/tool_calls.py",
        old="(await load_message_context(self._store, context)).tainted:\n            return False\n",
        new="False:\n            return False\n",
        tests=("tests/bot/tools/exec/test_rules_in_bot.py",),
    ),
    Mutant(
        name="a sub-agent has all tools of its space",
        guards="sub-agents",
        file="bot/agent/tool_calls.py",
        old="        return toolset.only(context.subagent.tools) if context.subagent else toolset\n",
        new="        return toolset\n",
        tests=("tests/bot/agent/subagents/test_subagents_in_bot.py",),
    ),
    Mutant(
        name="outcomes are told with each task of a call",
        guards="I51",
        file="memory/store/people/background_tasks.py",
        old='"running" not in states and ',
        new="",
        tests=("tests/memory/store/test_background_tasks.py",),
    ),
)
