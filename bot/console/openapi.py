"""The description of the API (OpenAPI 3.1), from the table of routes and its models."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from inspect import getdoc
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from bot.config.file import FILE_ONLY
from bot.config.keys import ConfigKey
from channels.web.models import ErrorReplyBody
from channels.web.requests import VERSIONED_PATH, Route

REFERENCE = "#/components/schemas/{model}"
BODY = "Body"  # which the names of the models end in, and those of the description do not
_BODY = re.compile(rf'("#/components/schemas/\w+?){BODY}"')
JSON_TYPE = "application/json"
_PARAMETER = re.compile(r"\{(\w+)(?::path)?\}")


async def describe_api(routes: Sequence[Route]) -> Mapping[str, Any]:
    """Describe every route of the versioned API."""
    versioned = [route for route in routes if route.path.startswith(VERSIONED_PATH)]
    models = {model for route in versioned for model in (route.body, route.reply) if model} | {
        ErrorReplyBody
    }
    paths: dict[str, dict[str, Any]] = {}
    for route in versioned:
        path = _PARAMETER.sub(r"{\1}", route.path)
        paths.setdefault(path, {})[route.method.lower()] = _describe_route(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "mnema", "version": "1"},
        "paths": paths,
        "components": {
            "schemas": model_schemas(models),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def model_schemas(models: Iterable[type[BaseModel]]) -> dict[str, Any]:
    """Return the JSON schemas of these models and of those that they hold, by name. Pure."""
    named = sorted(models, key=lambda model: model.__name__)
    _, schemas = models_json_schema(
        [(model, "serialization") for model in named], ref_template=REFERENCE
    )
    defined: dict[str, Any] = json.loads(_BODY.sub(r'\1"', json.dumps(schemas.get("$defs", {}))))
    return {name.removesuffix(BODY): schema for name, schema in sorted(defined.items())}


def _describe_route(route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "summary": (getdoc(route.handler) or "").partition("\n")[0],
        "x-action": route.action,
        "parameters": [*_path_parameters(route.path), *_query_parameters(route.query)],
        "responses": {
            "200": {"description": "Done.", **_content(route.reply)},
            "default": {"description": "Refused.", **_content(ErrorReplyBody)},
        },
    }
    if route.body:
        operation["requestBody"] = {"required": True, **_content(route.body)}
    return operation


def _content(model: type[BaseModel] | None) -> dict[str, Any]:
    reference = {"$ref": REFERENCE.format(model=model.__name__.removesuffix(BODY))} if model else {}
    return {"content": {JSON_TYPE: {"schema": reference}}} if model else {}


def _path_parameters(path: str) -> list[dict[str, Any]]:
    names = _PARAMETER.findall(path)
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in names
    ]


def _query_parameters(model: type[BaseModel] | None) -> list[dict[str, Any]]:
    schema = model.model_json_schema() if model else {}
    required = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": field}
        for name, field in schema.get("properties", {}).items()
    ]


def config_key_to_json(key: ConfigKey) -> dict[str, Any]:
    """Return what a form shows of one key of config.json, without a value. Pure."""
    return {
        "key": key.name,
        "group": key.group,
        "unit": key.unit,
        "takes_effect": key.takes_effect,
        "file_only": key.path[0] in FILE_ONLY,
        "title_zh": key.title.text("zh"),
        "title_en": key.title.text("en"),
        "about_zh": key.about.text("zh"),
        "about_en": key.about.text("en"),
        "form": key.form,
        "example": key.example,
        "choices": list(key.choices),
        "least": key.least,
        "most": key.most,
        "default": None if key.secret else key.default,
        "secret": key.secret,
    }
