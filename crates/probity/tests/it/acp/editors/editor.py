"""An editor made of the Python SDK: it starts the agent that its arguments name, and does what each
line of its input says. Every permission is given."""

import asyncio
import json
import os
import sys

import acp
from acp import schema


class Editor(acp.Client):
    def __init__(self):
        self.said = {}
        self.permissions = 0

    async def request_permission(self, session_id, tool_call, options, **_):
        self.permissions += 1
        allowed = next(option for option in options if option.kind.startswith("allow"))
        outcome = schema.AllowedOutcome(option_id=allowed.option_id, outcome="selected")
        return schema.RequestPermissionResponse(outcome=outcome)

    async def session_update(self, session_id, update, **_):
        if isinstance(update, schema.AgentMessageChunk):
            if isinstance(update.content, schema.TextContentBlock):
                self.said[session_id] = self.said.get(session_id, "") + update.content.text


def calls(agent, params):
    session = params.get("sessionId")
    where = {"cwd": params.get("cwd"), "mcp_servers": [],
             "additional_directories": params.get("additionalDirectories")}
    return {
        "initialize": lambda: agent.initialize(
            protocol_version=1,
            client_capabilities=schema.ClientCapabilities(**params.get("clientCapabilities", {}))),
        "authenticate": lambda: agent.authenticate(method_id=params.get("methodId")),
        "session/new": lambda: agent.new_session(**where),
        "session/load": lambda: agent.load_session(session_id=session, **where),
        "session/prompt": lambda: agent.prompt(
            session_id=session,
            prompt=[acp.text_block(part["text"]) for part in params.get("prompt", [])]),
        "session/cancel": lambda: agent.cancel(session_id=session),
        "session/close": lambda: agent.close_session(session_id=session),
    }


def write(message):
    print(json.dumps(message), flush=True)


async def act(editor, agent, task):
    method, params = task["method"], task["params"]
    session = params.get("sessionId")
    try:
        if method == "session/prompt":
            editor.said.pop(session, None)
        result = await calls(agent, params)[method]()
        if method == "session/cancel":
            return
        if result is not None:
            result = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        write({"id": task["id"], "result": result, "said": editor.said.get(session, ""),
               "permissions": editor.permissions})
    except Exception as error:
        code = getattr(error, "code", None)
        write({"id": task["id"], "error": {"code": code, "message": str(error)}})


async def main():
    editor = Editor()
    program, *words = sys.argv[1:]
    # The library kills an agent that needs more than two seconds to end, which sessions may.
    patience = {"shutdown_timeout": 60.0}
    async with acp.spawn_agent_process(
        editor, program, *words, env=dict(os.environ), transport_kwargs=patience
    ) as (agent, process):
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        tasks = set()
        while line := await reader.readline():
            task = asyncio.create_task(act(editor, agent, json.loads(line)))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
    return await process.wait()


sys.exit(asyncio.run(main()))
