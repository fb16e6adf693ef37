"""Files in the Telegram emulator: what a bot sends, by upload or by id, and what it fetches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from tests.emulators.telegram_rules import ApiError, readable
from tests.emulators.telegram_world import Chat, Seen, Stored, World

if TYPE_CHECKING:
    from aiogram import methods

MOST_OUT = 50 * 2**20
MOST_PHOTO = 10 * 2**20
MOST_IN = 20 * 2**20
LINK_LIFE = 3600.0
CAPTION = 1024
PICTURES = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"RIFF")

Post = Callable[[Any, Chat, Seen], Any]


class Media:
    """The methods about files. target: the chat that may be written to; post: what makes a message
    of a Seen.
    """

    def __init__(
        self, world: World, target: Callable[[int | str | None], Chat], post: Post
    ) -> None:
        self.world = world
        self.target = target
        self.post = post
        self.done: dict[str, Callable[[Any], Awaitable[Any]]] = {
            "sendphoto": self.send_photo,
            "senddocument": self.send_document,
            "sendmediagroup": self.send_media_group,
            "getfile": self.get_file,
        }

    async def send_photo(self, asked: methods.SendPhoto) -> Any:
        return self._send(asked, asked.photo, asked.caption, picture=True)

    async def send_document(self, asked: methods.SendDocument) -> Any:
        return self._send(asked, asked.document, asked.caption, picture=False)

    async def send_media_group(self, asked: methods.SendMediaGroup) -> list[Any]:
        """Two to ten; documents only among themselves."""
        from aiogram import types

        kinds: set[str] = {one.type for one in asked.media}
        if not 2 <= len(asked.media) <= 10:
            raise ApiError(400, "wrong number of media in the album")
        if "document" in kinds and len(kinds) > 1:
            raise ApiError(400, "document can't be mixed with other media types")
        return [
            self._send(asked, one.media, one.caption, isinstance(one, types.InputMediaPhoto))
            for one in asked.media
        ]

    async def get_file(self, asked: methods.GetFile) -> dict[str, Any]:
        kept = self.world.files.get(asked.file_id)
        if kept is None:
            raise ApiError(400, "wrong file_id or the file is temporarily unavailable")
        if kept.size > MOST_IN:
            raise ApiError(400, "file is too big")
        kept.path, kept.until = f"documents/{kept.id}", self.world.now() + LINK_LIFE
        return {
            "file_id": kept.id,
            "file_unique_id": f"u{kept.id}",
            "file_size": kept.size,
            "file_path": kept.path,
        }

    def at(self, path: str) -> Stored | None:
        """What stands at a link that getFile gave, while it holds."""
        return next(
            (
                one
                for one in self.world.files.values()
                if one.path == path and one.until > self.world.now()
            ),
            None,
        )

    def _send(self, asked: Any, given: Any, caption: str | None, picture: bool) -> Any:
        chat = self.target(asked.chat_id)
        text, entities = (
            readable(caption or "", asked_mode(asked), None, CAPTION) if caption else ("", [])
        )
        kept = self._kept(given, picture)
        seen = Seen(
            chat=chat.id, message_id=0, text=text, entities=entities, file=kept.id, picture=picture
        )
        return self.post(asked, chat, seen)

    def _kept(self, given: Any, picture: bool) -> Stored:
        from aiogram import types

        if isinstance(given, str):
            if given not in self.world.files:
                raise ApiError(400, "wrong file identifier/HTTP URL specified")
            return self.world.files[given]
        if not isinstance(given, types.BufferedInputFile) or not given.data:
            raise ApiError(400, "file must be non-empty")
        if len(given.data) > (MOST_PHOTO if picture else MOST_OUT):
            raise (
                ApiError(400, "file is too big")
                if picture
                else ApiError(413, "Request Entity Too Large")
            )
        if picture and not given.data.startswith(PICTURES):
            raise ApiError(400, "IMAGE_PROCESS_FAILED")
        return self.world.keep(given.filename or "", "", given.data)


def asked_mode(asked: Any) -> Any:
    """The parse mode of a request; an album has none of its own."""
    return getattr(asked, "parse_mode", None)


def shown(kept: Stored, picture: bool) -> dict[str, Any]:
    """A file as a message of the bot carries it."""
    held: dict[str, Any] = {
        "file_id": kept.id,
        "file_unique_id": f"u{kept.id}",
        "file_size": kept.size,
    }
    if picture:
        return {"photo": [held | {"width": 640, "height": 480}]}
    return {"document": held | {"file_name": kept.name}}
