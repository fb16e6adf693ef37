"""Mutants of what is known of a model's window, and of what a small one leaves."""

from tests.mutants.mutant import Mutant

WINDOWS = "tests/bot/models/test_windows.py"
SMALL = f"{WINDOWS}::test_a_small_window_works_with_all_other_settings_as_they_are[4096]"

WINDOW = (
    Mutant(
        name="the answer's reserve does not give way in a small window",
        guards="window",
        file="bot/models/windows.py",
        target="answer_reserve",
        old="max(window // RESERVE_SHARE, MIN_RESERVE)",
        new="window",
        tests=(f"{WINDOWS}::test_the_answer_gives_way_in_a_small_window", SMALL),
    ),
    Mutant(
        name="the turns of a small window need as much as those of a large one",
        guards="window",
        file="memory/context/policies/planner.py",
        target="min_budget",
        old="min(MIN_TURN_TOKENS, window // MIN_TURN_SHARE)",
        new="MIN_TURN_TOKENS",
        tests=(SMALL,),
    ),
    Mutant(
        name="a window that a refusal named is not learnt",
        guards="window",
        file="bot/models/service.py",
        target="ModelService._note_call",
        old="self.windows.note_refusal(served, request.size, outcome)",
        new="pass",
        tests=(f"{WINDOWS}::test_a_window_that_a_refusal_named_holds_at_once_and_after_a_restart",),
    ),
    Mutant(
        name="a learnt window is forgotten at a restart",
        guards="window",
        file="bot/models/windows.py",
        target="ModelWindows._lower",
        old="self._start(self._put(served.key, _dump(learnt)))",
        new="pass",
        tests=(f"{WINDOWS}::test_a_window_that_a_refusal_named_holds_at_once_and_after_a_restart",),
    ),
    Mutant(
        name="a learnt window outlives the configuration that it was learnt under",
        guards="window",
        file="bot/models/windows.py",
        target="ServedModel.fingerprint",
        old="[self.provider, self.proxy, self.configured]",
        new="[self.provider, self.proxy]",
        tests=(f"{WINDOWS}::test_a_window_that_a_refusal_named_holds_at_once_and_after_a_restart",),
    ),
    Mutant(
        name="what a model could read at most counts as its window",
        guards="window",
        file="bot/models/providers/server_window.py",
        target="studio_window",
        old="'loaded_context_length'",
        new="'max_context_length'",
        tests=(f"{WINDOWS}::test_the_server_says_its_window_in_its_own_way[lmstudio]",),
    ),
    Mutant(
        name="a server that loads the model on demand is asked too early and not again",
        guards="window",
        file="bot/models/service.py",
        target="ModelService._note_call",
        old="has_answered=outcome is not None",
        new="has_answered=False",
        tests=(f"{WINDOWS}::test_the_server_says_its_window_in_its_own_way[ollama]",),
    ),
    Mutant(
        name="silent cutting is seen only from one request to the next",
        guards="window",
        file="bot/models/windows.py",
        target="ModelWindows.note_usage",
        old="counted < counted_before",
        new="counted <= counted_before * GROWTH",
        tests=(
            f"{WINDOWS}::test_a_server_that_cuts_silently_is_found_out_and_the_owner_is_told_once",
        ),
    ),
    Mutant(
        name="a summary is asked for at any length of its answer",
        guards="window",
        file="bot/models/service.py",
        target="ModelService._fast_answer_limit",
        old="return answer_reserve(self.window(self.fast_name).tokens, most)",
        new="return most",
        tests=(
            f"{WINDOWS}::test_folds_and_extraction_fit_the_window_of_the_model_that_writes_them",
        ),
    ),
    Mutant(
        name="a prompt to summarise is as long as a large window lets it be",
        guards="window",
        file="bot/runtime/turn_wiring.py",
        target="TurnComponents._fold_runner",
        old="min(MAX_PROMPT_TOKENS, self.models.background_prompt_tokens())",
        new="MAX_PROMPT_TOKENS",
        tests=(f"{WINDOWS}::test_a_long_range_is_summarised_in_parts_that_fit_a_small_model",),
    ),
    Mutant(
        name="a refused prompt is summarised by no shorter ones",
        guards="window",
        file="memory/folding/writer.py",
        target="SummaryWriter.write",
        old="return await self._write(source, self.prompt_tokens())",
        new="pass",
        tests=("tests/memory/test_folding.py",),
    ),
    Mutant(
        name="a slow writer is given up by its age",
        guards="window",
        file="bot/models/service.py",
        target="ModelService._answer",
        old="gap=SILENCE_SECONDS, step=STEP_SECONDS",
        new="gap=SILENCE_SECONDS, step=SILENCE_SECONDS",
        tests=(
            f"{WINDOWS}::test_a_model_that_writes_slowly_is_waited_for_and_one_that_falls_silent_is_not",
        ),
    ),
    Mutant(
        name="a reply waits behind a summary where replies come first",
        guards="window",
        file="bot/models/background.py",
        target="BackgroundCalls.reply",
        old="self._began.set()",
        new="pass",
        tests=("tests/bot/models/test_background.py",),
    ),
    Mutant(
        name="a limit that leaves no room for a message is saved",
        guards="window",
        file="bot/commands/settings.py",
        target="_config",
        old=(
            "if (refusal := (await _find_refusal(context, key, value.strip()))):\n    return "
            "refusal"
        ),
        new="",
        tests=(f"{WINDOWS}::test_a_limit_that_leaves_no_room_is_not_saved",),
    ),
    Mutant(
        name="a turn without an answer is summarised as one",
        guards="window",
        file="memory/context/summary/transcript.py",
        target="list_utterances",
        old="continue",
        new="pass",
        tests=(f"{WINDOWS}::test_a_turn_that_got_no_answer_is_no_answer_in_a_summary",),
    ),
)
