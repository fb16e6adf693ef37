"""Backups and restores: what is refused, what stays revoked, what a backup never contains."""

import asyncio
import fcntl
import gzip
import hashlib
import io
import json
import os
import shutil
import sqlite3
import tarfile
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bot.cli.backup.archive import InvalidBackup
from bot.cli.backup.create import create_backup
from bot.cli.backup.restore import restore_backup, verify_backup
from bot.config import restore_journal as journal
from bot.config.home import HomeFolder
from bot.errors import ConfigError, MnemaError
from bot.runtime.store_access import lock_home, resume_restore
from bot.tools.plugins.library import EnabledPlugin, PluginState
from bot.tools.skills.library import EnabledSkill, SkillState
from memory.failpoints import arm
from memory.forgetting.forget import database_copies
from memory.store.errors import StoreError
from memory.store.open import open_store
from memory.store.store import Store
from tests.contracts.store_access_suite import granted, party
from tests.contracts.store_words import arrival, parts, talk
from tests.memory.store.first_home import go_back

SECRET = "sk-planted-of-the-test-0123456789"
CONFIG: dict[str, Any] = {
    "llm": {"provider": "openai", "base_url": "http://one.example/v1", "api_key": SECRET},
    "channels": {
        "telegram": {"token": "${TELEGRAM_BOT_TOKEN}", "owners": ["1", "2"], "allow": ["3"]}
    },
}
Members = list[tuple[tarfile.TarInfo, bytes]]


@pytest.fixture
def home(tmp_path: Path) -> HomeFolder:
    """A home with one conversation, a file, an attachment and settings."""
    home = HomeFolder(root=tmp_path / "bot")
    home.ensure()
    write_config(home, CONFIG)
    (home.workspace / "notes").mkdir()
    (home.workspace / "notes" / "one.md").write_text("first")
    (home.blobs / ("ab" * 32)).write_bytes(b"picture")
    home.web_token.write_text("the old token\n")
    inside(home, lambda store: talk(store, "k1"))
    return home


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "backup"


def write_config(home: HomeFolder, settings: Any) -> None:
    home.config.write_text(json.dumps(settings, indent=2))
    home.config.chmod(0o600)


def inside(home: HomeFolder, work: Callable[[Store], Awaitable[Any]]) -> Any:
    """Run `work` on the home's store."""

    async def opened() -> Any:
        store = await open_store(home.db)
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(opened())


def state(home: HomeFolder) -> dict[str, bytes]:
    """Read every file of a home that opening it does not change."""
    found = [
        path
        for path in home.root.rglob("*")
        if path.is_file() and path.name not in ("lock", "mnema.db-shm")
    ]
    return {str(path.relative_to(home.root)): path.read_bytes() for path in found}


def read(file: Path) -> Members:
    with tarfile.open(file) as tar:
        return [(one, tar.extractfile(one).read()) for one in tar]  # type: ignore[union-attr]


def write(file: Path, members: Members, *, manifest: bool = True) -> Path:
    """Write an archive of these members, with a manifest that fits."""
    if manifest:
        members = fitted(members)
    with tarfile.open(file, "w:gz", format=tarfile.PAX_FORMAT) as tar:
        for header, content in members:
            header.size = len(content) if header.isreg() else 0
            tar.addfile(header, io.BytesIO(content))
    return file


