"""People who write for the first time while commands run: their memory is theirs alone, and stays
in its place.
"""

import re
from pathlib import Path

from tests.emulators.telegram import TelegramEmulator
from tests.walk.chats import excused
from tests.walk.harness import Scene
from tests.walk.record import query
from tests.walk.speech import asked, tokens_in

FIRST, MANY = 6001, 12
TURNS_OF_A_FIRST_FOLD = 4
_OWN_WORD = re.compile(r"newcomer(\d{4})")
_FOLDED = """SELECT COUNT(*) FROM fold JOIN conversation ON conversation.id = fold.conversation
    WHERE conversation.chat_id = ? AND fold.state = 'folded'"""


class Newcomers:
    """Each has the bot remember one word, and says enough for a first fold."""

    def __init__(self, telegram: TelegramEmulator, talk: Scene) -> None:
        self._telegram, self._talk = telegram, talk
        self._tokens: dict[int, list[str]] = {}

    @staticmethod
    def ids() -> list[str]:
        """Ids of all who may come."""
        return [str(FIRST + at) for at in range(MANY)]

    def arrive(self) -> None:
        """The next one writes; nobody once all have come."""
        if len(self._tokens) == MANY:
            return
        person = FIRST + len(self._tokens)
        self._telegram.inject(f"/remember my word is newcomer{person}", user=person)
        self._tokens[person] = [f"{person}/{at}" for at in range(TURNS_OF_A_FIRST_FOLD)]
        for token in self._tokens[person]:
            self._telegram.inject(asked(token, f"what is newcomer{person}?"), user=person)

    def unanswered(self) -> list[str]:
        """Tokens whose answer is still to come."""
        ended = excused(self._talk.bot.db)
        return [
            token
            for person, tokens in self._tokens.items()
            for token in tokens
            if token not in ended and not self._sees(person, token)
        ]

    def faults(self) -> list[str]:
        """Every word that is missing, in another's place, or in another's prompt; at rest."""
        workspace = self._talk.bot.workspace
        found = [f"renamed: {path}" for path in workspace.rglob("*made-by-exec*")]
        for person in self._tokens:
            holders = _spaces_with(workspace, f"newcomer{person}")
            confirmed = any(
                f"newcomer{person}" in seen.text and not tokens_in(seen.text)
                for seen in self._telegram.sent(person)
            )
            if confirmed and len(holders) != 1:
                found.append(f"the word of {person} is in {holders}")
        bodies = (str(request.body) for request in self._talk.model.requests)
        mixed = {tuple(sorted(named)) for named in map(_people_in, bodies) if len(named) > 1}
        return [*found, *(f"in one prompt: {named}" for named in mixed)]

    def folds(self) -> int:
        """How many folds there were in all."""
        db = self._talk.bot.db
        return sum(query(db, _FOLDED, str(person))[0][0] for person in self._tokens)

    def _sees(self, person: int, token: str) -> bool:
        return any(token in tokens_in(seen.text) for seen in self._telegram.sent(person))


def _people_in(body: str) -> set[str]:
    return set(_OWN_WORD.findall(body))


def _spaces_with(workspace: Path, word: str) -> list[str]:
    """Folders of spaces whose memory holds a word; "." for the owner's."""
    files = [path for path in workspace.rglob("*.md") if word in path.read_text(errors="replace")]
    folders = (path.relative_to(workspace).parts for path in files)
    return sorted({parts[1] if parts[0] == "spaces" else "." for parts in folders})
