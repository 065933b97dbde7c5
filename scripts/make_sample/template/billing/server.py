"""The HTTPS front: routes to the public API, and a second, plain port for health checks."""

import json
import re
import ssl
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, Optional, Tuple
from urllib.parse import parse_qs, urlsplit

from billing.api import Api, ApiError
from billing.config import Config

Route = Tuple[str, "re.Pattern[str]", Callable[..., Dict[str, Any]]]


def routes(api: Api) -> List[Route]:
    """Return method, path and function; the first match is taken."""
    number = r"(?P<number>[A-Z]+-\d{4}-\d{5})"
    table = [
        ("GET", r"/healthz", lambda body, query: api.health()),
        ("GET", r"/v1/invoices", lambda body, query: api.list_invoices(**query)),
        ("POST", r"/v1/invoices", lambda body, query: api.create_invoice(**body)),
        ("GET", rf"/v1/invoices/{number}", lambda body, query, number: api.get_invoice(number)),
        ("DELETE", rf"/v1/invoices/{number}", lambda body, query, number: api.cancel_invoice(number)),
        ("POST", rf"/v1/invoices/{number}/payment", lambda body, query, number: api.pay_invoice(number, **body)),
        ("GET", rf"/v1/invoices/{number}/documents", lambda body, query, number: api.list_documents(number)),
    ]
    return [(method, re.compile(path + r"\Z"), call) for method, path, call in table]


def answer(api: Api, method: str, target: str, body: Optional[bytes]) -> Tuple[int, Dict[str, Any]]:
    """Answer one request without any network: status and JSON."""
    url = urlsplit(target)
    query = {key: values[-1] for key, values in parse_qs(url.query).items()}
    known = False
    for wanted, path, call in routes(api):
        match = path.match(url.path)
        if match is None:
            continue
        known = True
        if wanted != method:
            continue
        try:
            data = json.loads(body) if body else {}
            if "limit" in query:
                query["limit"] = int(query["limit"])  # type: ignore[assignment]
            return 200, call(data, query, **match.groupdict())
        except ApiError as error:
            return error.status, error.to_json()
        except (TypeError, ValueError) as error:
            return 400, {"error": {"code": "bad_request", "message": str(error)}}
    if known:
        return 405, {"error": {"code": "method_not_allowed", "message": f"{method} {url.path}"}}
    return 404, {"error": {"code": "no_route", "message": url.path}}


def handler(api: Api) -> type:
    """Return a handler class bound to an API."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _do(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length) if length else None
            status, data = answer(api, self.command, self.path, body)
            payload = json.dumps(data).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        do_GET = do_POST = do_DELETE = _do

    return Handler


def serve(config: Config, api: Api, certificate: str, key: str) -> None:
    """Serve until stopped: HTTPS on `port`, health checks on `health_port`."""
    import threading

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    front = ThreadingHTTPServer((config.host, config.port), handler(api))
    front.socket = context.wrap_socket(front.socket, server_side=True)
    health = ThreadingHTTPServer((config.host, config.health_port), handler(api))
    threading.Thread(target=health.serve_forever, daemon=True).start()
    front.serve_forever()