def fitted(members: Members) -> Members:
    """Replace the manifest by one that names each member with its hash, so that only its reader can
    refuse it.
    """
    *others, (header, text) = members
    told = json.loads(text)
    told["members"] = [
        {"name": one.name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for one, content in others
    ]
    return [*others, (header, json.dumps(told).encode())]


def added(file: Path, header: tarfile.TarInfo, content: bytes = b"evil") -> Path:
    """Add a member before the manifest."""
    *others, last = read(file)
    return write(file, [*others, (header, content), last])


def named(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.type, header.linkname = kind, link
    return header


def refused(home: HomeFolder, file: Path, words: str) -> None:
    """Restoring and verifying both refuse it, and no byte of the home changes."""
    before = state(home)
    with pytest.raises(InvalidBackup, match=words):
        verify_backup(file)
    with pytest.raises(InvalidBackup, match=words):
        restore_backup(home, file)
    assert state(home) == before
    assert not [path.name for path in home.root.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "workspace/../../evil",
        "workspace/./a",
        "workspace//a",
        "/etc/evil",
        "workspace",
        "data/lock",
        "evil",
        "blobs/../config.json",
        "blobs/" + "g" * 64,
        "blobs/" + "a" * 64 + "/x",
        "config.json.last-good",
    ],
)
def test_S38_an_archive_with_a_name_outside_is_refused(
    home: HomeFolder, file: Path, name: str
) -> None:
    create_backup(home, file)
    refused(home, added(file, named(name)), "no name that a backup holds")


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE]
)
def test_S38_an_archive_with_a_link_or_a_device_is_refused(
    home: HomeFolder, file: Path, kind: bytes
) -> None:
    create_backup(home, file)
    refused(
        home, added(file, named("workspace/evil", kind, "/etc/passwd"), b""), "a link, a device"
    )


@pytest.mark.parametrize(
    "name",
    ["workspace/notes/one.md", "workspace/notes", "workspace/notes/one.md/more", "record.db"],
)
def test_S38_an_archive_with_a_name_twice_is_refused(
    home: HomeFolder, file: Path, name: str
) -> None:
    create_backup(home, file)
    refused(home, added(file, named(name)), "in it twice")


def test_S38_a_member_of_another_content_than_the_manifests_is_refused(
    home: HomeFolder, file: Path
) -> None:
    create_backup(home, file)
    members = [
        (one, b"fIrst" if one.name.endswith("one.md") else content) for one, content in read(file)
    ]
    refused(
        home,
        write(file, members, manifest=False),
        "'workspace/notes/one.md' is not what its manifest says",
    )


def test_S38_a_member_too_many_or_too_few_is_refused(home: HomeFolder, file: Path) -> None:
    create_backup(home, file)
    *others, manifest = read(file)
    write(file, [*others, (named("workspace/more"), b"x"), manifest], manifest=False)
    refused(home, file, "does not name 'workspace/more'")
    write(file, [*others[:-1], manifest], manifest=False)
    refused(home, file, "is not what its manifest says")
    write(file, [*others, manifest, (named("workspace/more"), b"x")], manifest=False)
    refused(home, file, "after the manifest")
    write(file, others, manifest=False)
    refused(home, file, "cut short")


def test_S38_a_newer_schema_is_refused(home: HomeFolder, file: Path) -> None:
    create_backup(home, file)
    (header, record), *others = read(file)
    newer = changed(record, "UPDATE alembic_version SET version_num = 'r9999'")
    refused(home, write(file, [(header, newer), *others]), "newer than this program")


def test_S38_a_record_with_a_fault_in_its_ledger_or_none_at_all_is_refused(
    home: HomeFolder, file: Path
) -> None:
    create_backup(home, file)
    (_, whole), *others = read(file)
    faulty = changed(
        whole,
        "INSERT INTO coverage (message_id, class, fold_id) SELECT id, 'folded', 'none' FROM message",  # noqa: E501
    )
    for record, words in ((faulty, "its ledger has"), (b"", "no tables"), (b"x" * 9000, "damaged")):
        write(file, [(named("record.db"), record), *others])
        refused(home, file, words)


def changed(record: bytes, statement: str) -> bytes:
    """Return the bytes of a database after a change."""
    with closing(sqlite3.connect(":memory:")) as held:
        held.deserialize(record)
        held.execute(statement)
        held.commit()
        return held.serialize()


def test_a_manifest_of_a_later_format_is_refused(home: HomeFolder, file: Path) -> None:
    create_backup(home, file)
    *others, (header, text) = read(file)
    write(file, [*others, (header, text.replace(b'"format": 1', b'"format": 2'))], manifest=False)
    refused(home, file, "reads format 1")


