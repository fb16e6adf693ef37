"""What a line of a daily log or of a person is, guessed without a model: whether it may hold for
long, and its category.

Pure.
"""

import re

from memory.text.patterns import lazy_pattern
from memory.text.tokenizer import lexical_question_terms

INSTRUCTION = "instruction"  # the category of what a person wants done from now on

MIN_CONTENT = 3  # points a line needs: 2 per long word, 1 per short word or pair of CJK characters
LONG_WORD_CHARS = 4
MAX_LINE = 300


def _any_pattern(*patterns: str) -> re.Pattern[str]:
    return lazy_pattern("|".join(patterns), re.IGNORECASE)


_SHORTENED = _any_pattern(r"recall\((?:handle|turn)=", r"\[(?:picture|file )", r"^\[\+\d+ messages")
_QUESTION = _any_pattern(
    r"[?？]|[吗呢么吧][。!！~～\s]*$",
    r"什么|怎么|怎样|如何|为何|多少|哪[里个些儿天]|几点|是不是|能不能|可不可以|有没有",
    r"帮我|帮忙|麻烦你|给我|告诉我|请[你帮问给把]|^(?:请|把|再|继续)|我(?:们)?(?:想|要|需要)",
    r"^(?:what|how|why|when|where|who|which|is|are|am|do|does|did|can|could|would|should|will|please|let's|let)\b",
    r"\b(?:can|could|would|will) you\b",
    r"\b(?:help|tell|show|give|send) me\b",
    r"\bi(?:'d| would) like you to\b|\bi (?:want|need|wish|have a question)\b",
)
_MOMENTARY = _any_pattern(
    r"今天|昨天|明天|前天|后天|今晚|昨晚|今早|刚才|刚刚|这次|一会儿|马上",
    (
        r"\b(?:today|yesterday|tomorrow|tonight|just now|right now|this "
        r"(?:time|morning|afternoon|evening|week))\b"
    ),
)
_LASTING = _any_pattern(
    r"以后|今后|永远|总是|一直都?要|务必|请用|请始终", r"\b(?:always|never|from now on|prefer)\b"
)
_COURTESY = _any_pattern(
    (
        r"[早上中下晚]{1,4}午?好|晚安|你好|您好|辛苦了|太好了|没"
        r"问题|没关系|不客气|谢谢|多谢|感谢|再见|拜拜|哈哈"
    ),
    (
        r"好的|收到|明白|继续|不好意思|对不起|抱歉|不知道|不太?确"
        r"定|想一?想|看一?看|试一?试|再说|我很?喜欢[。!！~～\s]*$"
    ),
    (
        r"\bgood "
        r"(?:morning|afternoon|evening|night)\b|\b(?:hello|hi|hey|bye|goodbye|okay|ok|sure)\b|\bsee you(?: \w+)?\b"  # noqa: E501
    ),
    (
        r"\bthanks?(?: you)?(?: (?:so|very) much)?\b|\bthat helps(?: me)?(?: a lot)?\b|\byou're "
        r"welcome\b|\bno problem\b"
    ),
    r"\b(?:nice|great|perfect|sounds good|got it|go on|continue)\b|\b(?:good|great|nice) idea\b",
    (
        r"\bi (?:like|love) (?:it|that)\b|\bi (?:see|agree|understand|guess|hope|think)\b|\bmy "
        r"(?:bad|pleasure)\b"
    ),
    (
        r"\bi(?:'m| am) (?:fine|sorry|done|back|here|ready|not sure)\b|\b(?:don't|do not) "
        r"(?:know|understand)\b"
    ),
)
_SELF = _any_pattern(r"我|咱|本人|俺", r"\b(?:i|i'm|i've|i'd|my|mine|me|we|we're|our|us)\b")
_SELF_STATEMENT = _any_pattern(r"我(?:是|叫|姓|最?爱|最?喜欢|不[吃喝喜爱]|讨厌|怕)")
_ABOUT_TALK = _any_pattern(
    r"询问|问了|问及|请求|请教|要求(?:助手|机器人)|咨询|打招呼|问候",
    r"\b(?:asked|asks|requested|wondered|inquired|greeted)\b",
    r"^\W*(?:bot|assistant|tool|助手|机器人|工具)",
)
_LIKING = _any_pattern(
    r"喜欢|最爱|爱[吃喝看听用玩]|讨厌|不[吃喝]|偏好|偏爱|习惯|希望|请用|以后|总是|忌口|过敏",
    (
        r"\b(?:prefers?|likes?|loves?|hates?|dislikes?|enjoys?|favou?rite|always|never|allergic|from "  # noqa: E501
        r"now on)\b"
    ),
)


