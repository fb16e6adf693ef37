"""Mutants of what the documentation promises of tools: what is refused, asked for, bound and
dialled.
"""

from tests.mutants.mutant import Mutant

OAUTH = "tests/bot/tools/mcp/test_oauth.py::test_the_headers_of_a_server_are_for_it_alone"
REVIEWED = (
    "tests/bot/tools/mcp/test_mcp_in_bot.py"
    "::test_a_review_is_for_the_command_and_the_address_that_were_reviewed"
)
PLUGINS = "tests/bot/tools/plugins/test_plugins_in_bot.py"
SENT = f"{PLUGINS}::test_nothing_in_what_a_plugin_sends_carries_memory_or_another_key"
CLIENT = "tests/bot/tools/web/test_client.py"
APPROVALS = "tests/bot/agent/test_approvals.py"

PROMISED = (
    Mutant(
        name="a review outlives another command",
        guards="mcp",
        file="bot/tools/mcp/service.py",
        target="McpTools._is_reviewed",
        old="return row is not None and row.source_sha256 == source_sha256(settings)",
        new="return row is not None",
        tests=(REVIEWED,),
    ),
    Mutant(
        name="a review outlives another address",
        guards="mcp",
        file="bot/tools/mcp/service.py",
        target="source_sha256",
        old="settings.command or settings.url",
        new="settings.command",
        tests=(REVIEWED,),
    ),
    Mutant(
        name="a guard that breaks allows",
        guards="guards",
        file="bot/tools/plugins/service.py",
        target="PluginTools.find_refusal",
        old="return BROKEN_GUARD",
        new="continue",
        tests=(f"{PLUGINS}::test_a_guard_that_breaks_or_takes_too_long_refuses",),
    ),
    Mutant(
        name="a guard may take any time",
        guards="guards",
        file="bot/tools/plugins/service.py",
        target="PluginTools.find_refusal",
        old="if time.monotonic() - began > self._guard_seconds:",
        new="if False:",
        tests=(f"{PLUGINS}::test_a_guard_that_breaks_or_takes_too_long_refuses",),
    ),
    Mutant(
        name="a rule covers a run in the background too",
        guards="rules",
        file="bot/tools/exec/rules.py",
        target="CommandRule.covers",
        old="bool(given.get('background')) != self.background or ",
        new="",
        tests=(
            "tests/bot/tools/exec/test_rules.py::test_a_rule_is_for_the_chat_or_for_the_background",
        ),
    ),
    Mutant(
        name="the headers of a server go to who issues its logins",
        guards="mcp",
        file="bot/tools/mcp/http.py",
        target="_create_transport",
        old="if _origin_of(url) == home:",
        new="if True:",
        tests=(OAUTH,),
    ),
    Mutant(
        name="the body of a plug-in's request is not looked through",
        guards="leaks",
        file="bot/tools/plugins/network.py",
        target="PluginNetwork.send",
        old="body.decode('utf-8', 'replace'), *headers",
        new="*headers",
        tests=(SENT,),
    ),
    Mutant(
        name="the names of headers of a plug-in's request are not looked through",
        guards="leaks",
        file="bot/tools/plugins/network.py",
        target="PluginNetwork.send",
        old="*headers, *headers.values()",
        new="*headers.values()",
        tests=(SENT,),
    ),
    Mutant(
        name="a plug-in names the host it talks to",
        guards="web",
        file="bot/tools/plugins/network.py",
        target="_OWN_HEADERS",
        old="'host', ",
        new="",
        tests=(SENT,),
    ),
    Mutant(
        name="the body of a plug-in's request is not sent",
        guards="plugins",
        file="bot/tools/web/client.py",
        target="GuardedClient._send",
        old="content=body or None",
        new="content=None",
        tests=(SENT,),
    ),
    Mutant(
        name="the answer to a challenge is good twice",
        guards="passkeys",
        file="bot/console/administration/passkeys.py",
        target="Passkeys._take_challenge",
        old="self._used[challenge] = True",
        new="pass",
        tests=("tests/bot/console/test_passkeys.py::test_an_answer_is_good_once",),
    ),
    Mutant(
        name="a page leads from https to http",
        guards="S42",
        file="bot/tools/web/client.py",
        target="GuardedClient.request",
        old="if url.scheme == 'https' and new.scheme == 'http':",
        new="if False:",
        tests=(f"{CLIENT}::test_S42_https_leads_to_no_http",),
    ),
    Mutant(
        name="a page on our own public address is opened",
        guards="S39",
        file="bot/tools/web/client.py",
        target="GuardedClient.judge",
        old="is_denied(one) or is_own_address(one)",
        new="is_denied(one)",
        tests=(f"{CLIENT}::test_S39_our_own_public_address_is_denied",),
    ),
    Mutant(
        name="a server on our own public address is called",
        guards="S39",
        file="bot/tools/mcp/http.py",
        target="judge_server",
        old="is_denied(one) or is_own_address(one)",
        new="is_denied(one)",
        tests=("tests/bot/tools/mcp/test_http.py::test_S39_our_own_public_address_is_no_server",),
    ),
    Mutant(
        name="who answers at the end of a connection is not compared",
        guards="I48",
        file="bot/tools/web/client.py",
        target="pinned_backend",
        old="if peer is None or ipaddress.ip_address(peer[0].partition('%')[0]) != address:",
        new="if False:",
        tests=(
            f"{CLIENT}::test_I48_who_answers_at_another_address_than_the_judged_one_is_sent_nothing",
        ),
    ),
    Mutant(
        name="what was approved runs though it needs another consent by now",
        guards="I50",
        file="bot/agent/approvals.py",
        target="ApprovalService._find_objection",
        old="if action_for_call(tool.spec, arguments, row.space) != row.action:",
        new="if False:",
        tests=(f"{APPROVALS}::test_what_needs_another_consent_by_now_is_not_run",),
    ),
    Mutant(
        name="an outcome is told after the chat was cleared",
        guards="I50",
        file="bot/agent/approvals.py",
        target="ApprovalService._to_message",
        old="conversation is None or str(conversation.epoch) != bound.get(EPOCH)",
        new="conversation is None",
        tests=(
            f"{APPROVALS}::test_the_outcome_of_what_runs_is_told_unless_the_chat_is_cleared_meanwhile",
        ),
    ),
    Mutant(
        name="a link in the place of a guarded folder is followed",
        guards="I40",
        file="bot/tools/exec/binding.py",
        target="sort_folders",
        old="if original in GUARDED_FOLDERS and entry.is_symlink():",
        new="if False:",
        tests=(
            (
                "tests/bot/tools/exec/test_sandbox.py"
                "::test_where_a_link_is_in_the_place_of_a_folder_nothing_runs"
            ),
        ),
    ),
    Mutant(
        name="a skill that is off is read on",
        guards="skills",
        file="bot/tools/skills/tool.py",
        target="SkillTool._find_enabled",
        old="if not library.is_enabled(skill):",
        new="if False:",
        tests=(
            "tests/bot/tools/skills/test_skills_in_bot.py"
            "::test_a_skill_that_is_turned_off_in_a_running_turn_is_read_no_further",
        ),
    ),
)
