"""Mutants of what is promised of any model: its thinking stays its own, and what a server refuses
is told truly.
"""

from tests.mutants.mutant import Mutant

SPLIT = "tests/memory/text/test_thinking.py"
THINKING = "tests/bot/models/providers/test_thinking.py"
QUIRKS = "tests/bot/models/providers/test_quirks.py"
REFUSALS = "tests/bot/models/test_refusals_in_bot.py"

MODELS = (
    Mutant(
        name="a tag that is split between two pieces is text",
        guards="thinking",
        file="memory/text/quoting.py",
        target="ThinkingSplitter._start",
        old="any((tag.startswith(begun.lower()) for tag in _OPENING_TAGS))",
        new="not begun",
        tests=(f"{SPLIT}::test_nothing_between_leading_tags_is_ever_shown",),
    ),
    Mutant(
        name="a closing tag in code ends the thinking",
        guards="thinking",
        file="memory/text/quoting.py",
        target="find_lone_end",
        old="fence = fence_after(fence, line)",
        new="fence = ''",
        tests=(f"{SPLIT}::test_the_answer_is_what_comes_after_the_thinking",),
    ),
    Mutant(
        name="what was shown before a closing tag stays",
        guards="thinking",
        file="bot/models/providers/openai_stream.py",
        target="OpenAIStreamDecoder._to_events",
        old="yield Restarted(why=THINKING_SHOWN)",
        new="pass",
        tests=(
            f"{THINKING}::test_what_was_shown_before_a_closing_tag_disappears_before_the_answer_begins",
        ),
    ),
    Mutant(
        name="what was thinking is part of the answer",
        guards="thinking",
        file="bot/models/providers/openai_stream.py",
        target="OpenAIStreamDecoder._to_events",
        old="self._text.clear()",
        new="pass",
        tests=(f"{THINKING}::test_no_person_history_or_diary_holds_what_a_model_thought",),
    ),
    Mutant(
        name="a model that sends only the closing tag is not remembered",
        guards="thinking",
        file="bot/models/closing_tags.py",
        target="ClosingTags.load",
        old="if _key(endpoint, model) in known:",
        new="if _key(endpoint, model) not in known:",
        tests=(
            f"{THINKING}::test_a_model_that_sends_only_the_closing_tag_is_known_after_a_restart",
        ),
    ),
    Mutant(
        name="a fold takes the draft of its thinking",
        guards="thinking",
        file="memory/context/summary/prompt.py",
        target="parse_answer",
        old="_, answer = split_thinking(answer)",
        new="pass",
        tests=(
            (
                "tests/memory/context/summary/test_answer.py"
                "::test_both_texts_are_found_whatever_is_around_them"
            ),
        ),
    ),
    Mutant(
        name="extraction takes what its thinking dropped",
        guards="thinking",
        file="memory/longterm/extraction.py",
        target="parse_answer",
        old="_, said = split_thinking(answer)",
        new="said = answer",
        tests=(
            (
                "tests/memory/longterm/test_extraction.py"
                "::test_records_are_found_whatever_stands_around_them"
            ),
        ),
    ),
    Mutant(
        name="an answer that was only thought is continued",
        guards="thinking",
        file="bot/agent/loop.py",
        target="run_model_step",
        old="elif first.only_thought:",
        new="elif False:",
        tests=(f"{THINKING}::test_a_bot_asks_once_more_without_thinking_and_else_says_so",),
    ),
    Mutant(
        name="the thinking of another conversation is sent back",
        guards="thinking",
        file="bot/models/providers/openai.py",
        target="OpenAIModel._encode",
        old="if chat == request.conversation",
        new="if call",
        tests=(
            f"{THINKING}::test_thinking_goes_back_to_its_own_conversation_and_an_empty_one_where_it_is_lost",
        ),
    ),
    Mutant(
        name="what a 400 calls an error of the API is an outage",
        guards="refusals",
        file="bot/models/providers/failures.py",
        target="_error_by_code",
        old=(
            "return None if error is Transient and failure.status in (400, 404, 405, 422) else "
            "error"
        ),
        new="return error",
        tests=(f"{QUIRKS}::test_what_a_server_refuses_with_400_is_no_outage_whatever_it_calls_it",),
    ),
    Mutant(
        name="refused tools are forgotten",
        guards="refusals",
        file="bot/models/providers/openai.py",
        target="OpenAIModel._remember",
        old="self._quirks[model] = merge_refusals(known, quirks)",
        new="pass",
        tests=(f"{REFUSALS}::test_a_model_without_tools_answers_and_costs_two_calls_once",),
    ),
    Mutant(
        name="a field is left out before the server takes the request without it",
        guards="refusals",
        file="bot/models/providers/openai.py",
        target="OpenAIModel._post",
        old="quirks, learnt = (adapted, True)",
        new="quirks, learnt = (adapted, True)\nself._remember(request.model, quirks)",
        tests=(
            f"{QUIRKS}::test_what_is_refused_all_the_same_is_an_error_and_nothing_is_remembered",
        ),
    ),
    Mutant(
        name="everybody reads the server's words",
        guards="refusals",
        file="bot/agent/turn_results.py",
        target="to_result",
        old="context.actor.role == 'owner' and context.scope.kind != 'group'",
        new="True",
        tests=(f"{REFUSALS}::test_others_and_groups_read_a_plain_sentence",),
    ),
    Mutant(
        name="what a server repeats of the request is told",
        guards="refusals",
        file="bot/models/providers/failures.py",
        target="_server_words",
        old="return _REPEATED.sub(\"'input': …\", str(value or ''))",
        new="return str(value or '')",
        tests=(f"{QUIRKS}::test_a_servers_words_are_read_without_what_they_repeat_of_the_request",),
    ),
)
