"""Bodies of the wizards' API."""

from typing import Literal

from pydantic import Field

from channels.web.models import ApiModel


class WizardOptionBody(ApiModel):
    """One value of a field."""

    value: str
    title: str
    note: str


class WizardFieldBody(ApiModel):
    """A value to fill in, with its texts in the language that was asked for."""

    name: str
    title: str
    form: Literal["text", "long", "secret", "choice", "radio", "moment", "flag", "file", "found"]
    help: str
    example: str
    value: str
    options: list[WizardOptionBody]
    required: bool
    accept: str


class WizardKindBody(ApiModel):
    """One of the things that can be set up."""

    id: str
    title: str
    note: str
    found: bool = Field(description="It is there already, on this machine.")
    link: str = Field(description="Where a person gets what the fields ask for.")
    fields: list[WizardFieldBody]


class WizardFormBody(ApiModel):
    """What the page draws."""

    title: str
    about: str
    choose: str
    kinds: list[WizardKindBody]
    kind: str = Field(description="Id of the kind that is chosen at first; empty for none.")
    look: str = Field(description="Name of the button of the step before the test; empty for none.")
    test: str
    finish: str
    finish_anyway: str = Field(description="After a test that failed; empty if that cannot be.")
    result: str = Field(description="Heading of what the test finds.")
    untested: str
    testing: str


class WizardInputBody(ApiModel):
    """What a person has chosen and filled in; a file as base64."""

    kind: str = Field("", max_length=100)
    values: dict[str, str] = Field(max_length=40)


class WizardFindingBody(ApiModel):
    """What one step of the test found."""

    step: str
    name: str
    state: Literal["ok", "no", "unknown", "failed"]
    text: str
    hint: str


class WizardReportBody(ApiModel):
    """The outcome of the test."""

    items: list[WizardFindingBody]
    ok: bool = Field(description="It may be finished.")
    said: str = Field(description="Of the server, without secrets.")


class WizardLookBody(ApiModel):
    """What the step before the test found."""

    items: list[WizardOptionBody]
    fault: str
    field: str = Field(description="The one at fault.")
    said: str
    goes_on: bool


class WizardEndBody(ApiModel):
    """What was done, and the page that shows it."""

    text: str
    path: str
