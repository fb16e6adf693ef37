"""Evidence: whether a sentence says what clean words say, and whether it repeats tainted ones.

Pure.

A restatement may turn the first person into the third, use synonyms and leave courtesies out. It
keeps whom the sentence is about, names, numbers, negations, conditions and order; it adds nothing
and leaves little out. All checks compare words, so they err on the side of "tainted": a sentence
that they cannot follow is not clean.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from memory.context.summary.grounding import GroundingSource, names_in
from memory.text.language import CJK, CJK_CHARACTER, is_mostly_cjk
from memory.text.patterns import lazy_pattern
from memory.text.sized_cache import ENTRY_CHARS, SizedCache
from memory.text.tokenizer import question_terms, text_terms
from memory.text.wording import LineWording, read_wording

MIN_COVERED_SHARE = 0.6  # of a sentence's content that another wording must keep
# Characters of the texts whose words are cached; with its words a character takes ten bytes.
MAX_WORDS_CHARS = 300_000
MAX_LEAD = 100  # characters before a colon that are searched for a word that introduces a quotation

_LIGHT_WORDS = frozenset({"to", "get"})
_END = lazy_pattern(r"(?<=[。！？!?;；\n])|(?<=\.)(?=\s)")
_QUESTION_END = lazy_pattern(r"[?？吗呢么][\s\"'”」』)）]*$")
_QUESTION = lazy_pattern(
    r"^\W*(?:(?:and|but|so|or)\W+)?(?:do|does|did|is|are|am|was|were|should|shall|can|could|would|will|has|have|what"
    r"|who|whose|where|when|why|how|which)\s+(?:i|you|we|he|she|it|they|my|your|our|the|this|that|there|[A-Z]\w*)\b"
    r"|是不是|有没有|能不能|可不可以|要不要|会不会|是否|难道|什么|怎么|为何",
    re.IGNORECASE,
)
_CLAUSE = lazy_pattern(r"[,，、]|\band\b|\bbut\b|但是?|而且")
_LEAD_IN = lazy_pattern(
    r"^\W*+(?:(?:please|kindly|also|and|then|hey|hi|ok|okay)\W++)*+"
    r"(?:(?:remember|note|keep in mind|do not forget|don['’]t forget|never forget)(?:\s+that)?\b"
    r"|[请麻烦你帮我也再顺便，, ]*+(?:记住|记一下|记下来?|记得|别忘了?|不要忘了?))\W*",
    re.IGNORECASE,
)
_COURTESY = (
    r"please|thanks|thank you|by the way|btw|fyi|just so you know|(?:please )?(?:keep|bear) "
    r"(?:that|this|it) in mind|(?:please )?(?:remember|note) "
    r"(?:that|this|it)|就行|就好|就可以|谢谢|对了|顺便说一下|顺便说|(?:请|麻烦)?(?:记住|记一下)"
)
_TAIL = lazy_pattern(rf"(?<![a-z])(?:{_COURTESY})了?$", re.IGNORECASE)
_TAIL_SIGNS = " \t,，.。!！"
MAX_TAILS = 4  # courtesies at the end of one sentence
_OPENER = lazy_pattern(
    (
        rf"^\W*+(?:(?:{_COURTESY}|and|also|so|but|well|yes|oh|hi|hey|ok|okay|还"
        r"有|另外|而且|其实)(?![a-z])[\s,，]*+)++"
    ),
    re.IGNORECASE,
)
# Words that a clause depends on: without them it may say something else than its sentence.
_CONDITIONAL = lazy_pattern(
    r"\b(?:if|unless|when|whenever|until|except|only|instead|says?|said|told|asks?|asked|claims?|claimed|wants me"  # noqa: E501
    r"|writes?|wrote|written|states?|stated|reads|according|means?|explain|translate|summari[sz]e|quotes?|quoted"
    r"|heard|doubt|wrong|false|would|thinks?|thought|believes?|whether|sure|certain|apparently|supposedly|allegedly)\b"
    r"|如果|要是|假如|除非|除了|只有|只要|直到|等到|的时候|说|告"
    r"诉|声称|宣称|要我|让我|写|(?<![数证])据|翻译|总结|解释|意"
    r"思|假的|骗|不对|不是|觉得|认为|以为|确定|不知道",
    re.IGNORECASE,
)
_HEARSAY = lazy_pattern(r"\b(?:read|saw)\b|听|读到|看到|看见", re.IGNORECASE)
_COLON = lazy_pattern(r"[:：](?!//|(?<=\d.)\d)")
_REFUSAL = lazy_pattern(
    (
        r"\b(?:never|not|no)\b(?! forget)|n['’]t\b(?! "
        r"forget)|\b(?:hardly|rarely|seldom)\b|[不没](?!要?忘)|别(?!忘)|很少"
    ),
    re.IGNORECASE,
)
_FORMS = (
    (lazy_pattern("’"), "'"),
    (lazy_pattern(r"\b(i|we|you|they)'(?:m|re)\b", re.IGNORECASE), r"\1 are"),
    (lazy_pattern(r"\b(i|we|you|they)'ve(?: got)?\b", re.IGNORECASE), r"\1 have"),
    (lazy_pattern(r"\b(i|we|you|he|she|it|they)'ll\b", re.IGNORECASE), r"\1 will"),
    (lazy_pattern(r"\b(i|we|you|he|she|it|they)'d\b", re.IGNORECASE), r"\1 would"),
    (lazy_pattern(r"\bhave got\b", re.IGNORECASE), "have"),
    (lazy_pattern(r"^\W*call me\b", re.IGNORECASE), "I am called"),
    (lazy_pattern(r"^\W*叫我"), "我叫"),
    (lazy_pattern("被?称呼?为|被叫做"), "叫"),
    (lazy_pattern("尽量|尽可能"), ""),
)
_SUBJECT = lazy_pattern(
    r"^\W*(?:the )?user\b(?!['’])|^\W*(?:i|we)\b|^\W*(?:用户|我们?|咱们?|本人|俺)(?!的)",
    re.IGNORECASE,
)
_WISH = lazy_pattern(
    r"^\W*(?:the )?user (?:wants|would "
    r"like|prefers|asks|asked|requests|requested|likes|expects)(?: for)?(?: the "
    r"(?:bot|assistant))?(?: to be| to)?\b|^\W*用户(?:希望|要求|想要|偏好|喜欢|想)(?:助手|机器人)?",
    re.IGNORECASE,
)
_PASSIVE = lazy_pattern(
    r"\b(?:is|are|was|were|be|been|being|gets?|got)\s+\w+\s+by\b|被", re.IGNORECASE
)
_PAST = lazy_pattern(r"\b(?:was|were|had)\b", re.IGNORECASE)
_PRESENT = lazy_pattern(r"\b(?:is|am|are|has|have)\b", re.IGNORECASE)
_FUTURE = lazy_pattern(r"\b(?:will|shall)\b|将", re.IGNORECASE)
# At the beginning of a claim, where another wording may leave them out.
_ADVERB = lazy_pattern(
    (
        r"\b(?:recently|just|finally|actually|today|yesterday|tomorrow|tonight)\b|最"
        r"近|刚刚?|终于|其实|今天|昨天|明天|今年|去年|明年"
    ),
    re.IGNORECASE,
)
_QUOTATION = lazy_pattern(
    r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|「[^」\n]{1,300}」|『[^』\n]{1,300}』|‘[^’\n]{1,300}’"
)
# of a quoted name, with its marks; a longer quotation is nothing that one claims
MAX_NAME_WORDS, MAX_NAME_SIGNS = 2, 5
_YOU = lazy_pattern(r"\b(?:you|your|yours|yourself)\b|[你您]", re.IGNORECASE)
_BOT = lazy_pattern(r"\b(?:the )?(?:bot|assistant)\b|助手|机器人", re.IGNORECASE)
_OTHERS = (
    lazy_pattern(r"\b(?:he|him|his|himself)\b|他(?!们|人|的?确)", re.IGNORECASE),
    lazy_pattern(r"\b(?:she|hers?|herself)\b|她(?!们)", re.IGNORECASE),
    lazy_pattern(r"\b(?:they|them|theirs?|themselves)\b|[他她]们", re.IGNORECASE),
)
_FIRST_PERSON = lazy_pattern(
    r"^\W*+(?:(?:and|also|so|but|well|yes|oh|hi|hey|ok|okay|btw|by the "
    r"way|还有|另外|对了|而且|其实)[\s,，]*+)*+(?:(?:i|my|we|our)\b|[我咱俺])",
    re.IGNORECASE,
)


def split_statements(words: str) -> list[str]:
    """Split a text into sentences with content."""
    return [found.strip() for found in _END.split(words) if any(map(str.isalnum, found))]


def is_question(sentence: str) -> bool:
    """Whether a sentence asks, with or without a question mark."""
    return bool(
        _QUESTION_END.search(sentence.rstrip()) or _QUESTION.search(_OPENER.sub("", sentence))
    )


def list_claims(sentences: list[str]) -> Iterator[str]:
    """The statements among sentences, without phrases like "remember that", and the clauses that
    stand alone.

    A clause stands alone if it begins in the first person and its sentence has no condition, report
    or refusal.
    """
    for sentence in sentences:
        if is_question(sentence):
            continue
        claim = without_lead_in(sentence)
        yield claim
        if _FIRST_PERSON.search(claim) and not _depends(claim):
            yield from (
                clause.strip() for clause in _CLAUSE.split(claim) if _FIRST_PERSON.search(clause)
            )


def is_about_speaker(sentence: str) -> bool:
    """Whether a sentence begins in the first person."""
    return _FIRST_PERSON.search(sentence) is not None


def begins_with_user(sentence: str) -> bool:
    """Whether a sentence's subject is the user, in the first or the third person."""
    return _SUBJECT.match(sentence) is not None


