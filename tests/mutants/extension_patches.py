"""Mutants of what others write for the bot: tools of servers, plug-ins and skills."""

from tests.mutants.mutant import Mutant

EXTENSIONS = (
    Mutant(
        name="use_tool is judged as itself",
        guards="A18",
        file="bot/agent/tool_calls.py",
        old="        judged = [inner_call(call) if toolset.get(USE_TOOL) else call for call in calls]\n",
        new="        judged = list(calls)\n",
        tests=("tests/bot/tools/test_deferred.py",),
    ),
)
