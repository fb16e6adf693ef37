"""Tells what a diary can do without: greetings, thanks, and sentences of the bot that say nothing
beside what the person has said. Pure.
"""

import re
from collections.abc import Sequence

from memory.context.summary.grounding import FactIndex, has_facts, names_in
from memory.context.summary.transcript import Utterance, is_tool_utterance
from memory.conversation import BOT_SPEAKER
from memory.text.tokenizer import fold_text, is_small_talk

# Beside the stop words of questions, which include "ok", "thanks" and 谢谢.
_PLEASANTRY = re.compile(
    r"\b(?:afternoon|awesome|evening|funny|joke|lot|lovely|morning|much|night|perfect|thx|ty"
    r"|no (?:problem|worries)|welcome|worked)\b"
    "|早上好|下午好|晚上好|早安|晚安|再见|拜拜|没关系|没事|没问题|不客气|不用谢|太好|厉害|完美|早"
)
_NEGATION = re.compile(r"\b(?:no|nope|not|never|none|cannot)\b|n['’]t\b|[不没别无未]")
_ENDS_AS_QUESTION = re.compile(r"[?？吗呢么][\s\"'”」』)）。.!！~]*$")
# What a person wants an answer to, also without a question mark.
_ASKS = re.compile(
    r"[?？]|[吗呢么][\s。.!！~]*$|什么|怎么|哪|多少|几|是不是|行不行|能不能"
    r"|帮|请|推荐|建议|介绍|告诉|给我|[写讲说查找列][一下个出份封]"
    r"|\b(?:what|who|when|where|why|how|which|(?:can|could|would)(?!n?['’]?t\b)|please|tell|show|give|write|explain"
    r"|help|find|list|make|describe|suggest|recommend|remind|translate|summari[sz]e)\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(r"\s*(?:please|(?:could|can|would|will) you|请|麻烦)", re.IGNORECASE)
_CODE_SPAN = re.compile(r"`[^`\n]+`")


def find_chatter(said: Sequence[Utterance]) -> frozenset[int]:
    """The positions of pleasantries, and of what the bot answers to them without a fact.

    An "ok" after a question of the bot is an answer to it, not a pleasantry. Where nothing else is
    said, there is none.
    """
    found: set[int] = set()
    is_asked = was_pleasantry = False
    for at, utterance in enumerate(said):
        if is_tool_utterance(utterance):
            was_pleasantry = False  # the answer tells what the bot has done
        elif utterance.speaker == BOT_SPEAKER:
            is_asked = _ENDS_AS_QUESTION.search(utterance.text) is not None
            if was_pleasantry and not has_facts(utterance.text):
                found.add(at)
        else:
            was_pleasantry = not is_asked and is_pleasantry(utterance.text)
            is_asked = False
            if was_pleasantry:
                found.add(at)
    spoken = {at for at, utterance in enumerate(said) if not is_tool_utterance(utterance)}
    return frozenset() if found == spoken else frozenset(found)


def is_pleasantry(text: str) -> bool:
    """Whether a text has nothing but greetings, thanks and the like."""
    rest = _PLEASANTRY.sub(" ", fold_text(text))
    return is_small_talk(rest) and not _NEGATION.search(rest)


def is_empty_answer(sentence: str, person: str, known: FactIndex) -> bool:
    """Whether a sentence of the bot brings neither a fact nor a name.

    Args:
        person: what the person said before it, "" for nothing; if that asks for something, each
            sentence is an answer.
        known: the facts so far.
    """
    if not person or _ASKS.search(person) or not known.has_all(sentence):
        return False
    said = person.casefold()
    return all(name.casefold() in said for name in names_in(sentence))


def only_states(person: str) -> bool:
    """Whether what a person said states facts and asks for nothing, so that the bot's answer is a
    comment.
    """
    return has_facts(person) and not _ASKS.search(person)


def is_request(sentence: str) -> bool:
    """Whether a sentence of the bot asks the person to do something."""
    return _REQUEST.match(sentence) is not None


def has_facts_beside_code(sentence: str) -> bool:
    """Whether a sentence has a fact that is no code within a line."""
    return has_facts(_CODE_SPAN.sub(" ", sentence))
