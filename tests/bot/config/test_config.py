"""Accepted settings, errors about the others, and where secrets are visible."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.config.file import ConfigFile
from bot.config.keys import KEYS, known_secrets
from bot.config.loader import build_config, format_example, format_starter
from bot.config.messages import ConfigRejected
from bot.config.schema import Config
from memory.context.policies.policies import POLICIES, Policy, build_policy
from tests.cases import every_case

# Literals, so that the product is not compared with itself.
DEFAULT = "balanced"

KEY = "sk-ant-abcdefghijk123456"


@pytest.fixture
def file(tmp_path: Path) -> ConfigFile:
    file = ConfigFile(
        tmp_path / "config.json", {"ANTHROPIC_API_KEY": KEY, "STEPS": "7", "WHO": "42"}
    )
    file.load()
    return file


def refusal(file: ConfigFile, key: str, value: str) -> ConfigRejected:
    before = file.path.read_bytes() if file.path.exists() else b""
    with pytest.raises(ConfigRejected) as caught:
        file.set(key, value)
    assert (file.path.read_bytes() if file.path.exists() else b"") == before
    return caught.value


def test_without_a_file_every_setting_has_its_default(file: ConfigFile) -> None:
    assert file.current.model_copy(update={"llm": Config().llm}) == Config()
    assert file.current.llm.api_key == KEY
    assert file.get("llm.api_key") == "${ANTHROPIC_API_KEY}"


def test_the_numbers_people_rely_on() -> None:
    config = Config()
    assert (
        config.agent_max_context_tokens,
        config.agent_max_context_turns,
        config.agent_max_steps,
    ) == (50_000, 20, 15)
    assert (config.channels.web.host, config.channels.web.port) == ("127.0.0.1", 8642)
    assert (config.concurrency, config.session_max_idle_days, config.retention_days) == (64, 30, 0)
    assert (config.memory.similarity, config.memory.recall_timeout_ms) == (0.85, 500)


@pytest.mark.parametrize(
    "value", ["abc", "-1", "999999999999", "9" * 5000, "3.5", "true", "", '"60000"']
)
def test_a_wrong_number_is_told_what_would_be_right(file: ConfigFile, value: str) -> None:
    wrong = refusal(file, "agent_max_context_tokens", value)
    right = "it must be a whole number from 4000 to 10000000, such as 50000."
    assert str(wrong).startswith("agent_max_context_tokens is ")
    assert str(wrong).endswith(right)
    assert "应为 4000 到 10000000 之间的整数，例如 50000。" in wrong.say("zh")
    assert len(str(wrong)) < 200


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        (
            "agent_max_steps",
            "201",
            "agent_max_steps is 201; it must be a whole number from 1 to 200, such as 15.",
        ),
        ("notify_folds", "yes", 'notify_folds is "yes"; it must be true or false.'),
        ("language", "fr", 'language is "fr"; it must be auto, zh or en.'),
        ("timezone", "Asia/Foo", "such as Asia/Shanghai"),
        ("memory.dream_at", "25:00", "such as 03:30"),
        ("channels.web.host", "0.0.0.0", "put a proxy with TLS in front"),
        (
            "context_policy",
            "clever",
            "it must be balanced, turns, budget, layers, boundary or rolling.",
        ),
        ("llm.proxy", "ftp://x", "http://, https:// or socks5://"),
        ("llm.base_url", "not a url", "begins with http://"),
        ("channels.telegram.allow", "[1]", 'a list of texts, such as ["a", "b"]'),
        ("llm", "5", "it must be an object in braces"),
        (
            "policies",
            "5",
            (
                'it must hold numbers by the policy\'s name, such as {"balanced": {"snip_chars": '
                "15000}}."
            ),
        ),
        ("policies.turns", "5", "policies.turns is 5; it must hold numbers by the policy's name"),
        (
            "policies.blanced.x",
            "1",
            'policies: there is no policy "blanced". Did you mean balanced? Available: balanced, ',
        ),
        (
            "policies.rolling.fold_at",
            "0.5",
            'policies.rolling: the policy rolling has no number "fold_at". It has ever',
        ),
        ("policies.balanced.fold_t", "1", "Did you mean fold_at? It has "),
        (
            "policies.balanced.fold_at",
            "3",
            "fold_at is 3; it must be a number from 0.1 to 1, such as 0.75.",
        ),
        (
            "policies.balanced.fold_at",
            "true",
            "fold_at is true; it must be a number from 0.1 to 1, such as 0.75.",
        ),
        (
            "policies.balanced.reach",
            "0.5",
            "reach is 0.5; it must be a whole number from 0 to 1000, such as 2.",
        ),
        (
            "policies.turns.snip_chars",
            "many",
            'snip_chars is "many"; it must be a whole number from 200 to 10000000,',
        ),
        (
            "policies",
            '{"layers": {"window": 1e9}}',
            "policies.layers.window is 1000000000.0; it must be a whole number",
        ),
        ("llm.modle", "x", "llm.modle is not a key here. Did you mean llm.model?"),
        ("api_key", "x", "Did you mean llm.api_key?"),
        ("agent_max_step", "x", "Did you mean agent_max_steps?"),
        ("zzz", "x", "zzz is not a key here."),
    ],
)
def test_every_refusal_is_one_sentence_that_helps(
    file: ConfigFile, key: str, value: str, said: str
) -> None:
    wrong = refusal(file, key, value)
    assert said in str(wrong)
    assert wrong.say("zh") != str(wrong)
    assert "\n" not in str(wrong)


def test_every_key_can_be_set_to_its_default_and_read_back(file: ConfigFile) -> None:
    for key in KEYS.values():
        if "*" in key.path or key.path[:2] == ("memory", "embedding"):
            continue
        file.set(key.name, json.dumps(key.default))
        assert file.get(key.name) == key.default
    assert file.current.llm.api_key == KEY


def test_a_text_may_be_typed_bare_or_quoted(file: ConfigFile) -> None:
    assert file.set("llm.model", "claude-x").llm.model == "claude-x"
    assert file.set("llm.model", '"claude y"').llm.model == "claude y"
    assert file.set("channels.telegram.allow", '["1", "-100"]').channels.telegram.allow == (
        "1",
        "-100",
    )
    assert file.set("memory.embedding.model", "m").memory.embedding is not None


def test_a_policys_numbers_are_set_one_by_one_and_given_back_whole(file: ConfigFile) -> None:
    assert file.get("policies.balanced.fold_at") == 0.75
    file.set("policies.balanced.fold_at", "0.5")
    file.set("policies.balanced.snip_chars", "15000")
    assert file.current.policies == {"balanced": {"fold_at": 0.5, "snip_chars": 15_000}}
    settings = build_policy("balanced", file.current.policies).settings
    assert (settings.fold_at, settings.snip_chars) == (0.5, 15_000)
    assert file.get("policies.balanced.fold_at") == 0.5
    assert file.get("policies.balanced") == {"fold_at": 0.5, "snip_chars": 15_000}
    assert file.set("policies.balanced", '{"fold_at": 0.6}').policies == {
        "balanced": {"fold_at": 0.6}
    }
    assert file.set("policies", "{}").policies == {}
    assert file.get("policies.balanced.fold_at") == 0.75
    for name in ("policies.balanced.nope", "policies.nope", "policies.nope.fold_at"):
        with pytest.raises(ConfigRejected, match=r"has no number|there is no policy"):
            file.get(name)


@pytest.mark.parametrize(("name", "policy"), POLICIES.items())
def test_every_number_of_every_policy_may_be_set_to_its_own_value(
    file: ConfigFile, name: str, policy: Policy
) -> None:
    for setting in policy.setting_names:
        value = getattr(policy.settings, setting)
        file.set(f"policies.{name}.{setting}", json.dumps(value))
        assert file.get(f"policies.{name}.{setting}") == value
    assert build_policy(name, file.current.policies) == policy


def test_every_policy_may_be_chosen_and_balanced_is_the_default(file: ConfigFile) -> None:
    assert Config().context_policy == DEFAULT == "balanced"
    assert KEYS["context_policy",].choices == tuple(POLICIES)
    abouts = [KEYS["context_policy",].about.text(lang) for lang in ("en", "zh")]
    assert all(name in about for about in abouts for name in POLICIES)
    for name in POLICIES:
        assert file.set("context_policy", name).context_policy == name


def test_a_wrong_number_in_the_file_is_told_with_its_place(file: ConfigFile) -> None:
    file.path.write_text('{"policies": {\n  "balanced": {"fold_at": 7}}}')
    with pytest.raises(
        ConfigRejected, match=r"line 2, column 27: policies\.balanced\.fold_at is 7; it must be"
    ):
        file.check()
    file.path.write_text('{"policies": {\n  "balanced": {"foldat": 1}}}')
    with pytest.raises(
        ConfigRejected,
        match=r"line 2, column 16: policies\.balanced: the policy balanced has no number",
    ) as told:
        file.check()
    assert "你是不是想写 fold_at？" in told.value.say("zh")


def test_references_read_the_environment_and_stay_as_written(file: ConfigFile) -> None:
    file.path.write_text(
        '{"agent_max_steps": "${STEPS}", "channels": {"telegram": {"owners": ["${WHO}"]}}}'
    )
    config = file.load()
    assert (config.agent_max_steps, config.channels.telegram.owners) == (7, ("42",))
    file.set("language", "zh")
    assert '"agent_max_steps": "${STEPS}"' in file.path.read_text()


def test_a_missing_variable_is_an_empty_secret_but_a_fault_elsewhere(file: ConfigFile) -> None:
    file.path.write_text('{"llm": {"api_key": "${NOPE}"}}')
    assert file.load().llm.api_key == ""
    assert file.get("llm.api_key") == "${NOPE}"
    file.path.write_text('{"llm":\n {"model": "${NOPE}"}}')
    with pytest.raises(
        ConfigRejected, match=r"line 2, column 12: llm\.model reads the environment variable NOPE"
    ):
        file.check()


@every_case(
    ("section", "credentials"),
    [
        ("telegram", {"token": "100:x"}),
        ("feishu", {"app_id": "a", "app_secret": "s"}),
        ("wechat_mp", {"app_id": "a", "app_secret": "s", "token": "t"}),
        ("wecom", {"bot_id": "b", "secret": "s"}),
    ],
)
def test_a_channel_is_on_once_its_credentials_are_there_unless_it_is_turned_off(
    section: str, credentials: dict[str, str]
) -> None:
    def on(**given: Any) -> tuple[bool, bool]:
        channel = getattr(build_config({"channels": {section: given}}, {}).channels, section)
        return channel.enabled, channel.on

    assert on(**credentials) == (True, True)
    assert on(**credentials, enabled=True) == (True, True)
    assert on(**credentials, enabled=False) == (False, False)
    assert on() == (False, False)
    assert on(enabled=True) == (True, False)
    for missing in credentials:
        assert on(**{**credentials, missing: ""}) == (False, False)


def test_a_key_in_the_environment_is_not_sent_to_another_provider() -> None:
    environ = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": "sk-openai"}
    for provider, expected in (("anthropic", KEY), ("openai", "sk-openai"), ("offline", "")):
        assert build_config({"llm": {"provider": provider}}, environ).llm.api_key == expected


def test_secrets_are_shown_masked_only(file: ConfigFile) -> None:
    token = "123456:abcdefghijklmnop"
    file.set("channels.telegram.token", token)
    file.set("database_url", "postgresql+psycopg://u:hunter22@h/db")
    file.set("llm.fallback", '[{"provider": "openai", "api_key": "sk-other-0123456"}]')
    shown = json.dumps(file.masked(), ensure_ascii=False) + repr(file.current)
    for secret in (token, "hunter22", "sk-other", KEY):
        assert secret not in shown
    assert file.get("channels.telegram.token") == "1234…(23)"
    assert file.get("database_url") == "postgresql+psycopg://u:…(8)@h/db"
    assert known_secrets(file.current) == {token, "hunter22", "sk-other-0123456", KEY}


def test_a_wrong_secret_is_not_repeated_in_its_refusal(file: ConfigFile) -> None:
    assert "hunter22" not in str(refusal(file, "database_url", "mysql://u:hunter22@h/db"))
    assert "67890" not in str(refusal(file, "llm", '{"api_key": 1234567890123456789}'))


def test_what_was_shown_may_be_sent_back_and_changes_nothing(file: ConfigFile) -> None:
    file.set("channels.telegram.token", "123456:abcdefghijklmnop")
    before = file.path.read_bytes()
    file.patch(file.masked())
    assert file.path.read_bytes() == before
    changed = file.patch({"channels": {"telegram": {"token": "1234…(23)", "mode": "webhook"}}})
    assert changed.channels.telegram.token == "123456:abcdefghijklmnop"
    assert changed.channels.telegram.mode == "webhook"


@pytest.mark.parametrize(
    "part",
    [
        {"channels": {"telegram": {"token": "9999…(23)"}}},
        {"llm": {"fallback": [{"api_key": "abcd…(20)"}]}},
        {"database_url": "postgresql+psycopg://u:…(8)@elsewhere/db"},
    ],
)
def test_a_mask_never_takes_a_secrets_place(file: ConfigFile, part: dict[str, Any]) -> None:
    with pytest.raises(ConfigRejected, match="masked form"):
        file.patch(part)


def test_a_patch_is_taken_whole_or_not_at_all(file: ConfigFile) -> None:
    file.patch({"agent_max_steps": 9, "llm": {"model": "m"}})
    with pytest.raises(ConfigRejected, match=r"llm\.nope is not a key"):
        file.patch({"agent_max_steps": 10, "llm": {"nope": 1}})
    assert file.load().agent_max_steps == 9


def test_the_first_file_and_the_example_are_right(tmp_path: Path) -> None:
    for text in (format_starter(), format_example()):
        (tmp_path / "config.json").write_text(text)
        assert ConfigFile(tmp_path / "config.json", {}).load() == Config()
