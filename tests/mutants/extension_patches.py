"""Mutants of what others write for the bot: tools of servers, plug-ins and skills."""

from tests.mutants.mutant import Mutant

PLUGINS = "tests/bot/tools/plugins/test_plugins_in_bot.py"

SKILLS = "tests/bot/tools/skills/test_skills_in_bot.py"

EXTENSIONS = (
    Mutant(
        name="one odd tool turns its whole server off",
        guards="I46",
        file="bot/tools/mcp/connection.py",
        target="McpConnection._open_cleaned",
        old="yield (self._messages, outgoing, *others)",
        new="yield (messages, outgoing, *others)",
        tests=("tests/bot/tools/mcp/test_server_faults.py",),
    ),
    Mutant(
        name="use_tool is judged as itself",
        guards="use_tool",
        file="bot/agent/tool_calls.py",
        target="ToolRunner.plan",
        old="judged = [inner_call(call) if toolset.get(USE_TOOL) else call for call in calls]",
        new="judged = list(calls)",
        tests=("tests/bot/tools/test_deferred.py",),
    ),
    Mutant(
        name="a script runs whatever became of its skill",
        guards="I50",
        file="bot/tools/exec/tool.py",
        target="ExecTool.bind",
        old="if not (sha256 := (await self.find_skill(name))):",
        new="if not (sha256 := (await self.find_skill(name) or name)):",
        tests=(
            f"{SKILLS}::test_a_script_of_a_skill_runs_by_exec_while_the_skill_is_enabled_byte_for_byte",
        ),
    ),
    Mutant(
        name="a person's own skills may hold scripts",
        guards="skills",
        file="bot/tools/skills/library.py",
        target="SkillLibrary._load",
        old="check_texts(contents)",
        new="pass",
        tests=(f"{SKILLS}::test_a_persons_own_skills_are_seen_there_only_and_hold_texts_alone",),
    ),
    Mutant(
        name="a check of arguments goes on without end",
        guards="schemas",
        file="bot/tools/mcp/schema.py",
        target="ArgumentCheck._count",
        old="if len(self._steps) > MAX_CHECK_STEPS:",
        new="if len(self._steps) > 40 * MAX_CHECK_STEPS:",
        tests=(
            (
                "tests/bot/tools/mcp/test_schema.py"
                "::test_a_check_that_doubles_with_each_level_is_given_up"
            ),
        ),
    ),
    Mutant(
        name="the tools are read again in mid-turn",
        guards="I46",
        file="bot/tools/registry.py",
        target="OfferedTools.__call__",
        old="if self._in_use(space):",
        new="if not self._in_use(space):",
        tests=("tests/bot/tools/mcp/test_mcp_in_bot.py",),
    ),
    Mutant(
        name="a plug-in stays on although a byte of it changed",
        guards="plug-ins",
        file="bot/tools/plugins/library.py",
        target="PluginLibrary.enabled",
        old="if row.sha256 == file.sha256:",
        new="if row.sha256:",
        tests=(f"{PLUGINS}::test_an_enabled_file_is_a_tool_until_a_byte_of_it_changes",),
    ),
    Mutant(
        name="what a plug-in sends is not looked through",
        guards="plug-ins",
        file="bot/tools/plugins/network.py",
        target="PluginNetwork.send",
        old="check_leak(carried, str(parsed), await self._context.load_visible(), secrets)",
        new="",
        tests=(f"{PLUGINS}::test_a_plugin_carries_no_memory_and_no_other_secret_out",),
    ),
    Mutant(
        name="a guard that is not there allows everything",
        guards="guards",
        file="bot/tools/plugins/service.py",
        target="PluginTools.load",
        old="loaded.append((point.name, _refuse))",
        new="pass",
        tests=(f"{PLUGINS}::test_a_guard_that_cannot_be_loaded_or_breaks_refuses_everything",),
    ),
)