def without_lead_in(sentence: str) -> str:
    """Remove "please remember that" and the like from the beginning of a sentence."""
    return _LEAD_IN.sub("", sentence)


def without_quotes(words: str) -> str:
    """Remove lines with a colon after a word of reporting, asking or denying; if it ends its line,
    all that follows.
    """
    lines = []
    for line in words.splitlines():
        quote = next(
            (colon for colon in _COLON.finditer(line) if _is_quote_lead(line, colon.start())), None
        )
        if quote is None:
            lines.append(line)
        elif not line[quote.end() :].strip():
            break
    return "\n".join(lines)


def restates(text: str, claim: str) -> bool:
    """Whether a sentence about the user says the same as a claim of theirs.

    Decision 122 says when a model's verdict replaces these rules.
    """
    claim = claim if _QUOTATION.search(text) else _QUOTATION.sub(_keep_name, claim)
    bare, bare_claim = _without_courtesy(text), _without_courtesy(claim)
    wish = None if _SUBJECT.match(bare_claim) else _WISH.match(bare)
    plain, said = _spell_out(bare[wish.end() :] if wish else bare), _spell_out(bare_claim)
    if wish or _YOU.search(said):
        plain = _BOT.sub(" ", plain)
    one, other = read_wording(plain), read_wording(said)
    if not _covers(one, other) or not _has_same_form(bare, plain, said):
        return False
    about_user = bool(wish or _SUBJECT.match(plain))
    swapped = about_user and _may_be_swapped(one, other)
    if not swapped and not (_in_order(one, other) and _begins_alike(plain, said)):
        return False
    return GroundingSource(claim).holds(plain)


