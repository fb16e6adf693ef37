"""The wording of a line: its content words with synonyms folded, each affirmed or denied, and its
moods.

Pure.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from memory.text.language import CJK, CJK_CHARACTER
from memory.text.normalize import normalize_text as in_figures
from memory.text.patterns import lazy_pattern
from memory.text.sized_cache import SizedCache
from memory.text.tokenizer import text_terms

_LIGHT_WORDS = frozenset("喝吃用做去上个到把被和与及时里") | {"to", "get"}  # they weigh a half

# Synonyms in notes about a person

# Negates the rest of its clause; ends a clause; has no content.
DENIAL, CLAUSE_END, EMPTY_TOKEN = "¬", ",", ""
MOOD_PLAN, MOOD_FORMER, MOOD_PERHAPS, MOOD_ONLY, MOOD_OFF = (
    "«plan»",
    "«former»",
    "«perhaps»",
    "«only»",
    "«off»",
)
# Two lines with different moods are never the same memory.
MOODS = frozenset({MOOD_PLAN, MOOD_FORMER, MOOD_PERHAPS, MOOD_ONLY, MOOD_OFF})

_ENGLISH = {
    DENIAL: (
        "not|no|none|never|neither|nor|without|unable|unlike|cannot|don't|doesn't|didn't|isn't|aren't|wasn't|weren't|"
        "won't|wouldn't|can't|couldn't|shouldn't|haven't|hasn't|hadn't|no longer|not any more|not "
        "anymore|stop|stops|stopped|quit|quits|avoid|avoids|avoided|refuse|refuses|refused|rarely|seldom|hardly "  # noqa: E501
        "ever|rather than|instead of"
    ),
    f"{DENIAL} like": "dislike|dislikes|disliked|hate|hates|hated|detest|detests",
    CLAUSE_END: "but|however|although|though|whereas|instead",
    MOOD_PLAN: (
        "want to|wants to|wanted to|would like to|would love to|plan to|plans to|planned "
        "to|planning to|intends to|hopes to|wishes to|going to"
    ),
    MOOD_FORMER: "used to|formerly|previously|in the past",
    MOOD_PERHAPS: "maybe|perhaps|possibly|might",
    MOOD_ONLY: "only|solely|exclusively",
    MOOD_OFF: "off",
    "like": (
        "likes|liked|liking|love|loves|loved|enjoy|enjoys|enjoyed|prefer|prefers|preferred|fond"
    ),
    "mother": "mom|mum|mommy|mama",
    "father": "dad|daddy|papa",
    "child": "children|kid|kids",
    "bike": "bikes|bicycle|bicycles",
    "answer": "answers|answering|reply|replies|replying|respond|responds|response|responses",
    "brief": "briefly|concise|concisely",
    "job": "occupation|profession",
    "film": "films|movie|movies",
    "email": "emails|mail|mails",
    "公里": "km|kms|kilometer|kilometers|kilometre|kilometres",
    "公斤": "kg|kgs|kilo|kilos|kilogram|kilograms",
    "live": "lives|lived|living|reside|resides",
    "run": "runs|ran|running",
    "write": "writes|wrote|written|writing",
    "drink": "drinks|drank|drunk|drinking",
    "eat": "eats|ate|eaten|eating",
    "buy": "buys|bought|buying",
    "drive": "drives|drove|driven|driving",
    "speak": "speaks|spoke|spoken|speaking",
    "teach": "teaches|taught|teaching",
    "take": "takes|took|taken|taking",
    "go": "goes|went|gone|going",
    "man": "men",
    "woman": "women",
    "person": "people|persons",
    "daily": "every day|each day|everyday",
    "week": "weekly|every week|each week|per week",
    "month": "monthly|every month|each month|per month",
    "year": "yearly|annually|every year|each year|per year",
    "1": "once",
    "2": "two|twice",
    "3": "three",
    "4": "four",
    "5": "five",
    "6": "six",
    "7": "seven",
    "8": "eight",
    "9": "nine",
    "10": "ten",
    "11": "eleven",
    "12": "twelve",
    "15": "fifteen",
    "20": "twenty",
    "30": "thirty",
    "40": "forty",
    "50": "fifty",
    "60": "sixty",
    "70": "seventy",
    "80": "eighty",
    "90": "ninety",
    "100": "hundred",
    "allergic": "allergy|allergies",
    EMPTY_TOKEN: (
        "a|an|the|and|or|also|too|of|in|at|for|with|as|by|into|i|me|my|mine|myself|we|our|us|he|him|his|she|her|hers|they|"
        "them|their|it|its|you|your|user|users|is|am|are|was|were|be|been|being|do|does|did|done|have|has|had|having|"
        "will|would|can|could|should|shall|may|must|this|that|these|those|there|which|who|please|kindly|very|really|"
        "quite|so|just|always|often|usually|generally|normally|typically|currently|now|called|named|name|about|on"
    ),
}
# Replacement of a word or phrase in lower case.
ENGLISH_SYNONYMS = {form: word for word, forms in _ENGLISH.items() for form in forms.split("|")}

_CHINESE = {
    DENIAL: (
        "不 从来不 从来没有 从来没 从不 从未 从没 没有 没 未 勿 别 别再 不再 不要再 不要 不用 无法 "
        "无 戒掉 戒了 戒 停止 拒绝 避免 很少 而不是 而非"
    ),
    f"{DENIAL}喜欢": "讨厌 厌恶 反感",
    CLAUSE_END: "但是 但 可是 然而",
    MOOD_PLAN: "打算 想要 想学 想去 想买 将要 计划去 计划在 准备去 准备在",
    MOOD_FORMER: "以前 从前 曾经 曾 过去 原先 原来",
    MOOD_PERHAPS: "可能 也许 大概 或许",
    MOOD_ONLY: "只有 只在 只 仅仅 仅",
    "喜欢": "喜爱 热爱 爱好 钟爱 偏爱 偏好 爱",
    "用": "使用 采用 选用 运用",
    "住": "居住 定居",
    "工作": "上班 任职 就职 供职",
    "妈": "妈妈 母亲 老妈",
    "爸": "爸爸 父亲 老爸",
    "妻": "妻子 老婆 太太",
    "夫": "丈夫 老公",
    "孩": "孩子 小孩 小孩子",
    "每天": "天天 每日 每一天",
    "周": "星期 礼拜",
    "早上": "早晨 清晨 清早",
    "晚上": "夜里 晚间 夜晚",
    "公里": "千米",
    "公斤": "千克",
    "跑": "跑步",
    "学": "学习",
    "答": "回答 回复 答复",
    "短": "简短 简洁 简要 精简",
    "细": "详细 详尽 仔细",
    EMPTY_TOKEN: (
        "用户 我们 和 与 以及 及 我 他 她 您 本人 自己 目前 现在 正在 如今 的时候 位于 名叫 叫做 "
        "叫 名为 名字是 常常 经常 通常 平时 常 总是 一般 一下 一些 一点 一个 一名 一位 一只 一条 "
        "一辆 一家 一种 希望 请 麻烦 务必 非常 十分 特别 比较 挺 很 最 都 也 了 的 地 得 着 吗 呢 "
        "吧 啊 是 在 于 会 能够 能 可以 有 已经 已 就 对 要"
    ),
}
# Replacement of Chinese words, except inside FIXED_WORDS.
CHINESE_SYNONYMS = {form: word for word, forms in _CHINESE.items() for form in forms.split()}

_FIXED_WORDS = (
    "不错 不同 不仅 不但 不只 不管 不论 不断 不久 不少 不锈钢 不得不 差不多 对不起 不好意思 了不起 "
    "说不定 没关系 没问题 别人 分别 类别 级别 性别 区别 告别 别墅 别名 个别 别克 无论 无线 无锡 "
    "无人机 无糖 无业 未来 戒指 成都 首都 都市 社会 会议 开会 会计 机会 晚会 了解 目的 目的地 最近 "
    "自我 觉得 获得 地方 地址 地图 基地 当地 场地 土地 地铁 叫醒 请假 申请 邀请 于是 存在 有限 "
    "有趣 所有 拥有 能力 能源 功能 性能 智能 可能性 对象 对手 对话 反对 面对 绝对 相对 要求 重要 "
    "需要 主要 必要 摘要 就业 成就 着急 可爱 恋爱 爱情 爱人 爱尔兰 爱丁堡 只是 停车 名词 常识 常州 "
    "日常 正常 异常 足迹"
)
# read character by character, whatever shorter word is in them
FIXED_WORDS = frozenset(_FIXED_WORDS.split())


# The content of a line: its content words, each affirmed or denied, and its moods


def _alternatives(words: Sequence[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: -len(word)))


# of lines whose analyses are cached by their number; a character of it takes some 20 bytes
SHORT_CHARS = 300
MAX_LONG_CHARS = 200_000  # of all longer ones that are cached
_ACCENT = lazy_pattern("[\u0300-\u036f]")
_OUR = lazy_pattern(r"(?<=[a-z]{3})our")
_POSSESSIVE = lazy_pattern(r"'s?(?![a-z])")
_EACH_WEEK = lazy_pattern("每(?=(?:周|星期|礼拜)[一二三四五六日天末])")
_DIRECTED = lazy_pattern(
    r"\b(?:than|over|to|from|before|after|until)\b|比(?!较)|从[^从到往去\n"
    r"]*+[到往去]|[给借还]|胜过|超过|多于|少于|不如|先[^先后再\n]*+[后再]"
)
_TOKEN = lazy_pattern(
    rf"(?P<whole>{_alternatives(sorted(FIXED_WORDS))})|(?P<zh>{_alternatives(sorted(CHINESE_SYNONYMS))})"
    rf"|(?P<en>(?<![^\W\d_])(?:{_alternatives(sorted(ENGLISH_SYNONYMS))})(?![^\W_{CJK}]|'[a-z]))"
    rf"|(?P<figure>\d+(?:\.\d+)*(?:(?:st|nd|rd|th)(?![a-z]))?)|(?P<word>[^\W\d_{CJK}]+(?:'[a-z]+)?[+#]*)|(?P<han>[{CJK}])|(?P<end>[,;。!?…()\n]|\.(?=\s|$))"
)
_PIECE = lazy_pattern(rf"{DENIAL}|{CLAUSE_END}|«[a-z]+»|\d+|[a-z]+|[{CJK}]")


# no slots: a line that is compared with many keeps its counts
@dataclass(frozen=True, kw_only=True)
class LineWording:
    """The content of a line."""

    #: Its content words in order, with DENIAL before denied ones.
    words: tuple[str, ...]
    #: See MOODS.
    moods: frozenset[str]
    #: Its meaning depends on the order of its words.
    directed: bool

    @cached_property
    def counted(self) -> Counter[str]:
        return Counter(self.words)

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """The weight of each content word."""
        return {word: word_weight(word) for word in self.counted}

    @cached_property
    def weight(self) -> float:
        """The weight of all content words together."""
        return sum(self.weights[word] * count for word, count in self.counted.items())

    @cached_property
    def bare(self) -> tuple[str, ...]:
        """Its content words, whether affirmed or denied."""
        return tuple(word.removeprefix(DENIAL) for word in self.words)

    @cached_property
    def figures(self) -> list[str]:
        return sorted(word for word in self.bare if word[0].isdigit())


def word_weight(word: str) -> float:
    """Weigh a word, affirmed or denied: a character that is a word of its own counts half of
    another word.
    """
    bare = word.removeprefix(DENIAL)
    if bare in _LIGHT_WORDS:
        return 0.5
    return 1.0 if is_symbol(bare) else 2.0


def is_symbol(word: str) -> bool:
    """Whether a word is one character of a script that is not Latin."""
    return len(word) == 1 and not word.isascii()


def read_wording(line: str) -> LineWording:
    """Analyse a line of one or a few sentences."""
    if len(line) <= SHORT_CHARS:
        return _read_short(line)
    return _long_lines.get(line, len(line), lambda: _read_line(line))


def clear_wordings() -> None:
    """Drop the cached analyses, which may be those of forgotten text."""
    _read_short.cache_clear()
    _long_lines.clear()


def _read_line(line: str) -> LineWording:
    plain = _normalize_line(line)
    tokens = list(_tokenize(plain))
    return LineWording(
        words=tuple(word for clause in _split_clauses(tokens) for word in _apply_denial(clause)),
        moods=frozenset(tokens) & MOODS,
        directed=_DIRECTED.search(plain) is not None,
    )


_read_short = lru_cache(maxsize=2_048)(_read_line)
_long_lines: SizedCache[str, LineWording] = SizedCache(MAX_LONG_CHARS)


def _normalize_line(line: str) -> str:
    """Normalise to digits, lower case, no accents and American spelling."""
    bare = unicodedata.normalize(
        "NFC", _ACCENT.sub("", unicodedata.normalize("NFD", in_figures(line)))
    )
    return _EACH_WEEK.sub("", _POSSESSIVE.sub("", _OUR.sub("or", bare)))


def _tokenize(plain: str) -> Iterator[str]:
    for match in _TOKEN.finditer(plain):
        found = match.group()
        if match.lastgroup in ("whole", "han"):
            yield from found
        elif match.lastgroup in ("zh", "en"):
            for piece in _PIECE.findall(
                (CHINESE_SYNONYMS if match.lastgroup == "zh" else ENGLISH_SYNONYMS)[found]
            ):
                yield from text_terms(piece) if piece.isascii() and piece.isalpha() else [piece]
        elif match.lastgroup == "figure":
            figure = found.rstrip("stndrh")
            yield figure if "." in figure else figure.lstrip("0") or "0"
        elif match.lastgroup == "end":
            yield CLAUSE_END
        else:
            yield from [found] if found[-1] in "+#" else text_terms(found)


def _split_clauses(tokens: Sequence[str]) -> Iterator[list[str]]:
    clause: list[str] = []
    for token in (*tokens, CLAUSE_END):
        if token == CLAUSE_END:
            yield clause
            clause = []
        elif token not in MOODS:
            clause.append(token)


def _apply_denial(clause: list[str]) -> Iterator[str]:
    """Negate what follows a denial; the whole clause if only a bare verb follows, as in
    香菜不吃.
    """
    if DENIAL not in clause:
        yield from clause
        return
    at = clause.index(DENIAL)
    after = [token for token in clause[at:] if token != DENIAL]
    before = clause[:at]
    topic = len(after) == 1 and len(before) > 1 and CJK_CHARACTER.match(after[0]) is not None
    yield from (DENIAL + token if topic else token for token in before)
    yield from (DENIAL + token for token in after)
