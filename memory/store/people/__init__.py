"""Units of work on people: rights, approvals, spending, removal; also jobs, tasks and MCP tools."""
