"""Counting is quick, takes any text, and costs structure as the seeds say."""

import asyncio
import hashlib
import time
from importlib.resources import files
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tiktoken_ext import openai_public

from memory.context.tokens import (
    HALF_OF_RANKS,
    STRUCTURAL,
    WEIGHTED,
    _read_ranks,
    calibrate_factor,
    load_o200k_counter,
)
from memory.conversation import Document, Image, Text, ToolCall, ToolResult, ToolSpec

DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.fixture(scope="module")
def tiktoken_counter():
    return load_o200k_counter()


def test_the_shipped_ranks_are_the_genuine_ones():
    data = (files("memory") / "data" / "o200k_base.tiktoken").read_bytes()
    assert (
        hashlib.sha256(data).hexdigest()
        == "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
    )


def test_it_counts_as_the_library_does(tiktoken_counter, monkeypatch):
    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda *_, **__: _read_ranks())
    bare = tiktoken.Encoding(**openai_public.o200k_base())
    for text in (
        "Hello, world! 你好，世界。",
        "I'll   count 12345 WORDS\n\n\nnow, they'RE done",
        "かな 한국어 Ünïcödé łódź مرحبا 👩‍👩‍👧‍👦 \t x\r\n  y",
        "def f(x):\n    return {x: [1, 2.5, 'a']}  # ok",
        "",
    ):
        assert tiktoken_counter.text(text) == len(bare.encode_ordinary(text))


@pytest.mark.parametrize(
    ("page", "least", "most"), [("memory.md", 1.01, 1.06), ("memory.zh-CN.md", 1.03, 1.12)]
)
def test_half_of_the_ranks_count_a_little_more(tiktoken_counter, page, least, most):
    text = (DOCS / page).read_text("utf-8")
    assert (
        least <= load_o200k_counter(HALF_OF_RANKS).text(text) / tiktoken_counter.text(text) <= most
    )


@given(st.text())
def test_half_of_the_ranks_never_count_less(tiktoken_counter, text):
    assert load_o200k_counter(HALF_OF_RANKS).text(text) >= tiktoken_counter.text(text)


async def test_it_loads_in_a_thread_and_only_once():
    assert await asyncio.to_thread(load_o200k_counter) is await asyncio.to_thread(
        load_o200k_counter
    )


@pytest.mark.parametrize(
    "text", ["<|endoftext|>", "\ud800 lone", "\x00", "e\u0301" * 10, "👩‍👩‍👧‍👦", "\u202e"]
)
def test_no_text_makes_it_raise(tiktoken_counter, text):
    for counter in (tiktoken_counter, WEIGHTED, STRUCTURAL):
        assert counter.text(text) >= 0


@pytest.mark.parametrize("piece", ["a", "中", " ", "\n", "!", "0", "é", "aB"])
def test_a_megabyte_of_one_character_takes_no_seconds(tiktoken_counter, piece):
    began = time.process_time()
    assert tiktoken_counter.text(piece * 1_000_000) > 1_000
    assert time.process_time() - began < 3


def test_the_weighted_count_is_one_and_a_half_per_cjk_character():
    assert WEIGHTED.text("你好世界") == 6
    assert WEIGHTED.text("x" * 100) == 30
    assert WEIGHTED.text("你好，x") == 4


def test_the_structural_count_knows_code_addresses_and_repetition():
    assert STRUCTURAL.text("abcd" * 10) == 10
    assert STRUCTURAL.text("```\n" + "x" * 92 + "\n```") == 25 + 50
    assert (
        STRUCTURAL.text("see https://example.org/a/long/path/of/forty/characters now ok then")
        == 17 - 10
    )
    assert STRUCTURAL.text("word " * 80) < 100


def test_structure_has_its_price():
    call = ToolCall(id="a", name="read", input='{"path":"a"}')
    assert WEIGHTED.message((Text(text="x" * 10),)) == 7 + 3
    assert WEIGHTED.parts((call,)) == 10 + WEIGHTED.text("read") + WEIGHTED.text('{"path":"a"}')
    assert WEIGHTED.parts((ToolResult(call_id="a", text="x" * 10),)) == 5 + 3
    assert WEIGHTED.parts((Image(sha256="0", media_type="image/png"),)) == 765
    assert (
        WEIGHTED.parts((Image(sha256="0", media_type="image/png", width=1500, height=1000),))
        == 2000
    )
    assert (
        WEIGHTED.parts((Document(sha256="0", media_type="application/pdf", name="d", size=37_500),))
        == 1_000
    )
    assert (
        WEIGHTED.tools(
            (ToolSpec(name="n", description="d", schema="{}", effect="pure", action="a"),)
        )
        > 10
    )


def test_a_factor_learns_from_real_usage_within_bounds():
    factor, error = 1.0, 0.0
    for _ in range(10):
        factor, error = calibrate_factor(factor, 1_000, 1_300)
    assert abs(error) < 3
    assert factor == pytest.approx(1.3, abs=0.02)
    assert calibrate_factor(1.0, 1_000, 90_000)[0] == 2.0
    assert calibrate_factor(1.0, 90_000, 1_000)[0] > 0.5
    assert calibrate_factor(1.1, 0, 5) == (1.1, 0.0)
