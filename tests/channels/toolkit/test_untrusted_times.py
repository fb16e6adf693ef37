"""Dates of platforms: any number is a moment, or a malformed message."""

import math

import pytest

from channels.telegram.messages import parse
from channels.toolkit.untrusted import parse_timestamp
from tests.cases import every_case
from tests.channels.telegram.test_messages import ME, NOW, update


def test_a_date_is_read() -> None:
    assert parse_timestamp(0).isoformat() == "1970-01-01T00:00:00+00:00"


@every_case("seconds", [10**11 * 10, 10**17, 10**18, 10**30, -(10**18), math.inf, math.nan])
def test_a_date_out_of_range_is_a_malformed_message(seconds: float) -> None:
    with pytest.raises(ValueError):
        parse_timestamp(seconds)


def test_a_message_with_such_a_date_is_malformed() -> None:
    message = {**update()["message"], "date": 10**18}
    with pytest.raises(ValueError):
        parse({"update_id": 1, "message": message}, ME, NOW)
