"""A summary keeps only what its source says, and a log is given what it left out."""

import random
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.context.summary.extractive import detect_language, extractive_summary, find_constraints
from memory.context.summary.grounding import FactIndex, GroundingSource, ground_text
from memory.context.summary.transcript import list_utterances, write_turns
from memory.context.tokens import WEIGHTED
from memory.conversation import Text
from memory.text.language import split_line
from tests.by_night import examples
from tests.cases import every_case
from tests.memory.context.making import START, make_session, replied, said

SOURCE = """
- 2026-11-20 14:05 User: 我叫林小雨，预算是 12,345.50 元，11月25日去杭州，酒店在「西湖国宾馆」。
- 14:06 Bot: 好的，订单号是 HZ-20931，确认页 https://hotel.example.com/orders/20931?lang=zh 已保存。
- 14:07 User: The deploy failed on Friday: see /var/log/app/deploy.log, job_id build_4711, version \
2.10.3.
- 14:09 Bot: Alice Moreau fixed `config/retry.yaml` and wrote "never retry twice" in the README.md \
at 09:30.
- 14:10 User: 把《三体》第 3 章的笔记发给 chen.wei@example.com，会议改到 2026年12月01日 下午 3:30。
"""

GOOD = [
    "用户叫林小雨，预算 12345.5 元。".replace("12345.5", "12345.50"),
    "用户计划11月25日去杭州，住「西湖国宾馆」。",
    "订单号 HZ-20931，确认页是 https://hotel.example.com/orders/20931?lang=zh 。",
    "The deploy failed; the log is /var/log/app/deploy.log and the job is build_4711.",
    "Version 2.10.3 was affected.",
    "Alice Moreau fixed `config/retry.yaml`.",
    'She wrote "never retry twice" in README.md at 9:30.',
    "《三体》第3章的笔记要发给 chen.wei@example.com。",
    "会议改到 2026-12-01 下午3:30。",
    "- 用户预算是 12,345.50 元",
    "1. Deploy failed on Friday.",
    "Open item: the notes are not sent yet.",
    "## Goal And State",
    "用户在准备旅行，同时在排查部署失败。",
]


def altered(sentence, dice):
    """One digit, or one letter of a path, address or quotation, made another."""
    spots = [m.start() for m in re.finditer(r"\d", re.sub(r"^\d+\. ", "  ", sentence))]
    for pattern in (
        r"https?://\S+",
        r"/\S+\.log",
        r"`([^`]+)`",
        r'"([^"]+)"',
        r"「([^」]+)」",
        r"《([^》]+)》",
    ):
        for match in re.finditer(pattern, sentence):
            spots += [
                at for at in range(match.start() + 1, match.end() - 1) if sentence[at].isalnum()
            ]
    if not spots:
        return None
    at = dice.choice(spots)
    old = sentence[at]
    new = (
        str((int(old) + dice.randrange(1, 9)) % 10)
        if old.isdigit()
        else ("q" if old.casefold() != "q" else "z")
    )
    return sentence[:at] + new + sentence[at + 1 :]


@every_case("sentence", GOOD)
def test_a_true_sentence_is_kept(sentence):
    assert ground_text(sentence, SOURCE).text == sentence.strip()


def test_one_changed_digit_letter_or_quoted_word_takes_the_sentence_out():
    dice = random.Random(4)
    tried, kept = 0, []
    for _ in range(600):
        sentence = altered(dice.choice(GOOD), dice)
        if sentence is not None:
            tried += 1
            kept += [sentence] if ground_text(sentence, SOURCE).text else []
    assert tried > 400
    # a changed digit may make another date that the source does hold
    assert set(kept) <= {"用户计划11月20日去杭州，住「西湖国宾馆」。"}, set(kept)


@every_case(
    "false",
    [
        "Bob Moreau fixed it.".replace("Bob", "Then Bob"),
        "用户去 `config/other.yaml` 里改。",
        "日志在 /var/log/app/deploy.lo 里。",
        "版本是 2.10。",
        "订单号 HZ-2093。",
        "They use the GitHub API.",
        "书是《三体2》。",
    ],
)
def test_what_the_source_does_not_say_goes(false):
    found = ground_text(f"{GOOD[0]}\n{false}", SOURCE)
    assert found.text == GOOD[0]
    assert found.dropped == (false,)
    assert found.share_dropped == 0.5


def test_only_the_false_sentence_of_a_list_item_goes():
    text = "- Version 2.10.3 was affected. It took 47 minutes. Alice Moreau fixed it."
    assert ground_text(text, SOURCE).text == "- Version 2.10.3 was affected. Alice Moreau fixed it."
    assert (
        ground_text("- 会议改到下午3:30。共 9 人参加。地点不变。", SOURCE).text
        == "- 会议改到下午3:30。地点不变。"
    )


def test_sentences_end_in_both_languages_but_not_inside_quotations():
    assert split_line("- 你好。他说「一。二」！See v1.2. Then go.")[1] == [
        "你好。",
        "他说「一。二」！",
        "See v1.2. ",
        "Then go.",
    ]


