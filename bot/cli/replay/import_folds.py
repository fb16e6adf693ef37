"""Folds the older part of an imported conversation, so that its first turn does not have to fold
all of it.

Each fold costs about 3 ms a turn: 25,000 imported turns would hold up the first answer for a minute
and a half.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.agent.context.calibration import load_best_counter
from bot.agent.folding import plan_oldest_turns
from bot.config.schema import Config, time_zone
from memory.context.policies.policies import build_policy
from memory.conversation import Turn
from memory.folding.runner import FoldRunner
from memory.store.store import Store
from memory.workspace.files import Workspace

FoldProgress = Callable[[int, int], None]
REASON = "import"
FOLD_TURNS = 100  # of one fold; a later fold asks the model about up to four of them once more
MAX_LIVE_TURNS = 400


async def fold_imported(
    store: Store, conversation: str, workspace: Workspace, config: Config, progress: FoldProgress
) -> None:
    """Fold what no view can show, in ranges of FOLD_TURNS turns with a digest of each; no model is
    called.

    The daily logs are those of the days on which the turns took place.

    Args:
        progress: called with the number of folded turns, and of those to fold.

    Raises:
        OSError: a daily log could not be written. What is not folded yet is folded by the
            conversation's next turn.
        StoreError: the store failed; likewise.
    """
    session = await store.sessions.load(conversation)
    older = len(session.turns) - _count_live_turns(session.turns, config.agent_max_context_tokens)
    ranges = older // FOLD_TURNS
    policy = build_policy(config.context_policy, config.policies)
    runner = FoldRunner(
        folds=store.folds,
        sessions=store.sessions,
        workspace=workspace,
        complete=_refuse_model_calls,
        counter=load_best_counter,
        zone=time_zone(config),
        summary_tokens=lambda name: policy.settings.summary_tokens,
    )
    for number in range(1, ranges + 1):
        plan = plan_oldest_turns(session, REASON, policy.name, FOLD_TURNS)
        last_message = session.turns[FOLD_TURNS - 1].messages[-1]
        row = await runner.start(replace(plan, at=last_message.at.timestamp()))
        done = await runner.run_fold(row, extract=True) if row is not None else None
        if done is None:
            return  # another process goes on with the conversation already
        session = replace(session, turns=session.turns[FOLD_TURNS:], fold_head=done.id)
        progress(number * FOLD_TURNS, ranges * FOLD_TURNS)


def _count_live_turns(turns: Sequence[Turn], max_tokens: int) -> int:
    """Count the newest turns that a view may still show."""
    tokens = 0
    for count, turn in enumerate(reversed(turns)):
        tokens += turn.tokens
        if count == MAX_LIVE_TURNS or tokens > max_tokens:
            return count
    return len(turns)


async def _refuse_model_calls(system: str, text: str, max_tokens: int, conversation: str) -> str:
    raise RuntimeError("an import calls no model")