def test_what_is_no_backup_or_half_of_one_is_refused_at_any_length(
    home: HomeFolder, file: Path
) -> None:
    create_backup(home, file)
    whole = file.read_bytes()
    for length in (0, 1, 10, len(whole) // 3, len(whole) - 1):
        file.write_bytes(whole[:length])
        refused(home, file, "damaged or no backup|cut short")
    file.write_bytes(whole[:-400] + bytes(byte ^ 1 for byte in whole[-400:-390]) + whole[-390:])
    refused(home, file, "damaged|manifest")
    file.write_bytes(gzip.compress(b"hello"))
    refused(home, file, "no backup")


def test_a_header_that_claims_gigabytes_is_not_read(home: HomeFolder, file: Path) -> None:
    header = named("x", tarfile.XHDTYPE)
    header.size = 5 << 30
    file.write_bytes(gzip.compress(header.tobuf() + b"0" * 1024))
    refused(home, file, "a header is too long")


def test_S38_a_role_that_was_revoked_since_stays_so_in_this_restore_and_the_next(
    home: HomeFolder, file: Path
) -> None:
    async def grants(store: Store) -> list[tuple[str, str]]:
        return [(row.party.id, row.role) for row in await store.access.load_all_grants()]

    async def give(store: Store) -> None:
        for id in ("admin", "lowered", "kept", "blocked"):
            await store.access.grant(granted("admin", party(id)))

    async def take(store: Store) -> None:
        await store.access.revoke("web", "admin", "test")
        await store.access.grant(granted("user", party("lowered")))
        await store.access.grant(granted("blocked", party("blocked")))
        await store.access.grant(granted("blocked", party("stranger")))

    empty = file.with_name("empty")
    create_backup(home, empty)
    inside(home, give)
    create_backup(home, file)
    inside(home, take)
    done = restore_backup(home, file)
    assert set(done.withheld) == {"web:admin admin", "web:lowered admin", "web:blocked admin"}
    now = inside(home, grants)
    assert sorted(now) == [
        ("blocked", "blocked"),
        ("kept", "admin"),
        ("lowered", "user"),
        ("stranger", "blocked"),
    ]
    assert "web:admin admin" in restore_backup(home, file).withheld
    restore_backup(home, empty)
    restore_backup(home, file)
    assert ("admin", "admin") not in inside(home, grants)


def test_S38_people_who_left_the_settings_since_do_not_come_back(
    home: HomeFolder, file: Path
) -> None:
    create_backup(home, file)
    write_config(home, CONFIG | {"channels": {"telegram": {"owners": ["2"], "allow": []}}})
    done = restore_backup(home, file)
    assert set(done.withheld) == {"telegram:1 (owners)", "telegram:3 (allow)"}
    telegram = json.loads(home.config.read_text())["channels"]["telegram"]
    assert telegram == {"token": "${TELEGRAM_BOT_TOKEN}", "owners": ["2"], "allow": []}


def test_in_a_new_home_everybody_has_the_rights_of_the_backup(
    home: HomeFolder, file: Path, tmp_path: Path
) -> None:
    inside(home, lambda store: store.access.grant(granted("admin")))
    create_backup(home, file)
    new = HomeFolder(root=tmp_path / "new")
    new.ensure()
    write_config(new, {})
    inside(new, lambda store: store.ready())
    done = restore_backup(new, file)
    assert done.withheld == ()
    assert json.loads(new.config.read_text())["channels"] == CONFIG["channels"]
    assert [row.role for row in inside(new, lambda store: store.access.load_all_grants())] == [
        "admin"
    ]


def test_S38_all_sessions_of_the_page_end(home: HomeFolder, file: Path) -> None:
    create_backup(home, file)
    restore_backup(home, file)
    assert not home.web_token.exists()


def test_skills_and_plugins_are_off_after_a_restore(home: HomeFolder, file: Path) -> None:
    def turn_on() -> None:
        SkillState(home.skills_state).set("tea", EnabledSkill(sha256="0" * 64))
        PluginState(home.plugins_state).set("weather", EnabledPlugin(sha256="0" * 64, tools=()))

    turn_on()
    create_backup(home, file)
    turn_on()
    restore_backup(home, file)
    assert (SkillState(home.skills_state).load(), PluginState(home.plugins_state).load()) == (
        {},
        {},
    )


def test_S38_codes_and_approvals_of_the_backup_are_over(home: HomeFolder, file: Path) -> None:
    with closing(sqlite3.connect(home.db)) as held:
        held.execute(
            "INSERT INTO access_request VALUES ('r', '', '', 'owner', '', '', '', 'en', 'code', "
            "'pending', 9e9, 1)"
        )
        held.commit()
    create_backup(home, file)
    restore_backup(home, file)
    with closing(sqlite3.connect(home.db)) as held:
        assert held.execute("SELECT state FROM access_request").fetchall() == [("cleared",)]


def test_what_was_to_be_sent_goes_as_a_repeat(home: HomeFolder, file: Path) -> None:
    async def answered(store: Store) -> None:
        [stored] = await store.delivery.accept([arrival("k2")])
        await store.delivery.settle(stored.id, parts("an answer"))

    inside(home, answered)
    create_backup(home, file)
    restore_backup(home, file)
    with closing(sqlite3.connect(home.db)) as held:
        rows = held.execute("SELECT state, repeats FROM outbox WHERE text = 'an answer'").fetchall()
    assert rows == [("pending", 1)]


def test_S60_no_secret_is_in_a_backup(home: HomeFolder, file: Path) -> None:
    async def plant(store: Store) -> None:
        await store.notes.put("wechat", {"login": '{"token": "ilink-token-of-the-login"}'})
        await store.delivery.accept([arrival("k9", f"/config llm.api_key {SECRET}")])

    inside(home, plant)
    manifest = create_backup(home, file)
    held = b"".join(content for _, content in read(file))
    assert b"/config llm.api_key [secret]" in held
    assert SECRET.encode() not in held
    assert b"ilink-token-of-the-login" not in held
    assert manifest.left_out == ("llm.api_key",)
    assert b"the old token" not in held


def test_the_secrets_and_notes_of_the_home_stay_where_they_still_fit(
    home: HomeFolder, file: Path
) -> None:
    inside(home, lambda store: store.notes.put("wechat", {"login": "a login"}))
    create_backup(home, file)
    assert restore_backup(home, file).missing == ()
    assert json.loads(home.config.read_text())["llm"]["api_key"] == SECRET
    assert inside(home, lambda store: store.notes.load("wechat")) == {"login": "a login"}
    write_config(home, {"llm": CONFIG["llm"] | {"base_url": "http://two.example/v1"}})
    assert restore_backup(home, file).missing == ("llm.api_key",)
    assert SECRET not in home.config.read_text()


def test_settings_that_are_not_right_are_left_out_rather_than_with_their_secrets(
    home: HomeFolder, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_config(home, {"llm": {"api_kye": SECRET}})
    create_backup(home, file)
    assert (
        "config.json is not in the backup: there is no key llm.api_kye" in capsys.readouterr().err
    )
    assert all(SECRET.encode() not in content for _, content in read(file))
    restore_backup(home, file)
    assert json.loads(home.config.read_text()) == {"llm": {"api_kye": SECRET}}


def test_an_older_backup_gets_this_versions_tables(home: HomeFolder, file: Path) -> None:
    go_back(home.db)
    create_backup(home, file)
    assert verify_backup(file).manifest.schema == "r0013"
    assert not restore_backup(home, file).unreadable
    assert inside(home, lambda store: store.ready())
    assert verify_backup(file).contents.messages == 2


def test_a_backup_with_tables_of_an_older_commit_is_refused_and_the_commit_is_named(
    home: HomeFolder, file: Path
) -> None:
    with closing(sqlite3.connect(home.db)) as held, held:
        held.execute("UPDATE alembic_version SET version_num = 'r0012'")
    create_backup(home, file)
    for refused in (verify_backup, lambda backup: restore_backup(home, backup)):
        with pytest.raises(
            InvalidBackup, match=r"go through commit ed4b8f97 first: .* its mnema restore a backup"
        ):
            refused(file)


def test_a_home_whose_record_cannot_be_read_is_restored_and_its_doubts_are_told(
    home: HomeFolder, file: Path
) -> None:
    create_backup(home, file)
    home.db.write_bytes(b"x" * 9000)
    done = restore_backup(home, file)
    assert done.unreadable
    assert inside(home, lambda store: store.ready())
    [kept] = home.root.glob("data.before-restore.*")
    assert (kept / "mnema.db").read_bytes() == b"x" * 9000


def test_what_was_forgotten_since_is_told_and_the_old_state_is_named_as_a_copy(
    home: HomeFolder, file: Path
) -> None:
    create_backup(home, file)
    with closing(sqlite3.connect(home.db)) as held:
        held.execute(
            "INSERT INTO forgetting (id, space, conversation, asked_by, state, code_sha256, "
            "targets, receipt, expires, at) VALUES ('f', '', 'c', 'me', 'done', '', '', '', 9e9, "
            "9e9)"
        )
        held.commit()
    done = restore_backup(home, file)
    assert done.forgotten == 1
    assert set(database_copies(home.data)) == {path.name for path in done.kept}


def test_what_a_killed_process_left_among_the_backups_of_the_page_goes_with_the_next_one(
    home: HomeFolder,
) -> None:
    home.backups.mkdir()
    left, busy = (home.backups / f".{name}.backup.half" for name in ("left", "busy"))
    for folder in (left, busy):
        folder.mkdir()
        (folder / "record.db").write_bytes(b"x")
    handle = os.open(busy, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        create_backup(home, home.backups / "new.backup")
    finally:
        os.close(handle)
    assert sorted(path.name for path in home.backups.iterdir()) == [busy.name, "new.backup"]


@pytest.mark.parametrize("place", ["backup.snapshot:enospc", "backup.snapshot:eio"])
def test_a_full_disk_leaves_no_half_file(home: HomeFolder, file: Path, place: str) -> None:
    assert arm({"MNEMA_TEST": "1", "MNEMA_FP": place})
    try:
        with pytest.raises(MnemaError, match="No backup was made"):
            create_backup(home, file)
    finally:
        arm({})
    assert sorted(path.name for path in file.parent.iterdir()) == ["bot"]


@pytest.mark.parametrize("place", ["restore.extracted", "restore.verified"])
def test_a_restore_that_fails_leaves_the_old_state_and_nothing_else(
    home: HomeFolder, file: Path, place: str
) -> None:
    create_backup(home, file)
    before = state(home)
    assert arm({"MNEMA_TEST": "1", "MNEMA_FP": f"{place}:enospc"})
    try:
        with pytest.raises(OSError):
            restore_backup(home, file)
    finally:
        arm({})
    assert state(home) == before


def test_an_existing_file_a_folder_and_a_place_in_the_workspace_are_refused(
    home: HomeFolder, file: Path
) -> None:
    file.write_text("mine")
    with pytest.raises(MnemaError, match="--force replaces it"):
        create_backup(home, file)
    assert file.read_text() == "mine"
    create_backup(home, file, force=True)
    assert verify_backup(file).files == 3
    for where, words in (
        (file.parent, "a folder"),
        (file / "x", "no folder"),
        (home.workspace / "b", "workspace"),
    ):
        with pytest.raises(MnemaError, match=words):
            create_backup(home, where)
    with pytest.raises(MnemaError, match="nothing to back up"):
        create_backup(HomeFolder(root=file.parent / "none"), file.parent / "other")


def test_names_of_every_kind_come_back_and_links_do_not(home: HomeFolder, file: Path) -> None:
    odd = [
        "名字 with blanks",
        "a" * 200,
        "line\nbreak",
        "UPPER",
        "upper",
        "ends. ",
        os.fsdecode(b"not-utf8-\xff"),
    ]
    for name in odd:
        (home.workspace / name).write_bytes(os.fsencode(name))
    (home.workspace / "link").symlink_to("/etc/passwd")
    os.mkfifo(home.workspace / "pipe")
    (home.workspace / "tool.sh").write_text("x")
    (home.workspace / "tool.sh").chmod(0o750)
    os.utime(home.workspace / "tool.sh", (1_000_000, 1_000_000))
    create_backup(home, file)
    restore_backup(home, file)
    for name in odd:
        assert (home.workspace / name).read_bytes() == os.fsencode(name)
    assert not {"link", "pipe"} & set(os.listdir(home.workspace))
    status = (home.workspace / "tool.sh").stat()
    assert (status.st_mode & 0o777, status.st_mtime) == (0o700, 1_000_000)
    assert home.db.stat().st_mode & 0o777 == 0o600
    assert home.data.stat().st_mode & 0o777 == 0o700


def test_a_server_that_does_not_answer_is_told_and_nothing_is_changed(
    home: HomeFolder, file: Path
) -> None:
    create_backup(home, file)
    write_config(home, {"database_url": "postgresql+psycopg://u@127.0.0.1:1/x"})
    before, backup = state(home), file.read_bytes()
    with pytest.raises(StoreError, match="cannot be used"):
        create_backup(home, file, force=True)
    with pytest.raises(StoreError, match="cannot be used"):
        restore_backup(home, file)
    assert (state(home), file.read_bytes()) == (before, backup)


@pytest.mark.parametrize(
    "text", ['{"database_url": "${NOT_SET}"}', '{"database_url": "postgresql+psycopg://u@h/x",']
)
def test_a_record_that_may_be_elsewhere_is_not_taken_for_the_file_that_was_kept(
    home: HomeFolder, file: Path, text: str
) -> None:
    create_backup(home, file)
    home.config.write_text(text)
    before = state(home)
    with pytest.raises(ConfigError):
        create_backup(home, file, force=True)
    with pytest.raises(ConfigError):
        restore_backup(home, file)
    assert state(home) == before


def test_a_record_stays_where_the_home_has_it_whatever_the_backup_says(
    home: HomeFolder, file: Path
) -> None:
    elsewhere = home.config.read_text().replace(
        "{", '{"database_url": "postgresql+psycopg://u@127.0.0.1:1/x",', 1
    )
    create_backup(home, file)
    members = [
        (one, elsewhere.encode() if one.name == "config.json" else content)
        for one, content in read(file)
    ]
    restore_backup(home, write(file, members))
    assert json.loads(home.config.read_text())["database_url"] == ""
    assert inside(home, lambda store: store.ready())


def test_two_that_find_a_cut_swap_finish_it_once(home: HomeFolder, file: Path) -> None:
    create_backup(home, file)
    stamp = "20260101T000000Z"
    ready = journal.staging_folder(home.root, stamp)
    (ready / "workspace").mkdir(parents=True)
    (ready / "workspace" / "new.md").write_text("new")
    journal.commit_restore(home.root, stamp)
    os.rename(home.workspace, home.root / f"workspace.before-restore.{stamp}")  # as far as it came
    home.ensure()
    lock_home(home).release()
    assert (home.workspace / "new.md").read_text() == "new"
    assert (home.root / f"workspace.before-restore.{stamp}" / "notes" / "one.md").exists()
    assert home.db.exists()
    assert not [path.name for path in home.root.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"stamp": "../x"}', '{"stamp": 3}'])
def test_a_damaged_journal_is_told_and_moves_nothing(home: HomeFolder, text: str) -> None:
    (home.root / journal.JOURNAL_FILE).write_text(text)
    with pytest.raises(MnemaError, match="damaged"):
        resume_restore(home.root)
    assert home.db.exists()


def test_what_a_cut_restore_made_ready_is_taken_away_by_the_next(
    home: HomeFolder, file: Path
) -> None:
    create_backup(home, file)
    shutil.copytree(
        home.workspace, journal.staging_folder(home.root, "20260101T000000Z") / "workspace"
    )
    restore_backup(home, file)
    assert not [path.name for path in home.root.iterdir() if path.name.startswith(".")]


def test_an_encrypted_backup_holds_the_secrets_and_needs_its_passphrase(
    home: HomeFolder, file: Path
) -> None:
    home.config.write_text('{"llm": {"api_key": "sk-of-nobody-at-all-123"}}')
    home.config.chmod(0o600)
    seen: list[tuple[int, int]] = []
    manifest = create_backup(
        home,
        file,
        passphrase="four words are enough",
        progress=lambda *how_far: seen.append(how_far),
    )
    assert manifest.left_out == ()
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert 0 < seen[0][0] <= seen[0][1]
    with pytest.raises(MnemaError, match="passphrase"):
        restore_backup(home, file)
    home.config.write_text("{}")
    assert restore_backup(home, file, "four words are enough").missing == ()
    assert "sk-of-nobody-at-all-123" in home.config.read_text()
