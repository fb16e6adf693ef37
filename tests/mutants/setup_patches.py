"""Mutants of the set-up of a model: a key goes only where it is meant for, and nothing is written
too early.
"""

from tests.mutants.mutant import Mutant

ROUTES = "tests/bot/console/test_model_setup.py"
CHECKS = "tests/bot/models/setup/test_checks.py"
LISTING = "tests/bot/models/setup/test_listing.py"
FILE = "tests/bot/config/test_file.py"
INIT = "tests/bot/cli/test_init.py"
LOGINS = "tests/bot/console/test_logins.py"
WIZARDS = "tests/bot/console/wizards"
SAVED_KEY = "test_a_saved_key_is_used_for_its_address_and_no_other"
OLD_LOGIN = "test_an_old_login_is_asked_for_again_before_a_server_is_saved"

SETUP = (
    Mutant(
        name="an empty key beside another provider is dropped",
        guards="setup",
        file="bot/config/file.py",
        target="ConfigFile._find_edits",
        old="PROVIDER_PATH in edits",
        new="False",
        tests=(
            f"{FILE}::test_an_empty_key_beside_another_provider_is_written",
            f"{ROUTES}::test_without_a_key_the_environments_goes_to_no_other_address",
        ),
    ),
    Mutant(
        name="the saved key goes to any address",
        guards="setup",
        file="bot/models/setup/presets.py",
        target="is_same_endpoint",
        old=(
            "return (choice.preset.provider, choice.address) == (llm.provider, "
            "llm.base_url.rstrip('/'))"
        ),
        new="return choice.preset.provider == llm.provider",
        tests=(f"{ROUTES}::test_the_saved_key_goes_to_the_saved_address_alone",),
    ),
    Mutant(
        name="a saved key of the chain goes to any address",
        guards="setup",
        file="bot/console/administration/model_setup.py",
        target="_is_same_server",
        old="_address(item) == _address(shown)",
        new="True",
        tests=(
            f"{ROUTES}::test_two_keys_of_one_server_stay_with_their_models",
            f"{ROUTES}::test_a_masked_key_goes_to_no_other_address",
        ),
    ),
    Mutant(
        name="a test sends what the environment holds",
        guards="setup",
        file="bot/console/administration/model_setup.py",
        target="ModelSetupRoutes.to_choice",
        old="_refuse_references(choice)",
        new="pass",
        tests=(f"{ROUTES}::test_no_test_sends_what_the_environment_holds",),
    ),
    Mutant(
        name="the key is shown in what a server says of it",
        guards="setup",
        file="bot/models/setup/checks.py",
        target="check_model",
        old="server_words=hide(report.server_words)",
        new="server_words=report.server_words",
        tests=(f"{CHECKS}::test_a_wrong_key_ends_it_and_is_shown_nowhere",),
    ),
    Mutant(
        name="a picture is sent to a model that says it is blind",
        guards="setup",
        file="bot/models/setup/checks.py",
        target="_ModelTest._check_sight",
        old="facts.sees is False",
        new="False",
        tests=(f"{CHECKS}::test_a_picture_is_not_sent_to_a_model_that_says_it_is_blind",),
    ),
    Mutant(
        name="a fault of a list is remembered",
        guards="setup",
        file="bot/models/setup/listing.py",
        target="ListingCache.find",
        old="listing.fault is None",
        new="True",
        tests=(f"{LISTING}::test_a_list_is_asked_for_once_and_a_fault_is_not_remembered",),
    ),
    Mutant(
        name="init makes the home before the last answer",
        guards="setup",
        file="bot/cli/settings/first_settings.py",
        target="set_up_home",
        old="lang, part = (detect_machine_language(file.current.language), {})",
        new="home.ensure()\nlang, part = (detect_machine_language(file.current.language), {})",
        tests=(f"{INIT}::test_ctrl_c_in_the_middle_leaves_nothing",),
    ),
    Mutant(
        name="the stream of an ended login goes on until its next frame",
        guards="setup",
        file="channels/web/auth.py",
        target="RequestGuard._end",
        old="self.changed()",
        new="pass",
        tests=(
            f"{LOGINS}::test_logins_are_listed_with_browser_and_times_and_one_is_ended_with_its_streams",
        ),
    ),
    Mutant(
        name="the streams of a replaced login go on until their next frame",
        guards="setup",
        file="channels/web/server.py",
        target="WebSite._welcome",
        old="response.background = BackgroundTask(self._end_replaced_streams)",
        new="pass",
        tests=(f"{LOGINS}::test_the_streams_of_a_login_end_when_another_replaces_it",),
    ),
    Mutant(
        name="the list of logins shows the hashes of their cookies",
        guards="setup",
        file="channels/web/sessions.py",
        target="session_id",
        old="hash_secret(f'id:{key.hex()}').hex()[:16]",
        new="key.hex()",
        tests=(
            f"{LOGINS}::test_a_list_shows_neither_cookies_nor_their_hashes_and_its_ids_let_nobody_in",
        ),
    ),
    Mutant(
        name="each login on secrets leaves one more row",
        guards="setup",
        file="channels/web/auth.py",
        target="RequestGuard._begin_session",
        old=(
            "self._sessions.pop(hash_secret(cookie_value(headers, "
            "self.cookie_name(headers))), None)"
        ),
        new="pass",
        tests=(f"{LOGINS}::test_a_browser_that_signs_in_again_has_one_login",),
    ),
    Mutant(
        name="a saved key of a search goes to any address",
        guards="setup",
        file="bot/console/wizards/web_search.py",
        target="WebSearchWizard._item",
        old="if not key and is_same:",
        new="if not key and saved:",
        tests=(f"{WIZARDS}/test_web_search.py::{SAVED_KEY}",),
    ),
    Mutant(
        name="the page adds a program as a server of tools",
        guards="setup",
        file="bot/config/file.py",
        target="ConfigFile.set_mcp_address",
        old="if 'command' in server or is_other:",
        new="if is_other:",
        tests=(f"{WIZARDS}/test_mcp.py::test_a_program_or_another_address_of_the_name_stays",),
    ),
    Mutant(
        name="a server of tools is saved after an old login",
        guards="setup",
        file="bot/console/wizards/mcp.py",
        target="McpWizard.finish",
        old="require_fresh_login(request.state.visitor)",
        new="pass",
        tests=(f"{WIZARDS}/test_mcp.py::{OLD_LOGIN}",),
    ),
    Mutant(
        name="another version that is installed is not noticed",
        guards="setup",
        file="bot/telemetry/version_notice.py",
        target="VersionNotice.check",
        old="if installed == self._running:",
        new="if installed:",
        tests=("tests/bot/telemetry/test_version_notice.py",),
    ),
)
