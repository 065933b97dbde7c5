"""A scripted model on loopback: OpenAI chat completions as server-sent events, with honest usage figures."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from story import Step

#: Characters of request JSON for each token, as code and logs have it.
CHARS_PER_TOKEN = 3.6


def tokens(value: Any) -> int:
    """Count a JSON value as tokens."""
    return round(len(json.dumps(value, ensure_ascii=False)) / CHARS_PER_TOKEN)


class Model(ThreadingHTTPServer):
    """Answers with the step that follows as many answers as the request already holds."""

    daemon_threads = True

    def __init__(self, steps: list[Step]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.steps = steps
        self.previous: list[str] = []
        self.finished = threading.Event()

    def usage(self, body: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        """Bill what was sent; what the request before began with as well counts as cached, in blocks of 128."""
        parts = [json.dumps(part, ensure_ascii=False) for part in (body.get("tools", []), *body["messages"])]
        same = 0
        for old, new in zip(self.previous, parts):
            if old != new:
                break
            same += len(new)
        self.previous = parts
        prompt = round(sum(map(len, parts)) / CHARS_PER_TOKEN)
        reasoning = tokens(answer.get("reasoning_content", ""))
        completion = reasoning + tokens([answer.get("content"), answer.get("tool_calls")])
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": int(same / CHARS_PER_TOKEN) // 128 * 128},
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        }


class Handler(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        at = sum(message["role"] == "assistant" for message in body["messages"])
        if at >= len(self.server.steps):
            # The story is over in the middle of the work: the client is stopped while it waits.
            self.server.finished.set()
            threading.Event().wait(60)
            return
        answer = self.server.steps[at].answer(at)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        finish = "tool_calls" if answer.get("tool_calls") else "stop"
        self.event(at, [{"index": 0, "delta": {"role": "assistant", **answer}, "finish_reason": None}])
        self.event(at, [{"index": 0, "delta": {}, "finish_reason": finish}])
        self.event(at, [], usage=self.server.usage(body, answer))
        self.wfile.write(b"data: [DONE]\n\n")

    def event(self, at: int, choices: list[dict[str, Any]], **more: Any) -> None:
        chunk = {"id": f"chat-{at:04d}", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
        self.wfile.write(b"data: " + json.dumps({**chunk, "choices": choices, **more}).encode() + b"\n\n")

    def log_message(self, format: str, *args: Any) -> None:
        pass
