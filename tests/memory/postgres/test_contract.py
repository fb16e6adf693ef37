"""PostgreSQL passes the store's contract suites."""

import pytest

from tests.contracts.day_logs_suite import DayLogSuite, no_failpoints  # noqa: F401  fixture
from tests.contracts.store_access_suite import (
    ApprovalSuite,
    GrantSuite,
    OwnerCodeSuite,
    RequestSuite,
)
from tests.contracts.store_context_suite import ClearSuite, FoldSuite, LateTextsSuite, SessionSuite
from tests.contracts.store_edit_suite import EditSuite
from tests.contracts.store_figures_suite import FiguresSuite
from tests.contracts.store_kept_suite import AuditSuite, PeopleSuite, RetentionSuite, TraceSuite
from tests.contracts.store_listing_suite import ListingSuite
from tests.contracts.store_memory_suite import MemoryRecordSuite
from tests.contracts.store_snapshot_suite import CutSuite, SnapshotSuite
from tests.contracts.store_spending_suite import SpendingSuite
from tests.contracts.store_suite import DeliverySuite, OutboxSuite, RecoverySuite, ToolSuite
from tests.contracts.store_views_suite import ViewSuite
from tests.contracts.store_waiting_suite import (
    DreamSuite,
    ExtractionSuite,
    ForgettingSuite,
    LinkSuite,
)

pytestmark = pytest.mark.postgres


class TestDelivery(DeliverySuite): ...


class TestTools(ToolSuite): ...


class TestOutbox(OutboxSuite): ...


class TestEdits(EditSuite): ...


class TestRecovery(RecoverySuite): ...


class TestSessions(SessionSuite): ...


class TestListing(ListingSuite): ...


class TestClear(ClearSuite): ...


class TestFolds(FoldSuite): ...


class TestLateTexts(LateTextsSuite): ...


class TestSnapshots(SnapshotSuite): ...


class TestCuts(CutSuite): ...


class TestExtractions(ExtractionSuite): ...


class TestDreams(DreamSuite): ...


class TestForgettings(ForgettingSuite): ...


class TestLinks(LinkSuite): ...


class TestMemoryRecords(MemoryRecordSuite): ...


class TestGrants(GrantSuite): ...


class TestRequests(RequestSuite): ...


class TestOwnerCodes(OwnerCodeSuite): ...


class TestApprovals(ApprovalSuite): ...


class TestFigures(FiguresSuite): ...


class TestTraces(TraceSuite): ...


class TestAudit(AuditSuite): ...


class TestPeople(PeopleSuite): ...


class TestRetention(RetentionSuite): ...


class TestSpending(SpendingSuite): ...


class TestViews(ViewSuite): ...


class TestDayLogs(DayLogSuite): ...
