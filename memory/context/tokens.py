"""Token counters: one structure around three ways to count text."""

import re
from binascii import a2b_base64
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from math import ceil

from memory.conversation import (
    Document,
    Image,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolSpec,
)

MESSAGE_TOKENS = 7  # 3 for the role, 4 for the message around it
CALL_TOKENS = 10
RESULT_TOKENS = 5
TOOL_TOKENS = 10
UNSIZED_IMAGE_TOKENS = 765
PIXELS_PER_TOKEN = 750
DOCUMENT_TOKENS_PER_BASE64 = 1_000 / 50_000
MIN_FACTOR, MAX_FACTOR = 0.5, 2.0  # of the provider's count and ours
MAX_RATIO = 4  # counts that differ by a larger factor are not of the same request
ALL_RANKS = 199_998  # of o200k_base, without its special tokens
HALF_OF_RANKS = 100_000
# longer texts are encoded in chunks: a run of one character takes more than linear time
CHUNK_CHARS = 16_000

# The pre-tokenizer of o200k_base: words with a leading sign and English contractions, up to three
# digits, signs, line ends, other space.
_WORD_TAIL = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_PATTERN = "|".join(
    (
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_WORD_TAIL}",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_WORD_TAIL}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)
_CJK = re.compile("[\u4e00-\u9fff\u3000-\u303f\uff00-\uffef]")
_URL = re.compile(r"https?://\S+")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounter:
    """Counts the tokens of texts, messages and tools; counts are comparable only within one `name`.

    Source of the structure's cost, the budget seed: +3 per role, +4 per message, 10 + JSON per
    call, 5 + text per result, 765 or width·height/750 per image, 1,000 per 50,000 base64 characters
    of a document, or the text read out of it when that is more.
    """

    name: str
    #: Tokens of plain text.
    text: Callable[[str], int]

    def parts(self, parts: Iterable[Part], /) -> int:
        """Tokens of parts without the message around them."""
        return sum(map(self._part, parts))

    def message(self, parts: Iterable[Part], /) -> int:
        """Tokens of a whole message."""
        return MESSAGE_TOKENS + self.parts(parts)

    def tools(self, specs: Sequence[ToolSpec], /) -> int:
        """Tokens of the tools' descriptions and schemas."""
        return sum(
            TOOL_TOKENS + self.text(f"{spec.name}\n{spec.description}\n{spec.schema}")
            for spec in specs
        )

    def _part(self, part: Part) -> int:
        match part:
            case Text():
                return self.text(part.shown)
            case Thinking():
                return self.text(part.text)
            case ToolCall():
                return CALL_TOKENS + self.text(part.name) + self.text(part.input)
            case ToolResult():
                return RESULT_TOKENS + self.text(part.text)
            case Image():
                return ceil(part.width * part.height / PIXELS_PER_TOKEN) or UNSIZED_IMAGE_TOKENS
            case Document():
                encoded = 4 * ceil(part.size / 3)
                return max(ceil(encoded * DOCUMENT_TOKENS_PER_BASE64), self.text(part.text))


def count_weighted(text: str) -> int:
    """1.5 tokens per CJK character, 0.3 per other one."""
    wide = len(_CJK.findall(text))
    return int(wide * 1.5 + (len(text) - wide) * 0.3)


def count_structural(text: str) -> int:
    """A quarter token per character, +50 per fenced block, −10 per URL, less a tenth of the share
    of repeated words.
    """
    base = ceil(len(text) / 4)
    words = _WORD.findall(text)
    repeated = 1 - len(Tally(words)) / len(words) if words else 0.0
    adjusted = (
        base
        + 50 * (text.count("```") // 2)
        - 10 * len(_URL.findall(text))
        - int(base * repeated * 0.1)
    )
    return max(adjusted, min(base, 1))


WEIGHTED = TokenCounter(name="weighted", text=count_weighted)
STRUCTURAL = TokenCounter(name="structural", text=count_structural)


@cache
def load_o200k_counter(most: int = ALL_RANKS) -> TokenCounter:
    """Load the o200k counter once, from the ranks shipped with this package.

    Takes 0.3 s, so call it in a thread.

    Args:
        most: ranks to load, of the most frequent tokens. With HALF_OF_RANKS it takes 26 MB instead
            of 48 and half the time, and counts about 3 % more for English and 9 % for Chinese,
            never less.

    Raises:
        OSError: the ranks are missing; use WEIGHTED instead.
    """
    import tiktoken  # slow, and commands such as --help count no tokens

    ranks = _read_ranks(most)
    encoding = tiktoken.Encoding(
        "o200k_local", pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens={}
    )
    ranks.clear()  # 23 MB, or half, that only decoding would read: the encoder has its own copy

    def count(text: str) -> int:
        if len(text) <= CHUNK_CHARS:
            return len(encoding.encode_ordinary(text))
        return sum(
            len(encoding.encode_ordinary(text[at : at + CHUNK_CHARS]))
            for at in range(0, len(text), CHUNK_CHARS)
        )

    return TokenCounter(name="tiktoken", text=count)


def _read_ranks(most: int = ALL_RANKS) -> dict[bytes, int]:
    with (files("memory") / "data" / "o200k_base.tiktoken").open("rb") as lines:
        parts = (line.split() for line in islice(lines, most))
        # b64decode takes half as long again
        return {a2b_base64(token): int(rank) for token, rank in parts}


def calibrate_factor(
    factor: float, estimated: int, actual: int, weight: float = 0.4
) -> tuple[float, float]:
    """Correct a factor by one reply's real usage.

    Args:
        factor: the factor so far (1.0 at first).
        estimated: our raw count of the request.
        actual: the provider's count.
        weight: of this reply against all earlier ones, above 0, at most 1.

    Returns:
        (new factor: exponential mean within 0.5 to 2.0, error of the corrected estimate in per
        cent).
    """
    if estimated <= 0 or actual <= 0:
        return factor, 0.0
    error = (factor * estimated - actual) / actual * 100
    return min(MAX_FACTOR, max(MIN_FACTOR, factor + weight * (actual / estimated - factor))), error


def is_believable(estimated: int, actual: int) -> bool:
    """Whether both counts can belong to one request: tokenizers differ by less than a factor of
    four.
    """
    return 0 < estimated <= actual * MAX_RATIO and 0 < actual <= estimated * MAX_RATIO
