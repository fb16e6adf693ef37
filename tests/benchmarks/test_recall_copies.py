"""Public sets are read from a copy of their repository, in the form that they have there."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks import recall
from benchmarks.recall_copies import PUBLIC_SETS, PublicSet, convert_copy, hash_files
from benchmarks.recall_people import read_people

NOW = datetime(2025, 11, 12, tzinfo=UTC)


def public_set(name: str) -> PublicSet:
    return next(one for one in PUBLIC_SETS if one.name == name)


def write_copy(copy: Path, texts: Mapping[str, str]) -> None:
    for path, text in texts.items():
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        (copy / path).write_text(text, encoding="utf-8")


def converted(copy: Path, into: Path, name: str) -> list[dict[str, Any]]:
    into.mkdir(exist_ok=True)
    notes = convert_copy(copy, into)
    assert [note.split(":")[0] for note in notes] == [path.stem for path in sorted(into.iterdir())]
    people: list[dict[str, Any]] = json.loads((into / f"{name}.json").read_text(encoding="utf-8"))
    return people


CHAT = [
    {
        "batch_number": 1,
        "turns": [
            [
                {
                    "role": "user",
                    "id": 0,
                    "time_anchor": "March-15-2024",
                    "index": "1,1",
                    "question_type": "main_question",
                    "content": "The weir is closed.\nWhat now? ->-> 1,1",
                },
                {"role": "assistant", "id": 1, "content": "Take the bridge."},
            ]
        ],
    },
    {
        "batch_number": 2,
        "turns": [
            [
                {
                    "role": "user",
                    "id": 2,
                    "time_anchor": "April-05-2024",
                    "content": "It is open again ->-> 2,N/A",
                }
            ]
        ],
    },
]
PROBES = {
    "abstention": [{"question": "Who owns it?", "ideal_response": "Nobody says."}],
    "knowledge_update": [
        {
            "question": "Is the weir open?",
            "source_chat_ids": {"original_info": [0], "updated_info": [2, 77]},
        }
    ],
    "information_extraction": [{"question": "What is closed?", "source_chat_ids": [0]}],
}


def test_beam(tmp_path: Path) -> None:
    files = public_set("beam_dev").files
    texts = {path: json.dumps(CHAT if path.endswith("chat.json") else PROBES) for path in files}
    write_copy(tmp_path / "copy", texts)
    people = converted(tmp_path / "copy", tmp_path / "sets", "beam_dev")
    assert [person["name"] for person in people] == [f"100K-{number}" for number in range(1, 11)]
    assert people[0]["docs"] == [
        {
            "id": "0",
            "date": "2024-03-15 08:01",
            "session": "2024-03-15",
            "speaker": "User",
            "text": "The weir is closed. What now?",
        },
        {
            "id": "1",
            "date": "2024-03-15 08:02",
            "session": "2024-03-15",
            "speaker": "Bot",
            "text": "Take the bridge.",
        },
        {
            "id": "2",
            "date": "2024-04-05 08:01",
            "session": "2024-04-05",
            "speaker": "User",
            "text": "It is open again ->-> 2,N/A",
        },
    ]
    assert people[0]["questions"] == [
        {"q": "Is the weir open?", "evidence": ["0", "2"], "kind": "knowledge_update"},
        {"q": "What is closed?", "evidence": ["0"], "kind": "information_extraction"},
    ]


LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Ben",
            "session_10_date_time": "1:05 am on 3 June, 2023",
            "session_10": [{"speaker": "Ben", "dia_id": "D10:1", "text": "I sold it."}],
            "session_2_date_time": "11:59 pm on 8 May, 2023",
            "session_2": [
                {
                    "speaker": "Ann",
                    "dia_id": "D2:1",
                    "text": "Look at this!",
                    "img_url": ["https://example.invalid/a.jpg"],
                    "blip_caption": "a boat on a lake",
                    "query": "boat",
                },
                {"speaker": "Ben", "dia_id": "D2:2", "text": "Is it yours?"},
            ],
        },
        "qa": [
            {"question": "What?", "answer": "a boat", "evidence": ["D2:1; D10:1"], "category": 1},
            {"question": "When?", "answer": 2023, "evidence": ["D:10:1"], "category": 2},
            {"question": "Why?", "adversarial_answer": "x", "evidence": ["D2:1"], "category": 5},
            {"question": "Who?", "answer": "Cy", "evidence": ["D", "D9:9"], "category": 4},
        ],
    }
]


def test_locomo(tmp_path: Path) -> None:
    write_copy(tmp_path / "copy", {"data/locomo10.json": json.dumps(LOCOMO)})
    [person] = converted(tmp_path / "copy", tmp_path / "sets", "locomo")
    assert [(doc["id"], doc["date"], doc["session"], doc["text"]) for doc in person["docs"]] == [
        ("D2:1", "2023-05-08 23:59", "D2", "Look at this! [picture: a boat on a lake]"),
        ("D2:2", "2023-05-09 00:00", "D2", "Is it yours?"),
        ("D10:1", "2023-06-03 01:05", "D10", "I sold it."),
    ]
    assert [doc["speaker"] for doc in person["docs"]] == ["Ann", "Ben", "Ben"]
    assert person["questions"] == [
        {"q": "What?", "evidence": ["D10:1", "D2:1"], "kind": "multi-hop"},
        {"q": "When?", "evidence": ["D10:1"], "kind": "temporal"},
    ]


REALTALK = {
    "name": {"speaker_1": "Ann", "speaker_2": "ben"},
    "session_1": [
        {
            "clean_text": "I have a boat.",
            "speaker": "Ann",
            "date_time": "29.12.2023, 22:42:04",
            "img_file": [],
            "img_url": [],
            "dia_id": "D1:1",
        }
    ],
    "events_session_1": {"Ann": []},
    "session_1_date_time": "29.12.2023, 22:42:04",
    "qa": [{"question": "What has Ann?", "answer": "a boat", "evidence": ["D1:1."], "category": 3}],
}


def test_realtalk(tmp_path: Path) -> None:
    files = public_set("realtalk").files
    write_copy(tmp_path / "copy", dict.fromkeys(files, json.dumps(REALTALK)))
    people = converted(tmp_path / "copy", tmp_path / "sets", "realtalk")
    assert [person["name"] for person in people] == [Path(path).stem for path in files]
    assert people[0]["docs"] == [
        {
            "id": "D1:1",
            "date": "2023-12-29 22:42",
            "session": "D1",
            "speaker": "Ann",
            "text": "I have a boat.",
        }
    ]
    assert people[0]["questions"] == [
        {"q": "What has Ann?", "evidence": ["D1:1"], "kind": "commonsense"}
    ]


def test_memory_bank(tmp_path: Path) -> None:
    bank, probes = public_set("mb_en").files
    diary = {
        " Roland ": {
            "name": "Roland",
            "history": {"2023-04-30": [{"query": "I play chess.", "response": "Well done."}]},
        }
    }
    asked = [json.dumps({"Roland": [f"Question {number}?" for number in range(6)]})]
    write_copy(tmp_path / "copy", {bank: json.dumps(diary), probes: "\n".join([*asked, ""])})
    [person] = converted(tmp_path / "copy", tmp_path / "sets", "mb_en")
    assert person["docs"] == [
        {
            "id": "04-30.0",
            "text": "I play chess. ‖ Well done.",
            "speaker": "Roland",
            "date": "2023-04-30 12:00",
            "session": "2023-04-30",
        }
    ]
    # three of the six have no answer in the diary
    assert len(person["questions"]) == 3
    assert all(one["evidence"] and one["cat"] for one in person["questions"])
    [read] = read_people(tmp_path / "sets" / "mb_en.json")
    assert [doc["speaker"] for doc in read.docs] == ["Roland", "Bot"]


def test_files_are_known_by_their_content_and_path(tmp_path: Path) -> None:
    write_copy(tmp_path, {"a.json": "1", "b.json": "2"})
    first = hash_files(tmp_path, ["a.json", "b.json"])
    assert first == hash_files(tmp_path, ["a.json", "b.json"])
    assert first != hash_files(tmp_path, ["b.json", "a.json"])
    write_copy(tmp_path, {"b.json": "3"})
    assert first != hash_files(tmp_path, ["a.json", "b.json"])
    assert all(len(one.sha256) == 64 for one in PUBLIC_SETS)


def test_the_sets_of_copies_are_measured_and_other_files_are_said_to_be_others(
    tmp_path: Path,
) -> None:
    write_copy(tmp_path, {"data/locomo10.json": json.dumps(LOCOMO)})
    text = recall.main(["--now", "2025-11-12", "--rows", "--fetch", str(tmp_path)])
    assert any(line.startswith("locomo  ") for line in text.splitlines())
    assert "not those of the documented figures" in text
    assert "friends" not in text


def test_what_is_no_copy_is_refused_with_what_can_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="REALTALK"):
        convert_copy(tmp_path, tmp_path)
