"""Policy is pure: these modules read no clock, no file, no network and no chance."""

import ast

import pytest

from tests.house.sources import Source, imported, sources

PURE = (
    "memory/context",
    *(f"memory/recall/{name}.py" for name in ("lexical", "terms", "calendar", "dates", "passages", "ranking")),
    *(f"memory/recall/{name}.py" for name in ("dates_en", "dates_en_near", "dates_zh")),
    *(
        f"memory/longterm/{name}.py"
        for name in ("bullets", "similarity", "wording", "synonyms", "extraction", "own_words")
    ),
    *(f"memory/forgetting/{name}.py" for name in ("mentions", "redaction")),
    "memory/conversation.py",
    "memory/speakers.py",
    "channels/base.py",
    "channels/message.py",
    "channels/markdown_tree.py",
    "channels/plain.py",
    "channels/text.py",
    "channels/strict_json.py",
    "channels/strict_xml.py",
    *(f"channels/telegram/{name}.py" for name in ("format", "hooking", "parameters", "words")),
    *(f"channels/feishu/{name}.py" for name in ("cards", "codes", "content", "files", "words")),
    *(f"channels/wechat/{name}.py" for name in ("crypt", "words")),
    *(f"channels/wechat_mp/{name}.py" for name in ("places", "words")),
    "channels/wecom/words.py",
    "bot/access.py",
    "bot/backup_config.py",
    "bot/composing.py",
    "bot/config/build.py",
    "bot/config/json_text.py",
    "bot/config/keys.py",
    "bot/intake.py",
    "bot/models/health.py",
    "bot/replay/cost.py",
    "bot/replay/figures.py",
    "bot/replay/plot.py",
    "bot/replay/turning.py",
    "bot/replay/wire.py",
    "bot/reply.py",
)
IMPURE = {
    *("aiosqlite", "asyncio", "concurrent", "glob", "http", "httpx", "io", "logging", "multiprocessing", "os"),
    *("pathlib", "random", "secrets", "shutil", "signal", "socket", "sqlalchemy", "sqlite3", "ssl", "structlog"),
    *("subprocess", "tempfile", "threading", "time", "urllib.request", "uuid"),
}
READS_ITS_OWN_DATA = "memory/context/counter.py"
FILES = {"open", "read_text", "read_bytes", "write_text", "write_bytes"}
CLOCKS = {"now", "today", "utcnow"}


def pure() -> list[Source]:
    return [source for source in sources("bot", "channels", "memory") if source.name.startswith(PURE)]


def test_every_module_named_here_exists() -> None:
    names = [source.name for source in sources("bot", "channels", "memory")]
    assert not [wanted for wanted in PURE if not any(name.startswith(wanted) for name in names)]


@pytest.mark.parametrize("source", pure(), ids=lambda source: source.name)
def test_a_pure_module_touches_nothing_outside(source: Source) -> None:
    found = {name for _, name in imported(source.tree) if name in IMPURE or name.split(".")[0] in IMPURE}
    assert not found
    calls = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call)]
    clocks = [ast.unparse(call) for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr in CLOCKS]
    assert not clocks
    if source.name != READS_ITS_OWN_DATA:
        assert not [
            call for call in calls if ast.unparse(call.func).split(".")[-1] in ("open", "read_text", "read_bytes")
        ]


@pytest.mark.parametrize("source", pure(), ids=lambda source: source.name)
def test_a_pure_module_imports_only_pure_ones_of_ours(source: Source) -> None:
    ours = [name.replace(".", "/") for _, name in imported(source.tree) if name.split(".")[0] in ("channels", "memory")]
    errors = ("channels/errors", "memory/store/errors", "memory/store/records")
    allowed = (*(name.removesuffix(".py") for name in PURE), *errors)
    assert not [name for name in ours if not name.startswith(allowed)]
