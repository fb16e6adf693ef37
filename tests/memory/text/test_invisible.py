"""What hides in a text is found, and what people write every day is not."""

from memory.text.invisible import find_invisible, find_mixed_words, show_invisible
from tests.cases import every_case


@every_case(
    "text",
    [
        "",
        "plain",
        "中文，全角　空格",
        "👩\u200d💻 👩🏽\u200d💻 ❤\ufe0f\u200d🔥 ❤\ufe0f",
        "naïve Привет שלום",
        "tab\tand\nline",
    ],
)
def test_what_people_write_hides_nothing(text: str) -> None:
    assert find_invisible(text) == []
    assert show_invisible("plain") == "plain"


@every_case(
    "sign", ["\u00ad", "\u200b", "\u2060", "\u3164", "\u2800", "\ufeff", "\U000e0020", "\U000e01ef"]
)
def test_each_hidden_sign_is_named_once(sign: str) -> None:
    assert find_invisible(f"a{sign}b{sign}") == [f"U+{ord(sign):04X}"]
    assert show_invisible(f"a{sign}b") == "a�b"


def test_joints_of_emoji_carry_nothing_else() -> None:
    assert find_invisible("❤\ufe0f\u200d\ufe0f\u200d") == ["U+FE0F"], (
        "a row of them could hold a message"
    )
    assert find_invisible("a\u200db") == ["U+200D"]
    assert find_invisible("a\ufe0f") == ["U+FE0F"]


def test_words_of_scripts_that_look_alike_are_found() -> None:
    assert find_mixed_words("p\u0430ypal and g\u03bfogle and p\u0430ypal") == [
        "p\u0430ypal",
        "g\u03bfogle",
    ]
    assert find_mixed_words("用Python写 Привет κόσμε naïve ｆｕｌｌ") == []
