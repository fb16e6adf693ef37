"""What people in the Telegram emulator's world do beside writing: files, albums, edits, presses,
forwards, moves.
"""

from typing import Any

from tests.emulators.telegram_world import World

PERSON = 5005


class People:
    """Acts upon a world; each returns what `World.inject` does, or the update's id."""

    def __init__(self, world: World) -> None:
        self.world = world

    def edit(
        self, message_id: int, text: str, *, user: int = PERSON, chat: int = 0, **fields: Any
    ) -> dict[str, int]:
        """A person changes their message; a second edit within the same second shares its
        edit_date.
        """
        before = self.world.chat(chat or user).messages[message_id]
        date = max(before["date"], int(self.world.now()))
        return self.world.inject(
            text,
            user=user,
            chat=chat,
            message_id=message_id,
            **({"edit_date": date, "date": before["date"]} | fields),
        )

    def picture(self, data: bytes, caption: str = "", **where: Any) -> dict[str, int]:
        """A photo, in the sizes that the platform makes of it; the largest is the one that was
        sent.
        """
        kept = self.world.keep("", "image/jpeg", data, where.pop("size", 0))
        sizes = [
            self._size(kept.id, 1280, kept.size),
            self._size(self.world.keep("", "", data[:9]).id, 90, 9),
        ]
        return self._with(caption, photo=sizes, **where)

    def file(
        self,
        name: str,
        data: bytes,
        caption: str = "",
        kind: str = "document",
        media_type: str = "",
        **where: Any,
    ) -> dict[str, int]:
        """A file of any kind: document, voice, audio, video, video_note, animation, sticker."""
        kept = self.world.keep(name, media_type, data, where.pop("size", 0))
        held: dict[str, Any] = {
            "file_id": kept.id,
            "file_unique_id": f"u{kept.id}",
            "file_size": kept.size,
        }
        if name and kind not in ("voice", "video_note", "sticker"):
            held["file_name"] = name
        if media_type:
            held["mime_type"] = media_type
        held |= _OF_A_KIND.get(kind, {})
        extra = (
            {"document": {k: v for k, v in held.items() if k not in _MOVING}}
            if kind == "animation"
            else {}
        )
        return self._with(caption, **{kind: held}, **extra, **where)

    def album(
        self, pictures: list[bytes], caption: str = "", spread: float = 0.0, **where: Any
    ) -> list[dict[str, int]]:
        """Photos sent as one: an update each, the caption on the first, `spread` seconds between
        two of them.
        """
        group = str(self.world.random.randrange(10**15, 10**16))
        return [
            self.picture(
                data,
                "" if number else caption,
                media_group_id=group,
                delay=number * spread,
                **where,
            )
            for number, data in enumerate(pictures)
        ]

    def press(self, data: str, *, user: int = PERSON, chat: int = 0) -> int:
        """A person presses a button that stands under a message of the bot."""
        place = self.world.chat(chat or user)
        seen = next(seen for seen in reversed(self.world.sent(place.id)) if data in seen.buttons)
        id = str(self.world.random.randrange(10**17, 10**18))
        self.world.queries[id] = self.world.now()
        query = {
            "id": id,
            "from": self._user(user),
            "message": place.messages[seen.message_id],
            "chat_instance": "1",
            "data": data,
        }
        return self.world.queue({"callback_query": query})

    def forward(
        self, text: str, author: str = "Grace", author_id: int = 7007, **where: Any
    ) -> dict[str, int]:
        """A person passes on what another (author_id 0: one who hides) wrote."""
        origin: dict[str, Any] = {"date": 1_700_000_000}
        if author_id:
            origin |= {
                "type": "user",
                "sender_user": {"id": author_id, "is_bot": False, "first_name": author},
            }
        else:
            origin |= {"type": "hidden_user", "sender_user_name": author}
        return self.world.inject(text, forward_origin=origin, **where)

    def member(self, chat: int, status: str, before: str = "left", *, user: int = PERSON) -> int:
        """The bot is taken into a group (member, administrator), or out of it (left, kicked)."""
        me = self.world.me.model_dump(mode="json", exclude_none=True)
        place = self.world.chat(chat)
        place.state = "open" if status in ("member", "administrator") else "kicked"
        change = {
            "chat": place.shown(),
            "from": self._user(user),
            "date": int(self.world.now()),
            "old_chat_member": {"status": before, "user": me} | _RIGHTS.get(before, {}),
            "new_chat_member": {"status": status, "user": me} | _RIGHTS.get(status, {}),
        }
        return self.world.queue({"my_chat_member": change})

    def migrate(self, old: int, new: int, *, user: int = PERSON) -> list[int]:
        """A group becomes a supergroup: told in the old chat and in the new one, and sends to the
        old id fail.
        """
        before, now = self.world.chat(old, type="group"), self.world.chat(new, type="supergroup")
        told = [
            self.world.inject(chat=old, user=user, migrate_to_chat_id=new)["update_id"],
            self.world.inject(chat=new, user=user, migrate_from_chat_id=old)["update_id"],
        ]
        before.migrated_to = now.id
        return told

    def forget_files(self) -> None:
        """No file can be fetched any more, by id or by link."""
        self.world.files.clear()

    def _with(self, caption: str, **fields: Any) -> dict[str, int]:
        words: dict[str, Any] = {"caption": caption} if caption else {}
        return self.world.inject(**words, **fields)

    def _size(self, id: str, width: int, size: int) -> dict[str, Any]:
        return {
            "file_id": id,
            "file_unique_id": f"u{id}",
            "width": width,
            "height": width,
            "file_size": size,
        }

    def _user(self, user: int) -> dict[str, Any]:
        from aiogram import types

        return types.User(id=user, is_bot=False, first_name="Ада", language_code="ru").model_dump(
            exclude_none=True
        )


_MOVING = ("width", "height", "duration")
_OF_A_KIND: dict[str, dict[str, Any]] = {
    "voice": {"duration": 3},
    "audio": {"duration": 3},
    "video": {"duration": 3, "width": 640, "height": 480},
    "video_note": {"duration": 3, "length": 240},
    "animation": {"duration": 3, "width": 640, "height": 480},
    "sticker": {
        "type": "regular",
        "width": 512,
        "height": 512,
        "is_animated": False,
        "is_video": False,
    },
}
_CAN = (
    "be_edited",
    "manage_chat",
    "delete_messages",
    "manage_video_chats",
    "restrict_members",
    "promote_members",
)
_MORE = (
    "send_welcome_messages",
    "change_info",
    "invite_users",
    "post_stories",
    "edit_stories",
    "delete_stories",
)
_RIGHTS: dict[str, dict[str, Any]] = {
    "administrator": {"is_anonymous": False} | {f"can_{right}": False for right in _CAN + _MORE},
    "kicked": {"until_date": 0},
}
