"""Which URLs and addresses may be reached: strict parsing, and the networks that are never dialled.

Pure.
"""

import ipaddress
import re
from dataclasses import dataclass
from typing import Literal

MAX_URL_BYTES = 2048
DEFAULT_PORTS = {"http": 80, "https": 443}

# ipaddress.is_global differs between versions of Python and takes some of these for public.
_DENIED_IPV4 = (
    "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 "
    "192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 "
    "192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 "
    "255.255.255.255/32"
)
_ALLOWED_IPV6 = ipaddress.IPv6Network("2000::/3")
# Within it: Teredo, benchmarks and ORCHID; documentation; 6to4; AS112; documentation.
_DENIED_IPV6 = "2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20"
DENIED_NETWORKS = tuple(map(ipaddress.ip_network, f"{_DENIED_IPV4} {_DENIED_IPV6}".split()))
# in the upper half of the interface id; its second bit of the first byte varies
_ISATAP = 0x00005EFE

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
WebErrorCode = Literal[
    "url",
    "denied",
    "dns",
    "tls",
    "status",
    "too_large",
    "too_slow",
    "type",
    "empty",
    "needs_script",
    "network",
]

_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<rest>[^#]*)(?:#.*)?",
    re.DOTALL,
)
_AUTHORITY = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\[\]:]+)(?::(?P<port>[0-9]{1,5}))?")
_IPV4_LIKE = re.compile(r"(?:0[xX][0-9A-Fa-f]*|[0-9]+)(?:\.(?:0[xX][0-9A-Fa-f]*|[0-9]+))*\.?")


class WebError(Exception):
    """A page could not be had; `code` names the reason for counters and the model, the text says
    it.
    """

    def __init__(self, code: WebErrorCode, text: str) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class WebUrl:
    """A URL in the only form in which it is used: rebuilt from its parsed parts."""

    scheme: str
    #: Lower case, punycode; an IPv6 address without brackets.
    host: str
    port: int
    #: Path and query, ASCII, starting with a slash.
    target: str

    @property
    def authority(self) -> str:
        """The host as in a Host header, with the port unless it is the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def pair(self) -> str:
        """Host and port, as the owner names exceptions."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def parse_url(text: str) -> WebUrl:
    """Parse an http or https URL strictly; a fragment is dropped.

    Refused are user names, backslashes, spaces, control characters, zone ids, empty hosts, more
    than 2,048 bytes, and hosts that are not in their IDNA form: parsers disagree about what these
    mean.

    Raises:
        WebError: "url".
    """
    if len(text.encode("utf-8", "replace")) > MAX_URL_BYTES:
        raise WebError("url", f"a URL may have {MAX_URL_BYTES} bytes at most")
    if any(sign.isspace() or not sign.isprintable() or sign == "\\" for sign in text):
        raise WebError("url", "a URL may hold no space, backslash or invisible character")
    found = _URL.fullmatch(text)
    if found is None or found["scheme"].lower() not in DEFAULT_PORTS:
        raise WebError("url", "only complete http:// and https:// URLs can be opened")
    scheme, authority = found["scheme"].lower(), found["authority"]
    if "@" in authority or "%" in authority:
        raise WebError("url", "a URL may not name a user, a password or a zone")
    parts = _AUTHORITY.fullmatch(authority)
    if parts is None:
        raise WebError("url", "the URL has no valid host")
    port = int(parts["port"]) if parts["port"] else DEFAULT_PORTS[scheme]
    if not 0 < port < 65536:
        raise WebError("url", "the URL's port is not a port")
    return WebUrl(
        scheme=scheme,
        host=_parse_host(parts["host"]),
        port=port,
        target=_quote_target(found["rest"]),
    )


def _check_international(host: str) -> str:
    """Return the ASCII form of a lower-case host."""
    import idna  # tables of .3 MB, which few hosts need

    try:
        ascii_host = host if host.isascii() else idna.encode(host).decode("ascii")
        for label in ascii_host.split("."):
            if label.startswith("xn--"):
                idna.ulabel(label)
    except UnicodeError as err:  # which all errors of idna are
        raise WebError("url", "the host is not a valid international name") from err
    return ascii_host


def _parse_host(host: str) -> str:
    if host.startswith("["):
        try:
            return str(ipaddress.IPv6Address(host[1:-1]))
        except ValueError as err:
            raise WebError("url", "the URL's address is not valid") from err
    if _IPV4_LIKE.fullmatch(host):
        try:
            return str(ipaddress.IPv4Address(host))
        except ValueError as err:  # octal, hexadecimal or shortened: libc reads them, people do not
            raise WebError("url", "write the address with four decimal numbers") from err
    if host.endswith("."):
        raise WebError("url", "the host ends with a dot")
    ascii_host = host.lower()
    if not host.isascii() or any(label.startswith("xn--") for label in ascii_host.split(".")):
        ascii_host = _check_international(ascii_host)
    labels = ascii_host.split(".")
    if len(ascii_host) > 253 or not all(
        re.fullmatch(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", one) for one in labels
    ):
        raise WebError("url", "the URL has no valid host")
    return ascii_host


def _quote_target(rest: str) -> str:
    target = rest if rest.startswith("/") else f"/{rest}"
    return "".join(
        sign if 0x20 < ord(sign) < 0x7F and sign not in '"<>`{}|^' else _percent(sign)
        for sign in target
    )


def _percent(sign: str) -> str:
    return "".join(f"%{byte:02X}" for byte in sign.encode("utf-8", "replace"))


def is_denied(address: Address) -> bool:
    """Tell whether an address must not be dialled: not public, or it stands for another address."""
    if isinstance(address, ipaddress.IPv6Address):
        if address not in _ALLOWED_IPV6 or address.scope_id:
            return True
        if (int(address) >> 32) & 0xFFFFFFFF in (_ISATAP, _ISATAP | 0x02000000):
            return True
    return any(
        address in network for network in DENIED_NETWORKS if network.version == address.version
    )
