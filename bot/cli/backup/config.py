"""config.json on its way into a backup and back: without secrets, with the home's own, for no more people. Pure."""

from collections.abc import Iterator, Sequence

from bot.config import json_source
from bot.config.json_source import Misread, Node
from bot.config.keys import Key, find, secrets

Path = tuple[str | int, ...]
PEOPLE = ("owners", "allow")
DATABASE = ("database_url",)
_ADDRESSES = ("url", "socket_url")


class NotRight(ValueError):
    """The text is no config.json that is known well enough to tell its secrets."""


def without_secrets(text: str) -> tuple[str, tuple[str, ...]]:
    """The same text with every secret empty, and the dotted names of those that were not.

    References such as "${NAME}" stay: they hold nothing.

    Raises:
        NotRight: it is no JSON, or holds a text under a key that nobody knows, which may be a secret.
    """
    found: list[tuple[Path, Node]] = []
    for path, node in _leaves(_parsed(text), ()):
        key = find(path) or (find(path[:-1]) if isinstance(path[-1], int) else None)  # an item of a list of texts
        if key is None and isinstance(node.value, str):
            raise NotRight(f"there is no key {_name(path)}")
        if key and key.secret and _tells(key, node.value):
            found.append((path, node))
    for _, node in reversed(found):
        text = f'{text[: node.start]}""{text[node.end :]}'
    return text, tuple(_name(path) for path, _ in found)


def refilled(text: str, left_out: Sequence[str], here: str) -> tuple[str, tuple[str, ...]]:
    """The text with the secrets that the home's own config.json has for the same servers, and the names of the others.

    Args:
        left_out: names of secrets, as `without_secrets` gave them.
        here: the home's own text, "" for none.

    Raises:
        NotRight: `text` is no JSON.
    """
    root, own = _parsed(text), _parsed_or_none(here)
    missing: list[str] = []
    for name in left_out:
        path = _path(name)
        key, place, mine = find(path), _at(root, path), _at(own, path)
        if not key or not key.secret or place is None:
            continue
        if mine is None or not mine.value or not _same_server(root, own, path[:-1]):
            missing.append(name)
            continue
        literal = here[mine.start : mine.end]
        text = text[: place.start] + literal + text[place.end :]
        root = _parsed(text)
    return text, tuple(missing)


def narrowed(text: str, here: str) -> tuple[str, tuple[str, ...]]:
    """The text with nobody in a channel's `owners` or `allow` whom the home's own text has not, and who that was.

    Raises:
        NotRight: `text` is no JSON.
    """
    own = _parsed_or_none(here)
    gone: list[str] = []
    channels = _at(_parsed(text), ("channels",))
    for channel in channels.value if channels and isinstance(channels.value, dict) else ():
        for kind in PEOPLE:
            path = ("channels", channel, kind)
            listed, still = _listed(_parsed(text), path), _listed(own, path)
            kept = [one for one in listed if one in still]
            if kept != listed:
                gone += [f"{channel}:{one} ({kind})" for one in listed if one not in still]
                text = json_source.edited(text, path, kept)
    return text, tuple(gone)


def rehoused(text: str, here: str) -> str:
    """The text with the record where the home's own text has it: a restore does not move it elsewhere.

    Raises:
        NotRight: `text` is no JSON.
    """
    own, wanted = _at(_parsed_or_none(here), DATABASE), _at(_parsed(text), DATABASE)
    mine = own.value if own else ""
    return text if (wanted.value if wanted else "") == mine else json_source.edited(text, DATABASE, mine)


def _tells(key: Key, value: object) -> bool:
    """Whether a secret's value gives anything away; an address only by its password."""
    if isinstance(value, str):
        return any(secrets(value, key.path))
    return value is not None and value != [] and value != {}


def _same_server(root: Node, own: Node | None, section: Path) -> bool:
    """Whether what says where a section's secrets are sent to is the same in both."""
    names = {name for node in (_at(root, section), _at(own, section)) if node for name in node.children}
    where = [name for name in names if name == "provider" or _form((*section, name)) in _ADDRESSES]
    return all(_value(root, (*section, name)) == _value(own, (*section, name)) for name in where)


def _form(path: Path) -> str:
    key = find(path)
    return key.form if key else ""


def _value(root: Node | None, path: Path) -> object:
    """What is written there, the default where nothing is."""
    node, key = _at(root, path), find(path)
    return node.value if node else key.default if key else None


def _listed(root: Node | None, path: Path) -> list[object]:
    node = _at(root, path)
    return list(node.value) if node and isinstance(node.value, list) else []


def _at(root: Node | None, path: Path) -> Node | None:
    node = root
    for step in path:
        node = node.children.get(step) if node else None
    return node


def _leaves(node: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    for step, child in node.children.items():
        yield from _leaves(child, (*path, step))
    if not node.children and path:
        yield path, node


def _parsed(text: str) -> Node:
    try:
        return json_source.parse(text)
    except Misread as err:
        raise NotRight(f"it is no JSON ({err.fault})") from err


def _parsed_or_none(text: str) -> Node | None:
    try:
        return json_source.parse(text)
    except Misread:
        return None


def _name(path: Path) -> str:
    return ".".join(map(str, path))


def _path(name: str) -> Path:
    return tuple(int(step) if step.isdigit() else step for step in name.split("."))
