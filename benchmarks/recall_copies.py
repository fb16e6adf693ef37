"""Reads public sets of questions from copies of their repositories on this machine.

Nothing is downloaded, and no text of a set is in this repository: no licence is stated for BEAM and
REALTALK, and that of LoCoMo forbids commercial use. Labelled here by hand is where the answers are
in MemoryBank (MIT).
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.recall_people import EXCHANGE

LABELS = Path(__file__).parent / "data" / "memory_bank_labels.json"
_BEAM_MARK = re.compile(r"\s*->->\s*\d+,\d+\s*$")  # of the plan that a message was made from
_REFERENCE = re.compile(r"D:?(\d+):(\d+)")  # session and message in LoCoMo and REALTALK
_SESSION = re.compile(r"session_(\d+)")
LOCOMO_KINDS = {1: "multi-hop", 2: "temporal", 3: "open domain", 4: "single-hop"}
REALTALK_KINDS = {1: "multi-hop", 2: "temporal", 3: "commonsense"}
# A person as in the files of benchmarks.recall.
ConvertedPerson = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicSet:
    """A set that can be read from a copy of a repository."""

    name: str
    #: Where the repository is, for people.
    source: str
    #: Its files, relative to the copy.
    files: Sequence[str]
    #: Of the files that were measured, with their paths: see `hash_files`.
    sha256: str
    #: Makes people of a copy and the files.
    convert: Callable[[Path, Sequence[str]], list[ConvertedPerson]]


def convert_copy(copy: Path, into: Path) -> list[str]:
    """Write each set that a copy holds as a file into a folder.

    Returns:
        Notes on files that are not those that were measured.

    Raises:
        FileNotFoundError: the copy holds none of the sets.
    """
    notes = []
    found = [one for one in PUBLIC_SETS if all((copy / path).is_file() for path in one.files)]
    if not found:
        known = ", ".join(sorted({one.source for one in PUBLIC_SETS}))
        raise FileNotFoundError(f"{copy} is no copy of a set that can be read: {known}")
    for one in found:
        people = one.convert(copy, one.files)
        text = json.dumps(people, ensure_ascii=False)
        (into / f"{one.name}.json").write_text(text, encoding="utf-8")
        if hash_files(copy, one.files) != one.sha256:
            notes.append(
                f"{one.name}: the files of {copy} are not those of the documented figures."
            )
    return notes


def hash_files(copy: Path, files: Iterable[str]) -> str:
    """Return the SHA-256 of files with their paths."""
    found = hashlib.sha256()
    for path in files:
        digest = hashlib.sha256((copy / path).read_bytes()).hexdigest()
        found.update(f"{digest}  {path}\n".encode())
    return found.hexdigest()


def convert_beam(copy: Path, files: Sequence[str]) -> list[ConvertedPerson]:
    """Read conversations of a person with an assistant.

    Args:
        files: of each conversation its messages, then its questions.
    """
    people = []
    for chat, questions in zip(files[::2], files[1::2], strict=True):
        size, number = chat.split("/")[1:3]
        docs = list(_beam_docs(_load(copy / chat)))
        known = {doc["id"] for doc in docs}
        asked = [
            {"q": one["question"], "evidence": evidence, "kind": kind}
            for kind, ones in _load(copy / questions).items()
            for one in ones
            if (evidence := sorted(known & set(_beam_ids(one.get("source_chat_ids")))))
        ]
        people.append({"name": f"{size}-{number}", "docs": docs, "questions": asked})
    return people


def _beam_docs(batches: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, str]]:
    """Yield messages; a batch is a day, on which one is said each minute from 08:01 on."""
    for batch in batches:
        messages = [message for turn in batch["turns"] for message in turn]
        day = datetime.strptime(messages[0]["time_anchor"], "%B-%d-%Y")
        last = day + timedelta(hours=23, minutes=59)
        for minute, message in enumerate(messages, 1):
            said_at = min(day + timedelta(hours=8, minutes=minute), last)
            yield {
                "id": str(message["id"]),
                "date": f"{said_at:%Y-%m-%d %H:%M}",
                "session": f"{day:%Y-%m-%d}",
                "speaker": "User" if message["role"] == "user" else "Bot",
                "text": " ".join(_BEAM_MARK.sub("", message["content"]).split()),
            }


def _beam_ids(evidence: object) -> Iterator[str]:
    """Yield the ids in lists and objects of ids."""
    if isinstance(evidence, dict):
        evidence = list(evidence.values())
    if isinstance(evidence, list):
        for one in evidence:
            yield from _beam_ids(one)
    elif isinstance(evidence, int | str):
        yield str(evidence)


def convert_locomo(copy: Path, files: Sequence[str]) -> list[ConvertedPerson]:
    """Read conversations of two people; questions without an answer (category 5) are left out."""
    return [
        _dialogue(
            talk["sample_id"],
            [
                (message, message["text"], _locomo_time(talk["conversation"], session, place))
                for session, messages in _sessions(talk["conversation"])
                for place, message in enumerate(messages)
            ],
            [one for one in talk["qa"] if one["category"] in LOCOMO_KINDS],
            LOCOMO_KINDS,
        )
        for path in files
        for talk in _load(copy / path)
    ]


def _locomo_time(talk: Mapping[str, Any], session: int, place: int) -> datetime:
    """When a message was sent: one each minute of its session."""
    began = datetime.strptime(talk[f"session_{session}_date_time"], "%I:%M %p on %d %B, %Y")
    return began + timedelta(minutes=place)


def convert_realtalk(copy: Path, files: Sequence[str]) -> list[ConvertedPerson]:
    """Read conversations of two people, a file each."""
    people = []
    for path in files:
        talk = _load(copy / path)
        said = [
            (
                message,
                message["clean_text"],
                datetime.strptime(message["date_time"], "%d.%m.%Y, %H:%M:%S"),
            )
            for _, messages in _sessions(talk)
            for message in messages
        ]
        people.append(_dialogue(Path(path).stem, said, talk["qa"], REALTALK_KINDS))
    return people


def _sessions(talk: Mapping[str, Any]) -> list[tuple[int, Sequence[Mapping[str, Any]]]]:
    numbered = ((_SESSION.fullmatch(key), messages) for key, messages in talk.items())
    found = [(int(match[1]), messages) for match, messages in numbered if match]
    return sorted(found, key=lambda session: session[0])


def _dialogue(
    name: str,
    said: Iterable[tuple[Mapping[str, Any], str, datetime]],
    questions: Iterable[Mapping[str, Any]],
    kinds: Mapping[int, str],
) -> ConvertedPerson:
    """Make a person of the messages of two people.

    Args:
        said: (message, its text, when); the caption of a picture is part of what was said.
    """
    docs = []
    for message, text, said_at in said:
        caption = message.get("blip_caption")
        words = f"{text} [picture: {caption}]" if caption else text
        docs.append(
            {
                "id": message["dia_id"],
                "date": f"{said_at:%Y-%m-%d %H:%M}",
                "session": message["dia_id"].split(":")[0],
                "speaker": message["speaker"],
                "text": " ".join(words.split()),
            }
        )
    known = {doc["id"] for doc in docs}
    asked = [
        {"q": one["question"], "evidence": evidence, "kind": kinds[one["category"]]}
        for one in questions
        if (evidence := sorted(known & set(_references(one["evidence"]))))
    ]
    return {"name": name, "docs": docs, "questions": asked}


def _references(evidence: Iterable[str]) -> Iterator[str]:
    """Yield the ids of messages; some strings hold several, or have one more colon."""
    for text in evidence:
        yield from (f"D{session}:{message}" for session, message in _REFERENCE.findall(text))


def convert_memory_bank(copy: Path, files: Sequence[str]) -> list[ConvertedPerson]:
    """Read diaries of people with a companion, and the questions whose evidence is labelled.

    Args:
        files: the diaries, and the questions, a line for each person.
    """
    diaries, lines = _load(copy / files[0]), (copy / files[1]).read_text("utf-8").splitlines()
    labels = _load(LABELS)[Path(files[0]).parent.name]
    asked = {name: questions for line in lines if line.strip() for name, questions in _pairs(line)}
    people = []
    for key, diary in diaries.items():
        name = key.strip()
        people.append(
            {
                "name": name,
                "docs": [
                    {
                        "id": f"{day[5:]}.{place}",
                        "text": f"{exchange['query']}{EXCHANGE}{exchange['response']}",
                        "speaker": name,
                        "date": f"{day} 12:00",
                        "session": day,
                    }
                    for day, exchanges in diary["history"].items()
                    for place, exchange in enumerate(exchanges)
                ],
                "questions": [
                    {"q": question, "evidence": evidence, "cat": kind}
                    for question, (evidence, kind) in zip(asked[name], labels[name], strict=True)
                    if evidence
                ],
            }
        )
    return people


def _pairs(line: str) -> Iterable[tuple[str, Sequence[str]]]:
    found: dict[str, Sequence[str]] = json.loads(line)
    return found.items()


def _load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _beam_files(size: str, numbers: Iterable[int]) -> tuple[str, ...]:
    return tuple(
        f"chats/{size}/{number}/{name}"
        for number in numbers
        for name in ("chat.json", "probing_questions/probing_questions.json")
    )


_BEAM = "github.com/mohammadtavakoli78/BEAM"
_MEMORY_BANK = "github.com/zhongwanjun/MemoryBank-SiliconFriend"
_REALTALK_FILES = (
    "1_Emi_Elise 2_Kevin_Elise 3_Kevin_Paola 4_Emi_Paola 5_Nicolas_Nebraas 6_Vanessa_Nicolas "
    "7_Nebraas_Vanessa 8_Akib_Muhhamed 9_Fahim_Akib 10_Fahim_Muhhamed"
)
PUBLIC_SETS = (
    PublicSet(
        name="beam_dev",
        source=_BEAM,
        files=_beam_files("100K", range(1, 11)),
        sha256="2fc26ae110d67fe80cbcaeda860811017bc7200365244c5efcd7ab6e0b2af5ae",
        convert=convert_beam,
    ),
    PublicSet(
        name="beam_test",
        source=_BEAM,
        files=_beam_files("100K", range(11, 21)),
        sha256="c10534cb9901793dca1d3db26726e1c32dadc4ca93816a515281c63ed424581d",
        convert=convert_beam,
    ),
    PublicSet(
        name="beam_500k",
        source=_BEAM,
        files=_beam_files("500K", range(1, 36)),
        sha256="7246679ef731c7779f75102e12ffd29363d79a312997105924e8a2cf4b97ded0",
        convert=convert_beam,
    ),
    PublicSet(
        name="realtalk",
        source="github.com/danny911kr/REALTALK",
        files=tuple(f"data/Chat_{name}.json" for name in _REALTALK_FILES.split()),
        sha256="1a7f148c65607811f849d4cc24a88ea36f2a88d6061915cd94b95f8a9d412216",
        convert=convert_realtalk,
    ),
    PublicSet(
        name="locomo",
        source="github.com/snap-research/locomo",
        files=("data/locomo10.json",),
        sha256="bd58bd9f4338170afa25722c248d8a4bb890b2990c6cb7e657ba3651046408f5",
        convert=convert_locomo,
    ),
    *(
        PublicSet(
            name=f"mb_{language}",
            source=_MEMORY_BANK,
            files=(
                f"eval_data/{language}/memory_bank_{language}.json",
                f"eval_data/{language}/probing_questions_{language}.jsonl",
            ),
            sha256=sha256,
            convert=convert_memory_bank,
        )
        for language, sha256 in (
            ("cn", "b4cfa4f02d193399a770d0ec0109d5f308549ce564f8d9d9464570e9e4f41ad0"),
            ("en", "be235c5e0227c98b9782e2fb47d9834df47b976bb5b2a1c8a53cff26d4072a8a"),
        )
    ),
)
