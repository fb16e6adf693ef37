"""config.json on its way into a backup and back: without secrets, with the home's own, for no more people. Pure."""

from collections.abc import Iterator, Sequence

from bot.config import json_source
from bot.config.json_source import JsonNode, JsonSyntaxError
from bot.config.keys import ConfigKey, find_key, list_secrets

ConfigPath = tuple[str | int, ...]
ACCESS_KEYS = ("owners", "allow")
DATABASE_KEY = ("database_url",)
_ADDRESS_KEYS = ("url", "socket_url")


class UnreadableConfig(ValueError):
    """The text is no config.json that is known well enough to tell its secrets."""


def strip_secrets(text: str) -> tuple[str, tuple[str, ...]]:
    """The same text with every secret empty, and the dotted names of those that were not.

    References such as "${NAME}" stay: they hold nothing.

    Raises:
        UnreadableConfig: it is no JSON, or holds a text under a key that nobody knows, which may be a secret.
    """
    found: list[tuple[ConfigPath, JsonNode]] = []
    for path, node in _leaf_values(_parse(text), ()):
        key = find_key(path) or (
            find_key(path[:-1]) if isinstance(path[-1], int) else None
        )  # an item of a list of texts
        if key is None and isinstance(node.value, str):
            raise UnreadableConfig(f"there is no key {_dotted_name(path)}")
        if key and key.secret and _is_secret(key, node.value):
            found.append((path, node))
    for _, node in reversed(found):
        text = f'{text[: node.start]}""{text[node.end :]}'
    return text, tuple(_dotted_name(path) for path, _ in found)


def restore_secrets(text: str, left_out: Sequence[str], here: str) -> tuple[str, tuple[str, ...]]:
    """The text with the secrets that the home's own config.json has for the same servers, and the names of the others.

    Args:
        left_out: names of secrets, as `strip_secrets` gave them.
        here: the home's own text, "" for none.

    Raises:
        UnreadableConfig: `text` is no JSON.
    """
    root, own = _parse(text), _parse_or_none(here)
    missing: list[str] = []
    for name in left_out:
        path = _split_name(name)
        key, place, mine = find_key(path), _node_at(root, path), _node_at(own, path)
        if not key or not key.secret or place is None:
            continue
        if mine is None or not mine.value or not _is_same_server(root, own, path[:-1]):
            missing.append(name)
            continue
        literal = here[mine.start : mine.end]
        text = text[: place.start] + literal + text[place.end :]
        root = _parse(text)
    return text, tuple(missing)


def restrict_access(text: str, here: str) -> tuple[str, tuple[str, ...]]:
    """The text with nobody in a channel's `owners` or `allow` whom the home's own text has not, and who that was.

    Raises:
        UnreadableConfig: `text` is no JSON.
    """
    own = _parse_or_none(here)
    gone: list[str] = []
    channels = _node_at(_parse(text), ("channels",))
    for channel in channels.value if channels and isinstance(channels.value, dict) else ():
        for kind in ACCESS_KEYS:
            path = ("channels", channel, kind)
            listed, still = _list_at(_parse(text), path), _list_at(own, path)
            kept = [one for one in listed if one in still]
            if kept != listed:
                gone += [f"{channel}:{one} ({kind})" for one in listed if one not in still]
                text = json_source.replace_value(text, path, kept)
    return text, tuple(gone)


def keep_database_url(text: str, here: str) -> str:
    """The text with the store where the home's own text has it: a restore does not move it elsewhere.

    Raises:
        UnreadableConfig: `text` is no JSON.
    """
    own, wanted = _node_at(_parse_or_none(here), DATABASE_KEY), _node_at(_parse(text), DATABASE_KEY)
    mine = own.value if own else ""
    return text if (wanted.value if wanted else "") == mine else json_source.replace_value(text, DATABASE_KEY, mine)


def _is_secret(key: ConfigKey, value: object) -> bool:
    """Whether a secret's value gives anything away; an address only by its password."""
    if isinstance(value, str):
        return any(list_secrets(value, key.path))
    return value is not None and value != [] and value != {}


def _is_same_server(root: JsonNode, own: JsonNode | None, section: ConfigPath) -> bool:
    """Whether what says where a section's secrets are sent to is the same in both."""
    names = {name for node in (_node_at(root, section), _node_at(own, section)) if node for name in node.children}
    where = [name for name in names if name == "provider" or _key_form((*section, name)) in _ADDRESS_KEYS]
    return all(_value_at(root, (*section, name)) == _value_at(own, (*section, name)) for name in where)


def _key_form(path: ConfigPath) -> str:
    key = find_key(path)
    return key.form if key else ""


def _value_at(root: JsonNode | None, path: ConfigPath) -> object:
    """What is written there, the default where nothing is."""
    node, key = _node_at(root, path), find_key(path)
    return node.value if node else key.default if key else None


def _list_at(root: JsonNode | None, path: ConfigPath) -> list[object]:
    node = _node_at(root, path)
    return list(node.value) if node and isinstance(node.value, list) else []


def _node_at(root: JsonNode | None, path: ConfigPath) -> JsonNode | None:
    node = root
    for step in path:
        node = node.children.get(step) if node else None
    return node


def _leaf_values(node: JsonNode, path: ConfigPath) -> Iterator[tuple[ConfigPath, JsonNode]]:
    for step, child in node.children.items():
        yield from _leaf_values(child, (*path, step))
    if not node.children and path:
        yield path, node


def _parse(text: str) -> JsonNode:
    try:
        return json_source.parse_config_json(text)
    except JsonSyntaxError as err:
        raise UnreadableConfig(f"it is no JSON ({err.fault})") from err


def _parse_or_none(text: str) -> JsonNode | None:
    try:
        return json_source.parse_config_json(text)
    except JsonSyntaxError:
        return None


def _dotted_name(path: ConfigPath) -> str:
    return ".".join(map(str, path))


def _split_name(name: str) -> ConfigPath:
    return tuple(int(step) if step.isdigit() else step for step in name.split("."))
