"""Whether a line says something that may hold for long, as far as its words tell: no model is asked. Pure."""

import re

from memory.recall.lexical import question_terms

LEAST_CONTENT = 3
"""What a line must say: a longer word counts two, a pair of Chinese characters or a short word one; "ok" is nothing."""
LONG_WORD = 4
LONGEST = 300


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_SHORTENED = _any(r"recall\((?:handle|turn)=", r"\[(?:picture|file )", r"^\[\+\d+ messages")
_ASKS = _any(
    r"[?？]|[吗呢么吧][。!！~～\s]*$",
    r"什么|怎么|怎样|如何|为何|多少|哪[里个些儿天]|几点|是不是|能不能|可不可以|有没有",
    r"帮我|帮忙|麻烦你|给我|告诉我|请[你帮问给把]|^(?:请|把|再|继续)|我(?:们)?(?:想|要|需要)",
    r"^(?:what|how|why|when|where|who|which|is|are|am|do|does|did|can|could|would|should|will|please|let's|let)\b",
    r"\b(?:can|could|would|will) you\b",
    r"\b(?:help|tell|show|give|send) me\b",
    r"\bi(?:'d| would) like you to\b|\bi (?:want|need|wish|have a question)\b",
)
_FOR_ONCE = _any(
    r"今天|昨天|明天|前天|后天|今晚|昨晚|今早|刚才|刚刚|这次|一会儿|马上",
    r"\b(?:today|yesterday|tomorrow|tonight|just now|right now|this (?:time|morning|afternoon|evening|week))\b",
)
_FOR_GOOD = _any(r"以后|今后|永远|总是|一直都?要|务必|请用|请始终", r"\b(?:always|never|from now on|prefer)\b")
_COURTESY = _any(
    r"[早上中下晚]{1,4}午?好|晚安|你好|您好|辛苦了|太好了|没问题|没关系|不客气|谢谢|多谢|感谢|再见|拜拜|哈哈",
    r"好的|收到|明白|继续|不好意思|对不起|抱歉|不知道|不太?确定|想一?想|看一?看|试一?试|再说|我很?喜欢[。!！~～\s]*$",
    r"\bgood (?:morning|afternoon|evening|night)\b|\b(?:hello|hi|hey|bye|goodbye|okay|ok|sure)\b|\bsee you(?: \w+)?\b",
    r"\bthanks?(?: you)?(?: (?:so|very) much)?\b|\bthat helps(?: me)?(?: a lot)?\b|\byou're welcome\b|\bno problem\b",
    r"\b(?:nice|great|perfect|sounds good|got it|go on|continue)\b|\b(?:good|great|nice) idea\b",
    r"\bi (?:like|love) (?:it|that)\b|\bi (?:see|agree|understand|guess|hope|think)\b|\bmy (?:bad|pleasure)\b",
    r"\bi(?:'m| am) (?:fine|sorry|done|back|here|ready|not sure)\b|\b(?:don't|do not) (?:know|understand)\b",
)
_SELF = _any(r"我|咱|本人|俺", r"\b(?:i|i'm|i've|i'd|my|mine|me|we|we're|our|us)\b")
_TELLS = _any(r"我(?:是|叫|姓|最?爱|最?喜欢|不[吃喝喜爱]|讨厌|怕)")
_OF_TALK = _any(
    r"询问|问了|问及|请求|请教|要求(?:助手|机器人)|咨询|打招呼|问候",
    r"\b(?:asked|asks|requested|wondered|inquired|greeted)\b",
    r"^\W*(?:bot|assistant|tool|助手|机器人|工具)",
)
_LIKING = _any(
    r"喜欢|最爱|爱[吃喝看听用玩]|讨厌|不[吃喝]|偏好|偏爱|习惯|希望|请用|以后|总是|忌口|过敏",
    r"\b(?:prefers?|likes?|loves?|hates?|dislikes?|enjoys?|favou?rite|always|never|allergic|from now on)\b",
)


def lasting(text: str, *, spoken: bool) -> bool:
    """Whether a line may stand in memory: no question, request, courtesy or news of the day.

    spoken: it is what a person said, and then it must be about themselves or a wish for good; else it tells of that,
    and then it must not be about the talk alone.
    """
    if len(text) > LONGEST or _SHORTENED.search(text) or _FOR_ONCE.search(text):
        return False
    for_good = _FOR_GOOD.search(text) is not None
    if _ASKS.search(text) and not for_good:
        return False
    if not (for_good or _SELF.search(text)) if spoken else _OF_TALK.search(text):
        return False
    rest = _COURTESY.sub(" ", text)
    content = sum(2 if term.isascii() and len(term) >= LONG_WORD else 1 for term in question_terms(rest))
    return content >= (1 if _TELLS.search(rest) else LEAST_CONTENT)


def category_of(text: str) -> str:
    """Where a line belongs as far as its words tell: a preference, else a fact."""
    return "user_preference" if _LIKING.search(text) else "fact"
