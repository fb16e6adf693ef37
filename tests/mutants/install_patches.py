"""The mutants of the installed program: links that sign a browser in, extras, an upgrade, other
systems.
"""

from tests.mutants.mutant import Mutant

LINKS = "tests/channels/web/test_login_links.py"
WALKED = "tests/walk/test_login_links.py"
EXTRAS = "tests/install/test_upgrade_and_extras.py"

INSTALLED = (
    Mutant(
        name="a link signs in twice",
        guards="login",
        file="channels/web/sessions.py",
        target="LoginCodes.redeem",
        old="self._open.pop(hash_secret(code), None)",
        new="self._open.get(hash_secret(code), None)",
        tests=(
            f"{LINKS}::test_a_link_signs_in_once_and_the_session_may_do_what_one_of_the_token_may",
        ),
    ),
    Mutant(
        name="a link has no end",
        guards="login",
        file="channels/web/sessions.py",
        target="LoginCodes.redeem",
        old="> self._clock()",
        new="> 0",
        tests=(f"{LINKS}::test_a_link_ends_after_ten_minutes",),
    ),
    Mutant(
        name="a link is used up by a request from another site",
        guards="login",
        file="channels/web/auth.py",
        target="RequestGuard.login_by_code",
        old="self._check_login(headers)",
        new="",
        tests=(f"{LINKS}::test_another_host_or_origin_is_refused_and_uses_nothing_up",),
    ),
    Mutant(
        name="a new token leaves the links of the old one",
        guards="login",
        file="channels/web/auth.py",
        target="RequestGuard.rotate",
        old="self._codes.clear()",
        new="",
        tests=(f"{LINKS}::test_a_new_token_ends_the_links_of_the_old_one",),
    ),
    Mutant(
        name="an old session makes links",
        guards="login",
        file="bot/console/administration/access.py",
        target="access_routes",
        old="handler=login_code, needs_fresh_login=True",
        new="handler=login_code, needs_fresh_login=False",
        tests=(f"{WALKED}::test_a_session_that_is_not_fresh_makes_no_link",),
    ),
    Mutant(
        name="the link that signs in stands in the arguments of the browser",
        guards="login",
        file="bot/cli/program/login.py",
        target="open_browser",
        old="args=(page.as_uri(),)",
        new="args=(link,)",
        tests=(
            f"{WALKED}::test_run_with_open_gives_the_browser_a_file_that_only_this_account_reads",
        ),
    ),
    Mutant(
        name="a link that no browser used stays in a file after the end",
        guards="login",
        file="bot/cli/run.py",
        target="_BotProcess.run",
        old="self._remove_login_page()",
        new="pass",
        tests=(f"{WALKED}::test_a_link_that_no_browser_used_is_in_no_file_after_the_end",),
    ),
    Mutant(
        name="extras are installed without their hashes",
        guards="supply",
        file="bot/cli/program/installation.py",
        target="extras_commands",
        old="'--require-hashes', ",
        new="",
        tests=(f"{EXTRAS}::test_pipx_installs_extras_by_its_own_pip",),
    ),
    Mutant(
        name="an upgrade makes no backup",
        guards="upgrade",
        file="bot/cli/program/installation.py",
        target="upgrade",
        old="if store_exists(home):\n    home.backups",
        new="if False:\n    home.backups",
        tests=(f"{EXTRAS}::test_uv_tool_upgrades_after_a_backup_and_the_extras_come_back",),
    ),
    Mutant(
        name="a module needs what only some systems have",
        guards="systems",
        file="memory/workspace/blobs.py",
        target="_NAME",
        old="_NAME = re.compile('[0-9a-f]{64}')",
        new="import fcntl\n_NAME = re.compile('[0-9a-f]{64}')",
        tests=("tests/install/test_other_systems.py",),
    ),
)
