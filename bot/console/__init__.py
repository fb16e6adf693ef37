"""The owner's console: routes of the page and the API besides chatting."""
