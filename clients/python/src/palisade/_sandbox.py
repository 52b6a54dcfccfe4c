"""Sandboxes, for threads and for asyncio."""

from __future__ import annotations

import asyncio
import base64
import os
from concurrent.futures import Future
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from ._outcome import Outcome, Verdict
from ._wire import Error, Wire

Command = Union[str, Sequence[str]]
OnOutput = Callable[[str, bytes], None]


class Run:
    """A command that goes on."""

    def __init__(self, wire: Wire, number: int, answer: "Future[Any]"):
        self._wire, self._number, self.future = wire, number, answer

    def wait(self, timeout: Optional[float] = None) -> Outcome:
        return Outcome.read(self.future.result(timeout))

    def cancel(self) -> bool:
        """Ends the command and everything it started; False if it had ended."""
        _, answer = self._wire.ask("cancel", {"run": self._number})
        return bool(answer.result()["cancelled"])

    def write(self, data: Union[str, bytes]) -> None:
        raw = data.encode() if isinstance(data, str) else data
        self._stdin({"base64": base64.b64encode(raw).decode()})

    def close_stdin(self) -> None:
        self._stdin({"close": True})

    def _stdin(self, params: Dict[str, Any]) -> None:
        _, answer = self._wire.ask("stdin", {"run": self._number, **params})
        answer.result()


class _Base:
    def __init__(
        self,
        project_root: Union[str, "os.PathLike[str]", None] = None,
        max_output_bytes: Optional[int] = None,
        timeout_seconds: Optional[float] = None,
        denylist: Optional[Iterable[str]] = None,
        interpreter_block: Optional[Iterable[str]] = None,
        *,
        policies: Sequence[str] = (),
        preset: Optional[str] = None,
        profile: Optional[str] = None,
        agent: Optional[str] = None,
        task: Optional[str] = None,
        binary: str = "palisade",
        socket: Optional[str] = None,
    ):
        config: Dict[str, Any] = {
            "max_output_bytes": max_output_bytes,
            "timeout_seconds": timeout_seconds,
            "denylist": None if denylist is None else sorted(denylist),
            "interpreter_block": None if interpreter_block is None else sorted(interpreter_block),
        }
        config = {name: value for name, value in config.items() if value is not None}
        root = None if project_root is None else os.path.abspath(os.fspath(project_root))
        project: Dict[str, Any] = {
            "preset": preset, "profile": profile, "agent": agent, "task": task,
        }
        project = {name: value for name, value in project.items() if value is not None}
        if policies:
            project["policies"] = list(policies)
        # The names of the sandbox runner bring its preset with them.
        if config:
            project["config"] = {**config, **({"project_root": root} if root else {})}
        elif root:
            project["root"] = root
        self._project = project
        self._wire = Wire(binary, socket)

    def start(
        self,
        argv: Command,
        shell: bool = False,
        cwd: Optional[str] = None,
        stdin: Union[str, bytes, None] = None,
        *,
        on_output: Optional[OnOutput] = None,
        stdin_pipe: bool = False,
        timeout_seconds: Optional[float] = None,
        env: Optional[Mapping[str, str]] = None,
        tool: Optional[str] = None,
    ) -> Run:
        """Starts a command. With `on_output` its output goes there, and not into the outcome."""
        params = _command(argv, shell)
        extra: Dict[str, Any] = {
            "cwd": cwd, "timeout_seconds": timeout_seconds, "tool": tool,
            "env": dict(env) if env else None,
        }
        params.update({name: value for name, value in extra.items() if value is not None})
        if stdin is not None:
            raw = stdin.encode() if isinstance(stdin, str) else stdin
            params["stdin_base64"] = base64.b64encode(raw).decode()
        if stdin_pipe:
            params["stdin_pipe"] = True
        listener = None
        if on_output is not None:
            params["stream"] = True
            tell = on_output

            def listener(event: Dict[str, Any]) -> None:
                data = event["text"].encode() if "text" in event else base64.b64decode(event["base64"])
                tell(event["stream"], data)

        number, answer = self._ask("run", params, listener)
        return Run(self._wire, number, answer)

    def _ask(self, method: str, params: Dict[str, Any], listener: Any = None) -> Any:
        return self._wire.ask(method, {**params, "project": self._project}, listener)

    def _check(self, argv: Optional[Command], shell: bool, tool: Optional[str], arguments: Any) -> Any:
        if tool is not None:
            return self._ask("check", {"tool": tool, "arguments": arguments})[1]
        if argv is None:
            raise Error("give a command or a tool", "params")
        return self._ask("check", _command(argv, shell))[1]


