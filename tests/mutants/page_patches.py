"""The mutants of the page and its API: what is told twice, read unseen, left out, or told under the
wrong name.
"""

from tests.mutants.mutant import Mutant

WRITING = "tests/bot/console/test_page_messages.py"
READING = "tests/bot/console/test_chat_access.py"
LIST = "tests/channels/web/test_list.py"
LISTING = "tests/memory/store/test_contract.py"

PAGE = (
    Mutant(
        name="another person's chat is read without a row in the audit list",
        guards="audit",
        file="bot/console/transcripts.py",
        target="ReadingAudit.record",
        old="await self._store(action, subject, 'opened' if pressed else 'read')",
        new="pass",
        tests=(READING,),
    ),
    Mutant(
        name="what could not be written to the audit list is read all the same",
        guards="audit",
        file="bot/console/transcripts.py",
        target="ReadingAudit._store",
        old="raise HttpRefusal(503, 'storage', why, {'retry-after': '2'}) from err",
        new="return",
        tests=(f"{READING}::test_what_may_not_be_read_or_cannot_be_written_down_is_not_read",),
    ),
    Mutant(
        name="the page writes in another person's chat",
        guards="default deny",
        file="bot/console/page_messages.py",
        target="PageMessages.refusal",
        old="if owner == 'other':",
        new="if False:",
        tests=(f"{WRITING}::test_the_page_writes_in_no_group_and_in_no_chat_of_another_person",),
    ),
    Mutant(
        name="the page writes in a group",
        guards="default deny",
        file="bot/console/page_messages.py",
        target="PageMessages.refusal",
        old="if owner == 'group':",
        new="if False:",
        tests=(f"{WRITING}::test_the_page_writes_in_no_group_and_in_no_chat_of_another_person",),
    ),
    Mutant(
        name="the page writes for who is no longer the owner",
        guards="default deny",
        file="bot/console/page_messages.py",
        target="PageMessages.address",
        old="if actor.role != 'owner':",
        new="if False:",
        tests=(f"{WRITING}::test_who_is_no_longer_the_owner_there_is_not_written_for",),
    ),
    Mutant(
        name="a message from the page releases what is held for the platform",
        guards="held replies",
        file="memory/store/conversations/inbox.py",
        target="_take_line",
        old="and (not arrival.is_from_page)",
        new="",
        tests=(f"{WRITING}::test_what_is_held_until_the_person_writes_there_stays_held",),
    ),
    Mutant(
        name="the list shows another person's first words",
        guards="audit",
        file="bot/console/transcripts.py",
        target="to_entry",
        old="(row.place.chat_id if owner == 'other' else shown_title(row))",
        new="row.title",
        tests=(
            f"{READING}::test_every_route_that_reads_is_audited_and_none_shows_their_words_before",
        ),
    ),
    Mutant(
        name="of the conversations of one moment a page leaves some out",
        guards="list",
        file="memory/store/console/conversation_list.py",
        target="_IS_BELOW",
        old=(
            ", and_(conversation.c.updated == bindparam('updated'), conversation.c.id < "
            "bindparam('id'))"
        ),
        new="",
        tests=(f"{LISTING}::TestListing",),
    ),
    Mutant(
        name="what is committed late is not told in the list",
        guards="list",
        file="channels/web/events.py",
        target="list_changes",
        old="found = await changed(since - OVERLAP_SECONDS, MAX_CHANGES)",
        new="found = await changed(since, MAX_CHANGES)",
        tests=(f"{LIST}::test_a_poll_reads_only_new_changes_and_sends_each_once",),
    ),
    Mutant(
        name="a failure leaves the answer under way for whoever comes later",
        guards="live",
        file="channels/web/events.py",
        target="FINAL_EVENTS",
        old="FINAL_EVENTS = frozenset({'reply', 'notice', 'failed'})",
        new="FINAL_EVENTS = frozenset({'reply', 'notice'})",
        tests=("tests/channels/web/test_events.py::test_a_failed_turn_is_over_for_later_readers",),
    ),
)
