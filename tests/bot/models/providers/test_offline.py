"""The model without a key: honest, short, and it quotes."""

from collections.abc import Sequence

import pytest

from bot.errors import ConfigError, ModelError
from bot.models.catalog import call_cost, context_window
from bot.models.providers.accounts import ProviderAccount, effective_provider, open_provider
from bot.models.providers.anthropic import AnthropicModel
from bot.models.providers.offline import OfflineModel, OfflinePassage, is_question, overlap_share
from bot.models.providers.openai import OpenAIModel
from memory.text.tokenizer import question_terms
from tests.bot.models.asking import answer_of, asking, blobs, hear, said, streamed, words
from tests.cases import every_case


def offline(*passages: OfflinePassage) -> OfflineModel:
    async def recall(query: str, conversation: str, space: str) -> Sequence[OfflinePassage]:
        return passages

    return OfflineModel(recall=recall)


async def say(*messages: str, passages: Sequence[OfflinePassage] = ()) -> str:
    """What it answers to the last message, the others having been answered before."""
    history = [
        turn
        for message in messages[:-1]
        for turn in (said("user", message), said("assistant", "记下了。"))
    ]
    return words(await answer_of(offline(*passages), asking(*history, messages[-1])))


async def test_it_quotes_what_was_said_in_this_conversation() -> None:
    answer = await say("我喜欢爬山，住在杭州", "今天很累", "我喜欢什么？")
    assert "> 我喜欢爬山，住在杭州" in answer
    assert "今天很累" not in answer
    assert "本次对话" in answer


@every_case(
    ("told", "asked"),
    [
        ("我叫小明，今年三十岁", "我叫什么名字"),
        ("我住在杭州西湖边", "我住在哪里？"),
        ("猫叫豆豆", "我的猫叫什么？"),
        ("My name is Bob and I live in Hangzhou", "Where do I live?"),
        ("My name is Bob and I live in Hangzhou", "what's my name"),
        ("I like climbing mountains", "What mountain do I like to climb?"),
        ("海边的酒店订好了", "海？"),
    ],
)
async def test_a_question_finds_what_was_told(told: str, asked: str) -> None:
    assert told in await say(told, "天气不错 nice weather", asked)


async def test_it_quotes_what_recall_finds_with_its_source() -> None:
    passage = OfflinePassage(
        text="周五和老王在咖啡馆见面", source="memory/2026-11-20.md:12", date="2026-11-20"
    )
    answer = await say("和老王什么时候见面？", passages=[passage])
    assert "> 周五和老王在咖啡馆见面\n— memory/2026-11-20.md:12, 2026-11-20" in answer


async def test_the_same_words_are_quoted_once_and_questions_never() -> None:
    passages = [
        OfflinePassage(text="- 10:00 用户: 我喜欢爬山", source="memory/2026-11-20.md:3"),
        OfflinePassage(text="我喜欢什么？", source="turn 2"),
    ]
    answer = await say("我喜欢爬山", "我喜欢什么呢？", "我喜欢什么？", passages=passages)
    assert answer.count("我喜欢爬山") == 1
    assert "我喜欢什么" not in answer


async def test_it_says_what_it_is_first_and_when_it_has_nothing() -> None:
    assert "llm.api_key" in await say("你好")
    assert "llm.api_key" not in await say("你好", "我住在杭州")
    assert "llm.api_key" in await say("你好", "火星上有水吗？")
    assert "not a language model" in await say("Is there water on Mars?")


async def test_a_statement_is_noted_in_its_own_language() -> None:
    assert (await say("a", "I live in Hangzhou")).startswith("Noted.")
    assert (await say("a", "我住在杭州")).startswith("记下了。")


async def test_the_summary_and_the_notes_in_a_message_are_not_the_persons_words() -> None:
    summary = "[Summary of 4 earlier turns. It is reference]\n我喜欢游泳吗？\n[End of summary]"
    request = asking(
        said("user", summary, "我喜欢爬山"),
        said("assistant", "好"),
        said("user", "我喜欢什么？", "[10:00]"),
    )
    assert "> 我喜欢爬山\n" in words(await answer_of(offline(), request))


