"""How a turn ends: the result of each error, its messages, and whether facts are read from it."""

import asyncio
from dataclasses import replace
from functools import partial

import structlog

from bot.access.permissions import authorize
from bot.agent.open_turns import RunningAgent
from bot.agent.turn_context import TurnContext, TurnResult, format_minutes
from bot.config.schema import Config
from bot.errors import BudgetTooSmall, FoldFailed, ModelError, OverBudget
from bot.messages import join_parts, split_reply
from bot.models.providers.failures import server_words
from bot.texts import format_shortage, format_turn_failure
from channels.message import Capabilities
from channels.phrases import Phrase
from memory.conversation import UNANSWERED_PARTS, UNFINISHED_MARKS, Text
from memory.longterm.extraction import TurnExchange, is_worth_reading
from memory.store.errors import StaleEpoch
from memory.store.rows import NewOutboxRow

log = structlog.get_logger(__name__)


def to_result(context: TurnContext, running: RunningAgent) -> TurnResult:
    """Return the agent's result, or the result for its error.

    A cancellation of the process is raised.
    """
    lang = context.lang
    try:
        return running.task.result()
    except asyncio.CancelledError:
        if running.timed_out:
            log.warning(
                "a turn took too long", conversation=context.conversation.id, step=context.turn.step
            )
            return failed_result(
                Phrase(
                    "This answer took more than {minutes} minutes and was stopped. Whatever "
                    "tools have done stays done. /retry tries again.",
                    minutes=format_minutes(context.timeouts.cancel_after),
                ).text(lang)
            )
        if not running.stopped:
            raise
        return _stopped_result(lang)
    except StaleEpoch:
        return _stopped_result(lang)
    except OverBudget as err:
        return failed_result(str(err))
    except BudgetTooSmall as err:
        return failed_result(format_shortage(lang, err.shortage))
    except FoldFailed as err:
        log.error("fold failed", error=str(err))
        return failed_result(
            Phrase(
                "This conversation has to be folded first, but the daily log cannot be written "
                "({why}). Your message is saved; fix the problem, then send /retry.",
                why=err.why,
            ).text(lang)
        )
    except ModelError as err:
        words = server_words(err)
        log.warning(
            "model failed", error=type(err).__name__, status=err.status, kind=err.kind, words=words
        )
        is_for_owner = context.actor.role == "owner" and context.scope.kind != "group"
        text = format_turn_failure(err, lang, context.turn.trace_id, words if is_for_owner else "")
        return replace(failed_result(text), unreached=True)


def failed_result(text: str) -> TurnResult:
    """Return the result of a turn that ends with a notice and no answer."""
    return TurnResult(state="failed", parts=UNANSWERED_PARTS, reply=text, origin="house")


def _stopped_result(lang: str) -> TurnResult:
    parts = (Text(text=UNFINISHED_MARKS["stopped"]),)
    return TurnResult(
        state="cancelled", parts=parts, reply=Phrase("Stopped.").text(lang), origin="house"
    )


def split_result(
    result: TurnResult, capabilities: Capabilities, left: int | None, reserved: int
) -> list[NewOutboxRow]:
    """Split what is sent of a result into messages that the platform accepts.

    Args:
        left: how many messages the platform still accepts; None if it does not limit them.
        reserved: units that stay free in each of them.
    """
    split = partial(split_reply, capabilities=capabilities, left=left, reserved=reserved)
    if result.unfinished is None:
        return split(result.reply, "final" if result.state == "done" else "notice")
    shown = split(result.shown, "final", unfinished=result.unfinished)
    if result.unfinished == "stopped":
        return shown  # its mark says all
    return join_parts(shown, split(result.reply, "notice"))


def is_worth_extracting(context: TurnContext, result: TurnResult, config: Config) -> bool:
    """Tell whether to read a turn for facts: answered, in private, and by a person who may write
    memory.

    A tainted turn is read too: whatever the view holds, only the person's own words count (see
    TurnExchange).
    """
    if result.state != "done" or result.declined or context.job or not config.memory.extract:
        return False
    if context.conversation.place.kind != "dm":
        return False
    if not authorize(context.actor, "memory.write", context.scope.space, context.scope).allowed:
        return False
    return is_worth_reading(TurnExchange(user=context.words, bot=result.reply))
