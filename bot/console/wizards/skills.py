"""The wizard of skills: a file is put beside the others, off, until its review enables it."""

import asyncio
import base64
import binascii
import io
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from starlette.requests import Request

from bot.console.transcripts import CONSOLE_ACTOR
from bot.console.wizards.base import (
    WizardEnd,
    WizardField,
    WizardFinding,
    WizardForm,
    WizardInput,
    WizardKind,
    WizardReport,
    refuse,
)
from bot.tools.skills.library import (
    FOLDER,
    MAIN_FILE,
    SkillInvalid,
    SkillLibrary,
    read_name,
)
from bot.tools.skills.review import read_archive, read_folder, review, write_skill
from channels.phrases import AnyPhrase, Phrase, join_phrases, untranslated
from memory.store.store import Store

MAX_FILE_BYTES, MAX_UNPACKED_BYTES = 2 * 2**20, 20 * 2**20
# base64 has four characters for three bytes; a somewhat larger file gets a sentence of its own
MAX_REQUEST_BYTES = MAX_FILE_BYTES * 4
ZIP_START = b"PK"
UPLOAD = "file"
FILE = WizardField(
    name="file",
    title=Phrase("SKILL.md, or a ZIP with it"),
    form="file",
    help=Phrase(
        "At most {megabytes} MB; add a larger one in a terminal: mnema skills add",
        megabytes=MAX_FILE_BYTES // 2**20,
    ),
    accept=".md,.zip",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _UploadedSkill:
    """A skill as it came, with what a person has to see of it."""

    name: str
    contents: dict[str, bytes]
    review: list[AnyPhrase]
    #: There is one of that name.
    replaces: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillWizard:
    """Puts a skill into the owner's workspace; it is off there, and only its review enables it."""

    name: ClassVar[str] = "skill"
    action: ClassVar[str] = "extension.write"
    max_body: ClassVar[int] = MAX_REQUEST_BYTES
    kinds: ClassVar[tuple[str, ...]] = (UPLOAD,)

    library: SkillLibrary
    store: Store
    #: The owner's workspace.
    workspace: Path

    async def form(self) -> WizardForm:
        """Return the field of the file."""
        return WizardForm(
            title=Phrase("Add a skill"),
            about=Phrase(
                "A skill is text that the model reads, and scripts that it may ask to run. It "
                "stays off until you have read it and switched it on."
            ),
            choose=Phrase("From where"),
            kinds=(WizardKind(id=UPLOAD, title=Phrase("From a file"), fields=(FILE,)),),
            kind=UPLOAD,
            test=Phrase("Look into it"),
            finish=Phrase("Send to review"),
            result=Phrase("Contents"),
            untested=Phrase("Nothing is stored yet."),
            testing=Phrase("Reading…"),
        )

    async def test(self, given: WizardInput, request: Request) -> WizardReport:
        """Show what the file holds."""
        skill = await asyncio.to_thread(self._read, given)
        findings = [
            WizardFinding(
                step="name",
                name=Phrase("Name"),
                state="ok",
                text=untranslated(skill.name),
                hint=Phrase(
                    "It replaces the skill of the same name, and stays off until you enable it."
                )
                if skill.replaces
                else Phrase("This skill is new here."),
            ),
            WizardFinding(
                step="contents",
                name=Phrase("Contents"),
                state="unknown" if len(skill.review) > len(skill.contents) + 2 else "ok",
                text=join_phrases(skill.review, Phrase("\n")),
            ),
        ]
        return WizardReport(findings=findings, ok=True)

    async def finish(self, given: WizardInput, request: Request) -> WizardEnd:
        """Store its files; what is enabled stays bound to the bytes that were."""
        skill = await asyncio.to_thread(self._read, given)
        await asyncio.to_thread(write_skill, self.workspace / FOLDER / skill.name, skill.contents)
        self.library.look_again()
        await self.store.note("skill", skill.name, "added", CONSOLE_ACTOR)
        return WizardEnd(
            text=Phrase(
                "{name} was added and is off. Read it, then switch it on.", name=skill.name
            ),
            path=f"/skills/{skill.name}",
        )

    def _read(self, given: WizardInput) -> _UploadedSkill:
        """Read the file without writing any of it; blocks.

        Raises:
            HttpRefusal: it is no skill.
        """
        data = _decode(given.need(FILE))
        try:
            is_archive = data.startswith(ZIP_START)
            contents = (
                read_archive(io.BytesIO(data), MAX_UNPACKED_BYTES)
                if is_archive
                else {MAIN_FILE: data}
            )
            name = read_name(contents.get(MAIN_FILE, b"").decode("utf-8", "replace"))
            target = self.workspace / FOLDER / name
            installed = read_folder(target) if target.is_dir() else None
            lines = review(name, contents, installed)
        except (SkillInvalid, OSError) as err:
            clause = err.phrase if isinstance(err, SkillInvalid) else untranslated(err)
            why = Phrase("This cannot be added: {why}.", why=clause)
            raise refuse(FILE.name, why) from err
        return _UploadedSkill(
            name=name, contents=contents, review=lines, replaces=installed is not None
        )


def _decode(text: str) -> bytes:
    """Return the bytes of a file.

    Raises:
        HttpRefusal: it is no base64, or too large.
    """
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as err:
        raise refuse(
            FILE.name, Phrase("the file did not arrive complete; choose it again")
        ) from err
    if len(data) > MAX_FILE_BYTES:
        raise refuse(FILE.name, FILE.help)
    return data
