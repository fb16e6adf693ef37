"""Which URLs are read, and which addresses are never dialled."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.tools.web.addresses import WebError, is_denied, parse_url
from tests.cases import every_case

# One address of each network, and of each way to write one address inside another.
DENIED = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.8.8.8",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.31.196.1",
    "192.52.193.1",
    "192.88.99.1",
    "192.168.1.1",
    "192.175.48.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:0:7f00:1",
    "64:ff9b::a00:1",
    "64:ff9b:1::1",
    "100::1",
    "100:0:0:1::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:20::1",
    "2001:db8::1",
    "2002:a00:1::",
    "2620:4f:8000::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "2600::5efe:10.0.0.1",
    "2600::200:5efe:7f00:1",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.0.1",
    "172.32.0.1",
    "198.17.255.255",
    "2606:4700::1",
    "2a00:1450::1",
]


@every_case("address", DENIED)
def test_S39_an_address_that_is_not_public_is_denied(address: str) -> None:
    assert is_denied(ipaddress.ip_address(address))


@every_case("address", PUBLIC)
def test_a_public_address_is_not_denied(address: str) -> None:
    assert not is_denied(ipaddress.ip_address(address))


@given(st.ip_addresses(v=4))
def test_an_address_inside_another_one_is_denied(address: ipaddress.IPv4Address) -> None:
    for prefix in (0xFFFF << 32, 0x64FF9B << 96, 0):
        assert is_denied(ipaddress.IPv6Address(prefix | int(address)))


@every_case(
    "url",
    [
        "http://0177.0.0.1/",
        "http://0x7f.1/",
        "http://2130706433/",
        "http://127.1/",
        "http://0/",
        "http://①②⑦.0.0.1/",
        "http://a.example./",
        "http://127.0.0.1:80\\@a.example/",
        "http://user@a.example/",
        "http://u:p@a.example/",
        "http://[fe80::1%25eth0]/",
        "http://a\texample/",
        "http://a.example/ b",
        "http://a.example/\u200b",
        "http:///x",
        "http://a.example:0/",
        "http://a.example:99999/",
        "http://a.example:8x/",
        "http://-a.example/",
        "file:///etc/passwd",
        "gopher://a.example/",
        "a.example",
        "//a.example/",
        "http://a..example/",
        "http://[::1",
        "http://a%2eexample/",
        f"http://a.example/{'x' * 2048}",
        "javascript:alert(1)",
        "",
    ],
)
def test_S40_a_url_that_parsers_disagree_about_is_refused(url: str) -> None:
    with pytest.raises(WebError) as err:
        parse_url(url)
    assert err.value.code == "url"


@every_case(
    ("url", "told"),
    [
        ("HTTP://A.Example", "http://a.example/"),
        ("https://a.example:443/x?q=1#part", "https://a.example/x?q=1"),
        ("http://a.example:8080?q=1", "http://a.example:8080/?q=1"),
        (
            "https://例子.测试/路?词=好",
            "https://xn--fsqu00a.xn--0zwm56d/%E8%B7%AF?%E8%AF%8D=%E5%A5%BD",
        ),
        ("http://[2606:4700::0001]/", "http://[2606:4700::1]/"),
        ("http://8.8.8.8/%2e%2e/", "http://8.8.8.8/%2e%2e/"),
    ],
)
def test_a_url_is_rebuilt_from_its_parts(url: str, told: str) -> None:
    assert str(parse_url(url)) == told


@given(st.text(max_size=60) | st.builds("http://{}".format, st.text(max_size=60)))
def test_whatever_is_read_is_read_the_same_again(text: str) -> None:
    try:
        url = parse_url(text)
    except WebError:
        return
    assert parse_url(str(url)) == url
    assert str(url).isascii()
