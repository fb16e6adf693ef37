"""Units of work on what runs by itself or waits: jobs, tasks, approvals, MCP, file versions."""
