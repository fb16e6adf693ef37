"""Several processes on one PostgreSQL: jobs, leases, leadership, live events (extra `scale`)."""
