"""Questions typed on the page in a chat of another channel, as replies on that channel quote
them. Pure.
"""

from dataclasses import replace

from channels.message import Capabilities, OutboundMessage
from channels.phrases import Phrase
from channels.toolkit.text import text_length
from memory.store.conversations.transcript import shown_text

ASKED_TEXT = Phrase("Asked on the page: {words}")
MAX_ASKED_CHARS = 100
# what each part of a reply leaves free for the quotation, in any unit: a character has four bytes
ASKED_UNITS = 440


def quote_question(
    message: OutboundMessage, page_body: str, capabilities: Capabilities, lang: str
) -> OutboundMessage:
    """Put the question before the reply to it, where both fit into one message.

    Args:
        page_body: see OutboxRow.
    """
    words = " ".join(shown_text(page_body).split())
    if len(words) > MAX_ASKED_CHARS:
        words = f"{words[: MAX_ASKED_CHARS - 1]}…"
    text = f"> {ASKED_TEXT.fill(words=words).text(lang)}\n\n{message.text}"
    limit = max(capabilities.limit, capabilities.longest)
    fits = not limit or text_length(text, capabilities.unit) <= limit
    return replace(message, text=text) if fits else message