def _covers(one: LineWording, other: LineWording) -> bool:
    """Whether a wording has most words of another one and no more, in the same moods."""
    words, own_words = frozenset(one.words), frozenset(other.words)
    if not words or not words <= own_words or one.moods != other.moods:
        return False
    return len(words) >= MIN_COVERED_SHARE * len(own_words)


def _may_be_swapped(one: LineWording, other: LineWording) -> bool:
    """Whether two words say the same in any order: a peanut allergy, allergic to peanuts."""
    words = frozenset(one.words)
    return len(words) == 2 and frozenset(other.words) - words <= _LIGHT_WORDS


def _has_same_form(bare: str, plain: str, said: str) -> bool:
    """Whether condition, voice, tense and persons agree."""
    for form in (_CONDITIONAL, _PASSIVE):
        if bool(form.search(plain)) != bool(form.search(said)):
            return False
    return _has_same_tense(plain, said) and _has_same_persons(bare, plain, said)


def _keep_name(quotation: re.Match[str]) -> str:
    found = quotation.group()
    is_name = len(found.split()) <= MAX_NAME_WORDS and (
        found.isascii() or len(found) <= MAX_NAME_SIGNS
    )
    return found if is_name else " "


def _without_courtesy(sentence: str) -> str:
    bare = _OPENER.sub("", sentence)
    for _ in range(MAX_TAILS):
        bare = _TAIL.sub("", bare.rstrip(_TAIL_SIGNS))
    return bare if any(map(str.isalnum, bare)) else sentence


