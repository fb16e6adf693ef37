"""What a wizard is made of: kinds to choose from, fields to fill in, a test, and an end."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from starlette.requests import Request

from bot.config.keys import REFERENCE_PATTERN
from channels.phrases import NO_PHRASE, AnyPhrase, Phrase
from channels.web.requests import HttpRefusal

FieldForm = Literal["text", "long", "secret", "choice", "radio", "moment", "flag", "file", "found"]
FindingState = Literal["ok", "no", "unknown", "failed"]
NO_ADDRESS = Phrase("This is not an address; it must begin with https:// or http://.")


@dataclass(frozen=True, slots=True, kw_only=True)
class WizardOption:
    """One value of a field."""

    value: str
    title: AnyPhrase
    note: AnyPhrase = NO_PHRASE


@dataclass(frozen=True, slots=True, kw_only=True)
class WizardField:
    """A value that a person fills in.

    Its form "radio" shows all options at once, "moment" is a local date and time, and "found" a
    text with the options that the step before has found.
    """

    name: str
    title: AnyPhrase
    form: FieldForm = "text"
    help: AnyPhrase = NO_PHRASE
    example: AnyPhrase = NO_PHRASE
    #: What stands there at first.
    value: str = ""
    options: Sequence[WizardOption] = ()
    required: bool = True
    #: Endings that a file may have.
    accept: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WizardKind:
    """One of the things that can be set up, with what it needs."""

    id: str
    title: AnyPhrase
    fields: Sequence[WizardField]
    note: AnyPhrase = NO_PHRASE
    #: It is there already, on this machine.
    is_found: bool = False
    #: Where a person gets what the fields ask for.
    link: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WizardForm:
    """What the page draws."""

    title: AnyPhrase
    about: AnyPhrase
    #: Heading of the kinds.
    choose: AnyPhrase
    kinds: Sequence[WizardKind]
    #: Id of the kind that is chosen at first; "" for none.
    kind: str = ""
    #: Names of the buttons; `look` only if there is a step before the test that finds options.
    test: AnyPhrase
    finish: AnyPhrase
    look: AnyPhrase = NO_PHRASE
    #: Finishes after a test that failed; empty if that cannot be.
    finish_anyway: AnyPhrase = NO_PHRASE
    #: Heading of the findings of the test.
    result: AnyPhrase
    #: What stands where the findings of the test will be, before it and while it runs.
    untested: AnyPhrase
    testing: AnyPhrase


@dataclass(frozen=True, slots=True, kw_only=True)
class WizardFinding:
    """What one step of the test found."""

    step: str
    name: AnyPhrase
    state: FindingState
    text: AnyPhrase
    hint: AnyPhrase = NO_PHRASE


@dataclass(frozen=True, slots=True, kw_only=True)
class WizardReport:
    """The outcome of the test."""

    findings: Sequence[WizardFinding]
    #: It may be finished.
    ok: bool
    #: What a server said itself, without secrets.
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WizardLook:
    """What the step before the test found."""

    options: Sequence[WizardOption] = ()
    #: Why there are none; "" if they were found.
    fault: AnyPhrase = NO_PHRASE
    #: Name of the field that is at fault; "" for none.
    field: str = ""
    said: str = ""
    #: The next step makes sense.
    goes_on: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class WizardEnd:
    """What was done, and the page that shows it."""

    text: AnyPhrase
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WizardInput:
    """What a person has chosen and filled in."""

    kind: str
    values: Mapping[str, str]

    def get(self, name: str) -> str:
        """Return a value without blanks around it; "" for one that is not there."""
        return self.values.get(name, "").strip()

    def need(self, field: WizardField) -> str:
        """Return a value that has to be there.

        Raises:
            HttpRefusal: it is missing.
        """
        if value := self.get(field.name):
            return value
        raise refuse(field.name, Phrase("fill in: {field}", field=field.title))


class Wizard(Protocol):
    """Sets one thing up; nothing is stored before `finish`."""

    @property
    def name(self) -> str: ...

    @property
    def action(self) -> str:
        """Action of bot.access.permissions that all of it needs."""
        ...

    @property
    def max_body(self) -> int:
        """Bytes that what a person fills in may have."""
        ...

    @property
    def kinds(self) -> Collection[str]:
        """Ids of what can be chosen."""
        ...

    async def form(self) -> WizardForm: ...

    async def test(self, given: WizardInput, request: Request) -> WizardReport:
        """Try what was filled in.

        Raises:
            HttpRefusal: a value is missing or cannot be.
        """
        ...

    async def finish(self, given: WizardInput, request: Request) -> WizardEnd:
        """Store it.

        Raises:
            HttpRefusal: as `test`, or it cannot be stored.
        """
        ...


#: Of a wizard that has a method `look`: the step before the test, whose button its form names.
LookStep = Callable[[WizardInput, Request], Awaitable[WizardLook]]


def refuse(field: str, why: AnyPhrase) -> HttpRefusal:
    """Return the refusal of a value."""
    return HttpRefusal(400, "value", why, field=field)


def refuse_references(given: WizardInput) -> None:
    """Refuse values that would send an environment variable somewhere: a test needs no fresh login.

    Raises:
        HttpRefusal: a value holds a reference.
    """
    for name, value in given.values.items():
        if REFERENCE_PATTERN.search(value):
            raise refuse(
                name,
                Phrase(
                    "references to environment variables belong in Settings; enter the value "
                    "itself here"
                ),
            )
