"""The benchmark of recall: what its figures mean, and the floors that its own sets must reach."""

import json
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from subprocess import run

import pytest

from benchmarks import recall, recall_rows
from benchmarks.embedding_cache import CachingEmbedder
from benchmarks.process import ROOT
from benchmarks.recall import OWN, Measured, Returned, Scored, score
from benchmarks.recall_people import Person, read_people, store_conversation, write_logs
from memory.workspace.files import Workspace
from tests.memory.recall.hashing import Hashing

# Of the sets that lie beside the benchmark.
FLOORS = {
    "en": {"R@5": 0.90, "B2000": 0.90, "MRR": 0.70},
    "zh": {"R@5": 0.95, "B2000": 0.95, "MRR": 0.75},
    "friends": {"R@5": 0.55, "B2000": 0.70, "MRR": 0.46},
}
ON_THE_DAY, YEARS_LATER = datetime(2025, 11, 12, tzinfo=UTC), datetime(2031, 2, 3, tzinfo=UTC)


def returned(*ids: str, tokens: int = 10) -> list[Returned]:
    return [Returned(id=id, tokens=tokens) for id in ids]


def test_a_share_is_of_the_evidence_and_a_repeat_counts_once() -> None:
    found = score(returned("x", "a", "a", "y", "z", "b"), {"a", "b"})
    assert (found["R@1"], found["R@3"], found["R@5"], found["R@10"]) == (0, 0.5, 0.5, 1)
    assert found["MRR"] == 0.5
    assert score(returned("x", "y"), {"a"}) == dict.fromkeys(recall.COLUMNS, 0.0)


def test_only_what_fits_two_thousand_tokens_counts_there() -> None:
    assert score(returned("a", "b", tokens=1_000), {"a", "b"})["B2000"] == 1
    assert score(returned("a", "b", tokens=1_001), {"a", "b"})["B2000"] == 0.5
    assert score(returned("a", tokens=2_001), {"a"}) == {**score(returned("a"), {"a"}), "B2000": 0}


def test_tokens_are_one_for_each_wide_character_and_one_for_four_others() -> None:
    assert [recall.tokens(text) for text in ("", "abcd", "abcde", "记忆", "记忆ab")] == [
        0,
        1,
        2,
        2,
        3,
    ]


def test_docs_become_logs_that_people_could_have_written_and_know_their_lines(
    tmp_path: Path,
) -> None:
    docs = [
        {
            "id": "a",
            "date": "2025-03-03 08:10",
            "session": "1",
            "speaker": "Ann",
            "text": "one\nline",
        },
        {"id": "b", "date": "2025-03-03 08:11", "session": "1", "speaker": "Bot", "text": "two"},
        {"id": "c", "date": "2025-03-03 20:00", "session": "2", "speaker": "Ann", "text": "three"},
        {"id": "d", "date": "2025-03-04 09:00", "session": "2", "speaker": "Ann", "text": "four"},
    ]
    workspace = Workspace(tmp_path)
    places = write_logs(workspace, Person(name="Ann", docs=docs, questions=[]))
    assert (tmp_path / "memory" / "2025-03-03.md").read_text() == (
        "# 2025-03-03\n\n## 08:10 · 1\n\n- 08:10 Ann: one line\n- 08:11 Bot: two\n\n"
        "## 20:00 · 2\n\n- 20:00 Ann: three\n"
    )
    assert places == {
        ("memory/2025-03-03.md", 5): "a",
        ("memory/2025-03-03.md", 6): "b",
        ("memory/2025-03-03.md", 10): "c",
        ("memory/2025-03-04.md", 5): "d",
    }


@pytest.mark.parametrize("name", sorted(FLOORS))
def test_every_question_of_ours_names_docs_that_are_there(name: str) -> None:
    people = json.loads((OWN / f"{name}.json").read_text("utf-8"))
    for person in people:
        ids = [doc["id"] for doc in person["docs"]]
        assert len(ids) == len(set(ids))
        assert len(person["questions"]) >= 15
        assert all(
            set(asked["evidence"]) <= set(ids) and asked["evidence"]
            for asked in person["questions"]
        )


