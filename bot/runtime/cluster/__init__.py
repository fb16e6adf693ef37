"""Several processes on one PostgreSQL store: jobs, leases, leadership, live events; needs the extra `scale`."""
