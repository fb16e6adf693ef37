"""Backups in the page: made, checked, downloaded, uploaded and restored by the same code as on the
command line.
"""

import asyncio
import errno
import json
import os
import re
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.types import ASGIApp

from bot.console.operations import models
from bot.console.operations.backup_encryption import is_encrypted
from bot.console.operations.cli_process import run_command
from bot.console.operations.jobs import Job, JobRunner, accepted
from bot.console.transcripts import CONSOLE_ACTOR
from bot.runtime.bot import Bot
from channels.phrases import Phrase
from channels.web.models import DoneBody
from channels.web.requests import HttpRefusal, Route, file_label, json_response
from memory.store.rows import to_iso

MAX_BACKUPS = 200  # that are listed, the newest
MAX_PIECE_BYTES = 700_000  # its base64 fits into a small body
MIN_FREE_BYTES = 200_000_000  # that an upload leaves
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.backup", re.ASCII)
SUFFIX = ".backup"
PART_PREFIX = ".upload-"
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


@dataclass(slots=True, kw_only=True)
class _Upload:
    """The file that is being uploaded."""

    id: str
    name: str
    size: int
    received: int = 0


class BackupRoutes:
    """Handlers of backups.

    All of them lie in one folder of the home, and are named by a strict pattern.
    """

    def __init__(self, bot: Bot, jobs: JobRunner) -> None:
        self._bot = bot
        self._jobs = jobs
        self._home = bot.home
        self._upload: _Upload | None = None
        self._writing = asyncio.Lock()

    def calls(self) -> tuple[Route, ...]:
        """Return the routes, with the action each one needs."""
        path, one, upload = "/api/v1/backups", "/api/v1/backups/{name}", "/api/v1/backups/uploads"
        passphrase, job = models.BackupPassphraseBody, models.JobBody
        return (
            Route(
                method="GET",
                path=path,
                action="backup",
                handler=self.list,
                reply=models.BackupsBody,
            ),
            Route(
                method="POST",
                path=path,
                action="backup",
                handler=self.make,
                body=models.NewBackupBody,
                reply=job,
            ),
            Route(
                method="POST",
                path=upload,
                action="restore",
                handler=self.begin_upload,
                body=models.NewUploadBody,
                reply=models.UploadBody,
            ),
            Route(
                method="PUT",
                path=f"{upload}/{{id}}",
                action="restore",
                handler=self.put_piece,
                body=models.UploadPieceBody,
                reply=models.UploadBody,
            ),
            Route(method="GET", path=f"{one}/file", action="backup", handler=self.download),
            Route(
                method="POST",
                path=f"{one}/verify",
                action="backup",
                handler=self.verify,
                body=passphrase,
                reply=job,
            ),
            Route(
                method="POST",
                path=f"{one}/restore",
                action="restore",
                handler=self.restore,
                needs_fresh_login=True,
                body=models.RestoreBody,
                reply=DoneBody,
            ),
            Route(method="DELETE", path=one, action="backup", handler=self.delete, reply=DoneBody),
        )

    async def list(self, _: Request) -> Response:
        """Return the backups that lie in the home, newest first."""
        return json_response(await asyncio.to_thread(self._list))

    async def make(self, _: Request, body: models.NewBackupBody) -> Response:
        """Make a backup as a job; with a passphrase it is encrypted, and holds the secrets of
        config.json.
        """
        name = f"mnema-{datetime.now(UTC):%Y%m%dT%H%M%SZ}{SUFFIX}"
        encrypt = ("--encrypt",) if body.passphrase else ()
        self._folder()

        async def work(job: Job) -> Mapping[str, Any]:
            def progress(line: Mapping[str, Any]) -> None:
                job.done, job.expected = int(line["done"]), int(line["expected"])
                self._jobs.notify(job)

            path = self._home.backups / name
            try:
                made = await run_command(
                    self._home.root,
                    "backup",
                    str(path),
                    *encrypt,
                    typed=body.passphrase,
                    on_line=progress,
                )
            except asyncio.CancelledError:
                path.unlink(missing_ok=True)  # it was complete before the command heard of it
                raise
            await self._note("backup", name, "made")
            return {**made, "name": name}

        return accepted(self._jobs.start("backup", name, work))

    async def verify(self, request: Request, body: models.BackupPassphraseBody) -> Response:
        """Check a whole backup as a job; its result is what the backup holds."""
        path = self._existing(request)

        async def work(_: Job) -> Mapping[str, Any]:
            return await run_command(
                self._home.root, "restore", str(path), "--verify", typed=body.passphrase
            )

        return accepted(self._jobs.start("verify", path.name, work))

    async def download(self, request: Request) -> ASGIApp:
        """Return the file."""
        path = self._existing(request)
        await self._note("backup", path.name, "downloaded")
        headers = {"cache-control": "no-store"}
        return FileResponse(
            path, headers=headers, media_type="application/octet-stream", filename=path.name
        )

    async def delete(self, request: Request) -> Response:
        """Delete a backup."""
        path = self._existing(request)
        await asyncio.to_thread(path.unlink, missing_ok=True)
        await self._note("backup", path.name, "deleted")
        return json_response({"ok": True})

    async def restore(self, request: Request, body: models.RestoreBody) -> Response:
        """Replace all that the home holds: this process ends, restores the backup, and starts
        again.
        """
        path = self._existing(request)
        if body.home != self._home.root.name:
            raise HttpRefusal(
                400,
                "home",
                Phrase(
                    "type the name of the home, {name}, to replace its contents",
                    name=self._home.root.name,
                ),
            )
        if self._bot.restore is None:
            raise HttpRefusal(
                409,
                "cannot_restore",
                Phrase("this process cannot restore; run: mnema restore FILE"),
            )
        await self._note("restore", path.name, "begun")
        # after this answer
        asyncio.get_running_loop().call_later(0.2, self._bot.restore, path, body.passphrase)
        return json_response({"ok": True}, 202)

    async def begin_upload(self, _: Request, body: models.NewUploadBody) -> Response:
        """Begin to upload a file; one that was begun before and not finished is dropped."""
        size, free = body.size, shutil.disk_usage(self._folder()).free
        if size + MIN_FREE_BYTES > free:
            why = Phrase(
                "there is not enough space for {size:,} bytes: {free:,} are free, and {least:,} "
                "must stay free",
                size=size,
                free=free,
                least=MIN_FREE_BYTES,
            )
            raise HttpRefusal(507, "no_space", why)
        async with self._writing:
            self._drop_parts()
            self._upload = _Upload(
                id=secrets.token_hex(8), name=self._free_name(body.name), size=size
            )
        return json_response(_upload_to_json(self._upload), 201)

    async def put_piece(self, request: Request, body: models.UploadPieceBody) -> Response:
        """Add the next piece; the last one makes the file a backup of the list."""
        data = body.data
        if not 0 < len(data) <= MAX_PIECE_BYTES:
            raise HttpRefusal(
                413,
                "data",
                Phrase(
                    "a piece must be 1 to {max_piece_bytes} bytes", max_piece_bytes=MAX_PIECE_BYTES
                ),
            )
        async with self._writing:
            upload = self._upload
            if upload is None or upload.id != request.path_params["id"]:
                raise HttpRefusal(
                    404, "not_found", Phrase("this upload was discarded; start it again")
                )
            if body.offset != upload.received or upload.received + len(data) > upload.size:
                raise HttpRefusal(
                    409,
                    "offset",
                    Phrase(
                        "the next piece starts at {received} of {size}",
                        received=upload.received,
                        size=upload.size,
                    ),
                )
            try:
                await asyncio.to_thread(self._append, upload, data)
            except OSError as err:
                self._upload = None
                self._drop_parts()
                full = err.errno in NO_SPACE
                why = "the disk is full" if full else str(err.strerror or err)
                raise HttpRefusal(
                    507 if full else 503,
                    "no_space",
                    Phrase("the upload was discarded: {why}", why=why),
                ) from err
            upload.received += len(data)
            if upload.received == upload.size:
                os.replace(self._part(upload), self._home.backups / upload.name)
                self._upload = None
                await self._note("backup", upload.name, "uploaded")
        return json_response(_upload_to_json(upload))

    def _append(self, upload: _Upload, data: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(self._part(upload), flags, 0o600), "ab") as file:
            file.write(data)

    def _part(self, upload: _Upload) -> Path:
        return self._home.backups / f"{PART_PREFIX}{upload.id}"

    def _drop_parts(self) -> None:
        for part in self._home.backups.glob(f"{PART_PREFIX}*"):
            part.unlink(missing_ok=True)

    def _folder(self) -> Path:
        self._home.backups.mkdir(mode=0o700, exist_ok=True)
        return self._home.backups

    def _free_name(self, given: str) -> str:
        """Return a name of the pattern for an uploaded file that no other file has."""
        stem = (
            re.sub(r"[^A-Za-z0-9._-]+", "-", file_label(given), flags=re.ASCII)
            .removesuffix(SUFFIX)
            .strip("._-")
        )
        stem = stem[:60] or "uploaded"
        for number in range(1_000):
            name = f"{stem}{f'-{number}' if number else ''}{SUFFIX}"
            if not os.path.lexists(self._home.backups / name):
                return name
        raise HttpRefusal(
            409,
            "name",
            Phrase("there are too many files named {stem}; delete some, or rename it", stem=stem),
        )

    def _existing(self, request: Request) -> Path:
        name = str(request.path_params["name"])
        path = self._home.backups / name
        if not NAME.fullmatch(name) or path.is_symlink() or not path.is_file():
            raise HttpRefusal(404, "not_found", Phrase("there is no such backup"))
        return path

    def _list(self) -> dict[str, Any]:
        found = []
        with suppress(FileNotFoundError):
            for path in self._home.backups.iterdir():
                if NAME.fullmatch(path.name) and path.is_file() and not path.is_symlink():
                    found.append((path.stat().st_mtime, path))
        found.sort(reverse=True)
        outcome = None
        with suppress(OSError, ValueError):
            outcome = json.loads(self._home.last_restore.read_text("utf-8"))
        return {
            "items": [_backup_to_json(path) for _, path in found[:MAX_BACKUPS]],
            "home": self._home.root.name,
            "free_bytes": shutil.disk_usage(self._home.root).free,
            "can_restore": self._bot.restore is not None,
            "last_restore": outcome,
        }

    async def _note(self, action: str, name: str, result: str) -> None:
        await self._bot.store.note(action, name, result, CONSOLE_ACTOR)


def _upload_to_json(upload: _Upload) -> dict[str, Any]:
    return {name: getattr(upload, name) for name in ("id", "name", "received", "size")}


def _backup_to_json(path: Path) -> dict[str, Any]:
    status = path.stat()
    at = to_iso(status.st_mtime)
    return {"name": path.name, "size": status.st_size, "at": at, "encrypted": is_encrypted(path)}