class Sandbox(_Base):
    """A project, and commands that run in it. Any thread may use it."""

    def run(self, argv: Command, shell: bool = False, cwd: Optional[str] = None,
            stdin: Union[str, bytes, None] = None, **more: Any) -> Outcome:
        """Decides about a command, runs it if it may, and waits for its end."""
        return self.start(argv, shell, cwd, stdin, **more).wait()

    def check(self, argv: Optional[Command] = None, shell: bool = False, *,
              tool: Optional[str] = None, arguments: Any = None) -> Verdict:
        """Decides about a command or a tool call, and runs nothing."""
        return Verdict.read(self._check(argv, shell, tool, arguments).result())

    def policy(self) -> Dict[str, Any]:
        return dict(self._ask("policy", {})[1].result())

    def trust(self) -> Dict[str, Any]:
        return dict(self._ask("trust", {})[1].result())

    def set_enabled(self, enabled: Optional[bool]) -> str:
        return str(self._ask("set_enabled", {"enabled": enabled})[1].result()["state"])

    def set_default_profile(self, profile: str) -> Optional[str]:
        answer = self._ask("set_default_profile", {"profile": profile})[1].result()
        return None if answer["shadowed_by"] is None else str(answer["shadowed_by"])

    def profile_health_error(self, profile: str) -> Optional[str]:
        answer = self._ask("profile_health_error", {"profile": profile})[1].result()
        return None if answer["error"] is None else str(answer["error"])

    def version(self) -> str:
        return str(self._wire.ask("version", {})[1].result()["version"])

    def close(self) -> None:
        """Ends the connection, and every run of it."""
        self._wire.close()

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class AsyncSandbox(_Base):
    """The same for asyncio."""

    async def run(self, argv: Command, shell: bool = False, cwd: Optional[str] = None,
                  stdin: Union[str, bytes, None] = None, **more: Any) -> Outcome:
        """Runs a command. Who cancels this ends the command."""
        run = self.start(argv, shell, cwd, stdin, **more)
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()

        def tell(_: Any) -> None:
            try:
                loop.call_soon_threadsafe(ended.set)
            except RuntimeError:
                pass  # the loop is closed, and nobody waits

        run.future.add_done_callback(tell)
        try:
            await ended.wait()
            return Outcome.read(run.future.result())
        except asyncio.CancelledError:
            await asyncio.shield(asyncio.to_thread(run.cancel))
            raise

    async def check(self, argv: Optional[Command] = None, shell: bool = False, *,
                    tool: Optional[str] = None, arguments: Any = None) -> Verdict:
        return Verdict.read(await asyncio.wrap_future(self._check(argv, shell, tool, arguments)))

    async def close(self) -> None:
        await asyncio.to_thread(self._wire.close)

    async def __aenter__(self) -> "AsyncSandbox":
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()


def _command(argv: Command, shell: bool) -> Dict[str, Any]:
    if shell:
        if not isinstance(argv, str):
            raise Error("shell text is one text", "params")
        return {"shell": argv}
    if isinstance(argv, str):
        raise Error("a command is a list of words; for shell text say shell=True", "params")
    words: List[str] = [str(word) for word in argv]
    return {"argv": words}
