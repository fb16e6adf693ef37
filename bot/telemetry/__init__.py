"""Log, metrics, traces, and reports of faults."""
