"""Every channel when it sends: complete, in order, within the limits, and once if it has a key."""

import random
import re

import pytest

from bot.messages import split_reply
from channels.errors import Ambiguous, AttachmentTooBig, BadFormat, Retryable
from channels.message import LiveEvent, OutboundFile
from channels.toolkit.text import split_text, text_length
from tests.contracts.channel_cases import Cases, needs
from tests.contracts.channel_receiving import BYTES, PNG
from tests.contracts.channel_stage import Inbox, Stage, eventually, listening, part, restart_program

HARD = (
    "plain words",
    "🙂 and 👨‍👩‍👧‍👦 and 🏳️‍🌈 and 🇩🇪🇨🇳",
    "中文，日本語、한국어。",
    "שלום עולם، مرحبا بالعالم\u200f!",
    "e\u0301 and Z\u0351\u036b\u0343\u036a go on",
    "क्षत्रिय and ไทย",
    "<b> & </b> \"quoted\" 'so'",
)
HOSTILE = (
    "**never closed _and [neither](",
    "<script>alert(1)</script> & &nosuch; <at user_id='all'></at> <@all> @everyone",
    "```\nno end of code",
    "| a | b |\n|---|\n| 1 | 2 | 3 |",
    "> " * 70 + "deep",
    "[click](javascript:alert(1)) ![x](http://127.0.0.1:1/a.png)",
    "\x1b[31mred\x1b[0m and \u202eright to left\u202c",
    "]]> and <![CDATA[",
)
FAMILY = "👨‍👩‍👧‍👦"
ADDRESS = re.compile(r"\([^)]*\)")
ONE_WORD = re.compile(r"w\d{4}")


def a_long_answer() -> str:
    """Return Markdown of every kind, of some 25,000 characters; each of its words occurs once."""
    words = (f"w{number:04}" for number in range(10_000))

    def some(count: int) -> str:
        return " ".join(next(words) for _ in range(count))

    blocks = []
    for _ in range(6):
        blocks.append(f"# {some(4)}")
        blocks.append(
            f"{some(150)} **{some(3)}** and `{some(2)}`, {FAMILY * 20} "
            f"[{some(2)}](https://example.org/a)."
        )
        blocks.append("\n".join(f"- {some(8)} 中文字。" for _ in range(6)))
        blocks.append("```python\n" + "\n".join(f"{some(6)} = '🙂'" for _ in range(40)) + "\n```")
        blocks.append(
            "| a | b |\n|---|---|\n" + "\n".join(f"| {some(1)} | {some(2)} |" for _ in range(8))
        )
    return "\n\n".join(blocks)


