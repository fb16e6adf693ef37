"""What is kept of a command's output."""

from hypothesis import given
from hypothesis import strategies as st

from bot.tools.exec.output import HEAD_BYTES, TAIL_BYTES, OutputBuffer, clean_output

# Literals, so that the product is not compared with itself.
HEAD, TAIL = 50_000, 150_000


def kept(*pieces: bytes) -> str:
    output = OutputBuffer()
    for piece in pieces:
        output.add(piece)
    return output.text()


def test_up_to_200_kB_are_kept_whole() -> None:
    assert (HEAD_BYTES, TAIL_BYTES) == (HEAD, TAIL)
    text = "".join(f"{number:09}\n" for number in range(20_000))
    assert kept(text.encode()) == text


def test_of_more_the_beginning_and_the_end_are_kept() -> None:
    text = kept(*(f"{number:09}\n".encode() for number in range(100_000)))
    head, _, tail = text.partition("[… 800,000 bytes left out …]\n")
    assert head.startswith("000000000\n")
    assert len(head.strip()) >= HEAD - 1
    assert len(tail) == TAIL
    assert tail.endswith("000099999\n")


@given(st.lists(st.binary(max_size=300_000), max_size=4))
def test_however_it_comes_in_pieces_it_is_the_same(pieces: list[bytes]) -> None:
    assert kept(*pieces) == kept(b"".join(pieces))


def test_keys_and_tokens_are_hidden_as_in_the_log() -> None:
    shown = kept(b"GET https://ann:pw123@host/ Authorization: Bearer abcdefgh12345678")
    assert "pw123" not in shown
    assert "abcdefgh12345678" not in shown
    assert shown.startswith("GET https://")


@given(st.binary(max_size=2_000))
def test_no_control_code_and_no_invisible_sign_is_left(data: bytes) -> None:
    assert all(
        sign.isprintable() or sign in "\n\t" or sign.isspace() for sign in clean_output(data)
    )


def test_codes_of_terminals_are_removed_with_their_parameters() -> None:
    data = b"\x1b[31mred\x1b[0m \x1b]0;title\x07x\x1b]52;c;ZXZpbA==\x07 a\rb\r\nc\x00\xe2\x80\xaed"
    assert clean_output(data) == "red x a\nb\ncd"
