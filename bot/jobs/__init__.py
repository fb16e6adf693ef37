"""Reminders and tasks that happen later: schedules, and the clock that fires them."""
