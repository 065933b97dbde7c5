"""An editor that speaks the Agent Client Protocol: it starts an agent and gives it MCP servers of the editor's choice."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from hosts import Host

FOLDLINE = {"name": "foldline", "command": sys.executable, "args": ["-m", "foldline", "mcp"], "env": []}


class Editor:
    """One session of an agent; `told` is all that the agent told of it."""

    def __init__(self, agent: "subprocess.Popen[str]", folder: str) -> None:
        self.told: list[dict[str, Any]] = []
        self._agent = agent
        self._calls = 0
        self._call("initialize", protocolVersion=1, clientCapabilities={})
        opened = self._call("session/new", cwd=folder, mcpServers=[FOLDLINE])
        self._session = opened["sessionId"]

    @classmethod
    @contextmanager
    def of(cls, host: Host, url: str) -> Iterator[Self]:
        """An editor in which an agent runs, told of a model."""
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        environment = {**host.surroundings, **host.environment(url)}
        host.configure(url)
        with subprocess.Popen(host.for_editors, cwd=host.project, env=environment, **streams) as agent:
            try:
                yield cls(agent, str(host.project))
            finally:
                agent.terminate()

    def say(self, prompt: str) -> None:
        """Hands the agent a prompt and waits until its turn is over; whatever it asks to do is allowed."""
        self._call("session/prompt", sessionId=self._session, prompt=[{"type": "text", "text": prompt}])

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        self._calls += 1
        self._send({"id": self._calls, "method": method, "params": params})
        for line in self._agent.stdout or ():
            told = json.loads(line)
            self.told.append(told)
            if told.get("method") == "session/request_permission":
                (option, *_) = (o for o in told["params"]["options"] if o["kind"].startswith("allow"))
                outcome = {"outcome": "selected", "optionId": option["optionId"]}
                self._send({"id": told["id"], "result": {"outcome": outcome}})
            elif told.get("id") == self._calls and "method" not in told:
                return dict(told["result"])
        raise AssertionError(f"the agent ended before it answered {method}: {self.told[-3:]}")

    def _send(self, message: dict[str, Any]) -> None:
        print(json.dumps({"jsonrpc": "2.0", **message}), file=self._agent.stdin, flush=True)
