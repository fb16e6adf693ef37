"""An MCP server that misbehaves to order: a program of its own on the standard library alone.

`mcp_server.py ORDERS` reads a JSON file at its start and at each list:
- `tools`: as the protocol has them, in pages of `page`, without end if `endless`; `raw_list`: sent
  in their place
- `ignore_term`: SIGTERM and the end of its input
- `print`: that many junk lines at the start; `refuse`: it ends with these words on stderr; `greet`:
  words on stderr at the start
- `swallow`: methods that get no answer
- `orphan`: a file; it starts a process that leaves the group, and writes its id there; `pid`: the
  same of its own
- `log`: a file; one line per call

- `resources`, `prompts`: as the protocol has them; a resource has its `text`, or `blob` in base64,
  too
- `changes`: so many notices of a changed list are sent at each call
- `said`: what the tool `say` answers

Tools by name: echo, say, die, die_once (unless the file `mark` exists), hang, long_line, fail,
picture, env, network, read and write (a file `path`), processes,
change (writes its argument `tools` into the orders and tells of a new list).
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="  # noqa: E501
LONG_LINE = 64 * 2**20


class Server:
    """One connection."""

    def __init__(self, orders: Path) -> None:
        self.path = orders
        self.orders: dict[str, Any] = json.loads(orders.read_text())

    def run(self) -> None:
        if self.orders.get("ignore_term"):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print(self.orders.get("greet", ""), file=sys.stderr, flush=True)
        for _ in range(self.orders.get("print", 0)):
            print("hello, I am a server", flush=True)
        if orphan := self.orders.get("orphan"):
            child = subprocess.Popen(
                [sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True
            )
            Path(orphan).write_text(str(child.pid))
        if pid := self.orders.get("pid"):
            Path(pid).write_text(str(os.getpid()))
        if why := self.orders.get("refuse"):
            sys.exit(why)
        for line in sys.stdin:
            self.answer(json.loads(line))
        while self.orders.get("ignore_term"):
            time.sleep(60)

    def answer(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if "id" not in message or method in self.orders.get("swallow", ()):
            return
        if method == "initialize":
            result: dict[str, Any] = {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {"listChanged": True}, "resources": {}, "prompts": {}},
                "serverInfo": {"name": "emulator", "version": "1"},
            }
        elif method == "tools/list":
            self.orders = json.loads(self.path.read_text())
            at, tools = int((message.get("params") or {}).get("cursor") or 0), self.orders["tools"]
            page = self.orders.get("page", 1_000)
            result = {"tools": tools[at : at + page]}
            result = self.orders.get("raw_list", result)
            if at + page < len(tools) or self.orders.get("endless"):
                result["nextCursor"] = str(at + page)
        elif (
            method in ("resources/list", "prompts/list") and method.partition("/")[0] in self.orders
        ):
            kind = method.partition("/")[0]
            hidden = ("text", "blob", "says")
            rows = self.orders[kind]
            result = {kind: [{key: row[key] for key in row if key not in hidden} for row in rows]}
        elif method == "resources/read" and (row := self.find("resources", "uri", message)):
            result = {
                "contents": [
                    {key: row[key] for key in ("uri", "mimeType", "text", "blob") if key in row}
                ]
            }
        elif method == "prompts/get" and (row := self.find("prompts", "name", message)):
            text = row["says"].format(**(message["params"].get("arguments") or {}))
            result = {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}
        elif method == "tools/call":
            result = self.call(message["params"]["name"], message["params"].get("arguments") or {})
        else:
            self.send({"id": message["id"], "error": {"code": -32601, "message": f"no {method}"}})
            return
        self.send({"id": message["id"], "result": result})

    def find(self, kind: str, key: str, message: dict[str, Any]) -> dict[str, Any] | None:
        rows = [row for row in self.orders.get(kind, ()) if row[key] == message["params"][key]]
        return rows[0] if rows else None

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if log := self.orders.get("log"):
            with open(log, "a") as file:
                file.write(f"{name} {json.dumps(arguments)}\n")
        for _ in range(self.orders.get("changes", 0)):
            self.send({"method": "notifications/tools/list_changed"})
        match name:
            case "die":
                os._exit(3)
            case "die_once" if not Path(arguments["mark"]).exists():
                Path(arguments["mark"]).touch()
                os._exit(3)
            case "hang":
                time.sleep(600)
            case "say":
                return _text(self.orders["said"])
            case "long_line":
                sys.stdout.write("x" * LONG_LINE)
                sys.stdout.flush()
            case "fail":
                return {"content": [{"type": "text", "text": "no such file"}], "isError": True}
            case "picture":
                return {"content": [{"type": "image", "data": DOT, "mimeType": "image/png"}]}
            case "env":
                return _text(json.dumps(dict(os.environ)))
            case "read" | "write" if "path" in arguments:
                return _text(_use_file(Path(arguments["path"]), write=name == "write"))
            case "processes":
                return _text(json.dumps([name for name in os.listdir("/proc") if name.isdigit()]))
            case "network":
                return _text(json.dumps(_network()))
            case "change":
                self.path.write_text(json.dumps({**self.orders, "tools": arguments["tools"]}))
                self.send({"method": "notifications/tools/list_changed"})
        return _text(f"{name}: {json.dumps(arguments, sort_keys=True)}")

    def send(self, message: dict[str, Any]) -> None:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def _text(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


def _use_file(path: Path, *, write: bool) -> str:
    try:
        if write:
            path.write_text("written")
        return path.read_text() if path.is_file() else " ".join(sorted(os.listdir(path)))
    except OSError as err:
        return f"denied: {err.strerror}"


def _network() -> list[str]:
    return [name for _, name in socket.if_nameindex()]


def tool(
    name: str, description: str = "Does it.", *, read_only: bool = False, **properties: Any
) -> dict[str, Any]:
    """A tool as the protocol has it."""
    schema = {"type": "object", "properties": properties, "required": sorted(properties)}
    hints = {"annotations": {"readOnlyHint": True}} if read_only else {}
    return {"name": name, "description": description, "inputSchema": schema, **hints}


if __name__ == "__main__":
    Server(Path(sys.argv[1])).run()
