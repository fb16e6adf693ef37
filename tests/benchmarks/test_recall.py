"""The benchmark of recall: what its figures mean, and the floors that its own sets must reach."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks import recall, recall_rows
from benchmarks.recall import OWN, Person, Returned, score
from memory.workspace.files import Workspace

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
    places = recall.write(workspace, Person(name="Ann", docs=docs, questions=[]))
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


def test_it_prints_a_line_for_each_set_and_what_plain_full_text_search_finds() -> None:
    told = recall.main(["--now", "2025-11-12", "--rows"])
    assert [line.split()[0] for line in told.splitlines()[1:7:2]] == ["en", "friends", "zh"]
    assert all(line.split()[0] == "plain" for line in told.splitlines()[2:7:2])
    assert "zh, R@5" in told
