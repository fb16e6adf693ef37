"""SQLite passes the suites about what is kept of people and acts."""

from tests.contracts.store_kept_suite import AuditSuite, PeopleSuite, RetentionSuite, TraceSuite


class TestTrace(TraceSuite): ...


class TestAudit(AuditSuite): ...


class TestPeople(PeopleSuite): ...


class TestRetention(RetentionSuite): ...