def _spell_out(sentence: str) -> str:
    for form, replacement in _FORMS:
        sentence = form.sub(replacement, sentence)
    return sentence


def _has_same_persons(text: str, plain: str, said: str) -> bool:
    """Whether pronouns agree; of somebody addressed as "you", the text must name the bot or a
    wish.
    """
    he, she, they = ((bool(others.search(plain)), bool(others.search(said))) for others in _OTHERS)
    if he[0] != he[1] or she[0] != she[1] or they[1] > they[0]:
        return False
    return not _YOU.search(said) or any(form.search(text) for form in (_YOU, _BOT, _WISH))


def _has_same_tense(plain: str, said: str) -> bool:
    """Whether what was or will be is not told as what is."""
    past = _PAST.search(said) and not _PAST.search(plain) and _PRESENT.search(plain)
    return not past and not (_FUTURE.search(said) and not _FUTURE.search(plain))


def _begins_alike(plain: str, said: str) -> bool:
    """Whether both begin with the same content: the subject, else what the person says of
    themselves.
    """
    first = read_wording(plain).bare[:1]
    return first in (
        read_wording(said).bare[:1],
        read_wording(_ADVERB.sub("", said, count=1)).bare[:1],
    )


def _depends(claim: str) -> bool:
    return bool(_CONDITIONAL.search(claim) or _HEARSAY.search(claim) or _REFUSAL.search(claim))


def _is_quote_lead(line: str, colon: int) -> bool:
    lead = _END.split(line[max(0, colon - MAX_LEAD) : colon])[-1]
    return bool(_CONDITIONAL.search(lead) or _REFUSAL.search(lead))


def _in_order(one: LineWording, other: LineWording) -> bool:
    """Whether the shared words are in the same order: it decides who is whose boss."""
    shared = frozenset(one.bare)
    return list(one.bare) == [word for word in other.bare if word in shared]


# Lines of a fold and words of the bot

