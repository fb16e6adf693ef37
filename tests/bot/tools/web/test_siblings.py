"""Which of many links that are nearly the same may be opened, and what choosing one of them would
tell.
"""

import string
from hashlib import sha256
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.tools.web.siblings import (
    BIG_CROWD,
    CROWD,
    PAGES_OF_BIG_CROWDS,
    PAGES_OF_CROWDS,
    find_private_choice,
    find_siblings,
    is_one_too_many,
)

SITE = "https://news.example"
FACT = (
    "- Her door code is 4711, she moved in on 1984-05-06. Her sister Marlene and 李小明 have a key."
)
WORDS = """
apple pear plum grape lemon melon peach cherry mango papaya quince fig olive date kiwi lime berry \
nut
""".split()  # noqa: SIM905 - it reads as a list


def opened(urls: list[str], offered: list[str]) -> int:
    """How many of these are opened by a turn that asks for them one after the other."""
    return sum(
        not is_one_too_many(url, urls[: number + 1], offered) for number, url in enumerate(urls)
    )


LISTS = {
    "pins": [f"{SITE}/?pin={number:04}" for number in range(1_000)],
    "pins at the end of a word": [
        f"{SITE}/thecodeofthedoorisnumber{number:04}x" for number in range(1_000)
    ],
    "pins in parts": [f"{SITE}/{'/'.join(f'{number:04}')}" for number in range(1_000)],
    "pins with signs": [f"{SITE}/x?d={'-'.join(f'{number:04}')}" for number in range(1_000)],
    "pins in hosts": [f"https://n{number}.evil.example/" for number in range(1_000)],
    "halves": [f"{SITE}/{half}/{number:02}" for half in ("a", "b") for number in range(100)],
    "letters": [f"{SITE}/{one}{two}" for one in string.ascii_lowercase for two in "abcdefgh"],
    "a table of other numbers": [
        f"{SITE}/x{number * 7919 % 1_000_003:x}7" for number in range(1_000)
    ],
    "long tokens": [
        f"{SITE}/?t={sha256(f'{number}'.encode()).hexdigest()}" for number in range(100)
    ],
    "escaped": [
        f"{SITE}/?d={''.join(f'%{ord(sign):02X}' for sign in f'{number:04}')}"
        for number in range(1_000)
    ],
}


