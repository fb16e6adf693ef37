"""Builds what answers messages on the parts of `bot.runtime.wiring`: tools, agent, turns and
commands.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from functools import cached_property

import structlog

from bot.access.permissions import AccessScope, Actor
from bot.access.person_deletion import PersonDeletion
from bot.agent.approvals import ApprovalService, Begun
from bot.agent.context.actions import end_idle_conversations
from bot.agent.context.calibration import TokenCalibration, load_best_counter
from bot.agent.context.ended_days import log_ended_days
from bot.agent.context.fitter import ContextFitter, request_limits
from bot.agent.context.recorder import ViewRecorder
from bot.agent.context.report import ContextReport
from bot.agent.folding import FoldManager, ThreadSummaries, ToolLineWriter, build_fold_plan
from bot.agent.loop import Agent
from bot.agent.open_turns import OpenTurns
from bot.agent.prompt.builder import SystemPromptBuilder
from bot.agent.subagents.service import SubagentService
from bot.agent.subagents.tool import DelegateTool
from bot.agent.subagents.values import compose_outcome_body
from bot.agent.titles import TitleWriter
from bot.agent.tool_calls import ToolRunner
from bot.agent.turn import RunCommand, TurnRunner
from bot.agent.turn_context import MessageCounter, TurnSetup
from bot.gateway.notifications import FoldNotifications
from bot.memory.recall import TurnRecall
from bot.messages import load_body
from bot.runtime.base_wiring import BotDependencies
from bot.runtime.scheduler import SYSTEM_ACTOR
from bot.runtime.wiring import Components
from bot.tools.base import Tool, Toolset
from bot.tools.deferred import ToolUses
from bot.tools.exec.service import ExecTools
from bot.tools.mcp.oauth import LoginFiles
from bot.tools.mcp.service import McpTools
from bot.tools.plugins.library import PluginLibrary, PluginState
from bot.tools.plugins.service import PluginTools
from bot.tools.registry import OfferedTools
from bot.tools.skills.library import SkillLibrary, SkillState
from bot.tools.skills.service import SkillTools
from bot.tools.web.service import WebTools
from bot.tools.workspace.changes import FileChanges
from channels.phrases import Phrase
from memory.context.policies.planner import plan_context
from memory.context.policies.policies import LEAN, build_policy
from memory.context.summary.prompt import MAX_PROMPT_TOKENS
from memory.conversation import ToolSpec
from memory.folding.runner import FoldRunner
from memory.store.automation.approvals import ApprovalRow
from memory.store.automation.background_tasks import TaskRow
from memory.store.errors import WrongState

log = structlog.get_logger(__name__)
MAX_RESTORED_CONVERSATIONS = 10_000
# seconds that the first turns wait for the owner's index, while the model's SDK is imported
MAX_INDEX_WAIT = 2.0
SUMMARY_SHARE = 16  # a summary gets at most a sixteenth of the window
GUEST_ACTIONS = ("web.fetch", "web.search")  # open to guests while tools.web.guests is on


class TurnComponents(Components):
    """All components of a bot. `Bot` opens and closes them."""

    def __init__(self, dependencies: BotDependencies) -> None:
        super().__init__(dependencies)
        self.mcp_logins = LoginFiles(self.home.mcp_logins, self.writers)
        self.fold_notifications = FoldNotifications(
            store=self.store, gateway=self.gateway, config=self.config, notify=self.notifier.notify
        )
        self.folding = FoldManager(self._fold_runner(), self.store.folds)
        self._build_tools()
        self.prompt = self._system_prompt()
        self.tool_lines = ToolLineWriter(self.summarise)
        self.fitter = self._context_fitter()
        self.summaries = ThreadSummaries(
            self.store.sessions, self.folding, self.config, self.fitter.counter
        )
        self.approvals = self._approvals()
        self.view_recorder = ViewRecorder(self.config, self.store.now)
        self.agent = self._agent()
        self.report = ContextReport(self.store, self.fitter, self.config, self.model_name)
        self.open_turns = OpenTurns(lambda space: self.toolset.adopt(space))
        self.turns = self._turn_runner()
        self.person_deletion = self._person_deletion()
        self._index_is_ready = asyncio.Event()

    async def open_tools(self) -> None:
        """Load what the tools need before the first turn."""
        await self.mcp_tools.load()
        await self.plugins.load()
        await self.exec_tools.probe()
        self.spawn(self.mcp_tools.watch())

    def warm_up(self) -> None:
        # until then the model's SDK and the token ranks (40 MB) are not in memory
        if not self._warmed_up:
            self._warmed_up = True
            self.spawn(self.models.preload())
            self.spawn(self.message_counter.counter())
            self.spawn(self._update_index())

    async def _update_index(self) -> None:
        """Bring the owner's index up to date before turns search it."""
        try:
            await self.recall.refresh("")
        finally:
            self._index_is_ready.set()

    async def _run_turn(self, conversation: str) -> bool:
        self.warm_up()
        if not self._index_is_ready.is_set():
            with suppress(TimeoutError):  # a long update goes on beside
                await asyncio.wait_for(self._index_is_ready.wait(), MAX_INDEX_WAIT)
            self._index_is_ready.set()
        return await self.turns.step(conversation)

    async def _run_urgent(self, inbox_id: str) -> bool:
        began = time.perf_counter()
        row = await self.store.delivery.inbox(inbox_id)
        if row is not None and row.state == "new":
            await self._run_command(row, load_body(row.body))
            self.telemetry.row_handled(row.trace_id, "command", began)
        return False

    async def restore_lean(self) -> None:
        """Apply `session_restore` "lean": the newest turns stay as question and answer, older ones
        are folded first.
        """
        sessions, counter = self.store.sessions, await self.message_counter.counter()
        limits = request_limits(self.config(), self.models.window(self.model_name()).tokens, 1.0)
        for row in await sessions.conversations(limit=MAX_RESTORED_CONVERSATIONS):
            session = await sessions.load(row.id)
            planned = plan_context(session, LEAN, limits, 0, counter)
            if planned.reductions:
                await sessions.reduce(row.id, planned.reductions, "lean restart")
            if planned.fold is not None:
                await self.folding.start(build_fold_plan(session, planned.fold, LEAN.name, counter))

    async def close_turns(self) -> None:
        """Stop what turns have left running; called once no turn runs any more."""
        await self.turns.close()
        await self.exec_tools.background.close()

    async def close_tools(self) -> None:
        """Close the rest; called once nothing runs in the background."""
        await self.tool_lines.close()
        await self.folding.close()
        await self.fitter.calibration.settled()
        await self.web_tools.close()
        await self.mcp_tools.close()

    async def turns_settled(self) -> None:
        """Wait until turns, tool lines and calibration have stored what they have."""
        await self.turns.settled()
        await self.folding.settled()
        await self.tool_lines.settled()
        await self.fitter.calibration.settled()

    def _fold_runner(self) -> FoldRunner:
        return FoldRunner(
            folds=self.store.folds,
            sessions=self.store.sessions,
            workspace=self.workspace,
            complete=self.summarise,
            complete_log=self.memory_service.completion("fold", gives_way=True),
            counter=load_best_counter,
            zone=self.zone(),
            summary_tokens=self._summary_tokens,
            prompt_tokens=lambda: min(MAX_PROMPT_TOKENS, self.models.background_prompt_tokens()),
            notify=lambda fold, state: self.spawn(self.fold_notifications.moved(fold, state)),
        )

    def _summary_tokens(self, policy: str) -> int:
        """Return the token limit of a summary: the policy's, less in a small window."""
        window = self.models.window(self.model_name()).tokens
        return min(
            build_policy(policy, self.config().policies).settings.summary_tokens,
            window // SUMMARY_SHARE,
        )

    def _build_tools(self) -> None:
        """Build what the model may use."""
        self.web_tools = WebTools(self.config, self.secrets, self.blobs)
        self.file_changes = FileChanges(self.workspace, self.store.file_versions, self.blobs)
        self.exec_tools = self._exec_tools()
        self.skills = SkillTools(self._skill_library(), self.config, self._skill_library)
        self.exec_tools.tool.find_skill = self.skills.find_sha256
        self.message_counter = MessageCounter(load_best_counter)
        self.subagents = self._subagent_service()
        self.mcp_tools = McpTools(
            self.store.mcp,
            self.config,
            self.blobs,
            self.owner,
            self.mcp_logins,
            self.home,
            self._label_written_by_servers,
        )
        self.plugins = PluginTools(self._plugin_library(), self.config, self.secrets)
        self._delegate_tool = DelegateTool(
            self.subagents, self._tools_of, self.store.sessions.conversation
        )

    def _skill_library(self, space: str = "") -> SkillLibrary:
        def changed(name: str, sha256: str) -> None:
            log.warning("a skill was changed, it is off", skill=name)
            on = f"mnema skills on {name.rpartition('/')[2]}{f' --space {space}' if space else ''}"
            notice = Phrase(
                "The skill {name} has changed and was turned off. Review it, then enable it with "
                "{command}.",
                name=name,
                command=on,
            )
            self.spawn(self.owner("", notice, f"skill:{name}:{sha256}"))

        return SkillLibrary(
            self.workspace, SkillState(self.home.skills_state), changed, space=space
        )

    def _plugin_library(self) -> PluginLibrary:
        def changed(name: str, sha256: str) -> None:
            log.warning("a plug-in was changed, it is off", plugin=name)
            notice = Phrase(
                "The plug-in {name} has changed and was turned off. Review it, then enable it "
                "with mnema tools on {name}.",
                name=name,
            )
            self.spawn(self.owner("", notice, f"plugin:{name}:{sha256}"))

        return PluginLibrary(self.workspace, PluginState(self.home.plugins_state), changed)

    def _outside_tools(self, space: str) -> tuple[Tool, ...]:
        servers = self.mcp_tools.offered(space) if self.config().mcp else ()
        return (*self.plugins.offered(space), *servers)

    def _subagent_service(self) -> SubagentService:
        return SubagentService(
            store=self.store,
            workspace=self.workspace,
            config=self.config,
            counter=self.message_counter.counter,
            stop_turn=self.stop_turn,
        )

    def _exec_tools(self) -> ExecTools:
        return ExecTools(
            self.config,
            self.workspace.root,
            self.store.tasks,
            self.store.sessions.conversation,
            compose_outcome_body,
            self.store.file_labels,
            self.telemetry.command_ended,
        )

    async def _label_written_by_servers(self, paths: Sequence[str]) -> None:
        """Store that these files, and what is in these folders, of the owner's space comes from
        outside.
        """
        await self.store.file_labels.label_names("", [path for path in paths if path.endswith("/")])
        await self.store.file_labels.label_contents(
            "", [path for path in paths if not path.endswith("/")]
        )

    def _delegate_tools(self) -> tuple[Tool, ...]:
        return (self._delegate_tool,) if self.config().delegate.enabled else ()

    @cached_property
    def toolset(self) -> OfferedTools:
        """Returns the tools of a space."""
        return OfferedTools(
            store=self.store,
            workspace=self.workspace,
            blobs=self.blobs,
            changes=self.file_changes,
            search=self.recall.search,
            memories=self.memories,
            uses=self.memory_service.uses,
            notify=self.notifier.notify,
            channels=self.channels,
            jobs=self.jobs,
            web=self.web_tools,
            exec_tools=self.exec_tools,
            skills=self.skills,
            delegate=self._delegate_tools,
            outside=self._outside_tools,
            off=lambda: tuple(self.config().tools.off),
            in_use=self.is_space_in_use,
            window=lambda: self.models.window(self.model_name()).tokens,
            tool_uses=ToolUses(self.store.outcomes.used_tools, self.store.now),
        )

    def _system_prompt(self) -> SystemPromptBuilder:
        prompt = SystemPromptBuilder(self.persona, self.store, self.now)
        prompt.on_part_cut = lambda conversation, part, budgets: self.spawn(
            self.notifier.notify_cut(conversation, part, budgets, f"{self.now():%Y-%m}")
        )
        return prompt

    def _context_fitter(self) -> ContextFitter:
        return ContextFitter(
            sessions=self.store.sessions,
            folding=self.folding,
            prompt=self.prompt,
            message_counter=self.message_counter,
            calibration=TokenCalibration(self.store.sessions),
            tool_lines=self.tool_lines,
            config=self.config,
            window=self.models.window,
            all_specs=lambda space: tuple(tool.spec for tool in self._tools_of(space).all()),
            specs_in_window=lambda space, window: self.toolset.specs(space, window),
            load_tools=lambda space, window: self.toolset.load(space, window),
            refuses_tools=self.models.refuses_tools,
            telemetry=self.telemetry,
        )

    def _approvals(self) -> ApprovalService:
        return ApprovalService(
            access=self.store.access,
            toolset=self._tools_of,
            now=self.now,
            channels=self.channels,
            conversation=self.store.sessions.conversation,
            find_refusal=self.plugins.find_refusal,
            hold=self.hold_approval,
            release=self.release_approval,
            held=self.held_approvals,
            is_busy=self._is_busy,
        )

    async def _is_busy(self, conversation: str) -> bool:
        """Tell whether a conversation has a turn that runs or is about to."""
        now = self.store.now()
        row = await self.store.delivery.next_inbox_row(conversation, now)
        return row is not None and (row.state == "running" or row.not_before <= now)

    def _agent(self) -> Agent:
        tool_runner = ToolRunner(
            store=self.store,
            toolset=self._tools_of,
            now=self.now,
            message_counter=self.message_counter,
            approvals=self.approvals,
            roles=self.roles,
            telemetry=self.telemetry,
            budget_guard=self.budget_guard,
            memory_texts=self.prompt.memory_texts,
            guest_actions=lambda: GUEST_ACTIONS if self.config().tools.web.guests else (),
            find_refusal=self.plugins.find_refusal,
        )
        return Agent(
            sessions=self.store.sessions,
            fitter=self.fitter,
            message_counter=self.message_counter,
            tool_runner=tool_runner,
            budget_guard=self.budget_guard,
            models=self.models,
            views=self.view_recorder,
            config=self.config,
        )

    @cached_property
    def _run_command(self) -> RunCommand:
        # by the first command: 1 MB that many bots never need
        from bot.commands.base import CommandServices
        from bot.commands.router import CommandRouter

        services = CommandServices(
            store=self.store,
            config=self.file,
            fitter=self.fitter,
            folding=self.folding,
            workspace=self.workspace,
            blobs=self.blobs,
            report=self.report,
            stop=self.stop,
            channels=self.states,
            models=self.models,
            now=self.now,
            started=self.started,
            tell=self.notifier.notify,
            memories=self.memories,
            recall=self.recall,
            dreamer=self.memory_service.dreamer,
            forgetter=self.memory_service.forgetter,
            roles=self.roles,
            pairing=self.pairing,
            approvals=self.approvals,
            sandbox=lambda: self.exec_tools.level,
            jobs=self.jobs,
            cancel_task=self.cancel_task,
            progress=self.progress,
            heartbeat=self.heartbeat,
            skills=self.skills,
            mcp=self.mcp_tools,
            plugins=self.plugins,
            toolset=self._tools_of,
        )
        return CommandRouter(
            services, self.channels, self.language, self.telemetry.access_denied
        ).run

    def _turn_runner(self) -> TurnRunner:
        setup = TurnSetup(
            telemetry=self.telemetry,
            store=self.store,
            blobs=self.blobs,
            message_counter=self.message_counter,
            config=self.config,
            model_name=self.model_name,
            now=self.now,
            show=self.gateway.show,
            roles=self.roles,
            downloads=self.downloads,
            budget_guard=self.budget_guard,
            zones=self.job_times.zones,
            timeouts=self.times,
            turn_recall=TurnRecall(
                self.recall.search, self.memory_service.uses, self.config, self.now
            ),
        )
        return TurnRunner(
            store=self.store,
            setup=setup,
            message_counter=self.message_counter,
            fitter=self.fitter,
            agent=self.agent,
            views=self.view_recorder,
            run_command=lambda row, body: self._run_command(row, body),
            channels=self.channels,
            config=self.config,
            dispatcher=self.turn_dispatcher,
            isolation=self.isolation,
            started_at=self.started_at,
            telemetry=self.telemetry,
            troubles=self.troubles,
            subagents=self.subagents,
            open_turns=self.open_turns,
            title_writer=TitleWriter(
                titles=self.store.titles,
                complete=self.memory_service.completion("title"),
                config=self.config,
            ),
        )

    def _person_deletion(self) -> PersonDeletion:
        return PersonDeletion(
            store=self.store,
            workspace=self.workspace,
            pairing=self.pairing,
            removal=self.memory_service.removal,
            storing=self.memory_service.storing,
            quiet=self.quiet,
            stop=self.stop,
            drop=self.drop_view,
        )

    async def cancel_task(self, row: TaskRow) -> bool:
        """End work beside a conversation; False if it has ended."""
        if row.kind == "exec":
            return await self.exec_tools.background.stop(row.number)
        return await self.subagents.cancel(row)

    async def end_task(self, row: TaskRow) -> None:
        """End work beside a conversation and tell nobody; a command of a former process is a row
        alone.
        """
        if row.kind != "exec" or not await self.exec_tools.background.stop(row.number):
            await self.subagents.cancel(row, silent=True)

    async def decide_approval(
        self, row: ApprovalRow, *, approve: bool, always: int | None, by: str
    ) -> Begun:
        """Apply the owner's decision from the page; the call runs by itself, and the chat that
        asked sees its end.
        """
        conversation = await self.store.sessions.conversation(row.conversation)
        if conversation is None:
            raise WrongState(f"approval {row.id} has no conversation")
        place = conversation.place
        actor = await self.roles.actor(
            place.channel, place.account, row.party.id, place.chat_id, place.kind
        )
        where = AccessScope(kind="console", space=row.space)
        begun = await self.approvals.begin(row, actor, where, by, approve=approve, always=always)
        if begun.done:
            self.spawn(self._finish_approval(row, actor, begun))
        return begun

    async def _finish_approval(self, row: ApprovalRow, actor: Actor, begun: Begun) -> None:
        language = await self.language(row.conversation)
        await self.store.access.tell(
            [await self.approvals.finish_elsewhere(row, actor, begun, language)]
        )

    async def stop(self, conversation: str) -> bool:
        stopped = await self.exec_tools.stop(conversation)
        cancelled = await self.subagents.cancel_all(conversation)
        return self.open_turns.stop(conversation) or stopped or bool(cancelled)

    async def stop_turn(self, conversation: str) -> bool:
        """Stop the running turn of a conversation and nothing else; False if none runs."""
        return self.stop_here(conversation)

    def stop_here(self, conversation: str, inbox_id: str = "") -> bool:
        """Stop the turn of a conversation that runs in this process; see OpenTurns.stop."""
        return self.open_turns.stop(conversation, inbox_id)

    def stop_soon(self, conversation: str, inbox_id: str) -> None:
        if not inbox_id:
            self.spawn(self.exec_tools.stop(conversation))
            self.spawn(self.subagents.cancel_all(conversation))
        self.stop_here(conversation, inbox_id)

    @asynccontextmanager
    async def quiet(self, space: str) -> AsyncIterator[None]:
        """Run no turn and no command in a space while the context is entered.

        Its web pages are dropped at the beginning, and what prompts keep of files at the end.
        """
        if not space:
            await self.exec_tools.stop("")
        async with self.open_turns.quiet(space):
            # now, for a turn that was stopped may just have fetched some
            self.web_tools.forget(space)
            try:
                yield
            finally:
                self.prompt.drop_all()

    async def drop_view(self, conversation: str) -> None:
        self.prompt.drop(conversation)
        self.tool_lines.begin(conversation, ())
        await self.folding.detach(conversation)

    async def end_idle_conversations(self, now: datetime) -> int:
        local = now.astimezone(self.zone())
        return await end_idle_conversations(
            self.store, self.folding, self.config(), local, SYSTEM_ACTOR.id
        )

    async def log_ended_days(self) -> None:
        await log_ended_days(self.store, self.folding, self.config().context_policy, self.now())

    def is_space_in_use(self, space: str) -> bool:
        return self.open_turns.is_space_open(space)

    def check_files(self) -> None:
        self.repair_notice.check()
        self.version_notice.check()
        self.prompt.check_files()

    def _last_line_of_command(self, id: str) -> str:
        return self.exec_tools.background.last_line(id)

    def _tool_specs(self, space: str) -> tuple[ToolSpec, ...]:
        return tuple(self.toolset(space).specs())

    def _deferred_tools(self, space: str) -> tuple[str, ...]:
        return self.toolset.deferred_names(space)

    def _mcp_servers_up(self) -> dict[str, bool]:
        return dict(self.mcp_tools.up())

    def _tools_of(self, space: str) -> Toolset:
        return self.toolset(space)