@pytest.mark.parametrize(
    ("question", "command"),
    [
        ("What can you do for me?", "/remind 20m"),
        ("Hello! What can you do for me?", "/help"),
        ("你能帮我做什么？", "/提醒 20分钟后"),
        ("你好！你能帮我做什么？", "/帮助"),
        ("你可以帮我做哪些事？", "/帮助"),
        ("Remember that I drink green tea in the morning.", "/remember"),
        ("记住：我早上喝绿茶。", "/记住"),
        ("Please remember that I drink green tea, okay?", "/remember"),
        ("记住我早上喝绿茶，好吗？", "/记住"),
        ("What do you know about me?", "/memory"),
        ("你记得我的哪些事？", "/记忆"),
    ],
)
async def test_what_the_page_suggests_is_answered_with_what_works_and_how_to_set_a_model_up(
    question: str, command: str
) -> None:
    answer = await say(question)
    assert command in answer
    assert "mnema init" in answer
    assert "nothing about that" not in answer
    assert "没有找到" not in answer


@every_case(
    ("told", "asked"),
    [
        ("We met Ann in Porto", "Remember when we met Ann?"),
        ("我的生日是五月三日", "记住我的生日了吗？"),
        ("Ann said that she mends clocks", "Do you know what Ann does? I asked what do you do."),
        ("My kitchen has a leak", "What can you do about the leak in my kitchen?"),
        ("老王会做红烧肉", "老王问过你会做什么菜吗？"),
    ],
)
async def test_a_question_with_words_of_a_request_is_answered_from_the_record(
    told: str, asked: str
) -> None:
    answer = await say(told, asked)
    assert f"> {told}" in answer
    assert "Noted" not in answer
    assert "/remind" not in answer


async def test_what_it_knows_about_a_person_is_what_they_said() -> None:
    said_before = ("I drink green tea", "What do you know about me?")
    answer = await say(*said_before)
    assert "> I drink green tea\n" in answer
    assert "mnema init" in answer


async def test_it_streams_and_is_the_same_every_time() -> None:
    request = asking("hello " * 50)
    (events, answer), (_, again) = [await hear(offline(), request) for _ in range(2)]
    assert streamed(events) == words(answer) == words(again)


async def test_it_writes_no_summaries() -> None:
    with pytest.raises(ModelError) as caught:
        await answer_of(offline(), asking("turns", purpose="fold"))
    assert caught.value.kind == "offline"


@every_case(
    "text", ["你喜欢吗", "what time is it", "去哪儿", "Really?", "他是谁", "多少钱", "Who's there"]
)
def test_questions_are_told(text: str) -> None:
    assert is_question(text)


@every_case("text", ["我喜欢爬山", "I like it.", "记一下：周五开会", "somewhat tired", ""])
def test_statements_are_told(text: str) -> None:
    assert not is_question(text)


def test_nearness_is_a_share() -> None:
    assert overlap_share(question_terms("climbing mountains"), "I climbed a mountain") == 1
    assert overlap_share(question_terms("什么？"), "任何话") == 0


@every_case(
    ("account", "provider", "kind"),
    [
        (ProviderAccount(provider="anthropic", api_key="sk"), "anthropic", AnthropicModel),
        (ProviderAccount(provider="anthropic"), "offline", OfflineModel),
        (ProviderAccount(provider="openai", api_key="sk"), "openai", OpenAIModel),
        (
            ProviderAccount(provider="openai", base_url="http://127.0.0.1:1/v1"),
            "openai",
            OpenAIModel,
        ),
        (ProviderAccount(provider="offline", api_key="sk"), "offline", OfflineModel),
    ],
)
def test_no_key_means_offline(account: ProviderAccount, provider: str, kind: type) -> None:
    async def recall(query: str, conversation: str, space: str) -> Sequence[OfflinePassage]:
        return ()

    assert effective_provider(account) == provider
    assert isinstance(open_provider(account, blobs=blobs, recall=recall), kind)


def test_an_unknown_provider_is_named() -> None:
    with pytest.raises(ConfigError, match=r"anthropc.*anthropic, offline, openai"):
        effective_provider(ProviderAccount(provider="anthropc"))


def test_the_table_knows_snapshots_and_costs() -> None:
    assert context_window("claude-haiku-4-5-20251001") == 200_000
    assert context_window("my-own") == 128_000
    assert call_cost("my-own", input=1, output=1) is None
    assert call_cost(
        "claude-sonnet-5-5", input=1_000_000, output=100_000, cache_read=500_000
    ) == pytest.approx(2.05)
