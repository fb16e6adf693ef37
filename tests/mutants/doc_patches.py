"""Mutants of what all pages of the documentation promise, chosen by their sentences and not by the
code.
"""

from tests.mutants.mutant import Mutant

OUTCOME = "tests/bot/agent/subagents/test_outcome.py"
MCP_RESULTS = "tests/bot/tools/mcp/test_results.py"
MCP = "tests/bot/tools/mcp/test_mcp_in_bot.py"
FETCH = "tests/bot/tools/web/test_fetch.py"
WEB = "tests/bot/tools/web/test_web_in_bot.py"

DOCUMENTED = (
    Mutant(
        name="the outcome of a sub-agent has any length",  # delegate.md: "1,500 tokens at most"
        guards="delegate",
        file="bot/agent/subagents/outcome.py",
        target="_cut",
        old="while tokens > MAX_OUTCOME_TOKENS:",
        new="while False:",
        tests=(OUTCOME,),
    ),
    Mutant(
        name="a sub-agent that looked nothing up does not say so",  # delegate.md
        guards="delegate",
        file="bot/agent/subagents/outcome.py",
        target="build_outcome",
        old="lines.append(NOTHING_LOOKED_UP)",
        new="pass",
        tests=(OUTCOME,),
    ),
    Mutant(
        name="the time of a sub-agent is that of a turn",  # delegate.md: `minutes`
        guards="delegate",
        file="bot/agent/turn_context.py",
        target="TurnSetup._timeouts_of",
        old=(
            "left = min(self.timeouts.cancel_after, max(1.0, subagent.deadline - self.store.now()))"
        ),
        new="left = self.timeouts.cancel_after",
        tests=(
            "tests/bot/agent/subagents/test_subagents_in_bot.py::test_the_time_of_a_task_ends_it",
        ),
    ),
    Mutant(
        name="a rule of approval never ends",  # exec.md: "It ends after 30 days"
        guards="rules",
        file="memory/store/automation/approval_rules.py",
        target="add_rule",
        old="tx.now + RULE_VALIDITY.total_seconds()",
        new="tx.now + 100 * RULE_VALIDITY.total_seconds()",
        tests=(
            (
                "tests/bot/tools/exec/test_rules_in_bot.py"
                "::test_there_are_fifty_rules_at_most_and_equal_ones_are_one"
            ),
        ),
    ),
    Mutant(
        name="the output of a command shows keys of the configuration",  # exec.md
        guards="secrets",
        file="bot/tools/exec/output.py",
        target="clean_output",
        old="return redact(",
        new="return str(",
        tests=("tests/bot/tools/exec/test_output.py",),
    ),
    Mutant(
        name="a host is asked as often as a model likes",  # tools/web.md: "once a second at most"
        guards="web",
        file="bot/tools/web/fetch.py",
        target="WebFetchTool._pause",
        old="at + self._pause_seconds()",
        new="at",
        tests=(FETCH,),
    ),
    Mutant(
        name="a page that forbids it is kept",  # tools/web.md: "unless its server forbids it"
        guards="web",
        file="bot/tools/web/fetch.py",
        target="WebFetchTool._page",
        old="'no-store' not in response.headers.get('cache-control', '').lower() and ",
        new="",
        tests=(FETCH,),
    ),
    Mutant(
        name="a kept search answers for ever",  # tools/web.md: "within ten minutes"
        guards="web",
        file="bot/tools/web/search.py",
        target="WebSearchTool.run",
        old="kept is not None and kept[0] > self._clock()",
        new="kept is not None",
        tests=("tests/bot/tools/web/test_bounds.py",),
    ),
    Mutant(
        name="a page is as long as it likes",  # tools/web.md: "200,000 at most"
        guards="web",
        file="bot/tools/web/page_text.py",
        target="MAX_CHARS",
        old="page_worker.MAX_TEXT_CHARS",
        new="10 * page_worker.MAX_TEXT_CHARS",
        tests=("tests/bot/tools/web/test_page_text.py::test_200000_characters_of_a_text_are_read",),
    ),
    Mutant(
        name="searches count as any tool",  # budgets.md: `searches_per_day`
        guards="budgets",
        file="bot/access/budget_guard.py",
        target="BudgetGuard.calls_left",
        old="'search': user.searches_per_day",
        new="'search': user.tool_calls_per_day",
        tests=(f"{WEB}::test_searches_a_day_are_limited_for_people_other_than_the_owner",),
    ),
    Mutant(
        name="a result of a server has any number of pictures",  # mcp.md: "four pictures at most"
        guards="mcp",
        file="bot/tools/mcp/results.py",
        target="_read_images",
        old="result.images[:MAX_IMAGES]",
        new="result.images",
        tests=(MCP_RESULTS,),
    ),
    Mutant(
        name="a result of a server is as long as it likes",  # mcp.md: "200,000 characters"
        guards="mcp",
        file="bot/tools/mcp/results.py",
        target="to_output",
        old="if len(text) > MAX_TEXT_CHARS:",
        new="if False:",
        tests=(MCP_RESULTS,),
    ),
    Mutant(
        # mcp.md: "is not called any more"
        name="a running turn calls a tool of a server that changed",
        guards="mcp",
        file="bot/tools/mcp/service.py",
        target="McpTools._still_allowed",
        old="return any(",
        new="return True or any(",
        tests=(f"{MCP}::test_a_changed_tool_is_off_told_once_and_not_in_the_next_request",),
    ),
    Mutant(
        name="a login that is needed is told each time",  # mcp.md: "once a day"
        guards="mcp",
        file="bot/tools/mcp/service.py",
        target="McpTools._tell_login",
        old="%Y-%m-%d",
        new="%Y-%m-%d %H:%M:%S.%f",
        tests=(f"{MCP}::test_a_login_that_is_needed_is_told_once_a_day",),
    ),
    Mutant(
        # mcp.md, configuration.md: "only written in the file itself"
        name="a chat changes the servers of tools",
        guards="configuration",
        file="bot/config/file.py",
        target="ConfigFile._edited",
        old="if path[0] in FILE_ONLY:",
        new="if False:",
        tests=(
            "tests/bot/config/test_versions.py",
            "tests/bot/config/test_config.py",
            "tests/bot/commands/test_settings.py",
        ),
    ),
    Mutant(
        name="the page changes the servers of tools",  # the same
        guards="configuration",
        file="bot/config/file.py",
        target="ConfigFile._replace",
        old="if given.get(name) != good.get(name):",
        new="if False:",
        tests=("tests/bot/config/test_versions.py", "tests/bot/console/test_settings_routes.py"),
    ),
    Mutant(
        # configuration.md: "The last 20 texts"
        name="any number of versions of the configuration is kept",
        guards="configuration",
        file="bot/config/versions.py",
        target="ConfigVersions.record",
        old="self._ids()[:-MAX_VERSIONS]",
        new="self._ids()[:0]",
        tests=("tests/bot/config/test_versions.py",),
    ),
    Mutant(
        # configuration.md: "for you alone (0600)"
        name="a group may read former texts of the configuration",
        guards="configuration",
        file="bot/config/versions.py",
        target="ConfigVersions.record",
        old="384",
        new="416",
        tests=("tests/bot/config/test_versions.py",),
    ),
    Mutant(
        name="any part of MEMORY.md stands in each prompt",  # memory.md: "up to 4,000 tokens of it"
        guards="memory",
        file="memory/context/system_prompt.py",
        target="PromptBudgets",
        old="memory: int = 4000",
        new="memory: int = 14000",
        tests=("tests/memory/context/test_system_prompt.py", "tests/bot/agent/test_prompt.py"),
    ),
    Mutant(
        name="facts of any importance are noted",  # memory.md: `memory.min_importance`
        guards="memory",
        file="memory/longterm/extraction.py",
        target="_rejection_reason",
        old="if fact.importance < rules.min_importance:",
        new="if False:",
        tests=("tests/memory/longterm/test_extraction.py",),
    ),
    Mutant(
        name="any number of passages is recalled",  # memory.md: `memory.recall_limit`
        guards="recall",
        file="bot/memory/recall.py",
        target="format_recall_block",
        old="[:recalled.limit]",
        new="",
        tests=("tests/bot/memory/test_recall.py", "tests/bot/agent/test_recall_in_prompt.py"),
    ),
    Mutant(
        name="what is recalled has any size",  # memory.md: "at most 1,000 tokens"
        guards="recall",
        file="bot/agent/turn_context.py",
        target="TurnSuffix.shown",
        old="min(MAX_RECALL_TOKENS, tokens // RECALL_SHARE)",
        new="tokens // RECALL_SHARE",
        tests=("tests/bot/memory/test_recall.py", "tests/bot/agent/test_recall_in_prompt.py"),
    ),
    Mutant(
        name="the end of a long result is not found",  # memory.md: "the last 4,000 characters"
        guards="recall",
        file="memory/recall/documents.py",
        target="split_result",
        old="(text[:TOOL_HEAD_CHARACTERS], text[-TOOL_TAIL_CHARACTERS:])",
        new="(text[:TOOL_HEAD_CHARACTERS],)",
        tests=("tests/memory/recall/test_tool_results.py",),
    ),
    Mutant(
        name="token counts go with what is older than a few days",  # retention.md: "at least 35"
        guards="retention",
        file="bot/runtime/scheduler.py",
        target="RetentionJob.run",
        old="min(before, now - SPENDING_AGE)",
        new="before",
        tests=("tests/bot/runtime/test_retention.py",),
    ),
    Mutant(
        # retention.md: "a day after they came"
        name="a file goes though the row that names it may be about to come",
        guards="retention",
        file="bot/runtime/scheduler.py",
        target="RetentionJob.run",
        old="now - UNREFERENCED_AGE",
        new="now",
        tests=("tests/bot/runtime/test_retention.py",),
    ),
    Mutant(
        name="requests are recorded though nobody wants it",  # retention.md: "0 records nothing"
        guards="retention",
        file="bot/agent/context/recorder.py",
        target="ViewRecorder.recorder",
        old="if not self._config().console.views_days:",
        new="if False:",
        tests=("tests/bot/agent/test_view_recorder.py", "tests/bot/agent/test_past_views.py"),
    ),
    Mutant(
        name="any number of strangers is answered",  # access.md: "twenty strangers a day"
        guards="access",
        file="memory/store/people/access.py",
        target="_is_within_limits",
        old="if len(recent) >= MAX_A_DAY:",
        new="if False:",
        tests=(
            "tests/memory/store/test_access.py::TestRequests"
            "::test_S06_three_wait_and_twenty_a_day_are_answered_and_nobody_twice_an_hour",
        ),
    ),
    Mutant(
        name="telegram previews the links of an answer",  # telegram.md: "Links are never previewed"
        guards="S54",
        file="channels/telegram/messages.py",
        target="_text_parameters",
        old="'is_disabled': True",
        new="'is_disabled': False",
        tests=("tests/channels/telegram/test_parameters.py",),
    ),
    Mutant(
        name="a login outlives the passkey that made it",  # web.md
        guards="passkeys",
        file="channels/web/auth.py",
        target="RequestGuard.end_passkey",
        old="one.passkey == passkey",
        new="False",
        tests=("tests/bot/console/test_passkey_logins.py",),
    ),
    Mutant(
        name="an IP address has passkeys",  # web.md: "an IP address has none"
        guards="passkeys",
        file="channels/web/auth.py",
        target="RequestGuard.passkey_site",
        old="if parse_address(name) or name.startswith('['):",
        new="if name.startswith('['):",
        tests=("tests/bot/console/test_passkey_logins.py",),
    ),
    Mutant(
        name="a file of a message is shown by the browser",  # web.md: "only given as an attachment"
        guards="S30",
        file="bot/console/conversations.py",
        target="ConversationRoutes.blob",
        old="attachment; filename",
        new="inline; filename",
        tests=("tests/bot/console/test_conversations.py",),
    ),
    Mutant(
        name="a conversation is changed by who has not read it",  # web.md: "428 without it"
        guards="console",
        file="bot/console/conversations.py",
        target="_expected_tag",
        old="if not given:",
        new="if False:",
        tests=("tests/bot/console/test_conversations.py",),
    ),
    Mutant(
        # telegram.md: "never a command"
        name="a forwarded command is the command of who forwards it",
        guards="S03",
        file="channels/telegram/messages.py",
        target="_parse_message",
        old="(False, '') if forwarded else _strip_mention(message, text, me)",
        new="_strip_mention(message, text, me)",
        tests=("tests/channels/telegram/test_messages.py",),
    ),
    Mutant(
        name="a large picture is sent as one",  # telegram.md: "Pictures are sent up to 10 MB"
        guards="telegram",
        file="channels/telegram/channel.py",
        target="Telegram._send_file",
        old="file.picture and len(file.data) <= PICTURE_BYTES",
        new="file.picture",
        tests=("tests/channels/telegram/test_media.py", "tests/channels/telegram/test_contract.py"),
    ),
    Mutant(
        name="a message that was withdrawn is answered",  # channels/README.md
        guards="I12",
        file="memory/store/conversations/inbox.py",
        target="_withdraw",
        old="await tx.execute(_WITHDRAW, id=meant['id'])",
        new="pass",
        tests=(
            (
                "tests/bot/commands/test_acts.py"
                "::test_I12_what_is_taken_back_before_its_turn_is_not_answered"
            ),
        ),
    ),
    Mutant(
        name="a message that was edited in time is answered as it was",  # channels/README.md
        guards="I12",
        file="memory/store/conversations/inbox.py",
        target="_edit",
        old="await tx.execute(_UPDATE_BODY, id=meant['id'], new_body=arrival.body)",
        new="pass",
        tests=(
            "tests/bot/commands/test_acts.py::test_I12_an_edit_of_what_still_waits_takes_its_place",
        ),
    ),
    Mutant(
        name="a file of any size is read",  # channels/README.md: "up to 25 MB"
        guards="attachments",
        file="bot/gateway/attachments.py",
        target="_kind_and_size",
        old="if len(data) > MAX_ATTACHMENT_BYTES:",
        new="if False:",
        tests=(
            "tests/bot/gateway/test_attachments.py::test_what_cannot_be_opened_is_refused_in_words",
        ),
    ),
    Mutant(
        name="a message to wechat has any length",  # channels/README.md: "1,800 characters"
        guards="wechat",
        file="channels/wechat/messages.py",
        target="LIMIT",
        old="1800",
        new="4000",
        tests=(
            "tests/channels/wechat/test_messages.py",
            "tests/channels/wechat/test_sender.py",
            "tests/channels/wechat/test_contract.py",
        ),
    ),
    Mutant(
        # configuration.md: `session_max_idle_days`
        name="a conversation that is in use ends as an idle one",
        guards="configuration",
        file="bot/agent/context/actions.py",
        target="end_idle_conversations",
        old="timedelta(days=config.session_max_idle_days)",
        new="timedelta(days=0)",
        tests=(
            (
                "tests/bot/agent/test_folding.py"
                "::test_a_conversation_idle_for_long_ends_and_is_in_the_log"
            ),
        ),
    ),
)
