"""Wrong changes to what words from outside may do, to who speaks, and to the step limit."""

from tests.mutants.mutant import Mutant

ATTACKS = "tests/bot/agent/test_attacks_taint.py"
REPEATED = f"{ATTACKS}::test_S53_what_the_bot_repeats_of_a_page_is_not_noted_in_a_later_turn"
OLDER_FILES = "tests/memory/store/test_older_files.py"
LABELS = "tests/memory/workspace/test_fold_labels.py"
SPEAKERS = "tests/bot/agent/test_speakers.py"
LIMIT = "tests/bot/agent/test_step_limit.py"

TAINT = (
    Mutant(
        name="what the bot says while it sees a page is stored clean",
        guards="S53",
        file="bot/agent/loop.py",
        old="late=late, last=last), tainted=tainted)",
        new="late=late, last=last), tainted=False)",
        tests=(REPEATED,),
    ),
    Mutant(
        name="files that an older version named while it saw a page have no label",
        guards="S55",
        file="memory/store/schema/migrations/versions/r0010_hardening.py",
        old="    _label_files()\n\n\ndef",
        new="\n\ndef",
        tests=(f"{OLDER_FILES}::test_what_a_turn_with_words_from_outside_named_is_labelled_with_its_folders",),
    ),
    Mutant(
        name="a stored label is not looked at",
        guards="S53",
        file="memory/context/taint.py",
        old="yield message, place, message.tainted or _is_from_outside(part, own)",
        new="yield message, place, _is_from_outside(part, own)",
        tests=(REPEATED,),
    ),
    Mutant(
        name="what is recalled unasked taints nothing",
        guards="S53",
        file="bot/agent/loop.py",
        old="tainted = recalled or is_tainted(context, session)",
        new="tainted = is_tainted(context, session)",
        tests=(f"{ATTACKS}::test_S53_what_is_recalled_unasked_taints_the_turn",),
    ),
    Mutant(
        name="a turn in a group is clean",
        guards="S56",
        file="bot/agent/tool_calls.py",
        old='context.scope.kind == "group" or is_view_tainted(session)',
        new="is_view_tainted(session)",
        tests=(f"{ATTACKS}::test_S56_a_groups_turn_is_tainted_from_its_first_word",),
    ),
    Mutant(
        name="each line of a fold is clean",
        guards="S53",
        file="memory/context/taint.py",
        old="return self.tainted and line_key(words) not in self.clean",
        new="return False",
        tests=(LABELS, REPEATED),
    ),
    Mutant(
        name="a summariser's own wording of a tainted turn is clean",
        guards="S53",
        file="memory/workspace/fold_labels.py",
        old="return normalize_words(line) in clean or all(piece in clean for piece in pieces if piece)",
        new="return True",
        tests=(LABELS,),
    ),
    Mutant(
        name="a fresh conversation is shown what a page made the bot say",
        guards="S53",
        file="bot/agent/prompt.py",
        old="log=await self._clean_log(session, text),",
        new="log=text,",
        tests=(f"{ATTACKS}::test_S53_a_fresh_conversation_is_clean_and_its_log_shows_clean_lines_alone",),
    ),
    Mutant(
        name="a name that a page gave to a file is no word from outside",
        guards="S55",
        file="bot/tools/files.py",
        old="            await context.mark_tainted(new_paths)\n",
        new="            pass\n",
        tests=(f"{ATTACKS}::test_S55_a_name_given_in_a_tainted_turn_taints_who_lists_it",),
    ),
    Mutant(
        name="a file that was not read has its name in the person's mouth",
        guards="S55",
        file="bot/agent/turn_context.py",
        old="Text(text=note, aside=NOT_READ_LABEL) for note in notes",
        new="Text(text=note) for note in notes",
        tests=(f"{ATTACKS}::test_S55_the_name_of_a_file_that_was_not_read_is_nobodys_words",),
    ),
    Mutant(
        name="a denial is left out where a person is taken at their words",
        guards="S56",
        file="memory/longterm/own_words.py",
        old="if not words or not words <= own_words or one.moods != other.moods:",
        new="if not words or not frozenset(one.bare) <= frozenset(other.bare):",
        tests=("tests/memory/longterm/test_own_words.py",),
    ),
    Mutant(
        name="an import takes the bot's words as clean",
        guards="S53",
        file="bot/cli/replay/importing.py",
        old='message if message.origin == "person" else replace(message, tainted=tainted)',
        new="message",
        tests=(f"{ATTACKS}::test_S53_an_export_that_comes_back_keeps_its_labels",),
    ),
    Mutant(
        name="two people of one name are one",
        guards="S61",
        file="memory/text/quoting.py",
        old='return f"{plain or UNNAMED_SPEAKER} #{mark}"',
        new='return plain or f"{UNNAMED_SPEAKER} #{mark}"',
        tests=(f"{SPEAKERS}::test_two_people_of_one_name_are_told_apart_before_and_after_a_restart",),
    ),
    Mutant(
        name="a line break makes another speaker",
        guards="S61",
        file="memory/conversation.py",
        old='return indent_words(f"[{self.aside}] {named}" if self.aside else named)',
        new='return f"[{self.aside}] {named}" if self.aside else named',
        tests=(f"{SPEAKERS}::test_one_message_is_one_speakers_whatever_ends_its_lines",),
    ),
    Mutant(
        name="only a line feed ends a line",
        guards="S61",
        file="memory/text/quoting.py",
        old='first, *others = words.splitlines() or [""]',
        new='first, *others = words.split("\\n") or [""]',
        tests=(f"{SPEAKERS}::test_one_message_is_one_speakers_whatever_ends_its_lines",),
    ),
    Mutant(
        name="a speaker is found with the mark alone",
        guards="recall",
        file="memory/recall/sqlite_index.py",
        old="OR (length(row.speaker) = length(:speaker) + 6 ",
        new="OR (length(row.speaker) = length(:speaker) + 999 ",
        tests=(f"{SPEAKERS}::test_recall_finds_a_speaker_by_name_and_by_mark",),
    ),
    Mutant(
        name="the note at the step limit stands before the results",
        guards="steps",
        file="memory/context/view.py",
        old="current[-1] = replace(current[-1], parts=(*current[-1].parts, Text(text=last)))",
        new="current[0] = replace(current[0], parts=(*current[0].parts, Text(text=last)))",
        tests=(f"{LIMIT}::test_the_last_request_ends_with_the_note_and_forbids_calls_with_the_same_tools",),
    ),
    Mutant(
        name="tools may be called at the step limit",
        guards="steps",
        file="bot/agent/loop.py",
        old="may_call=not final_note)",
        new="may_call=True)",
        tests=(f"{LIMIT}::test_the_last_request_ends_with_the_note_and_forbids_calls_with_the_same_tools",),
    ),
)
