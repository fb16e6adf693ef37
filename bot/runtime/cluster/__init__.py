"""Several processes on one record in PostgreSQL: lanes as jobs, duties, who is alive; needs the extra `scale`."""
