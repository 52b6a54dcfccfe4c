"""Runs commands behind the walls of Palisade.

    from palisade import Sandbox

    with Sandbox(project_root=".") as sandbox:
        print(sandbox.run(["ls"]).stdout)
"""

from ._outcome import Outcome, Verdict
from ._sandbox import AsyncSandbox, Run, Sandbox
from ._wire import Error

__all__ = ["AsyncSandbox", "Error", "Outcome", "Run", "Sandbox", "Verdict"]