class Sending(Cases):
    """Texts."""

    async def test_sends_in_order_and_names_each_message(self, stage: Stage) -> None:
        receipts = [
            await stage.channel.send(part(stage, f"line {number}", number)) for number in range(3)
        ]
        assert stage.seen() == ["line 0", "line 1", "line 2"]
        named = [receipt.platform_id for receipt in receipts if receipt.platform_id]
        assert len({*named}) == len(named)

    async def test_a_long_answer_arrives_in_parts_within_the_limit(self, stage: Stage) -> None:
        able = stage.channel.capabilities
        text = " ".join(f"word{number}🙂" for number in range(1500))
        for number, piece in enumerate(split_text(text, able.limit or 4096, able.unit)):
            await stage.channel.send(part(stage, piece, number))
        seen = stage.seen()
        assert len(seen) > 1
        assert all(text_length(piece, able.unit) <= (able.limit or 4096) for piece in seen)
        assert " ".join(seen).split() == text.split()

    @needs("limit")
    async def test_a_long_formatted_answer_loses_no_word_and_cuts_none(self, stage: Stage) -> None:
        able, text = stage.channel.capabilities, a_long_answer()
        parts = split_reply(text, "final", able)
        for piece in parts:
            assert len(re.findall(r"^```", piece.text, re.MULTILINE)) % 2 == 0
            await stage.channel.send(part(stage, piece.text, piece.part_no, parts=piece.parts))
        seen = stage.seen()
        assert len(seen) >= len(parts) > 1
        assert ONE_WORD.findall(" ".join(seen)) == ONE_WORD.findall(text)
        assert sum(piece.count(FAMILY) for piece in seen) == text.count(FAMILY)
        assert sum(piece.count("🙂") for piece in seen) == text.count("🙂")
        assert all(text_length(piece, able.unit) <= able.limit for piece in seen)

    @needs("limit")
    async def test_no_part_is_cut_inside_what_is_one_sign_to_a_reader(self, stage: Stage) -> None:
        able, chance = stage.channel.capabilities, random.Random(7)
        signs = [FAMILY, "🏳️‍🌈", "🇩🇪", "e\u0301", "क्षि", "字", "a", " "]
        text = "x" + "".join(chance.choice(signs) for _ in range(3 * able.limit // 4)) + "x"
        for piece in split_reply(text, "final", able):
            await stage.channel.send(part(stage, piece.text, piece.part_no, plain=True))
        seen = stage.seen()
        assert "".join("".join(seen).split()) == "".join(text.split())
        assert [sum(piece.count(sign) for piece in seen) for sign in signs[:5]] == [
            text.count(s) for s in signs[:5]
        ]

    @pytest.mark.parametrize("text", HARD)
    async def test_any_script_survives_both_ways(
        self, stage: Stage, inbox: Inbox, text: str
    ) -> None:
        async with listening(stage.channel, inbox):
            stage.say(text)
            await stage.until(lambda: stage.confirmed() == 1)
            await stage.channel.send(
                part(stage, inbox.stored[0].text, reply_to_key=inbox.stored[0].key)
            )
        assert [inbox.stored[0].text, *stage.seen()] == [text, self.drawn(text)]

    @pytest.mark.parametrize("text", HOSTILE)
    async def test_whatever_a_model_writes_arrives(self, stage: Stage, text: str) -> None:
        try:
            await stage.channel.send(part(stage, text))
        except BadFormat:
            await stage.channel.send(part(stage, text, plain=True))
        (seen,) = stage.seen()
        said, found = (
            re.findall(r"[a-z]{3,}", words.lower()) for words in (ADDRESS.sub("", text), seen)
        )
        assert {*said} <= {*found}

    @needs("refuse_next")
    async def test_too_early_is_worth_another_try_after_what_the_platform_says(
        self, stage: Stage
    ) -> None:
        stage.refuse_next(7)
        with pytest.raises(Retryable) as refused:
            await stage.channel.send(part(stage, "soon"))
        assert refused.value.retry_after == 7
        assert not refused.value.whole_channel
        assert stage.seen() == []

    @needs("lose_next")
    async def test_a_lost_answer_is_called_unknown(self, stage: Stage) -> None:
        stage.lose_next()
        with pytest.raises(Ambiguous):
            await stage.channel.send(part(stage, "perhaps"))
        assert stage.seen() == ["perhaps"]

    @needs("keyed")
    async def test_the_same_part_sent_again_is_seen_once(self, stage: Stage) -> None:
        for _ in range(3):
            await stage.channel.send(part(stage, "but once"))
        assert stage.seen() == ["but once"]

    @needs("keyed", "lose_next")
    async def test_a_part_whose_answer_was_lost_is_sent_again_and_seen_once(
        self, stage: Stage
    ) -> None:
        stage.lose_next()
        with pytest.raises(Ambiguous):
            await stage.channel.send(part(stage, "but once"))
        await stage.channel.send(part(stage, "but once"))
        assert stage.seen() == ["but once"]

    @needs("keyed", "restart")
    async def test_a_key_holds_over_a_restart(self, stage: Stage) -> None:
        await stage.channel.send(part(stage, "but once"))
        await restart_program(stage)
        await stage.channel.send(part(stage, "but once"))
        await stage.channel.send(part(stage, "but once", 1))
        assert stage.seen() == ["but once", "but once"]

    @needs("restart")
    async def test_the_next_life_answers_what_the_last_one_heard(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        asked = await self._asked(stage, inbox)
        await restart_program(stage)
        async with listening(stage.channel, inbox):
            await stage.channel.send(
                part(stage, "late, but here", reply_to="row-1", reply_to_key=asked)
            )
            assert stage.seen() == ["late, but here"]

    @needs("keyed", "restart", "lose_next")
    async def test_the_next_life_does_not_double_an_answer_that_was_lost(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        answer = part(
            stage, "but once", reply_to="row-1", reply_to_key=await self._asked(stage, inbox)
        )
        async with listening(stage.channel, inbox):
            stage.lose_next()
            with pytest.raises(Ambiguous):
                await stage.channel.send(answer)
        await restart_program(stage)
        async with listening(stage.channel, inbox):
            await stage.channel.send(answer)
        assert stage.seen() == ["but once"]

    async def _asked(self, stage: Stage, inbox: Inbox) -> str:
        """Return the key of a message that an earlier run of the program received."""
        async with listening(stage.channel, inbox):
            stage.say("a question")
            (message,) = await inbox.until(1)
            await stage.until(lambda: stage.confirmed() == 1)
        return message.key


class SendingFiles(Cases):
    """Files."""

    @needs("files_seen")
    async def test_a_file_arrives_with_its_words(self, stage: Stage) -> None:
        able = stage.channel.capabilities
        file = OutboundFile(
            name="../../tide table.png",
            media_type="image/png",
            data=PNG,
            picture=not able.file_bytes,
        )
        await stage.channel.send(part(stage, "as you asked", file=file, kind="media"))
        ((name, data),) = stage.files_seen()
        assert data == PNG
        assert "/" not in name
        assert "as you asked" in " ".join(stage.seen())

    @needs("files_seen")
    async def test_what_is_to_be_shown_is_shown(self, stage: Stage) -> None:
        if stage.channel.capabilities.picture_bytes:
            file = OutboundFile(name="tide.png", media_type="image/png", data=PNG, picture=True)
            await stage.channel.send(part(stage, "", file=file, kind="media"))
            assert [data for _, data in stage.files_seen()] == [PNG]

    @needs("files_seen")
    async def test_a_file_too_big_for_the_platform_is_not_tried(self, stage: Stage) -> None:
        able = stage.channel.capabilities
        most, picture = (able.file_bytes, False) if able.file_bytes else (able.picture_bytes, True)
        file = OutboundFile(
            name="big.bin", media_type="image/png", data=bytes(most + 1), picture=picture
        )
        with pytest.raises(AttachmentTooBig):
            await stage.channel.send(part(stage, "", file=file, kind="media"))
        assert stage.files_seen() == []

    @needs("files_seen", "send_file")
    async def test_bytes_of_any_kind_come_back_as_they_went(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        if stage.channel.capabilities.file_bytes:
            file = OutboundFile(name="all.bin", media_type="application/octet-stream", data=BYTES)
            await stage.channel.send(part(stage, "", file=file, kind="media"))
            assert [data for _, data in stage.files_seen()] == [BYTES]


class Writing(Cases):
    """Live replies."""

    @needs("live")
    async def test_the_answer_is_seen_while_it_is_written_and_then_once(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        async with listening(stage.channel, inbox):
            key = await self._begin(stage, inbox)
            await stage.channel.send(
                part(stage, "Hello, world.", reply_to="row-1", reply_to_key=key)
            )
            await eventually(lambda: not stage.live())
        assert stage.seen() == ["Hello, world."]

    @needs("live", "restart")
    async def test_a_restart_in_the_middle_leaves_no_half_written_twin(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        async with listening(stage.channel, inbox):
            key = await self._begin(stage, inbox)
        await restart_program(stage)
        async with listening(stage.channel, inbox):
            await stage.channel.send(
                part(stage, "Hello, world.", reply_to="row-1", reply_to_key=key)
            )
        assert stage.seen() == ["Hello, world."]

    @needs("live", "restart")
    async def test_a_restart_after_the_answer_does_not_write_it_twice(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        async with listening(stage.channel, inbox):
            key = await self._begin(stage, inbox)
            await stage.channel.send(
                part(stage, "Hello, world.", reply_to="row-1", reply_to_key=key)
            )
        await restart_program(stage)
        async with listening(stage.channel, inbox):
            await stage.channel.send(part(stage, "Another.", 1, reply_to="row-2", reply_to_key=key))
        assert stage.seen() == ["Hello, world.", "Another."]

    async def _begin(self, stage: Stage, inbox: Inbox) -> str:
        """Start a live reply, and wait for its first word."""
        stage.say("say hello")
        (asked,) = await inbox.until(1)
        for name, text in (("started", ""), ("delta", "Hel"), ("delta", "lo")):
            event = LiveEvent(address=stage.address, name=name, message_id="row-1", text=text)  # type: ignore[arg-type]
            stage.channel.show(event)  # type: ignore[attr-defined]
        await eventually(lambda: "Hel" in stage.live())
        return asked.key


class Connecting(Cases):
    """What could not be sent for want of a connection."""

    @needs("spoil", "unreachable")
    async def test_what_found_no_connection_was_certainly_not_sent(self, stage: Stage) -> None:
        stage.spoil("unreachable")
        with pytest.raises(Retryable):
            await stage.channel.send(part(stage, "later"))
