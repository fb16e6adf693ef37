"""What is installed with the product may be used with it: each licence is one of those that were
looked at.
"""

import re
from importlib import metadata

from tests.conventions.sources import ROOT

LOCKS = ("requirements.lock", "requirements-scale.lock")
FREE = re.compile(
    (
        r"\bMIT\b|\bApache\b|\bBSD\b|\bISC\b|\bPSF\b|Mozilla Public|\bMPL\b|LGPL|GNU "
        r"Lesser|CNRI-Python|Unlicense"
    ),
    re.IGNORECASE,
)
NEVER = re.compile(
    r"AGPL|Affero|(?<!L)GPL|(?<!Lesser )General Public|SSPL|Business Source|Non-?Commercial",
    re.IGNORECASE,
)


def licences() -> dict[str, str]:
    """The licence of everything that is locked for the product and installed here, as it says
    itself.
    """
    found = {}
    for name in {
        name
        for lock in LOCKS
        for name in re.findall(r"^([\w.-]+)==", (ROOT / lock).read_text(), re.MULTILINE)
    }:
        try:
            held = metadata.metadata(name)
        except metadata.PackageNotFoundError:  # for another system
            continue
        classified = [
            line for line in held.get_all("Classifier") or [] if line.startswith("License")
        ]
        words = [
            held.get("License-Expression") or "",
            (held.get("License") or "").partition("\n")[0],
            *classified,
        ]
        found[name] = "; ".join(filter(None, words))
    return found


def test_every_licence_is_one_that_was_looked_at() -> None:
    found = licences()
    assert len(found) > 50
    assert {
        name: words
        for name, words in found.items()
        if not FREE.search(words) or NEVER.search(words)
    } == {}