_REPORT = lazy_pattern(
    r"^\W*+(?:the )?(?:user|person) (?:has )?(?:said|says|mentioned|mentions|told (?:the "
    r")?(?:bot|assistant|me)|noted|stated|shared|explained|confirmed|added|wrote)(?: "
    r"that)?\b[\s:,\"“'‘]*|^\W*+(?:用户|对方)(?:说|提到|表示|告诉(?:助手|机器人|我"
    r")|补充|确认|指出|说明|写道)(?:了|过)?[\s:：,，\"“「『]*",
    re.IGNORECASE,
)
_ASKED = lazy_pattern(
    r"^\W*+(?:the )?(?:user|person) (?:has )?(?:asked|asks|wondered|inquired|wanted to know)"
    r" (?:(?:the )?(?:bot|assistant) )?(?:about|whether|if|what|how|why|when|where|who|which)\b"
    r"|^\W*+(?:用户|对方)(?:问|询问|问起|想知道)(?:了|过|到)?(?:关于)?",
    re.IGNORECASE,
)
_LISTED = lazy_pattern(r",? and (?!not\b)|, |[、，]|和|以及")
_BY_BOT = lazy_pattern(
    r"^\W*+(?:the )?(?:bot|assistant)(?: (?:said|answered|replied|explained|noted|told the "
    r"user|confirmed)(?: that)?)?\b[\s:,]*"
    r"|^\W*+(?:助手|机器人)(?:说|回答|回复|解释|告诉用户|确认|表示)?(?:了)?[\s:：,，]*",
    re.IGNORECASE,
)
# Words that a sentence must share with one tainted sentence to repeat it, and their share of the
# shorter one.
MIN_SHARED_WORDS, SHARED_SHARE = 2, 1 / 3
MIN_CLEAN_SHARE = 0.5  # of a text's words, to compare it with tainted words in another script
MIN_CODE_CHARS = 24
_CODE = lazy_pattern(
    rf"https?://\S+|(?<![^\s@])[^\s@]{{1,100}}@[^\s@]{{1,100}}|(?<![\w+/=-])[\w+/=-]{{{MIN_CODE_CHARS},}}+",
    re.ASCII,
)
_FOREIGN = lazy_pattern(rf"[^\W\d_a-zA-Z\u00aa-\u024f{CJK}]")
_STANDING = lazy_pattern(
    r"\bfrom now on\b|\bin (?:the )?future\b|\b(?:will|['’]ll|shall) (?:always|never)\b"
    r"|\bevery "
    r"(?:answer|reply|message|time)\b|以后|今后|从现在起|每次|永远|[会将](?:一直|总是|始终)",
    re.IGNORECASE,
)
_YOU_EN = lazy_pattern(r"\b(?:you|your|yours)\b", re.IGNORECASE)
_YOU_ZH = lazy_pattern("[你您]的?")


class CleanWords:
    """What people, the bot in clean turns, and clean lines of earlier texts say."""

    def __init__(
        self, own: Iterable[str], bot: Iterable[str] = (), lines: Iterable[str] = ()
    ) -> None:
        sentences = [one for text in own for one in split_statements(without_quotes(text))]
        said = [_about_user(one) for text in bot for one in split_statements(text)]
        self._claims = _distinct(list_claims(sentences))
        self._asked = _distinct(sentences)
        self._said = _distinct(one for one in said if not is_about_speaker(one))
        self._bot_on_itself = _distinct(one for one in said if is_about_speaker(one))
        self._lines = _distinct(one for text in lines for one in split_statements(text))

    def bear_out(self, sentence: str) -> bool:
        """Whether one clean sentence says all of this one, or, of an "and" about the user, one for
        each clause.
        """
        if self._say(sentence):
            return True
        clauses = [clause for clause in _CLAUSE.split(sentence) if any(map(str.isalnum, clause))]
        divisible = (
            len(clauses) > 1 and begins_with_user(sentence) and not _CONDITIONAL.search(sentence)
        )
        return divisible and all(map(self._say, clauses))

    def _say(self, sentence: str) -> bool:
        report, asked, by_bot = (form.match(sentence) for form in (_REPORT, _ASKED, _BY_BOT))
        if asked and self._asked_about(sentence[asked.end() :]):
            return True
        claim = sentence[report.end() :].rstrip("\"”」』'’ ") if report else sentence
        if not by_bot and any(restates(claim, one) for one in (*self._claims, *self._lines)):
            return True
        rest = sentence[by_bot.end() :] if by_bot else sentence
        said = (
            *self._said,
            *(self._bot_on_itself if by_bot else ()),
            *(self._lines if by_bot else ()),
        )
        return any(restates(rest, one) for one in said)

    def _asked_about(self, rest: str) -> bool:
        """Whether somebody asked about this, or about each topic of a list."""
        topics = [topic for topic in _LISTED.split(rest) if any(map(str.isalnum, topic))]
        return any(_is_topic(rest, one) for one in self._asked) or (
            len(topics) > 1
            and all(any(_is_topic(topic, one) for one in self._asked) for topic in topics)
        )


