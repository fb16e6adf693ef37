"""Wrong changes to what words from outside may do, to who speaks, and to the step limit."""

from tests.mutants.mutant import Mutant

ATTACKS = "tests/bot/agent/test_attacks_taint.py"
REPEATED = f"{ATTACKS}::test_S53_what_the_bot_repeats_of_a_page_is_not_noted_in_a_later_turn"
ORIGIN = "tests/bot/agent/test_taint_by_origin.py"
OLDER_FILES = "tests/memory/store/test_older_files.py"
JUDGED = "tests/memory/context/test_taint.py"
LABELS = "tests/memory/workspace/test_fold_labels.py"
REPLIES = "tests/memory/workspace/test_reply_labels.py"
SPEAKERS = "tests/bot/agent/test_speakers.py"
LIMIT = "tests/bot/agent/test_step_limit.py"
SIBLINGS = "tests/bot/tools/web/test_siblings.py"
WEB = "tests/bot/tools/web/test_web_in_bot.py"

MINE = "tests/bot/cli/test_memory.py::test_the_owner_says_that_a_file_is_theirs"
GONE = (
    "tests/bot/tools/workspace/test_command_labels.py"
    "::test_labels_of_what_is_gone_go_with_the_next_command_unless_it_may_come_back"
)

TAINT = (
    Mutant(
        name="what a person takes over is not written down",  # files.md: "noted in the audit list"
        guards="audit",
        file="memory/store/longterm/file_labels.py",
        target="_take_over",
        old="if removed.rowcount:",
        new="if not removed:",
        tests=(MINE,),
    ),
    Mutant(
        name="a file in a folder from outside is called the person's own",
        guards="I49",
        file="bot/tools/workspace/files.py",
        target="take_over",
        old="if (above := sorted((found.names | found.contents) - {path})):",
        new="if (above := []):",
        tests=(MINE,),
    ),
    Mutant(
        name="a label goes though a former version of its file can be brought back",  # files.md
        guards="I49",
        file="memory/store/longterm/file_labels.py",
        target="_DELETE_GONE",
        old=", ~_VERSION.exists()",
        new="",
        tests=(GONE,),
    ),
    Mutant(
        name="a label goes before the tool that set it has written its file",
        guards="I49",
        file="memory/store/longterm/file_labels.py",
        target="_label_names",
        old="await tx.execute(_REFRESH, space=space, path=path, new_at=tx.now)",
        new="",
        tests=(GONE,),
    ),
    Mutant(
        name="labels of what is gone stay for good",
        guards="I49",
        file="bot/tools/workspace/command_labels.py",
        target="CommandLabels._label_changes",
        old="await self._remove_gone(writable, after)",
        new="",
        tests=(GONE,),
    ),
    Mutant(
        name="a page that lists all codes learns which of them memory holds",
        guards="S54",
        file="bot/tools/web/fetch.py",
        target="check_choice",
        old="if find_private_choice(url, offered, visible.private, visible.typed):",
        new="if False:",
        tests=(
            f"{WEB}::test_S54_a_page_that_lists_all_codes_learns_none_of_memory",
            f"{WEB}::test_S54_a_page_that_lists_names_learns_none_of_memory",
        ),
    ),
    Mutant(
        name="a turn chooses from long lists as often as it likes",
        guards="S54",
        file="bot/tools/web/fetch.py",
        target="check_choice",
        old="if is_one_too_many(url, list(_asked_urls(visible.asked)), offered):",
        new="if False:",
        tests=(f"{WEB}::test_S54_of_a_long_list_a_turn_chooses_once",),
    ),
    Mutant(
        name="each list of links is counted by itself",
        guards="S54",
        file="bot/tools/web/siblings.py",
        target="is_one_too_many",
        old="sum((_allowed_pages(_split(one), links) is not None for one in before))",
        new="sum((_split(one) in _siblings_among(_split(url), links) for one in before))",
        tests=(f"{SIBLINGS}::test_choices_of_several_lists_count_together",),
    ),
    Mutant(
        name="links that differ in a number beside a word are no siblings",
        guards="S54",
        file="bot/tools/web/siblings.py",
        target="_differing_words",
        old="if not (_DIGITS.search(one) and _DIGITS.search(two)):\n    words.append(place)",
        new="words.append(place)",
        tests=(f"{SIBLINGS}::test_of_a_long_list_that_goes_through_values_one_is_opened",),
    ),
    Mutant(
        name="of a list of numbered news one alone is read",
        guards="S54",
        file="bot/tools/web/siblings.py",
        target="PAGES_OF_CROWDS",
        old="PAGES_OF_CROWDS = 3",
        new="PAGES_OF_CROWDS = 1",
        tests=(f"{SIBLINGS}::test_three_numbered_news_of_one_page_are_read",),
    ),
    Mutant(
        name="a page with titles of several words is a crowd",
        guards="S54",
        file="bot/tools/web/siblings.py",
        target="_differing_words",
        old="len(words) > 1 or (is_long and differing > 1)",
        new="is_long and differing > 1",
        tests=(f"{SIBLINGS}::test_news_with_titles_or_in_small_numbers_are_all_read",),
    ),
    Mutant(
        name="what the bot says while it sees a page is stored clean",
        guards="S53",
        file="bot/agent/loop.py",
        target="Agent._run",
        old="return replace(self._final_result(context, step, late=late, last=last), label=label)",
        new="return replace(self._final_result(context, step, late=late, last=last))",
        tests=(f"{ATTACKS}::test_S53_what_the_bot_says_while_it_sees_a_page_is_labelled",),
    ),
    Mutant(
        name="files that an older version wrote to while it saw a page have no label",
        guards="S55",
        file="memory/store/schema/migrations/versions/r0014_contents_from_outside.py",
        target="upgrade",
        old="if bind.execute(_KNOWN, label).first() is None:",
        new="if bind.execute(_KNOWN, label).first() is not None:",
        tests=(
            f"{OLDER_FILES}::test_what_a_turn_with_words_from_outside_wrote_is_labelled_by_its_content",
        ),
    ),
    Mutant(
        name="a stored label is not looked at",
        guards="S53",
        file="memory/context/taint.py",
        target="judge_parts",
        old="yield (message, place, message.tainted or _is_from_outside(part, own))",
        new="yield (message, place, _is_from_outside(part, own))",
        tests=(
            f"{JUDGED}::test_all_parts_of_a_labelled_message_are_tainted_whatever_they_look_like",
        ),
    ),
    Mutant(
        name="what is recalled unasked taints nothing",
        guards="S53",
        file="bot/agent/loop.py",
        target="Agent._run",
        old="label = await label_reply(context, session, step.parts, recalled=recalled)",
        new="label = await label_reply(context, session, step.parts)",
        tests=(
            f"{ATTACKS}::test_S53_what_is_recalled_into_a_tainted_view_is_marked_and_so_is_what_repeats_it",
        ),
    ),
    Mutant(
        name="a clean view is shown passages from outside unasked",
        guards="S53",
        file="bot/memory/recall.py",
        target="format_recall_block",
        old=(
            "fresh = [passage for passage in fresh if not (is_view_clean and "
            "passage.outside)][:recalled.limit]"
        ),
        new="fresh = [passage for passage in fresh][:recalled.limit]",
        tests=(f"{ATTACKS}::test_S53_what_is_recalled_unasked_is_left_out_of_a_clean_view",),
    ),
    Mutant(
        name="what a tainted turn writes into a person's file is theirs",
        guards="S53",
        file="bot/tools/workspace/files.py",
        target="label_written",
        old="await context.label_contents(paths)",
        new="",
        tests=(
            f"{ORIGIN}::test_what_a_tainted_turn_wrote_marks_who_reads_it_and_not_who_lists_it",
        ),
    ),
    Mutant(
        name="what a command changed is the person's",
        guards="S55",
        file="bot/tools/workspace/command_labels.py",
        target="CommandLabels._label_changes",
        old="await self._labels.label_contents(OWNER_SPACE, changed)",
        new="pass",
        tests=(
            f"{ORIGIN}::test_what_a_command_wrote_is_from_outside_and_what_lay_beside_it_is_not",
        ),
    ),
    Mutant(
        name="a rule for a program that writes counts beside words from outside",
        guards="S52",
        file="bot/tools/exec/rules.py",
        target="CommandRule.survives_taint",
        old="return not self.is_prefix and bool(self.argv) and (self.argv[0] in PREFIX_PROGRAMS)",
        new="return not self.is_prefix",
        tests=(
            f"{ORIGIN}::test_a_rule_for_one_command_that_reads_survives_words_from_outside_and_no_other",
        ),
    ),
    Mutant(
        name="a turn in a group is clean",
        guards="S56",
        file="bot/agent/turn_context.py",
        target="is_tainted",
        old="return context.scope.kind == 'group' or is_view_tainted(session)",
        new="return is_view_tainted(session)",
        tests=(f"{ATTACKS}::test_S56_a_groups_turn_is_tainted_from_its_first_word",),
    ),
    Mutant(
        name="each line of a fold is clean",
        guards="S53",
        file="memory/context/taint.py",
        target="FoldLabel.covers",
        old="return self.tainted and line_key(words) not in self.clean",
        new="return False",
        tests=(LABELS, REPEATED),
    ),
    Mutant(
        name="a summariser's own wording of a tainted turn is clean",
        guards="S53",
        file="memory/workspace/fold_labels.py",
        target="_LineJudge._is_clean_sentence",
        old="return not plain or plain in self._verbatim or self._words.bear_out(sentence)",
        new="return True",
        tests=(LABELS,),
    ),
    Mutant(
        name="a fresh conversation is shown what a page made the bot say",
        guards="S53",
        file="bot/agent/prompt/builder.py",
        target="SystemPromptBuilder._sources",
        old="await self._clean_log(session, log)",
        new="log.text",
        tests=(
            f"{ATTACKS}::test_S53_a_fresh_conversation_is_clean_and_its_log_shows_clean_lines_alone",
        ),
    ),
    Mutant(
        name="a name that a page gave to a file is no word from outside",
        guards="S55",
        file="bot/tools/workspace/files.py",
        target="label_written",
        old="await context.label_names(new_paths)",
        new="pass",
        tests=(f"{ATTACKS}::test_S55_a_name_given_in_a_tainted_turn_taints_who_lists_it",),
    ),
    Mutant(
        name="a file that was not read has its name in the person's mouth",
        guards="S55",
        file="bot/agent/turn_context.py",
        target="TurnSetup._ingest",
        old="return [*ingested.parts, *(Text(text=note, aside=NOT_READ_LABEL) for note in notes)]",
        new="return [*ingested.parts, *(Text(text=note) for note in notes)]",
        tests=(f"{ATTACKS}::test_S55_the_name_of_a_file_that_was_not_read_is_nobodys_words",),
    ),
    Mutant(
        name="a denial is left out where a person is taken at their words",
        guards="S56",
        file="memory/context/evidence.py",
        target="_covers",
        old="if not words or not words <= own_words or one.moods != other.moods:",
        new="if not words or not frozenset(one.bare) <= frozenset(other.bare):",
        tests=("tests/memory/longterm/test_own_words.py",),
    ),
    Mutant(
        name="what a person says of another is noted of themselves",
        guards="S56",
        file="memory/context/evidence.py",
        target="restates",
        old="if not swapped and (not (_in_order(one, other) and _begins_alike(plain, said))):",
        new="if not swapped and (not _in_order(one, other)):",
        tests=("tests/memory/longterm/test_own_words.py",),
    ),
    Mutant(
        name="what is written beside a picture is judged by its words",
        guards="S53",
        file="memory/workspace/fold_labels.py",
        target="_texts_in_view",
        old="return None",
        new="pass",
        tests=(REPLIES,),
    ),
    Mutant(
        name="what the bot repeats of a page taints only while it is in view",
        guards="S53",
        file="memory/workspace/fold_labels.py",
        target="label_reply",
        old="return ReplyLabel(tainted=True, seen_only=not is_repeated)",
        new="return ReplyLabel(tainted=True, seen_only=True)",
        tests=(REPLIES,),
    ),
    Mutant(
        name="a line that repeats a tainted line of the earlier summary is clean",
        guards="S53",
        file="memory/workspace/fold_labels.py",
        target="_LineJudge.__call__",
        old="self._carried.are_in(line, any_word=True, language_of=self._language_of)",
        new="False",
        tests=(LABELS,),
    ),
    Mutant(
        name="a tainted passage is shown beside a clean one that says the same",
        guards="S53",
        file="bot/memory/recall.py",
        target="_prefer_clean",
        old="return any((is_similar(passage.words, words) for words in clean))",
        new="return any((False for words in clean))",
        tests=("tests/bot/memory/test_recall.py",),
    ),
    Mutant(
        name="what is quoted beside a person's words is theirs",
        guards="S53",
        file="memory/context/taint.py",
        target="_named_speaker",
        old="case Text(by=name, aside=aside) if not is_own_words(part):",
        new="case Text(by=name, aside=aside) if aside == 'quoted, and not said':",
        tests=("tests/memory/recall/test_outside.py",),
    ),
    Mutant(
        name="a piece from the middle of a text has no mark",
        guards="I49",
        file="memory/recall/documents.py",
        target="_row_of_part",
        old="(message.id, number) in outside",
        new="False",
        tests=("tests/memory/recall/test_outside.py",),
    ),
    Mutant(
        name="the outcome of a call is stored as the person's words",
        guards="I49",
        file="bot/agent/turn_context.py",
        target="TurnSetup._resume_or_claim",
        old="origin = OUTCOME_ORIGIN if body.outcome else 'model' if place.is_hidden else 'person'",
        new="origin = 'model' if place.is_hidden else 'person'",
        tests=("tests/bot/agent/test_outcomes.py",),
    ),
    Mutant(
        name="an import takes the bot's words as clean",
        guards="S53",
        file="bot/cli/replay/importing.py",
        target="label_turns",
        old=(
            "messages.append(message if message.origin == 'person' else replace(message, "
            "tainted=tainted))"
        ),
        new="messages.append(message)",
        tests=(f"{ATTACKS}::test_S53_an_export_that_comes_back_keeps_its_labels",),
    ),
    Mutant(
        name="two people of one name are one",
        guards="S61",
        file="memory/text/quoting.py",
        target="speaker_name",
        old="return f'{plain or UNNAMED_SPEAKER} #{mark}'",
        new="return plain or f'{UNNAMED_SPEAKER} #{mark}'",
        tests=(
            f"{SPEAKERS}::test_two_people_of_one_name_are_told_apart_before_and_after_a_restart",
        ),
    ),
    Mutant(
        name="a line break makes another speaker",
        guards="S61",
        file="memory/conversation.py",
        target="Text.shown",
        old="return indent_words(f'[{self.aside}] {named}' if self.aside else named)",
        new="return f'[{self.aside}] {named}' if self.aside else named",
        tests=(f"{SPEAKERS}::test_one_message_is_one_speakers_whatever_ends_its_lines",),
    ),
    Mutant(
        name="only a line feed ends a line",
        guards="S61",
        file="memory/text/quoting.py",
        target="indent_words",
        old="first, *others = words.splitlines() or ['']",
        new="first, *others = words.split('\\n') or ['']",
        tests=(f"{SPEAKERS}::test_one_message_is_one_speakers_whatever_ends_its_lines",),
    ),
    Mutant(
        name="a speaker is found with the mark alone",
        guards="recall",
        file="memory/recall/sqlite_index.py",
        target="_FILTER",
        old=") + 6 AND substr",
        new=") + 999 AND substr",
        tests=(f"{SPEAKERS}::test_recall_finds_a_speaker_by_name_and_by_mark",),
    ),
    Mutant(
        name="the note at the step limit stands before the results",
        guards="steps",
        file="memory/context/view.py",
        target="_add_request_texts",
        old="running[-1] = replace(running[-1], parts=(*running[-1].parts, Text(text=last)))",
        new="running[0] = replace(running[0], parts=(*running[0].parts, Text(text=last)))",
        tests=(
            f"{LIMIT}::test_the_last_request_ends_with_the_note_and_forbids_calls_with_the_same_tools",
        ),
    ),
    Mutant(
        name="tools may be called at the step limit",
        guards="steps",
        file="bot/agent/loop.py",
        target="Agent._call_model",
        old="may_call=not final_note)",
        new="may_call=True)",
        tests=(
            f"{LIMIT}::test_the_last_request_ends_with_the_note_and_forbids_calls_with_the_same_tools",
        ),
    ),
    Mutant(
        name="what was shown of a stopped answer is taken for untainted",
        guards="S56",
        file="bot/agent/turn_context.py",
        target="keep_shown_text",
        old="label = await label_reply(context, shown.session, parts, recalled=shown.recalled)",
        new="label = CLEAN_REPLY",
        tests=(
            (
                "tests/bot/agent/test_unfinished_answers.py"
                "::test_S56_what_was_shown_in_a_tainted_turn_is_tainted"
            ),
        ),
    ),
)
