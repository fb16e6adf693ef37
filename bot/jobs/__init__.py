"""Reminders, tasks and the heartbeat: phrases of time, schedules, and the ticker that fires them."""
