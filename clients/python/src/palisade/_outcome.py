"""What became of a call."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional


@dataclass(frozen=True)
class Outcome:
    """What became of a call: it was refused, or it ran and ended in some way."""

    exit_code: int
    stdout: str
    stderr: str
    truncated: bool
    timed_out: bool
    denied: bool
    reason: Optional[str]
    duration_ms: float
    argv: List[str]
    ok: bool
    #: Everything that the server told, as `schema/outcome.json` says.
    raw: Dict[str, Any] = field(repr=False)

    @classmethod
    def read(cls, raw: Dict[str, Any]) -> "Outcome":
        return cls(
            exit_code=raw["exit_code"],
            stdout=_bytes(raw, "stdout").decode("utf-8", "replace"),
            stderr=_bytes(raw, "stderr").decode("utf-8", "replace"),
            truncated=raw["truncated"],
            timed_out=raw["timed_out"],
            denied=raw["denied"],
            reason=raw["reason"],
            duration_ms=raw["duration_ms"],
            argv=list(raw["argv"]),
            ok=raw["ok"],
            raw=raw,
        )

    @property
    def stdout_bytes(self) -> bytes:
        return _bytes(self.raw, "stdout")

    @property
    def stderr_bytes(self) -> bytes:
        return _bytes(self.raw, "stderr")


@dataclass(frozen=True)
class Verdict:
    """Whether a call may happen."""

    #: "allow", "ask" or "deny".
    verdict: str
    reason: Optional[str]
    raw: Dict[str, Any] = field(repr=False)

    @classmethod
    def read(cls, raw: Dict[str, Any]) -> "Verdict":
        reasons = raw.get("reasons") or raw.get("findings") or []
        return cls(raw["verdict"], reasons[0]["message"] if reasons else None, raw)

    @property
    def allowed(self) -> bool:
        return self.verdict == "allow"


def _bytes(raw: Dict[str, Any], name: str) -> bytes:
    if f"{name}_base64" in raw:
        return base64.b64decode(raw[f"{name}_base64"])
    return (raw.get(name) or "").encode()
