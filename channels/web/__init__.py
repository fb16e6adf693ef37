"""The browser's channel: a page, a JSON API and server-sent events on one loopback port."""
