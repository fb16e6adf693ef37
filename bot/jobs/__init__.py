"""Reminders, tasks and the heartbeat: times in words, schedules, and the ticker."""
