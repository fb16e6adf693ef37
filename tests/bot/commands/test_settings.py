"""What /config and /policy say about a setting: its meaning, its limits, its value, and how to
change it.
"""

import json
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

from bot.commands.settings import KEY_SETTINGS
from bot.config.keys import KEYS, LIST_ITEM, ConfigKey, nearest_keys, policy_number_meaning
from bot.config.loader import build_config, find_named_key, parse_typed_value
from channels.testing import ScriptedChannel as Channel
from memory.context.policies.policies import POLICIES
from memory.context.policies.settings import PolicySettings
from tests.bot.inside import inside
from tests.cases import every_case

SETTABLE = [key for key in KEYS.values() if key.form != "section" and LIST_ITEM not in key.path]
NUMBERS = [
    f"policies.{policy.name}.{name}"
    for policy in POLICIES.values()
    for name in policy.setting_names
]
ENVIRON = dict.fromkeys(
    (key.example[2:-1] for key in SETTABLE if key.example.startswith("${")),
    "a secret of at least 32 characters",
) | {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}
PRIVATE = {"channels": {"telegram": {"owners": ["boss"], "allow": ["ann"]}}}


def with_value(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    return {path[0]: with_value(path[1:], value)} if path else value


def check_example(key: ConfigKey) -> None:
    """The example is accepted, and changes something."""
    value = parse_typed_value(key, key.example)
    changed = build_config(with_value(key.path, value), ENVIRON).model_dump(mode="json")
    assert changed != build_config({}, ENVIRON).model_dump(mode="json")


@every_case("key", KEYS.values())
def test_every_key_has_a_title_and_a_description_in_both_languages(key: ConfigKey) -> None:
    assert key.title.text("en")
    assert key.about.text("en")
    for zh in (key.title.text("zh"), key.about.text("zh")):
        assert any("\u4e00" <= sign <= "\u9fff" for sign in zh) or zh == "Telegram"


@every_case("key", SETTABLE)
def test_the_example_of_a_key_is_accepted_and_changes_it(key: ConfigKey) -> None:
    check_example(key)


@every_case("name", NUMBERS)
def test_the_example_of_a_policys_number_is_accepted_and_changes_it(name: str) -> None:
    key = find_named_key(name)
    assert key is not None
    check_example(key)


def test_every_setting_of_a_policy_is_explained() -> None:
    meanings = [policy_number_meaning(field.name) for field in fields(PolicySettings)]
    assert all(meaning.text("zh") not in ("", meaning.text("en")) for meaning in meanings)
    assert KEY_SETTINGS.keys() == POLICIES.keys()
    assert all(
        set(names) <= set(POLICIES[name].setting_names) for name, names in KEY_SETTINGS.items()
    )


async def test_a_key_is_explained_with_its_value_default_limits_and_an_example(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, [], {"agent_max_context_turns": 12}) as it:
        told = await it.text("/config agent_max_context_turns")
        assert told.splitlines() == [
            "**Context limit in turns**",
            "Turns at which balanced and turns fold the older half.",
            "agent_max_context_turns = 12 (default 20)",
            "It must be a whole number from 1 to 10000.",
            "Example: /config agent_max_context_turns 30",
        ]
        assert "saved" in await it.text(told.rpartition("Example: ")[2])
        await it.text("/config language zh")
        assert (await it.text("/配置 agent_max_context_turns")).splitlines() == [
            "**上下文轮数上限**",
            "对话达到这么多轮时，balanced 和 turns 策略会整理较早的一半。",
            "agent_max_context_turns = 30（默认 20）",
            "应为 1 到 10000 之间的整数。",
            "示例：/config agent_max_context_turns 30",
        ]


async def test_every_key_can_be_explained_and_a_secret_stays_one(tmp_path: Path) -> None:
    async with inside(tmp_path, [], {"llm": {"api_key": "sk-very-secret-indeed"}}) as it:
        keys = [key for key in KEYS.values() if LIST_ITEM not in key.path]
        asked = [it.channel.hear(f"/config {key.name}") for key in keys]
        for key, message in zip(keys, asked, strict=True):
            told = "".join(part.text for part in await it.answer(message.key))
            assert told.splitlines()[:2] == [f"**{key.title}**", str(key.about)]
            assert "very-secret" not in told


async def test_a_section_lists_its_keys_and_the_sections_in_it(tmp_path: Path) -> None:
    async with inside(tmp_path, [], {"memory": {"recall_limit": 7}}) as it:
        told = (await it.text("/config memory")).splitlines()
        assert "memory.recall_limit = 7" in told
        assert "memory.embedding — Recall by vectors" in told


async def test_an_unknown_key_is_answered_with_near_ones_by_name_or_by_title(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, []) as it:
        assert "Did you mean language" in await it.text("/config langauge")
        assert "Did you mean delegate.tokens" in await it.text("/config tokens")
        assert "agent_max_context_tokens" in await it.text("/config context_tokens")
        assert "agent_max_context_turns" in await it.text("/config 轮数上限")
        assert nearest_keys(("zzz",)) == []


async def test_who_may_not_change_a_key_here_is_told_where(tmp_path: Path) -> None:
    async with inside(tmp_path, [], PRIVATE, Channel(name="telegram", account="bot")) as it:
        shown = await it.text("/config concurrency", chat="boss", sender="boss")
        assert shown.endswith(
            "Can be changed only in the terminal or on the page: /config concurrency 16"
        )
        assert "Example: " in await it.text("/config agent_max_steps", chat="boss", sender="boss")


async def test_policies_are_listed_with_their_numbers_and_what_was_changed(tmp_path: Path) -> None:
    changed = {"balanced": {"fold_at": 0.8, "batch": 0.1}, "rolling": {"every_messages": 6}}
    async with inside(
        tmp_path, [], {"policies": changed, "agent_max_context_tokens": 60_000}
    ) as it:
        shown = (await it.text("/policy")).splitlines()
        assert "At most 60,000 tokens; balanced and turns also fold at 20 turns." in shown
        numbers = {
            line.split(" ")[1].strip("*"): after
            for line, after in pairwise(shown)
            if line[:2] == "- "
        }
        assert set(numbers) == set(POLICIES)
        assert "fold_at 0.8 (default 0.75)" in numbers["balanced"]
        assert "batch 0.1 (default 0.08)" in numbers["balanced"]
        assert "every_messages 6 (default 10)" in numbers["rolling"]
        assert "most_tokens 40,000 · fold_tokens 30,000 · keep_tokens 15,000" in numbers["budget"]
        assert "fold_tokens 150,000 (here 45,000)" in numbers["boundary"]
        assert next(line for line in shown if "●" in line).startswith("- **balanced** ●")
        every = await it.text("/config policies.rolling")
        assert (
            "- every_messages 6 (default 10) — new messages after which the summary is updated"
            in every.splitlines()
        )
        assert every.count("\n- ") == len(POLICIES["rolling"].setting_names)
        assert json.loads((tmp_path / "config.json").read_text())["policies"] == changed