@pytest.mark.parametrize("name", sorted(FLOORS))
async def test_our_sets_reach_their_floors_on_the_day_and_years_later(name: str) -> None:
    now, later = [
        await recall.measured(OWN / f"{name}.json", day) for day in (ON_THE_DAY, YEARS_LATER)
    ]
    assert not {
        figure: now.ours[figure]
        for figure, floor in FLOORS[name].items()
        if now.ours[figure] < floor
    }
    assert now.ours["R@5"] > now.plain["R@5"]
    assert later.ours == now.ours


async def test_rows_are_the_same_each_time_and_are_found_by_their_words() -> None:
    made = recall_rows.synthetic(40)
    assert made == recall_rows.synthetic(40)
    figures, _ = await recall_rows.figures([40], ON_THE_DAY)
    assert {figure.name for figure in figures} >= {
        "index 40 rows",
        "query over 40 rows, p50",
        "query over 40 rows, p95",
    }
    assert all(figure.ours > 0 and figure.floor > 0 for figure in figures)


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """What the benchmark prints of its own sets."""
    return recall.main(["--now", "2025-11-12", "--rows"]).splitlines()


def test_it_prints_a_line_for_each_set_and_what_plain_full_text_search_finds(
    lines: list[str],
) -> None:
    sets = [at for at, line in enumerate(lines) if re.match(r"(?:en|friends|zh) +\d", line)]
    assert [lines[at].split()[0] for at in sets] == ["en", "friends", "zh"]
    assert all(lines[at + 1].startswith("  plain FTS5") for at in sets)
    assert any(line.startswith("zh, R@5") for line in lines)


def test_a_set_that_was_fitted_on_is_shown_by_halves_and_each_by_kinds(lines: list[str]) -> None:
    halves = [line.split() for line in lines if "half" in line]
    assert [half[-8] for half in halves] == ["26", "26"]  # of friends
    assert sum(line.startswith("  reworded ") for line in lines) == 2


def test_a_file_that_has_only_the_name_of_a_fitted_set_is_none(tmp_path: Path) -> None:
    write_set(tmp_path / "friends.json", "The weir is closed.", "The heron is grey.")
    assert "half" not in recall.main(["--now", "2025-11-12", "--rows", "--data", str(tmp_path)])


def test_a_message_and_its_answer_in_one_text_are_two_rows(tmp_path: Path) -> None:
    write_set(tmp_path / "pair.json", "My cat is Miso. ‖ What a name!", "The heron is grey.")
    [person] = read_people(tmp_path / "pair.json")
    assert [(doc["id"], doc["speaker"], doc["text"]) for doc in person.docs] == [
        ("0", "Ann", "My cat is Miso."),
        ("0", "Bot", "What a name!"),
        ("1", "Ann", "The heron is grey."),
    ]


@pytest.mark.parametrize("speakers", [("Ann", "Bot"), ("Ann", "Ben")])
async def test_stored_conversations_are_searched_instead_of_logs(
    tmp_path: Path, speakers: tuple[str, str]
) -> None:
    texts = ("My cat is called Miso.", "What a name!", "She is afraid of the vacuum cleaner.")
    docs = [
        {
            "id": str(at),
            "date": f"2025-03-03 08:1{at}",
            "session": "1",
            "speaker": speakers[at % 2],
            "text": text,
        }
        for at, text in enumerate(texts)
    ]
    asked = [{"q": "What is the vacuum cleaner to her?", "evidence": ["2"]}]
    path = tmp_path / "set.json"
    path.write_text(json.dumps([{"name": "Ann", "docs": docs, "questions": asked}]))
    found = await recall.measured(path, ON_THE_DAY, stored=True)
    assert found.ours["R@1"] == 1
    async with recall.opened() as (workspace, store, _):
        [person] = read_people(path)
        locations = await store_conversation(store, person)
        assert sorted(locations.values()) == ["0", "1", "2"]
        assert not list(workspace.root.rglob("*.md"))