class TaintedWords:
    """The words that only tainted texts say, to find what repeats them."""

    def __init__(
        self, tainted: Sequence[str], clean: Sequence[str], data: Sequence[str] = ()
    ) -> None:
        """data: tainted arguments and results of calls, which are in no language."""
        self._clean = frozenset[str]().union(*map(_words, clean))
        sentences = [one for text in (*tainted, *data) for one in split_statements(text)]
        self._sentences = [words for one in sentences if (words := _words(one) - self._clean)]
        self._words = frozenset[str]().union(*self._sentences)
        self._known = "\n".join(clean).casefold()
        self._scripts = {is_mostly_cjk(text) for text in tainted if any(map(str.isalpha, text))}

    def are_in(self, text: str, *, any_word: bool = False, language_of: str = "") -> bool:
        """Whether a text repeats a tainted sentence, a name or a number of one, or cannot be
        compared with them.

        It cannot where it is in another script and most of it is new, where it has an address or a
        long code that clean words lack, or where it announces what shall always be done: so an
        instruction would be passed on in new words.

        Args:
            any_word: one repeated word is enough.
            language_of: words that a text in the same script answers, whatever script the tainted
                words are in.
        """
        words = _words(text)
        if not words:
            return False
        is_new = len(words & self._clean) < MIN_CLEAN_SHARE * len(words)
        script = is_mostly_cjk(text)
        is_expected = any(map(str.isalpha, language_of)) and is_mostly_cjk(language_of) == script
        if is_new and not is_expected and self._scripts - {script}:
            return True
        return (any_word and not words.isdisjoint(self._words)) or any(
            map(self._repeats, split_statements(text))
        )

    def _repeats(self, sentence: str) -> bool:
        words = _words(sentence)
        shared = words & self._words
        names = {word for name in names_in(sentence) for word in _words(name)}
        figures = {word for word in shared if len(word) > 1 and any(map(str.isdigit, word))}
        if shared & names or figures:
            return True
        if shared and any(
            self._is_alike(words, shared & other, other) for other in self._sentences
        ):
            return True
        return self._cannot_be_compared(sentence)

    def _cannot_be_compared(self, sentence: str) -> bool:
        """Whether it is in a script or has a code that clean words lack, or announces what shall
        always be done.
        """
        if _FOREIGN.search(sentence) is not None and _FOREIGN.search(self._known) is None:
            return True
        codes = (code.casefold() for code in _CODE.findall(sentence))
        return _STANDING.search(sentence) is not None or any(
            code not in self._known for code in codes
        )

    def _is_alike(
        self, words: frozenset[str], shared: frozenset[str], other: frozenset[str]
    ) -> bool:
        least = min(MIN_SHARED_WORDS, (len(words) + 1) // 2)
        return len(shared) >= least and len(shared) >= SHARED_SHARE * min(
            len(words - self._clean), len(other)
        )


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _about_user(sentence: str) -> str:
    """What the bot says to the user, as said about the user."""
    return _YOU_ZH.sub("用户", _YOU_EN.sub("the user", sentence))


def _is_topic(rest: str, asked: str) -> bool:
    """Whether somebody asked about this in one sentence."""
    words = frozenset(read_wording(rest).words)
    return (
        bool(words)
        and words <= frozenset(read_wording(asked).words)
        and GroundingSource(asked).holds(rest)
    )


def _words(text: str) -> frozenset[str]:
    return _words_cache.get(text, len(text) + ENTRY_CHARS, lambda: _find_words(text))


def _find_words(text: str) -> frozenset[str]:
    """The content words of a text: stems with synonyms folded, and pairs of CJK characters."""
    found: set[str] = set()
    for sentence in split_statements(text):
        terms = question_terms(sentence)
        empty = set(text_terms(sentence)) - set(terms)
        found.update(term for term in terms if CJK_CHARACTER.match(term))
        words = read_wording(sentence).bare
        found.update(word for word in words if word not in empty and not CJK_CHARACTER.match(word))
    return frozenset(found)


_words_cache: SizedCache[str, frozenset[str]] = SizedCache(MAX_WORDS_CHARS)


def clear_words() -> None:
    """Drop the cached words, which may be those of forgotten text."""
    _words_cache.clear()