_REPLY_VERBS_ZH = (
    "回答|回复|答复|解释|说明|列出|列明|给出|附上|注明|标注|标出|写明|提供|使用|采用|改用|"
    "用|写|说|叫我|称呼|提醒|确认|翻译|引用|保持|加上|省略|展示"
)
_REPLY_VERBS_EN = (
    "address|answer|ask|avoid|begin|call|cite|confirm|end|explain|format|give|include|keep|list|"
    "maintain|mention|provide|quote|remind|reply|respond|show|speak|start|state|summari[sz]e|tell|"
    "translate|use|write"
)
# What the bot is asked to do, not what the person does: "always use metric units", not "I always
# use the tram".
_INSTRUCTION = _any_pattern(
    rf"^\W*(?:请|麻烦|记住[，,：:]?)?(?:你)?(?:以后|今后|从现在起|从今以后|每次|每当|始终|永远|总是|一律|务必)"
    rf"(?!我)[^。！？\n]{{0,30}}(?:{_REPLY_VERBS_ZH})",
    rf"当我(?:问|提)[^。！？\n]{{1,30}}(?:{_REPLY_VERBS_ZH})",
    rf"^\W*(?:please |remember to |and |so )?(?:always|never) (?:{_REPLY_VERBS_EN})\b",
    rf"\b(?:from now on|whenever i|every time i|when(?:ever)? i ask)\b[^.!?\n]{{0,80}}?"
    rf"(?:, ?|please |you (?:should|must) )(?:always |never )?(?:{_REPLY_VERBS_EN})\b",
)


_WISHED_PREFERENCE = _any_pattern(
    r"喜欢|偏好|讨厌|最爱|[更不]爱|爱[吃喝看听用玩]|习惯|受不了"
    r"|过敏|以后[都请别]|^(?:请|别|不要|总是)|\b(?:likes?|loves?|prefers?|hates?|dislikes?|favou?rites?|enjoys?|always|never|please|rather|don['’]t)\b",
)


def is_lasting(text: str, *, spoken: bool) -> bool:
    """Whether a line may hold for long: no question, request, courtesy or news of the day.

    Args:
        spoken: it quotes the person and must be about them or a standing wish; otherwise it reports
            what they said and must not be about the conversation alone.
    """
    if len(text) > MAX_LINE or _SHORTENED.search(text) or _MOMENTARY.search(text):
        return False
    is_standing = _LASTING.search(text) is not None
    if _QUESTION.search(text) and not is_standing:
        return False
    if not (is_standing or _SELF.search(text)) if spoken else _ABOUT_TALK.search(text):
        return False
    rest = _COURTESY.sub(" ", text)
    content = sum(
        2 if term.isascii() and len(term) >= LONG_WORD_CHARS else 1
        for term in lexical_question_terms(rest)
    )
    return content >= (1 if _SELF_STATEMENT.search(rest) else MIN_CONTENT)


def guess_category(text: str) -> str:
    """Guess a line's category: a standing instruction, a preference, else a fact."""
    if _INSTRUCTION.search(text):
        return INSTRUCTION
    return "user_preference" if _LIKING.search(text) else "fact"


def guess_wished_category(text: str) -> str:
    """Guess the category of what a person asks to remember, in which also requests are wishes."""
    if _INSTRUCTION.search(text):
        return INSTRUCTION
    return "user_preference" if _WISHED_PREFERENCE.search(text) else "fact"