NAMES = ["Nadia", "Tom", "李雷", "韩梅梅", "小陈"]
TEMPLATES = [
    (
        "{n} paid {a} euros for order AB-{b} on 2026-0{c}-1{c}.",
        "{n} paid {a} euros (order AB-{b}).",
    ),
    (
        "{n}花了 {a} 元，订单 AB-{b}，{c}月1{c}日送到。",
        "{n}在{c}月1{c}日收到订单 AB-{b}，花了{a}元。",
    ),
    (
        "The file /srv/{b}/report_{c}.csv has {a} rows, {n} said.",
        "{n} said /srv/{b}/report_{c}.csv has {a} rows.",
    ),
    ("{n}把会议改到 1{c}:3{c}，在「{b}会议室」。", "会议改到1{c}:3{c}，地点「{b}会议室」。"),
    (
        "Please call {n} at +49 {b} {a}, the ticket is #{c}{b}.",
        "Ticket #{c}{b}: call {n} at +49 {b} {a}.",
    ),
    ("{n} 说 GPU 有 {c}4 GB，模型是 qwen{c}-{b}b。", "{n} 的 GPU 有 {c}4 GB，用 qwen{c}-{b}b。"),
]


def test_fewer_than_one_in_twenty_true_sentences_are_dropped():
    dice = random.Random(7)
    wrong = total = 0
    for _ in range(200):
        picked = [
            [
                form.format(n=dice.choice(NAMES[:1]), a=1000 + k, b=20 + k * 7, c=1 + k)
                for form in dice.choice(TEMPLATES)
            ]
            for k in range(5)
        ]
        source = "\n".join(f"- 14:0{k} User: {pair[0]}" for k, pair in enumerate(picked))
        found = ground_text("\n".join(f"- {pair[1]}" for pair in picked), source)
        wrong += len(found.dropped)
        total += 5
    assert wrong / total < 0.05, (wrong, total)


def test_an_index_has_the_facts_of_all_lines_that_were_added():
    known = FactIndex()
    assert known.has_all("今天天气不错。")
    assert not known.has_all("电话是 13800001111。")
    known.add("- 用户留了电话 13800001111。")
    known.add("- The rows are in /srv/a.csv")
    assert known.has_all("电话是 13800001111，文件是 /srv/a.csv。")
    assert not known.has_all("The code is 4711.")


def test_a_file_name_with_several_dots_is_one_fact():
    sentence = "`roundHalfEven` in price.round.js and src/a.b.test.ts does it now."
    assert ground_text(sentence, sentence).text == sentence
    assert ground_text("It is in price.round.ts.", sentence).text == ""


WORDS = st.sampled_from(
    [
        "预算 3,000 元。",
        "See /a/b.txt.",
        "“好。吗”",
        "AB-12",
        "1.5",
        "记住不要吃花生。",
        "\n- x: 2026-01-02\n",
        "Tom met `x y`. ",
        "```",
        "end",
    ]
)


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(st.lists(WORDS, min_size=1, max_size=8).map("".join), min_size=1, max_size=5),
    st.integers(120, 900),
)
def test_a_digest_always_passes_the_check_and_keeps_to_its_budget(texts, budget):
    messages = [
        m
        for turn in make_session([[said(t), replied(t[::-1])] for t in texts]).turns
        for m in turn.messages
    ]
    before = "- 早先：预算 3,000 元。\n[+4 messages, digest] recall(turn=1)"
    made = extractive_summary(messages, before, WEIGHTED, budget)
    source = before + "\n" + write_turns(messages, START.tzinfo)
    checked = ground_text(made, source)
    assert checked.dropped == ()
    assert WEIGHTED.text(made) <= budget
    assert f"[+{len(messages)} messages, digest]" in made


def test_a_digest_holds_constraints_and_the_newest_words():
    turns = [
        [said("记住：我对花生过敏。"), replied("好。")],
        [said("讲个 300 字的故事"), replied("从前……")],
        [said("再讲一个"), replied("好")],
    ]
    messages = [m for turn in make_session(turns).turns for m in turn.messages]
    made = extractive_summary(messages, "", WEIGHTED, 1_000)
    assert made.startswith("## 约定\n- 记住：我对花生过敏。")
    assert "- 再讲一个" in made
    assert made.endswith("[+6 messages, digest] recall(turn=1) … recall(turn=3)")
    assert find_constraints(list_utterances(messages)) == ["记住：我对花生过敏。"]
    assert detect_language(messages) == "zh"


def test_a_source_knows_a_number_in_any_of_its_usual_writings():
    source = GroundingSource("It cost 1,234,567 on 2026年03月05日 at 08:05, ２０％ off.")
    assert source.holds("1234567")
    assert source.holds("3月5日")
    assert source.holds("2026/3/5, 8:05, 20%")
    assert not source.holds("123456")
    assert not source.holds("2026-03-06")


def test_a_part_that_is_plain_words_has_nothing_to_check():
    assert GroundingSource("").holds("the user is happy")
    assert ground_text("", "x").share_dropped == 0
    assert Text(text="x")
