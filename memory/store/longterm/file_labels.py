"""Stores which files and folders of a space have a name or a content from outside."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, delete, func, or_, select, update

from memory.store.audit import append_act
from memory.store.engine.database import InsertIfAbsent, Repository, Tx, read, write
from memory.store.schema.memory_tables import file_label, file_version

_OF_SPACE = file_label.c.space == bindparam("space")
_OF_PATH = _OF_SPACE & (file_label.c.path == bindparam("path"))
PATHS_AT_ONCE = 64  # paths of one query
_PATH_NAMES = tuple(f"path{number}" for number in range(PATHS_AT_ONCE))
_SELECT = select(file_label.c.path, file_label.c.content_only).where(
    _OF_SPACE, file_label.c.path.in_([bindparam(name) for name in _PATH_NAMES])
)
_INSERT_IF_ABSENT = InsertIfAbsent(file_label)
_LABEL_NAME = (
    update(file_label).where(_OF_PATH, file_label.c.content_only == 1).values(content_only=0)
)
_REFRESH = update(file_label).where(_OF_PATH).values(at=bindparam("new_at"))
_DELETE = delete(file_label).where(_OF_PATH)
# A tool labels a path shortly before it writes there, so a new label may have no file yet.
GONE_AFTER = 86_400.0  # seconds
_IS_OLD = file_label.c.at < bindparam("before")
_SELECT_OLD = select(file_label.c.path).where(
    _OF_SPACE,
    file_label.c.path >= bindparam("first"),
    file_label.c.path < bindparam("end"),
    _IS_OLD,
)
_AFTER_SLASH = chr(ord("/") + 1)  # what is below a folder sorts from "folder/" to "folder0"
# What was there may come back by `restore_file`, and is then from outside as it was.
_VERSION = select(file_version.c.id).where(
    file_version.c.space == bindparam("space"),
    or_(
        file_version.c.path == bindparam("path"),
        func.substr(file_version.c.path, 1, bindparam("length")) == bindparam("folder"),
    ),
)
_DELETE_GONE = delete(file_label).where(_OF_PATH, _IS_OLD, ~_VERSION.exists())
_DELETE_BELOW = delete(file_label).where(
    _OF_SPACE,
    or_(
        file_label.c.path == bindparam("path"),
        func.substr(file_label.c.path, 1, bindparam("length")) == bindparam("folder"),
    ),
)

WHOLE_SPACE = "/"  # the path of a label for all that a space holds


@dataclass(frozen=True, slots=True, kw_only=True)
class PathLabels:
    """Labelled paths of a space, of existing files or not; what is below a labelled folder is
    labelled too.

    A path that ends in "/" stands for all that is below a folder, and not for the folder's own
    name.
    """

    #: Their names came from outside, and their contents.
    names: frozenset[str] = frozenset()
    #: Only their contents came from outside.
    contents: frozenset[str] = frozenset()

    def has_outside_name(self, path: str) -> bool:
        """Tell whether a list of files shows words from outside with this path."""
        return not self.names.isdisjoint(_with_folders(path))

    def has_outside_content(self, path: str) -> bool:
        """Tell whether the bytes of a file came from outside."""
        return not (self.names | self.contents).isdisjoint(_with_folders(path))


def _with_folders(path: str) -> list[str]:
    """Return the paths of all labels that count for a path.

    These are the whole space, the folders that contain it, each as itself and as what is below it,
    and the path itself.
    """
    parts = path.split("/")
    folders = ["/".join(parts[:count]) for count in range(1, len(parts))]
    return [WHOLE_SPACE, *folders, *(f"{folder}/" for folder in folders), path]


async def _label_names(tx: Tx, space: str, paths: Sequence[str]) -> None:
    """Label files and folders whose names came from outside, and with them what they hold."""
    for path in paths:
        await tx.execute(_INSERT_IF_ABSENT, space=space, path=path, at=tx.now, content_only=0)
        await tx.execute(_REFRESH, space=space, path=path, new_at=tx.now)
        await tx.execute(_LABEL_NAME, space=space, path=path)


async def _label_contents(tx: Tx, space: str, paths: Sequence[str]) -> None:
    """Label files whose contents came from outside."""
    for path in paths:
        await tx.execute(_INSERT_IF_ABSENT, space=space, path=path, at=tx.now, content_only=1)
        await tx.execute(_REFRESH, space=space, path=path, new_at=tx.now)


async def _load(tx: Tx, space: str, paths: Iterable[str]) -> PathLabels:
    """Load the labels of a space that count for these paths."""
    keys = list(dict.fromkeys(key for path in paths for key in _with_folders(path)))
    rows = []
    for start in range(0, len(keys), PATHS_AT_ONCE):
        some = keys[start : start + PATHS_AT_ONCE]
        values = dict.fromkeys(_PATH_NAMES, some[0]) | dict(zip(_PATH_NAMES, some, strict=False))
        rows += (await tx.execute(_SELECT, space=space, **values)).all()
    return PathLabels(
        names=frozenset(row["path"] for row in rows if not row["content_only"]),
        contents=frozenset(row["path"] for row in rows if row["content_only"]),
    )


async def _remove(tx: Tx, space: str, paths: Sequence[str]) -> None:
    """Remove the labels of these very paths."""
    for path in paths:
        await tx.execute(_DELETE, space=space, path=path)


async def _load_old(tx: Tx, space: str, folders: Sequence[str]) -> list[str]:
    """Load the labelled paths below these folders whose file may be gone: no label that was set
    within a day.
    """
    paths: list[str] = []
    for folder in folders:
        below = {"first": f"{folder}/", "end": f"{folder}{_AFTER_SLASH}"}
        rows = await tx.execute(_SELECT_OLD, space=space, before=tx.now - GONE_AFTER, **below)
        paths += [row["path"] for row in rows.all()]
    return paths


async def _remove_gone(tx: Tx, space: str, paths: Sequence[str]) -> None:
    """Remove the labels of paths where nothing is any more, unless a former version can be brought
    back there.
    """
    for path in paths:
        before, folder = tx.now - GONE_AFTER, f"{path}/"
        await tx.execute(
            _DELETE_GONE, space=space, path=path, before=before, folder=folder, length=len(folder)
        )


async def _take_over(tx: Tx, space: str, path: str, actor: str) -> int:
    """Remove the labels of a file, or of a folder and all below it; return how many there were.

    The person says that it is theirs, which is noted in the audit list.

    Args:
        actor: who says so, as the audit list names them.
    """
    folder = f"{path.strip('/')}/"
    removed = await tx.execute(
        _DELETE_BELOW, space=space, path=path.strip("/"), folder=folder, length=len(folder)
    )
    if removed.rowcount:
        await append_act(
            tx, "files.taken over", space, f"-{removed.rowcount}", actor, args={"path": path}
        )
    return removed.rowcount


class FileLabels(Repository):
    """Labels of files and folders.

    One stays with its path while there is something; a new name has none.
    """

    label_names = write(_label_names)
    label_contents = write(_label_contents)
    load = read(_load)
    remove = write(_remove)
    load_old = read(_load_old)
    remove_gone = write(_remove_gone)
    take_over = write(_take_over)
