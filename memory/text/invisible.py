"""What a person who reads a text does not see in it: invisible characters, and look-alike letters.

Pure.
"""

import re
import unicodedata

# Default_Ignorable_Code_Point of Unicode 16 (DerivedCoreProperties.txt), then two signs that are
# drawn as a blank.
INVISIBLE_RANGES = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
    (0x2800, 0x2800),
    (0x1D159, 0x1D159),
)
_INVISIBLE = re.compile(
    f"[{''.join(f'{chr(first)}-{chr(last)}' for first, last in INVISIBLE_RANGES)}]"
)
_EMOJI_STYLE, _JOINER = "\ufe0f", "\u200d"
_EMOJI_CATEGORIES = frozenset({"So", "Sk"})  # pictures, and the colours of their skin
# Scripts whose letters look like those of another one; Chinese beside Latin letters is usual and
# harmless.
_ALIKE = frozenset(
    {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "FULLWIDTH", "MATHEMATICAL"}
)
_WORD = re.compile(r"[^\W\d_]+")


def find_invisible(text: str) -> list[str]:
    """Return the invisible characters of a text, each once, as `U+200B`; the joints of emoji are
    none of them.
    """
    if not _INVISIBLE.search(text):
        return []
    found = dict[str, None]()
    for before, sign in zip(f" {text}", text, strict=False):
        if _INVISIBLE.match(sign) and not _is_joint(before, sign):
            found[f"U+{ord(sign):04X}"] = None
    return list(found)


def _is_joint(before: str, sign: str) -> bool:
    follows_picture = unicodedata.category(before) in _EMOJI_CATEGORIES
    if sign == _EMOJI_STYLE:
        return follows_picture
    return sign == _JOINER and (follows_picture or before == _EMOJI_STYLE)


def show_invisible(text: str) -> str:
    """Return a text with a visible sign in place of each invisible character."""
    return _INVISIBLE.sub("�", text)


def find_mixed_words(text: str) -> list[str]:
    """Return the words that mix letters of scripts that look alike, such as a Cyrillic letter in a
    Latin word.
    """
    if text.isascii():
        return []
    return [word for word in dict.fromkeys(_WORD.findall(text)) if len(_scripts(word)) > 1]


def _scripts(word: str) -> set[str]:
    return {unicodedata.name(sign, "").partition(" ")[0] for sign in word} & _ALIKE
