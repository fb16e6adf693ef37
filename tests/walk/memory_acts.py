"""What leads a bot to note, put in order and forget things, and what must be true of its memory
afterwards.
"""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from memory.text.bullets import parse_bullets
from tests.walk.harness import until
from tests.walk.record import query

if TYPE_CHECKING:
    from tests.walk.kills import Stage

LIKED = (
    "oolong",
    "espresso",
    "cider",
    "lemonade",
    "cocoa",
    "kefir",
    "sherry",
    "mead",
    "horchata",
    "kombucha",
    "chai",
)
PLACES = (
    "Oslo",
    "Quito",
    "Hanoi",
    "Lagos",
    "Perth",
    "Tunis",
    "Minsk",
    "Dakar",
    "Osaka",
    "Turin",
    "Malmo",
)
SECRET = "periwinkle"
_ROWS = "SELECT reason FROM extraction WHERE state"
_SAID = "SELECT 1 FROM message JOIN turn ON turn.id = turn_id WHERE parts LIKE ? AND state = 'done'"
RECURRING = "I water the greenhouse orchids every morning before breakfast"


async def confide(stage: "Stage", token: str) -> None:
    """Something to note, unlike everything said before."""
    at = len(stage.saying)
    stage.say(
        "talk", f"«{token}» hello there. I prefer {LIKED[at]} whenever I travel to {PLACES[at]}."
    )


async def forget(stage: "Stage", token: str) -> None:
    """A secret is told, and then to be forgotten."""
    stage.say(
        "talk",
        (
            f"«{token}» hello there. I prefer the word {SECRET} as my password in "
            f"{PLACES[len(stage.saying)]}."
        ),
    )
    await stage.rest()
    stage.say("talk", f"/forget {SECRET}")
    await stage.rest()
    stage.say("talk", "/forget yes")


async def recur(stage: "Stage", token: str) -> None:
    """A person has said the same on two days, so that the night has something to note."""
    folder = stage.talk.bot.workspace / "memory"
    folder.mkdir(parents=True, exist_ok=True)
    for days in (2, 3):
        day = datetime.now(UTC) - timedelta(days=days)
        (folder / f"{day:%Y-%m-%d}.md").write_text(
            f"# {day:%Y-%m-%d}\n\n- 09:00 User: {RECURRING}.\n"
        )


async def noted(stage: "Stage") -> list[str]:
    """Every line stands once, and the record has one live row for each."""
    await until(
        lambda: not query(stage.talk.bot.db, f"{_ROWS} IN ('queued', 'found')"),
        "every turn is read for facts",
    )
    lines = [bullet.text for bullet in parse_bullets(_memory(stage))]
    found = [
        f"stands {lines.count(line)} times: {line}" for line in set(lines) if lines.count(line) > 1
    ]
    rows = [
        row[0] for row in query(stage.talk.bot.db, "SELECT text FROM memory WHERE state = 'live'")
    ]
    if sorted(rows) != sorted(lines):
        found.append(f"lines {sorted(lines)} but rows {sorted(rows)}")
    found += [
        f"a turn was not read for facts: {row}"
        for row in query(stage.talk.bot.db, f"{_ROWS} = 'failed'")
    ]
    # a third kill interrupts a turn
    said = [word for word in LIKED if query(stage.talk.bot.db, _SAID, f"%{word}%")]
    return [
        *found,
        *(f"not noted: {word}" for word in said if sum(word in line for line in lines) != 1),
    ]


async def dreamt(stage: "Stage") -> list[str]:
    """What recurs was noted once, in one night that is told of once."""
    text = _memory(stage)
    found = [] if text.count("orchids") == 1 else [f"noted {text.count('orchids')} times: {text}"]
    rows = query(stage.talk.bot.db, "SELECT state FROM dream")
    if rows != [("done",)]:
        found.append(f"nights: {rows}")
    diaries = list((stage.talk.bot.workspace / "memory" / "dreams").glob("*.md"))
    told = sum(diary.read_text().count("orchids") for diary in diaries)
    return found if told else [*found, "the diary does not tell of it"]


async def forgotten(stage: "Stage") -> list[str]:
    """The secret is nowhere under the home but in copies that the receipt names."""
    await stage.talk.bot.term()
    needle = SECRET.encode()
    files = [
        path
        for path in stage.talk.bot.home.rglob("*")
        if path.is_file() and path.parent.name != "snapshots"
    ]
    found = [f"still there: {path}" for path in files if needle in path.read_bytes()]
    await stage.talk.bot.start()
    return found


def _memory(stage: "Stage") -> str:
    return (stage.talk.bot.workspace / "MEMORY.md").read_text()
