"""Policy is pure: these modules read no clock, no file, no network and no chance."""

import ast

from tests.cases import every_case
from tests.conventions.sources import Source, imported, nodes, sources

PURE = (
    "memory/context/",
    "memory/text/",
    "memory/recall/dates/",
    "memory/recall/ranking.py",
    *(
        f"memory/longterm/{name}.py"
        for name in ("extraction", "line_kinds", "own_words", "similarity")
    ),
    "memory/conversation.py",
    "channels/base.py",
    "channels/message.py",
    *(f"channels/toolkit/{name}.py" for name in ("markdown", "settings", "text", "untrusted")),
    *(
        f"channels/{name}/messages.py"
        for name in ("feishu", "telegram", "wechat", "wechat_mp", "wecom")
    ),
    *("channels/feishu/cards.py", "channels/telegram/html.py"),
    *("bot/messages.py", "bot/access/permissions.py", "bot/models/health.py"),
    *(
        "bot/cli/backup/config.py",
        "bot/cli/replay/formats.py",
        "bot/cli/replay/plot.py",
        "bot/cli/replay/report.py",
    ),
    *(f"bot/config/{name}.py" for name in ("json_source", "keys", "loader")),
)
IMPURE = {
    *(
        "aiosqlite",
        "asyncio",
        "concurrent",
        "glob",
        "http",
        "httpx",
        "io",
        "logging",
        "multiprocessing",
        "os",
    ),
    *(
        "pathlib",
        "random",
        "secrets",
        "shutil",
        "signal",
        "socket",
        "sqlalchemy",
        "sqlite3",
        "ssl",
        "structlog",
    ),
    *("subprocess", "tempfile", "threading", "time", "urllib.request", "uuid"),
}
READS_ITS_OWN_DATA = "memory/context/tokens.py"
FILES = {"open", "read_text", "read_bytes", "write_text", "write_bytes"}
CLOCKS = {"now", "today", "utcnow"}


def pure() -> list[Source]:
    return [
        source for source in sources("bot", "channels", "memory") if source.name.startswith(PURE)
    ]


def test_every_module_named_here_exists() -> None:
    names = [source.name for source in sources("bot", "channels", "memory")]
    assert not [wanted for wanted in PURE if not any(name.startswith(wanted) for name in names)]


@every_case("source", pure())
def test_a_pure_module_touches_nothing_outside(source: Source) -> None:
    found = {
        name for _, name in imported(source.tree) if name in IMPURE or name.split(".")[0] in IMPURE
    }
    assert not found
    calls = [node for node in nodes(source.tree) if isinstance(node, ast.Call)]
    clocks = [
        ast.unparse(call)
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr in CLOCKS
    ]
    assert not clocks
    if source.name != READS_ITS_OWN_DATA:
        assert not [
            call
            for call in calls
            if ast.unparse(call.func).split(".")[-1] in ("open", "read_text", "read_bytes")
        ]


@every_case("source", pure())
def test_a_pure_module_imports_only_pure_ones_of_ours(source: Source) -> None:
    ours = [
        name.replace(".", "/")
        for _, name in imported(source.tree)
        if name.split(".")[0] in ("channels", "memory")
    ]
    values = ("channels/errors", "memory/store/errors", "memory/store/rows")
    phrases = "channels/phrases"  # reads its own data, the catalogue
    allowed = (*(name.removesuffix(".py").removesuffix("/") for name in PURE), *values, phrases)
    assert not [name for name in ours if not name.startswith(allowed)]
