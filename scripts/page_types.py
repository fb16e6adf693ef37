"""Writes the TypeScript types of the page from the models of the API.

Run: python -m scripts.page_types
"""

import inspect
from pathlib import Path
from typing import Any

from bot.console import models as console_models
from bot.console.administration import models as administration_models
from bot.console.memory import models as memory_models
from bot.console.openapi import model_schemas
from bot.console.operations import models as operations_models
from bot.console.operations import replays as replay_models
from bot.console.operations import views as view_models
from bot.console.wizards import models as wizard_models
from channels.web import models as web_models

TARGET = Path(__file__).resolve().parents[1] / "channels/web/ui/src/lib/types.ts"
HEAD = (
    "// Types of the API. Generated from its models by scripts/page_types.py: change those, not "
    "this.\n"
)
MODULES = (
    web_models,
    console_models,
    administration_models,
    memory_models,
    operations_models,
    replay_models,
    view_models,
    wizard_models,
)
PRIMITIVES = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}


def page_types() -> str:
    """Return the text of the file of types."""
    models = [
        model
        for module in MODULES
        for _, model in inspect.getmembers(module, inspect.isclass)
        if issubclass(model, web_models.ApiModel) and model.__module__ == module.__name__
        if model is not web_models.ApiModel
    ]
    return HEAD + "".join(
        _interface(name, schema) for name, schema in model_schemas(models).items()
    )


def _interface(name: str, schema: dict[str, Any]) -> str:
    required = schema.get("required", [])
    lines = [f"\n/** {schema['description']} */", f"export interface {name} {{"]
    for field, kind in schema.get("properties", {}).items():
        if "description" in kind:
            lines.append(f"  /** {kind['description']} */")
        lines.append(
            f"  {field if field.isidentifier() else repr(field).replace(chr(39), chr(34))}"
            f"{'' if field in required else '?'}: {_kind(kind)};"
        )
    return "\n".join([*lines, "}\n"])


def _kind(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema:
        return " | ".join(f'"{value}"' for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(_kind(one) for one in schema["anyOf"])
    if "prefixItems" in schema:
        return f"[{', '.join(_kind(one) for one in schema['prefixItems'])}]"
    if schema.get("type") == "array":
        item = _kind(schema["items"])
        return f"({item})[]" if " | " in item else f"{item}[]"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"Record<string, {_kind(schema['additionalProperties'])}>"
    if schema.get("type") == "object" and schema.get("additionalProperties") is True:
        return "Record<string, unknown>"
    return PRIMITIVES.get(schema.get("type", ""), "unknown")


if __name__ == "__main__":
    TARGET.write_text(page_types(), "utf-8")
