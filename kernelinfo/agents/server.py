"""The server: requests of an agent on standard input, answers on standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import anyio
import anyio.to_process
import anyio.to_thread
import mcp_types
from jsonschema import Draft202012Validator
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from kernelinfo import __version__
from kernelinfo.agents import TOOLS, read_request
from kernelinfo.agents.answers import Answer, answer, refused
from kernelinfo.agents.messages import say

_INSTRUCTIONS = (
    "Static facts about AMD GPU kernels, from what the compiler left on disk. Call report, then "
    "explain and pressure for one kernel; change one thing, compile, and call diff. Occupancy is a "
    "ceiling: stop when a kernel is at the slots, spills, or no longer gains time."
)
_BY_NAME = {tool.name: tool for tool in TOOLS}


def serve(root: str, seconds: float) -> None:
    """Answer requests until standard input ends. Files are read below `root`; an answer takes at
    most `seconds`."""
    # Workers start by `python -m`, which would import modules of the current folder.
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        anyio.run(_serve, os.path.realpath(root), seconds)
    except* BrokenPipeError:  # the client is gone
        pass


async def _serve(root: str, seconds: float) -> None:
    server: Any = Server(
        "kernelinfo",
        version=__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=_listed,
        on_call_tool=partial(_called, root, seconds),
    )
    lines: Any = _request_lines()
    async with stdio_server(lines) as (requests, answers):
        await server.run(requests, answers, server.create_initialization_options())


async def _request_lines() -> AsyncIterator[str]:
    """The lines of standard input, as `read_request` returns them."""
    while line := await anyio.to_thread.run_sync(read_request, sys.stdin.buffer, _is_readable):
        yield line


def _is_readable(line: str) -> bool:
    """True for a message of the protocol."""
    try:
        mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except Exception:  # as the SDK does, which passes over such a line
        return False
    return True


async def _listed(context: object, params: object) -> mcp_types.ListToolsResult:
    hints = mcp_types.ToolAnnotations(
        read_only_hint=True, idempotent_hint=True, open_world_hint=False
    )
    return mcp_types.ListToolsResult(
        tools=[
            mcp_types.Tool(
                name=tool.name,
                description=tool.description,
                input_schema=tool.schema,
                annotations=hints,
            )
            for tool in TOOLS
        ]
    )


async def _called(
    root: str, seconds: float, context: object, params: mcp_types.CallToolRequestParams
) -> mcp_types.CallToolResult:
    if params.name not in _BY_NAME:
        raise MCPError(mcp_types.INVALID_PARAMS, say("tool-unknown", name=params.name))
    response = await _answered(params.name, params.arguments or {}, root, seconds)
    return mcp_types.CallToolResult(
        content=[mcp_types.TextContent(text=response.text)],
        structured_content=response.document,
        is_error=response.is_error,
    )


async def _answered(name: str, arguments: dict[str, Any], root: str, seconds: float) -> Answer:
    """The answer, computed in a separate process, which ends with the request or after
    `seconds`."""
    for mistake in Draft202012Validator(_BY_NAME[name].schema).iter_errors(arguments):
        where = ".".join(map(str, mistake.path)) or "arguments"
        return refused(say("tool-argument", place=where, mistake=mistake.message))
    try:
        with anyio.fail_after(seconds):
            response: Answer = await anyio.to_process.run_sync(
                answer, name, arguments, root, cancellable=True
            )
            return response
    except TimeoutError:
        return refused(say("tool-timeout", seconds=seconds))
    except anyio.BrokenWorkerProcess:
        return refused(say("tool-killed"))