async def test_vectors_of_a_stopped_run_are_not_made_again(tmp_path: Path) -> None:
    first, second = Hashing(), Hashing()
    for embedder, texts in ((first, ["one", "two"]), (second, ["two", "three", "two"])):
        cache = CachingEmbedder(embedder, tmp_path / "deep" / "vectors.db")
        vectors = await cache.embed(texts)
        assert vectors == await Hashing().embed(texts)
        await cache.embed_question("two")
        await cache.close()
    assert first.asked == [["one", "two"], ["two"]]
    assert second.asked == [["three"]]
    assert second.closed


async def test_a_set_is_searched_by_vectors_too(tmp_path: Path) -> None:
    write_set(tmp_path / "x.json", "The old barrage is shut.", "The heron is grey.")
    means = {"weir": "old barrage", "closed": "shut"}
    by_words = await recall.measured(tmp_path / "x.json", ON_THE_DAY)
    by_meaning = await recall.measured(
        tmp_path / "x.json", ON_THE_DAY, embedder=lambda: Hashing(means=means)
    )
    assert (by_words.ours["R@1"], by_meaning.ours["R@1"]) == (0, 1)


def scored(kind: str, ours: float, plain: float) -> Scored:
    return Scored(
        kind=kind,
        fitted=False,
        ours=dict.fromkeys(recall.COLUMNS, ours),
        plain=dict.fromkeys(recall.COLUMNS, plain),
    )


def test_no_set_may_be_below_plain_and_no_kind_by_more_than_two_questions() -> None:
    two_less, three_less = ([scored("a", 0, 1)] * count for count in (2, 3))
    better = [scored("b", 1, 0)] * 5
    found = [
        Measured(
            name="x", questions=questions, rows=1, index=1, p50=1, p95=1, noise=0
        ).below_plain()
        for questions in (two_less + better, three_less + better, two_less)
    ]
    assert found[0] == []
    assert found[1] == ["x, a: R@5 is 3.0 questions below plain"]
    assert len(found[2]) == len(recall.NOT_BELOW_PLAIN)


def test_a_set_below_plain_is_an_exit_code_of_1_without_the_packages_of_tests(
    tmp_path: Path,
) -> None:
    # of two rows that say the same a search returns one, plain full-text search both
    for folder, evidence in (("well", "1"), ("below", "0")):
        (tmp_path / folder).mkdir()
        write_set(
            tmp_path / folder / "x.json", "The weir is closed.", "The weir is closed.", evidence
        )
    program = (
        "import sys; sys.modules.update(dict.fromkeys(('psutil', 'psycopg', 'pytest', "
        "'hypothesis', 'aiohttp', 'procrastinate')));"
        "from benchmarks.__main__ import main; well, below = sys.argv[1:];"
        "code = main(['recall', '--rows', '--data', well]); print('code', code or 0);"
        "sys.exit(main(['recall', '--rows', '--data', below]))"
    )
    ran = run(
        [sys.executable, "-c", program, tmp_path / "well", tmp_path / "below"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (1, "")
    well, below = ran.stdout.split("code 0\n")
    assert "x: R@1 0.000 is below plain" not in well
    assert "x: R@1 0.000 is below plain" in below
    assert "  plain FTS5" in well
    assert "  plain FTS5" in below


def write_set(path: Path, first: str, second: str, evidence: str = "0") -> None:
    docs = [
        {
            "id": str(at),
            "date": f"2025-03-0{at + 1} 08:10",
            "session": str(at),
            "speaker": "Ann",
            "text": text,
        }
        for at, text in enumerate((first, second))
    ]
    asked = [{"q": "Is the weir closed?", "evidence": [evidence]}]
    path.write_text(json.dumps([{"name": "Ann", "docs": docs, "questions": asked}]))
