"""config.json in a backup: removes secrets, restores them from the home, never widens access.
Pure.
"""

from collections.abc import Iterator, Sequence

from bot.config import json_source
from bot.config.file import FILE_ONLY
from bot.config.json_source import JsonNode, JsonSyntaxError
from bot.config.keys import ConfigKey, find_key, list_secrets

ConfigPath = tuple[str | int, ...]
ACCESS_KEYS = ("owners", "allow")
DATABASE_KEY = ("database_url",)
_ADDRESS_FORMS = ("url", "socket_url")


class UnreadableConfig(ValueError):
    """The text is no JSON, or has keys that may hold unknown secrets."""


def strip_secrets(text: str) -> tuple[str, tuple[str, ...]]:
    """Empty every secret; returns the text and the dotted names of the emptied ones.

    References such as "${NAME}" stay: they are no secrets.

    Raises:
        UnreadableConfig: the text is no JSON, or has a string under an unknown key, which may be a
            secret.
    """
    found: list[tuple[ConfigPath, JsonNode]] = []
    for path, node in _leaf_values(_parse(text), ()):
        key = find_key(path)
        if key is None and isinstance(path[-1], int):  # an item of a list of strings
            key = find_key(path[:-1])
        if key is None and isinstance(node.value, str):
            raise UnreadableConfig(f"there is no key {_dotted_name(path)}")
        if key and key.secret and _is_secret(key, node.value):
            found.append((path, node))
    for _, node in reversed(found):
        text = f'{text[: node.start]}""{text[node.end :]}'
    return text, tuple(_dotted_name(path) for path, _ in found)


def restore_secrets(
    text: str, left_out: Sequence[str], own_text: str
) -> tuple[str, tuple[str, ...]]:
    """Insert the home's secrets for the same servers; returns the text and the missing names.

    Args:
        left_out: names of secrets, from `strip_secrets`.
        own_text: the home's config.json, "" for none.

    Raises:
        UnreadableConfig: `text` is no JSON.
    """
    root, own = _parse(text), _parse_or_none(own_text)
    missing: list[str] = []
    for name in left_out:
        path = tuple(int(step) if step.isdigit() else step for step in name.split("."))
        key, node, own_node = find_key(path), _node_at(root, path), _node_at(own, path)
        if not key or not key.secret or node is None:
            continue
        if own_node is None or not own_node.value or not _is_same_server(root, own, path[:-1]):
            missing.append(name)
            continue
        text = text[: node.start] + own_text[own_node.start : own_node.end] + text[node.end :]
        root = _parse(text)
    return text, tuple(missing)


def restrict_access(text: str, own_text: str) -> tuple[str, tuple[str, ...]]:
    """Remove people who are not in the home's `owners` and `allow`; returns the text and the
    removed.

    Raises:
        UnreadableConfig: `text` is no JSON.
    """
    own = _parse_or_none(own_text)
    removed: list[str] = []
    channels = _node_at(_parse(text), ("channels",))
    for channel in channels.value if channels and isinstance(channels.value, dict) else ():
        for kind in ACCESS_KEYS:
            path = ("channels", channel, kind)
            listed, own_list = _list_at(_parse(text), path), _list_at(own, path)
            if gone := [id for id in listed if id not in own_list]:
                removed += [f"{channel}:{id} ({kind})" for id in gone]
                text = json_source.replace_value(
                    text, path, [id for id in listed if id in own_list]
                )
    return text, tuple(removed)


def keep_database_url(text: str, own_text: str) -> str:
    """Set the home's own `database_url`: a restore does not move the store.

    Raises:
        UnreadableConfig: `text` is no JSON.
    """
    own_node, node = (
        _node_at(_parse_or_none(own_text), DATABASE_KEY),
        _node_at(_parse(text), DATABASE_KEY),
    )
    own_url = own_node.value if own_node else ""
    return (
        text
        if (node.value if node else "") == own_url
        else json_source.replace_value(text, DATABASE_KEY, own_url)
    )


def keep_file_only(text: str, own_text: str) -> str:
    """Set the home's own values of what only the file may hold, as programs that are run: no page
    writes them.

    Raises:
        UnreadableConfig: `text` is no JSON.
    """
    for name in FILE_ONLY:
        own_node, node = (
            _node_at(_parse_or_none(own_text), (name,)),
            _node_at(_parse(text), (name,)),
        )
        own = own_node.value if own_node else {}
        if (node.value if node else {}) != own:
            text = json_source.replace_value(text, (name,), own)
    return text


def _is_secret(key: ConfigKey, value: object) -> bool:
    """Whether the value is a secret: of an address, only one with a password."""
    if isinstance(value, str):
        return any(list_secrets(value, key.path))
    return value is not None and value != [] and value != {}


def _is_same_server(root: JsonNode, own: JsonNode | None, section: ConfigPath) -> bool:
    """Whether a section's provider and addresses, to which its secrets are sent, are the same in
    both.
    """
    names = {
        name
        for node in (_node_at(root, section), _node_at(own, section))
        if node
        for name in node.children
    }
    paths = [(*section, name) for name in names]
    return all(
        _value_at(root, path) == _value_at(own, path) for path in paths if _is_destination(path)
    )


def _is_destination(path: ConfigPath) -> bool:
    key = find_key(path)
    return path[-1] == "provider" or (key is not None and key.form in _ADDRESS_FORMS)


def _value_at(root: JsonNode | None, path: ConfigPath) -> object:
    """Return the value at a path, or its default."""
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