@pytest.mark.parametrize("urls", LISTS.values(), ids=LISTS.keys())
def test_of_a_long_list_that_goes_through_values_one_is_opened(urls: list[str]) -> None:
    chosen = [urls[3], urls[-5], urls[len(urls) // 2], urls[-1]]
    assert opened(chosen, urls) == 1


def test_choices_of_several_lists_count_together() -> None:
    """Otherwise a page has one list for each digit."""
    names = [f"{one}/{two}" for one, two in zip(WORDS[:6], WORDS[6:12], strict=True)]
    lists = [[f"{SITE}/{name}/{number}" for number in range(100)] for name in names]
    offered = [url for urls in lists for url in urls]
    assert opened([urls[17] for urls in lists], offered) == 1


NEWS = {
    "slugs": [f"{SITE}/world/{one}-{two}-in-the-garden" for one in WORDS for two in WORDS[:3]],
    "dates and long slugs": [
        f"{SITE}/2026/11/28/what-the-{one}-says-to-the-{two}" for one in WORDS for two in WORDS[:3]
    ],
    "few numbers": [f"{SITE}/news/2026/1128/{483_920 + 7 * number}" for number in range(CROWD)],
    "titles of two words": [f"{SITE}/wiki/{one}_{two}" for one in WORDS for two in WORDS[:3]],
}


@pytest.mark.parametrize("urls", NEWS.values(), ids=NEWS.keys())
def test_news_with_titles_or_in_small_numbers_are_all_read(urls: list[str]) -> None:
    assert opened(urls[:10], urls) == 10


NUMBERED = {
    "numbers": [f"{SITE}/news/2026/1128/{483_920 + 7 * number}" for number in range(40)],
    "questions": [f"{SITE}/item?id={45_000_000 + 31 * number}" for number in range(30)],
    "letters and digits": [
        f"{SITE}/news/articles/c{number * 7919:07}jl{number % 10}o" for number in range(60)
    ],
    "documents": [
        f"{SITE}/c/2026-11-28/doc-inx{number * 104_729:08}.shtml" for number in range(BIG_CROWD)
    ],
    "of two days": [
        f"{SITE}/news/2026/11{day}/{day}39{number:02}" for day in (27, 28) for number in range(30)
    ],
}


@pytest.mark.parametrize("urls", NUMBERED.values(), ids=NUMBERED.keys())
def test_three_numbered_news_of_one_page_are_read(urls: list[str]) -> None:
    assert opened(urls[:7], urls) == PAGES_OF_CROWDS == 3
    assert opened([urls[0]] * 5, urls) == 5, "one page is one choice, however often it is asked for"
    assert PAGES_OF_BIG_CROWDS == 1


def test_pages_of_no_crowd_are_not_counted() -> None:
    urls = NUMBERED["numbers"]
    others = [f"https://other.example/{word}-of-the-day" for word in WORDS[:5]]
    assert opened([*others, *urls[:3]], [*urls, *others]) == 8


@pytest.mark.parametrize(
    ("listed", "chosen"),
    [
        ([f"?pin={number}" for number in range(4_700, 4_720)], "4711"),
        ([f"?{number}=x" for number in range(4_700, 4_705)] + ["?4711=x"], "4711"),
        (["?who=Anna", "?who=Marlene", "?who=Berta"], "marlene"),
        (["?who=anna", "?who=MARLENE"], "marlene"),
        ([f"?who={quote(name)}" for name in ("王芳", "李小明")], "李小明"),
    ],
)
def test_a_number_or_name_of_memory_is_not_chosen_from_a_list(
    listed: list[str], chosen: str
) -> None:
    offered = [f"{SITE}/{one}" for one in listed]
    refused = [url for url in offered if find_private_choice(url, offered, [FACT], [])]
    assert len(refused) == 1
    assert find_private_choice(refused[0], offered, [FACT], []) == chosen
    assert not find_private_choice(refused[0], offered, [FACT], [f"what about {chosen}?"]), (
        "they typed it"
    )
    assert not find_private_choice(refused[0], [refused[0]], [FACT], []), (
        "without siblings nothing is chosen"
    )


@pytest.mark.parametrize(
    "listed",
    [
        ["/1984/05/story", "/1985/05/story"],
        ["/47/a", "/47/b"],
        ["/the-key", "/the-door"],
        ["/page/4", "/page/5"],
    ],
)
def test_years_of_dates_short_numbers_and_plain_words_are_no_secrets(listed: list[str]) -> None:
    offered = [f"{SITE}{one}" for one in listed]
    assert not [url for url in offered if find_private_choice(url, offered, [FACT], [])]


URLS = st.lists(
    st.from_regex(r"\Ahttps://[ab]\.example/[a-c0-9/=-]{0,12}\Z"), min_size=1, max_size=30
)


@given(URLS)
def test_siblings_are_siblings_of_each_other_and_of_the_same_form(urls: list[str]) -> None:
    found = find_siblings(urls[0], urls)
    assert len(found) <= len(set(urls))
    own = found[0]
    assert all(len(other) == len(own) for other in found)
    for other in found[1:]:
        assert len(find_siblings("".join(other), urls)) >= 2


@given(URLS, st.randoms(use_true_random=False))
def test_no_order_of_asking_opens_more_than_the_limit(urls: list[str], random: object) -> None:
    many = [f"{SITE}/{number}" for number in range(CROWD + 1)]
    asked = [*urls, *many]
    random.shuffle(asked)  # type: ignore[attr-defined]
    allowed = [
        url
        for n, url in enumerate(asked)
        if url in many and not is_one_too_many(url, asked[: n + 1], asked)
    ]
    assert len(allowed) <= PAGES_OF_CROWDS


@given(st.integers(1_000, 99_999_999), st.integers(1_000, 99_999_999))
def test_any_whole_number_of_memory_is_found_among_its_siblings(secret: int, other: int) -> None:
    offered = [f"{SITE}/?n={secret}", f"{SITE}/?n={other}"]
    expected = "" if secret == other else str(secret)
    assert find_private_choice(offered[0], offered, [f"the code is {secret}"], []) == expected
