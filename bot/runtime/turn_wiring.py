"""Builds what answers messages: tools, agent and turns. It is loaded by the first message, not at the start."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import cached_property

import structlog

from bot.access.permissions import AccessScope, Actor
from bot.access.person_deletion import PersonDeletion
from bot.agent.approvals import ApprovalService, Begun
from bot.agent.context.actions import end_idle_conversations
from bot.agent.context.calibration import TokenCalibration, load_best_counter
from bot.agent.context.fitter import ContextFitter, request_limits
from bot.agent.context.recorder import ViewRecorder
from bot.agent.context.report import ContextReport
from bot.agent.folding import FoldManager, ThreadSummaries, ToolLineWriter, build_fold_plan
from bot.agent.loop import Agent
from bot.agent.prompt.builder import SystemPromptBuilder
from bot.agent.subagents.service import SubagentService
from bot.agent.subagents.tool import DelegateTool
from bot.agent.subagents.values import compose_outcome_body
from bot.agent.tool_calls import ToolRunner
from bot.agent.turn import RunCommand, TurnRunner
from bot.agent.turn_context import MessageCounter, TurnSetup
from bot.gateway.notifications import FoldNotifications
from bot.memory.recall import TurnRecall
from bot.messages import load_body
from bot.runtime.scheduler import SYSTEM_ACTOR
from bot.runtime.wiring import Components
from bot.tools.base import Tool, Toolset
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
from memory.context.policies.planner import plan_context
from memory.context.policies.policies import LEAN, build_policy
from memory.folding import FoldRunner
from memory.store.errors import WrongState
from memory.store.people.background_tasks import TaskRow
from memory.store.people.rows import ApprovalRow
from memory.store.rows import InboxRow

log = structlog.get_logger(__name__)
MAX_RESTORED_CONVERSATIONS = 10_000
GUEST_ACTIONS = ("web.fetch", "web.search")  # open to guests while tools.web.guests is on


class TurnComponents:
    """The parts of a bot that only a turn, a command or the console needs, from its tools to the turns."""

    def __init__(self, bot: Components) -> None:
        self._bot = bot
        self.mcp_logins = LoginFiles(bot.home.mcp_logins, bot.writers)
        self.fold_notifications = FoldNotifications(
            store=bot.store, gateway=bot.gateway, config=bot.config, notify=bot.notifier.notify
        )
        self.folding = FoldManager(self._fold_runner(), bot.store.folds)
        self._build_tools()
        self.prompt = self._system_prompt()
        self.tool_lines = ToolLineWriter(bot.summarise)
        self.fitter = self._context_fitter()
        self.summaries = ThreadSummaries(bot.store.sessions, self.folding, bot.config, self.fitter.counter)
        self.approvals = self._approvals()
        self.view_recorder = ViewRecorder(bot.config, bot.store.now)
        self.agent = self._agent()
        self.report = ContextReport(bot.store, self.fitter, bot.config, bot.model_name)
        self.turns = self._turn_runner()
        self.person_deletion = self._person_deletion()

    async def open(self) -> None:
        """Load what the tools need before the first turn."""
        await self.mcp_tools.load()
        await self.plugins.load()
        await self.exec_tools.probe()

    async def restore_lean(self) -> None:
        """Apply `session_restore` "lean": the newest turns stay as question and answer, older ones are folded first."""
        sessions, counter = self._bot.store.sessions, await self.message_counter.counter()
        limits = request_limits(self._bot.config(), self._bot.model_name(), 1.0)
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

    async def close(self) -> None:
        """Close the rest; called once nothing runs in the background."""
        await self.tool_lines.close()
        await self.folding.close()
        await self.fitter.calibration.settled()
        await self.web_tools.close()
        await self.mcp_tools.close()

    async def settled(self) -> None:
        """Wait until turns, tool lines and calibration have stored what they have."""
        await self.turns.settled()
        await self.folding.settled()
        await self.tool_lines.settled()
        await self.fitter.calibration.settled()

    def _fold_runner(self) -> FoldRunner:
        return FoldRunner(
            folds=self._bot.store.folds,
            sessions=self._bot.store.sessions,
            workspace=self._bot.workspace,
            complete=self._bot.summarise,
            counter=load_best_counter,
            zone=self._bot.zone(),
            summary_tokens=lambda policy: build_policy(policy, self._bot.config().policies).settings.summary_tokens,
            notify=lambda fold, state: self._bot.spawn(self.fold_notifications.moved(fold, state)),
        )

    def _build_tools(self) -> None:
        """Build what the model may use."""
        self.web_tools = WebTools(self._bot.config, self._bot.secrets, self._bot.blobs)
        self.file_changes = FileChanges(self._bot.workspace, self._bot.store.file_versions, self._bot.blobs)
        self.exec_tools = self._exec_tools()
        self.skills = SkillTools(self._skill_library(), self._bot.config, self._skill_library)
        self.exec_tools.tool.find_skill = self.skills.find_sha256
        self.message_counter = MessageCounter(load_best_counter)
        self.subagents = self._subagent_service()
        self.mcp_tools = McpTools(
            self._bot.store.mcp,
            self._bot.config,
            self._bot.blobs,
            self._bot.owner,
            self.mcp_logins,
            self._bot.home,
            self._label_folders,
        )
        self.plugins = PluginTools(self._plugin_library(), self._bot.config, self._bot.secrets)
        self._delegate_tool = DelegateTool(self.subagents, self._tools_of, self._bot.store.sessions.conversation)

    def _skill_library(self, space: str = "") -> SkillLibrary:
        def changed(name: str, sha256: str) -> None:
            log.warning("a skill was changed, it is off", skill=name)
            on = f"mnema skills on {name.rpartition('/')[2]}{f' --space {space}' if space else ''}"
            zh = f"技能 {name} 的内容变了，已经停用。看过之后用 {on} 重新启用。"
            en = f"The skill {name} was changed and is off. Look at it, then enable it with {on}."
            self._bot.spawn(self._bot.owner("", zh, en, f"skill:{name}:{sha256}"))

        return SkillLibrary(self._bot.workspace, SkillState(self._bot.home.skills_state), changed, space=space)

    def _plugin_library(self) -> PluginLibrary:
        def changed(name: str, sha256: str) -> None:
            log.warning("a plug-in was changed, it is off", plugin=name)
            zh = f"插件 {name} 的内容变了，已经停用。看过之后用 mnema tools on {name} 重新启用。"
            en = f"The plug-in {name} was changed and is off. Look at it, then enable it with mnema tools on {name}."
            self._bot.spawn(self._bot.owner("", zh, en, f"plugin:{name}:{sha256}"))

        return PluginLibrary(self._bot.workspace, PluginState(self._bot.home.plugins_state), changed)

    def _outside_tools(self, space: str) -> tuple[Tool, ...]:
        servers = self.mcp_tools.offered(space) if self._bot.config().mcp else ()
        return (*self.plugins.offered(space), *servers)

    def _subagent_service(self) -> SubagentService:
        return SubagentService(
            store=self._bot.store,
            workspace=self._bot.workspace,
            config=self._bot.config,
            counter=self.message_counter.counter,
            stop_turn=lambda conversation: self._bot.stop_turn(conversation),
        )

    def _exec_tools(self) -> ExecTools:
        return ExecTools(
            self._bot.config,
            self._bot.workspace.root,
            self._bot.store.tasks,
            self._bot.store.sessions.conversation,
            compose_outcome_body,
            self._bot.store.file_labels,
            self._bot.telemetry.command_ended,
        )

    async def _label_folders(self, folders: Sequence[str]) -> None:
        """Store that what is in these folders of the owner's space comes from outside."""
        await self._bot.store.file_labels.label_names("", [f"{folder}/" for folder in folders])

    def _delegate_tools(self) -> tuple[Tool, ...]:
        return (self._delegate_tool,) if self._bot.config().delegate.enabled else ()

    @cached_property
    def toolset(self) -> OfferedTools:
        """Returns the tools of a space."""
        return OfferedTools(
            store=self._bot.store,
            workspace=self._bot.workspace,
            blobs=self._bot.blobs,
            changes=self.file_changes,
            search=self._bot.recall.search,
            memories=self._bot.memories,
            uses=self._bot.memory_service.uses,
            notify=self._bot.notifier.notify,
            channels=self._bot.channels,
            jobs=self._bot.jobs,
            web=self.web_tools,
            exec_tools=self.exec_tools,
            skills=self.skills,
            delegate=self._delegate_tools,
            outside=self._outside_tools,
            off=lambda: tuple(self._bot.config().tools.off),
            in_use=self._bot.is_space_in_use,
        )

    def _system_prompt(self) -> SystemPromptBuilder:
        bot = self._bot
        prompt = SystemPromptBuilder(bot.persona, bot.store, bot.now)
        prompt.on_part_cut = lambda conversation, part, budgets: bot.spawn(
            bot.notifier.notify_cut(conversation, part, budgets, f"{bot.now():%Y-%m}")
        )
        return prompt

    def _context_fitter(self) -> ContextFitter:
        return ContextFitter(
            sessions=self._bot.store.sessions,
            folding=self.folding,
            prompt=self.prompt,
            message_counter=self.message_counter,
            calibration=TokenCalibration(self._bot.store.sessions),
            tool_lines=self.tool_lines,
            config=self._bot.config,
            all_specs=lambda space: tuple(tool.spec for tool in self._tools_of(space).all()),
            telemetry=self._bot.telemetry,
        )

    def _approvals(self) -> ApprovalService:
        return ApprovalService(
            access=self._bot.store.access,
            toolset=self._tools_of,
            now=self._bot.now,
            channels=self._bot.channels,
            conversation=self._bot.store.sessions.conversation,
            find_refusal=self.plugins.find_refusal,
            hold=self._bot.hold_approval,
            release=self._bot.release_approval,
            held=self._bot.held_approvals,
            is_busy=self._is_busy,
        )

    async def _is_busy(self, conversation: str) -> bool:
        """Tell whether a conversation has a turn that runs or is about to."""
        now = self._bot.store.now()
        row = await self._bot.store.delivery.next_inbox_row(conversation, now)
        return row is not None and (row.state == "running" or row.not_before <= now)

    def _agent(self) -> Agent:
        tool_runner = ToolRunner(
            store=self._bot.store,
            toolset=self._tools_of,
            now=self._bot.now,
            message_counter=self.message_counter,
            approvals=self.approvals,
            roles=self._bot.roles,
            telemetry=self._bot.telemetry,
            budget_guard=self._bot.budget_guard,
            memory_texts=self.prompt.memory_texts,
            guest_actions=lambda: GUEST_ACTIONS if self._bot.config().tools.web.guests else (),
            find_refusal=self.plugins.find_refusal,
        )
        return Agent(
            sessions=self._bot.store.sessions,
            fitter=self.fitter,
            message_counter=self.message_counter,
            tool_runner=tool_runner,
            budget_guard=self._bot.budget_guard,
            models=self._bot.models,
            views=self.view_recorder,
            config=self._bot.config,
        )

    @cached_property
    def _run_command(self) -> RunCommand:
        from bot.commands.base import CommandServices  # by the first command: 1 MB that many bots never need
        from bot.commands.router import CommandRouter

        services = CommandServices(
            store=self._bot.store,
            config=self._bot.file,
            fitter=self.fitter,
            folding=self.folding,
            workspace=self._bot.workspace,
            blobs=self._bot.blobs,
            report=self.report,
            stop=self._bot.stop,
            channels=self._bot.states,
            models=self._bot.models,
            now=self._bot.now,
            started=self._bot.started,
            tell=self._bot.notifier.notify,
            memories=self._bot.memories,
            recall=self._bot.recall,
            dreamer=self._bot.memory_service.dreamer,
            forgetter=self._bot.memory_service.forgetter,
            roles=self._bot.roles,
            pairing=self._bot.pairing,
            approvals=self.approvals,
            sandbox=lambda: self.exec_tools.level,
            jobs=self._bot.jobs,
            cancel_task=self.cancel_task,
            progress=self._bot.progress,
            heartbeat=self._bot.heartbeat,
            skills=self.skills,
            mcp=self.mcp_tools,
            plugins=self.plugins,
            toolset=self._tools_of,
        )
        return CommandRouter(services, self._bot.channels, self._bot.language, self._bot.telemetry.access_denied).run

    def _turn_runner(self) -> TurnRunner:
        setup = TurnSetup(
            telemetry=self._bot.telemetry,
            store=self._bot.store,
            blobs=self._bot.blobs,
            message_counter=self.message_counter,
            config=self._bot.config,
            model_name=self._bot.model_name,
            now=self._bot.now,
            show=self._bot.gateway.show,
            roles=self._bot.roles,
            downloads=self._bot.downloads,
            budget_guard=self._bot.budget_guard,
            zones=self._bot.job_times.zones,
            timeouts=self._bot.times,
            turn_recall=TurnRecall(
                self._bot.recall.search, self._bot.memory_service.uses, self._bot.config, self._bot.now
            ),
        )
        return TurnRunner(
            store=self._bot.store,
            setup=setup,
            message_counter=self.message_counter,
            fitter=self.fitter,
            agent=self.agent,
            views=self.view_recorder,
            run_command=lambda row, body: self._run_command(row, body),
            channels=self._bot.channels,
            config=self._bot.config,
            dispatcher=self._bot.turn_dispatcher,
            isolation=self._bot.isolation,
            started_at=self._bot.started_at,
            telemetry=self._bot.telemetry,
            troubles=self._bot.troubles,
            subagents=self.subagents,
            space_idle=lambda space: self.toolset.adopt(space),
        )

    def _person_deletion(self) -> PersonDeletion:
        return PersonDeletion(
            store=self._bot.store,
            workspace=self._bot.workspace,
            pairing=self._bot.pairing,
            removal=self._bot.memory_service.removal,
            storing=self._bot.memory_service.storing,
            quiet=self._bot.quiet,
            stop=self._bot.stop,
            drop=self._bot.drop_view,
        )

    async def run_command(self, row: InboxRow) -> None:
        """Run one command that does not wait for its conversation's queue."""
        await self._run_command(row, load_body(row.body))

    async def cancel_task(self, row: TaskRow) -> bool:
        """End work beside a conversation; False if it has ended."""
        if row.kind == "exec":
            return await self.exec_tools.background.stop(row.number)
        return await self.subagents.cancel(row)

    async def end_task(self, row: TaskRow) -> None:
        """End work beside a conversation and tell nobody; a command of a former process is a row alone."""
        if row.kind != "exec" or not await self.exec_tools.background.stop(row.number):
            await self.subagents.cancel(row, silent=True)

    async def decide_approval(self, row: ApprovalRow, *, approve: bool, always: int | None, by: str) -> Begun:
        """Apply the owner's decision from the page; the call runs by itself, and the chat that asked sees its end."""
        bot = self._bot
        conversation = await bot.store.sessions.conversation(row.conversation)
        if conversation is None:
            raise WrongState(f"approval {row.id} has no conversation")
        place = conversation.place
        actor = await bot.roles.actor(place.channel, place.account, row.party.id, place.chat_id, place.kind)
        where = AccessScope(kind="console", space=row.space)
        begun = await self.approvals.begin(row, actor, where, by, approve=approve, always=always)
        if begun.done:
            bot.spawn(self._finish_approval(row, actor, begun))
        return begun

    async def _finish_approval(self, row: ApprovalRow, actor: Actor, begun: Begun) -> None:
        language = await self._bot.language(row.conversation)
        await self._bot.store.access.tell([await self.approvals.finish_elsewhere(row, actor, begun, language)])

    async def stop(self, conversation: str) -> bool:
        """Stop the running turn of a conversation and what it has started; False if nothing runs."""
        stopped = await self.exec_tools.stop(conversation)
        cancelled = await self.subagents.cancel_all(conversation)
        return self.turns.stop(conversation) or stopped or bool(cancelled)

    @asynccontextmanager
    async def quiet(self, space: str) -> AsyncIterator[None]:
        """Run no turn and no command in a space while the context is entered.

        Its web pages are dropped at the beginning, and what prompts keep of files at the end.
        """
        if not space:
            await self.exec_tools.stop("")
        async with self.turns.quiet(space):
            self.web_tools.forget(space)  # now, for a turn that was stopped may just have fetched some
            try:
                yield
            finally:
                self.prompt.drop_all()

    async def drop_view(self, conversation: str) -> None:
        """Drop everything prepared for a conversation whose view has changed."""
        self.prompt.drop(conversation)
        self.tool_lines.begin(conversation, ())
        await self.folding.detach(conversation)

    async def end_idle_conversations(self, now: datetime) -> int:
        """End the conversations that are idle for too long, as /new does; return how many."""
        return await end_idle_conversations(self._bot.store, self.folding, self._bot.config(), now, SYSTEM_ACTOR.id)

    def _tools_of(self, space: str) -> Toolset:
        return self.toolset(space)
