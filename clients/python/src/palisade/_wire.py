"""JSON-RPC, one message a line, to `palisade serve`."""

from __future__ import annotations

import itertools
import json
import socket
import subprocess
import threading
from concurrent.futures import Future
from typing import Any, Callable, Dict, Optional, Tuple


class Error(Exception):
    """Nothing could be decided or confined. Nothing was run."""

    def __init__(self, message: str, code: Optional[str] = None, data: Any = None):
        super().__init__(message)
        self.code = code
        self.data = data


Listener = Callable[[Dict[str, Any]], None]


class Wire:
    """A connection. Any thread may use it."""

    def __init__(self, binary: str, path: Optional[str]):
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._waiting: Dict[int, Tuple["Future[Any]", Optional[Listener]]] = {}
        self._closed: Optional[Error] = None
        self._process: Optional["subprocess.Popen[bytes]"] = None
        self._socket: Optional[socket.socket] = None
        if path is None:
            try:
                self._process = subprocess.Popen(
                    [binary, "serve", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
                )
            except OSError as error:
                raise Error(f"cannot start `{binary}`: {error.strerror}", "binary") from error
            assert self._process.stdin and self._process.stdout
            self._out, self._in = self._process.stdin, self._process.stdout
        else:
            self._socket = socket.socket(socket.AF_UNIX)
            try:
                self._socket.connect(path)
            except OSError as error:
                self._socket.close()
                raise Error(f"cannot connect to `{path}`: {error.strerror}", "socket") from error
            self._out = self._socket.makefile("wb")
            self._in = self._socket.makefile("rb")
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def ask(
        self, method: str, params: Dict[str, Any], listener: Optional[Listener] = None
    ) -> Tuple[int, "Future[Any]"]:
        """Sends a request; the future has its answer."""
        answer: "Future[Any]" = Future()
        number = next(self._ids)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        line = json.dumps(message).encode() + b"\n"
        with self._lock:
            if self._closed:
                raise self._closed
            self._waiting[number] = (answer, listener)
            try:
                self._out.write(line)
                self._out.flush()
            except (OSError, ValueError):
                self._waiting.pop(number, None)
                raise Error("the server is gone", "gone") from None
        return number, answer

    def close(self) -> None:
        """Ends the connection, and every run of it."""
        if self._socket:
            try:
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        if self._process:
            # Closing only the input would wait for runs.
            self._process.terminate()
            self._process.wait()
        self._reader.join()
        for stream in (self._out, self._in):
            try:
                stream.close()
            except OSError:
                pass
        if self._socket:
            self._socket.close()

    def _read(self) -> None:
        try:
            for line in self._in:
                self._hear(json.loads(line))
        except (OSError, ValueError):
            pass
        with self._lock:
            self._closed = Error("the server is gone", "gone")
            waiting, self._waiting = list(self._waiting.values()), {}
        for answer, _ in waiting:
            if not answer.done():
                answer.set_exception(self._closed)

    def _hear(self, message: Dict[str, Any]) -> None:
        if message.get("method") == "output":
            event = message["params"]
            with self._lock:
                _, listener = self._waiting.get(event["run"], (None, None))
            if listener:
                listener(event)
            return
        with self._lock:
            answer, _ = self._waiting.pop(message.get("id"), (None, None))
        if answer is None or answer.done():
            return
        if "error" in message:
            error = message["error"]
            data = error.get("data") or {}
            answer.set_exception(Error(error["message"], data.get("code"), data or None))
        else:
            answer.set_result(message["result"])
