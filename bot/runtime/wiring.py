"""Builds the components of a bot and connects them. Components are built nowhere else."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence, Set
from contextlib import asynccontextmanager
from functools import cached_property, partial
from typing import Any

import structlog

from bot.access.permissions import AccessScope, Actor
from bot.access.person_deletion import PersonDeletion
from bot.agent.approvals import ApprovalService, Begun
from bot.agent.context.calibration import TokenCalibration, load_best_counter
from bot.agent.context.fitter import ContextFitter
from bot.agent.context.recorder import ViewRecorder
from bot.agent.context.report import ContextReport
from bot.agent.folding import ThreadSummaries, ToolLineWriter
from bot.agent.loop import Agent
from bot.agent.prompt import PersonaFiles, SystemPromptBuilder
from bot.agent.subagents.service import SubagentService
from bot.agent.subagents.tool import DelegateTool
from bot.agent.subagents.values import compose_outcome_body
from bot.agent.tool_calls import ToolRunner
from bot.agent.turn import TurnRunner
from bot.agent.turn_context import MessageCounter, TurnSetup, TurnTimeouts
from bot.config.schema import time_zone
from bot.dispatch import Dispatcher
from bot.gateway.channel_manager import ChannelManager
from bot.gateway.notifications import (
    OwnerNotifier,
)
from bot.gateway.receiver import Receiver
from bot.jobs.heartbeat import Heartbeat
from bot.jobs.progress import TaskProgress
from bot.jobs.service import JobService
from bot.jobs.ticker import JobTicker, RunSettler
from bot.jobs.times import JobTimes
from bot.memory.recall import TurnRecall
from bot.messages import MessageBody, load_body
from bot.runtime.base_wiring import BaseComponents, BotDependencies
from bot.runtime.deletions import ConversationDeletions
from bot.runtime.metrics import MetricsCollector
from bot.runtime.scheduler import DreamSchedule, RetentionJob, Scheduler, run_nightly_cleanup
from bot.telemetry.faults import TroubleNotifications
from bot.telemetry.metrics import LoopLag
from bot.telemetry.recent_metrics import RecentMetrics
from bot.tools.base import Tool, Toolset
from bot.tools.exec.service import ExecTools
from bot.tools.mcp.oauth import LoginFiles
from bot.tools.mcp.service import McpTools
from bot.tools.plugins.library import PluginLibrary, PluginState
from bot.tools.plugins.service import PluginTools
from bot.tools.skills.library import SkillLibrary, SkillState
from bot.tools.skills.service import SkillTools
from bot.tools.web.service import WebTools
from bot.tools.workspace.changes import FileChanges
from channels.base import Channel
from memory.context.system_prompt import PromptBudgets
from memory.conversation import Part, SystemPart
from memory.store.engine.database import QueueKey
from memory.store.errors import WrongState
from memory.store.people.background_tasks import TaskRow
from memory.store.people.rows import ApprovalRow
from memory.store.rows import InboxRow

log = structlog.get_logger(__name__)
GUEST_ACTIONS = ("web.fetch", "web.search")  # open to guests while tools.web.guests is on
UNLIMITED = 10_000  # concurrency of queues whose steps wait for platforms, or must not wait at all


class Components(BaseComponents):
    """All components of a bot, built once. `Bot` opens and closes them."""

    def __init__(self, dependencies: BotDependencies) -> None:
        super().__init__(dependencies)
        self.mcp_logins = LoginFiles(self.home.mcp_logins, dependencies.writers)
        self.job_times = JobTimes(jobs=self.store.jobs, config=self.config)
        self.ticker = self._ticker()
        self.jobs = self._job_service()
        self._build_tools(self.owner)
        self.progress = TaskProgress(
            store=self.store,
            channels=self.channels,
            language=self._language,
            last_line=self.exec_tools.background.last_line,
        )
        self.prompt = self._system_prompt()
        self.heartbeat = self._heartbeat()
        self.trouble_notifications = TroubleNotifications(self.troubles, self.prompt.check_files, self.owner)
        self._build_turns(dependencies.times)
        self.store.database.on_commit = self._wake_dispatchers
        self.deletions = ConversationDeletions(self.store, stop=self.stop, drop=self._drop_view)
        self.person_deletion = self._person_deletion()
        self.lag = LoopLag()
        self.metrics = self._metrics()
        self.recent = RecentMetrics(self.telemetry.tally, self._depths, self.lag.worst, self._phases)
        self._scheduler = self._create_scheduler()

    def _build_tools(self, owner: OwnerNotifier) -> None:
        """Build what the model may use."""
        self.web_tools = WebTools(self.config, self._secrets, self.blobs)
        self.file_changes = FileChanges(self.workspace, self.store.file_versions, self.blobs)
        self.exec_tools = self._exec_tools()
        self.skills = SkillTools(self._skill_library(owner), self.config, partial(self._skill_library, owner))
        self.exec_tools.tool.find_skill = self.skills.find_sha256
        self.message_counter = MessageCounter(load_best_counter)
        self.subagents = self._subagent_service()
        self.mcp_tools = McpTools(self.store.mcp, self.config, self.blobs, owner, self.mcp_logins)
        self.plugins = PluginTools(self._plugin_library(owner), self.config, self._secrets)
        self._delegate_tool = DelegateTool(self.subagents, self._tools_of, self.store.sessions.conversation)

    def _build_turns(self, times: TurnTimeouts) -> None:
        """Build what answers a message, from the agent to the receiver."""
        self.tool_lines = ToolLineWriter(self._summarise)
        self.fitter = self._context_fitter()
        self.summaries = ThreadSummaries(self.store.sessions, self.folding, self.config, self.fitter.counter)
        self.approvals = self._approvals()
        self.view_recorder = ViewRecorder(self.config, self.store.now)
        self.agent = self._agent()
        self.report = ContextReport(self.store, self.fitter, self.config, self.model_name)
        self.turns = self._turn_runner(times)
        self.turn_dispatcher = self.turns.dispatcher
        self.outbox_dispatcher = self._create_dispatcher("out", self.gateway.send_next, UNLIMITED)
        self.urgent_dispatcher = self._create_dispatcher("urgent", self._run_urgent, UNLIMITED)
        self.receiver = self._receiver()
        self.channel_manager = self._channel_manager()

    def warm_up(self) -> None:
        """Load, in threads, what the first reply needs, because a person is present.

        Until then the model's SDK and the token ranks (100 MB together) are not in memory.
        """
        if not self._warmed_up:
            self._warmed_up = True
            self._spawn(self.models.preload())
            self._spawn(self.message_counter.counter())
            self._spawn(self.recall.refresh(""))

    async def stop(self, conversation: str) -> bool:
        """Stop the running turn of a conversation; False if none runs."""
        stopped = await self.exec_tools.stop(conversation)
        cancelled = await self.subagents.cancel_all(conversation)
        return self.turns.stop(conversation) or stopped or bool(cancelled)

    async def stop_turn(self, conversation: str) -> bool:
        """Stop the running turn of a conversation and nothing else; False if none runs."""
        return self.turns.stop(conversation)

    def stop_soon(self, conversation: str, inbox_id: str) -> None:
        """Stop a conversation's running turn; return at once. inbox_id: only if it answers that row, "" for any."""
        if not inbox_id:
            self._spawn(self.exec_tools.stop(conversation))
            self._spawn(self.subagents.cancel_all(conversation))
        self.turns.stop(conversation, inbox_id)

    @asynccontextmanager
    async def quiet(self, space: str) -> AsyncIterator[None]:
        """Run no turn and no command in a space while the context is entered, and drop its web pages."""
        if not space:
            await self.exec_tools.stop("")
        async with self.turns.quiet(space):
            self.web_tools.forget(space)  # now, for a turn that was stopped may just have fetched some
            yield

    async def cancel_task(self, row: TaskRow) -> bool:
        """End work beside a conversation; False if it has ended."""
        if row.kind == "exec":
            return await self.exec_tools.background.stop(row.number)
        return await self.subagents.cancel(row)

    async def decide_approval(self, row: ApprovalRow, *, approve: bool, always: int | None, by: str) -> Begun:
        """Apply the owner's decision from the page; the call runs by itself, and the chat that asked sees its end."""
        conversation = await self.store.sessions.conversation(row.conversation)
        if conversation is None:
            raise WrongState(f"approval {row.id} has no conversation")
        place = conversation.place
        actor = await self.roles.actor(place.channel, place.account, row.party.id, place.chat_id, place.kind)
        where = AccessScope(kind="console", space=row.space)
        begun = await self.approvals.begin(row, actor, where, by, approve=approve, always=always)
        if begun.done:
            self._spawn(self._finish_approval(row, actor, begun))
        return begun

    async def _finish_approval(self, row: ApprovalRow, actor: Actor, begun: Begun) -> None:
        language = await self._language(row.conversation)
        await self.store.access.tell([await self.approvals.finish_elsewhere(row, actor, begun, language)])

    def start_receiving(self, channel: Channel) -> None:
        """Start receiving from a registered channel."""
        self.gateway.listen(channel.name, self.receiver.deliver_for(channel.name))

    def _skill_library(self, owner: OwnerNotifier, space: str = "") -> SkillLibrary:
        def changed(name: str, sha256: str) -> None:
            log.warning("a skill was changed, it is off", skill=name)
            on = f"mnema skills on {name.rpartition('/')[2]}{f' --space {space}' if space else ''}"
            zh = f"技能 {name} 的内容变了，已经停用。看过之后用 {on} 重新启用。"
            en = f"The skill {name} was changed and is off. Look at it, then enable it with {on}."
            self._spawn(owner("", zh, en, f"skill:{name}:{sha256}"))

        return SkillLibrary(self.workspace, SkillState(self.home.skills_state), changed, space=space)

    def _ticker(self) -> JobTicker:
        runs = RunSettler(store=self.store, channels=self.channels, language=self._language, now=self.now)
        return JobTicker(
            store=self.store,
            roles=self.roles,
            times=self.job_times,
            channels=self.channels,
            language=self._language,
            now=self.now,
            telemetry=self.telemetry,
            runs=runs,
        )

    def _job_service(self) -> JobService:
        return JobService(
            jobs=self.store.jobs,
            times=self.job_times,
            config=self.config,
            now=self.now,
            announce=self.notifier.notify,
            changed=self.ticker.wake,
            conversation=self.store.sessions.conversation,
            channels=self.channels,
        )

    def _heartbeat(self) -> Heartbeat:
        return Heartbeat(
            store=self.store,
            workspace=self.workspace,
            models=self.models,
            config=self.config,
            times=self.job_times,
            now=self.now,
            soul=self.soul,
            channels=self.channels,
            language=self._language,
            is_busy=self._is_space_in_use,
            telemetry=self.telemetry,
        )

    def _plugin_library(self, owner: OwnerNotifier) -> PluginLibrary:
        def changed(name: str, sha256: str) -> None:
            log.warning("a plug-in was changed, it is off", plugin=name)
            zh = f"插件 {name} 的内容变了，已经停用。看过之后用 mnema tools on {name} 重新启用。"
            en = f"The plug-in {name} was changed and is off. Look at it, then enable it with mnema tools on {name}."
            self._spawn(owner("", zh, en, f"plugin:{name}:{sha256}"))

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
            stop_turn=lambda conversation: self.stop_turn(conversation),
        )

    def _exec_tools(self) -> ExecTools:
        return ExecTools(
            self.config,
            self.workspace.root,
            self.store.tasks,
            self.store.sessions.conversation,
            compose_outcome_body,
            self.telemetry.command_ended,
        )

    def _delegate_tools(self) -> tuple[Tool, ...]:
        return (self._delegate_tool,) if self.config().delegate.enabled else ()

    def _is_space_in_use(self, space: str) -> bool:
        return self.turns.is_space_open(space)

    def _tools_of(self, space: str) -> Toolset:
        found: Toolset = self.toolset(space)
        return found

    @cached_property
    def toolset(self) -> Any:
        """The OfferedTools, which return the tools of a space."""
        from bot.tools.registry import OfferedTools  # by the first message

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
            in_use=self._is_space_in_use,
        )

    def _system_prompt(self) -> SystemPromptBuilder:
        persona = PersonaFiles(
            self.workspace,
            lambda space: self._tools_of(space).specs(),
            self.channels.keys,
            troubles=self.troubles,
            last_good=self.home.soul_copy,
        )
        self.soul = persona.soul
        prompt = SystemPromptBuilder(persona, self.store, self.now)
        prompt.on_part_cut = self._notify_cut
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
            all_specs=lambda space: tuple(tool.spec for tool in self._tools_of(space).all()),
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
            hold=self._hold_approval,
            release=self._release_approval,
            held=self._held_approvals,
        )

    async def _hold_approval(self, id: str) -> bool:
        """Mark an approval as run by this process; False if another one runs it."""
        return True

    async def _release_approval(self, id: str) -> None:
        """Take back the mark of an approval that this process ran."""

    async def _held_approvals(self) -> Set[str]:
        """Load the ids of the approvals that processes run; a process alone asks only when it starts."""
        return frozenset()

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
    def _run_command(self) -> Callable[[InboxRow, MessageBody], Awaitable[tuple[Part, ...] | None]]:
        from bot.commands.base import CommandServices  # by the first command: 1 MB that many bots never need
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
        return CommandRouter(services, self.channels, self._language, self.telemetry.access_denied).run

    def _turn_runner(self, times: TurnTimeouts) -> TurnRunner:
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
            timeouts=times,
            turn_recall=TurnRecall(self.recall.search, self.memory_service.uses, self.config, self.now),
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
            create_dispatcher=self._create_dispatcher,
            telemetry=self.telemetry,
            troubles=self.troubles,
            subagents=self.subagents,
            space_idle=lambda space: self.toolset.adopt(space),
        )

    def _receiver(self) -> Receiver:
        return Receiver(
            store=self.store,
            blobs=self.blobs,
            roles=self.roles,
            config=self.config,
            gateway=self.gateway,
            downloads=self.downloads,
            pairing=self.pairing,
            storage=self.storage,
            stop_turn=self.stop_soon,
            warm_up=self.warm_up,
            telemetry=self.telemetry,
        )

    def _channel_manager(self) -> ChannelManager:
        return ChannelManager(
            gateway=self.gateway,
            turn_dispatcher=self.turn_dispatcher,
            outbox_dispatcher=self.outbox_dispatcher,
            delivery=self.store.delivery,
            start_receiving=self.start_receiving,
            command_menu=_command_menu,
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
            drop=self._drop_view,
        )

    def _metrics(self) -> MetricsCollector:
        return MetricsCollector(
            store=self.store,
            root=self.home.root,
            started=self.started,
            counters=self.telemetry.tally,
            channels=self.gateway.local_states,
            servers=self.mcp_tools.up,
            lag=self.lag.worst,
        )

    async def _depths(self) -> tuple[int, int]:
        stats = await self.store.figures()
        return stats.inbox_depth, stats.outbox_depth

    def _phases(self) -> dict[str, str]:
        return {name: state.phase for name, state in self.states().items()}

    def _create_scheduler(self) -> Scheduler:
        dreams = DreamSchedule(
            at=lambda: self.config().memory.dream_at, now=self.now, night=self.memory_service.dreamer.night
        )
        retention = RetentionJob(store=self.store, blobs=self.blobs, data=self.home.data)
        nightly = partial(run_nightly_cleanup, self.store, self.folding, self.config, retention)
        return Scheduler(time_zone(self.config()), nightly, dreams)

    def _notify_cut(self, conversation: str, part: SystemPart, budgets: PromptBudgets) -> None:
        self._spawn(self.notifier.notify_cut(conversation, part, budgets, f"{self.now():%Y-%m}"))

    async def _drop_view(self, conversation: str) -> None:
        """Drop everything prepared for a conversation whose view has changed."""
        self.prompt.drop(conversation)
        self.tool_lines.begin(conversation, ())
        await self.folding.detach(conversation)

    async def _run_urgent(self, inbox_id: str) -> bool:
        """Run one command that does not wait for its conversation's queue."""
        began, row = time.perf_counter(), await self.store.delivery.inbox(inbox_id)
        if row is not None and row.state == "new":
            await self._run_command(row, load_body(row.body))
            self.telemetry.row_handled(row.trace_id, "command", began)
        return False

    def _wake_dispatchers(self, keys: Sequence[QueueKey]) -> None:
        """Wake the dispatchers of rows that were just committed."""
        dispatchers: dict[str, Dispatcher] = {
            "turn": self.turn_dispatcher,
            "out": self.outbox_dispatcher,
            "urgent": self.urgent_dispatcher,
            "facts": self.memory_service.extraction_dispatcher,
        }
        for key in keys:
            dispatchers[key.kind].wake(key.id, key.due)


def _command_menu() -> list[tuple[str, str, str]]:
    from bot.commands.router import command_menu

    return command_menu()
