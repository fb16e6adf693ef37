"""What config.json was before: kept for its owner only, put back byte for byte, and never shown
with a secret.
"""

import json
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.config.file import ConfigFile
from bot.config.keys import KEYS, LIST_ITEM, describe_schema
from bot.config.messages import ConfigRejected
from bot.config.versions import MAX_VERSIONS, ConfigVersions

ODD = (
    '{\r\n\t"language":"zh" ,\r\n "channels": {"telegram": '
    '{"token":"12345:se\\u0063ret-of-mine-too"}}\r\n}\r\n\r\n'
)


@pytest.fixture
def file(tmp_path: Path) -> ConfigFile:
    file = ConfigFile(tmp_path / "config.json", {})
    file.path.write_bytes(ODD.encode())
    file.path.chmod(0o600)
    file.load()
    return file


def test_a_restored_file_is_the_earlier_one_to_the_byte(file: ConfigFile) -> None:
    file.set("agent_max_steps", "9")
    file.set("agent_max_steps", "10")
    ids = [version.id for version in file.versions()]
    assert file.restore(ids[-1]).agent_max_steps == 15
    assert file.path.read_bytes() == ODD.encode()
    assert file.restore(ids[0]).agent_max_steps == 10
    with pytest.raises(KeyError):
        file.restore("1" * 19)


def test_an_edit_by_hand_is_a_version_too(file: ConfigFile) -> None:
    file.path.write_text('{"agent_max_steps": 3}')
    file.refresh()
    assert file.current.agent_max_steps == 3
    assert [version.text for version in file.versions()] == ['{"agent_max_steps": 3}', ODD]


def test_a_change_stays_in_force_and_is_one_version_while_other_threads_read_the_file(
    file: ConfigFile,
) -> None:
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            file.refresh()

    with ThreadPoolExecutor(2) as pool:
        looking = [pool.submit(look) for _ in range(2)]
        try:
            for steps in range(2, 42):
                assert file.patch({"agent_max_steps": steps}).agent_max_steps == steps
                assert file.current.agent_max_steps == steps
                texts = [version.text for version in file.versions()]
                assert len(texts) == len(set(texts))
        finally:
            over.set()
        assert [one.result() for one in looking] == [None, None]


def test_versions_are_for_their_owner_only_and_few(tmp_path: Path) -> None:
    versions = ConfigVersions(tmp_path / "versions", now=lambda: 1_000_000_000_000_000_000)
    for number in range(MAX_VERSIONS + 1):
        versions.record(str(number))
        versions.record(str(number))
    assert [version.text for version in versions.all()] == [
        str(n) for n in range(MAX_VERSIONS, 0, -1)
    ]
    assert stat.S_IMODE((tmp_path / "versions").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "versions").iterdir()} == {
        0o600
    }


def test_a_text_is_shown_without_its_secrets_and_saved_with_them(file: ConfigFile) -> None:
    shown = file.source()
    assert "ret-of-mine" not in shown
    assert shown.replace("1234…(24)", "12345:se\\u0063ret-of-mine-too") == ODD
    file.replace_source(shown.replace('"zh"', '"en"'))
    assert file.path.read_bytes() == ODD.replace('"zh"', '"en"').encode()
    elsewhere = json.dumps({"channels": {"wecom": {"secret": "1234…(24)"}}})
    with pytest.raises(
        ConfigRejected,
        match=r"line 1, column 35: channels\.wecom\.secret was given its masked form",
    ):
        file.replace_source(elsewhere)


def test_a_broken_text_is_named_by_line_and_column_and_replaced_from_the_page(
    file: ConfigFile,
) -> None:
    with pytest.raises(ConfigRejected, match="line 2, column 21"):
        file.check_source('{\n "agent_max_steps": 0}')
    file.path.write_text('{"language": ')
    file.refresh()
    assert file.trouble is not None
    file.replace_source(file.source())
    assert file.trouble is None
    assert file.path.read_bytes() == ODD.encode()


def test_programs_are_named_by_the_file_alone(file: ConfigFile) -> None:
    command = {"mcp": {"files": {"command": ["sh", "-c", "true"]}}}
    with pytest.raises(ConfigRejected, match="can only be written in"):
        file.patch(command)
    with pytest.raises(ConfigRejected, match="can only be written in"):
        file.set("mcp", json.dumps(command["mcp"]))
    with pytest.raises(ConfigRejected, match="can only be written in"):
        file.replace_source(json.dumps(command))
    file.path.write_text(json.dumps(command))
    file.refresh()
    file.path.write_text("{}")
    file.refresh()
    with pytest.raises(ConfigRejected, match="can only be written in"):
        file.restore(file.versions()[1].id)


def test_a_check_names_every_wrong_key_and_writes_nothing(file: ConfigFile) -> None:
    wrong = file.check_part(
        {
            "agent_max_steps": 0,
            "language": "en",
            "llm": {"base_url": "nowhere", "model": "gpt-5"},
            "channels": {"telegram": {"token": "1234…(9)"}},
        }
    )
    assert set(wrong) == {"agent_max_steps", "llm.base_url", "channels.telegram.token"}
    assert file.check_part({"agent_max_steps": 9}) == {}
    assert file.path.read_bytes() == ODD.encode()


def test_every_key_has_a_name_and_a_meaning_in_both_languages() -> None:
    untold = {
        key.name
        for key in KEYS.values()
        for text in (key.title, key.about)
        if not text.text("en") or not text.text("zh")
    }
    assert untold == set()
    numbers = {
        key.name
        for key in KEYS.values()
        if key.form in ("integer", "number") and LIST_ITEM not in key.path and not key.unit
    }
    assert numbers == {
        "channels.web.port", "memory.min_importance", "memory.similarity", "heartbeat.day_share",
    }  # fmt: skip


def test_the_schema_says_of_each_leaf_what_a_form_needs() -> None:
    found = list(_leaves(describe_schema(), ()))
    assert {path for path, _ in found} == {
        key.path for key in KEYS.values() if key.form != "section" and LIST_ITEM not in key.path
    }
    for path, leaf in found:
        assert all(
            leaf[name]
            for name in ("title", "description", "x-title-zh", "x-description-zh", "x-group")
        ), path
        assert leaf["x-takes-effect"] in ("now", "turn", "restart"), path
        assert leaf.get("writeOnly", False) == KEYS[path].secret, path


def _leaves(
    schema: dict[str, object], path: tuple[str, ...]
) -> list[tuple[tuple[str, ...], dict[str, object]]]:
    options = schema.get("anyOf")
    inner = (
        next((one for one in options if "properties" in one), schema)
        if isinstance(options, list)
        else schema
    )
    properties = inner.get("properties")
    if not isinstance(properties, dict):
        return [(path, schema)]
    return [leaf for name, field in properties.items() for leaf in _leaves(field, (*path, name))]
