"""The page's server, based on Python's own, for browsers on this machine.

Only the page itself has access. Its address contains a key that only its opener knows, so other users of the machine
see nothing. `Host` must be this machine's, so no other site's name leads here (DNS rebinding). A POST must come from
the page's own origin, as JSON, with the page's token, so no other site's page can send one.
"""

import hmac
import http.server
import json
import pathlib
import secrets
import socket
from typing import Any, Optional

from .._errors import Cancelled, InvalidArgument
from ._tasks import LARGEST, Tasks

HERE = pathlib.Path(__file__).resolve().parent
TYPES = {"page.html": "text/html", "page.css": "text/css", "page.js": "text/javascript"}
#: The maximum size of a request in bytes: JSON spells a byte of a text with up to 6. The rest is for the question.
LARGEST_REQUEST = 7 * LARGEST
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; img-src data:"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Server(http.server.ThreadingHTTPServer):
    """port: 0 selects a free one."""

    daemon_threads = True
    # A second server on the port fails instead of sharing it with this one.
    allow_reuse_port = False

    def __init__(self, tasks: Tasks, port: int = 0):
        super().__init__(("127.0.0.1", port), _Handler)
        self.tasks = tasks
        self.key, self.token = secrets.token_urlsafe(16), secrets.token_urlsafe(32)
        self.hosts = [f"{name}:{self.server_port}" for name in ("127.0.0.1", "localhost")]

    @property
    def url(self) -> str:
        return f"http://{self.hosts[0]}/{self.key}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores errors, because browsers close connections at any time."""


class Refused(Exception):
    """status: the HTTP status. The text is the reason."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Server
    #: Seconds for each read from the connection.
    timeout = 30
    server_version, sys_version = "bertqa", ""

    def do_GET(self) -> None:
        self._respond(self._file)

    def do_POST(self) -> None:
        self._respond(self._task)

    def _respond(self, call: Any) -> None:
        try:
            self._check_host()
            kind, data = call()
            status = 200
        except Refused as error:
            kind, data, status = "application/json", _json({"error": str(error)}), error.status
        except Cancelled:
            kind, data, status = "application/json", _json({"cancelled": True}), 409
        except Exception as error:  # a collection may contain anything
            status = 400 if isinstance(error, InvalidArgument) else 500
            kind, data = "application/json", _json({"error": str(error) or type(error).__name__})
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _header(self, name: str) -> Optional[str]:
        values = self.headers.get_all(name) or []
        if len(values) > 1:
            raise Refused(400, f"more than one {name}")
        return values[0] if values else None

    def _check_host(self) -> None:
        if self._header("Host") not in self.server.hosts:
            raise Refused(403, "this page is for browsers on its own machine")

    def _name(self) -> str:
        """Returns the requested name, which follows the key."""
        key, slash, name = self.path[1:].partition("/")
        if not (slash and hmac.compare_digest(key.encode(), self.server.key.encode())):
            raise Refused(404, "there is nothing here: open the address that bertqa.demo has printed")
        return name

    def _file(self) -> Any:
        name = self._name() or "page.html"
        if name not in TYPES:
            raise Refused(404, "there is no such file")
        data = (HERE / name).read_bytes()
        return TYPES[name], data.replace(b"{{token}}", self.server.token.encode())

    def _task(self) -> Any:
        name = self._name()
        if self._header("Origin") not in [f"http://{host}" for host in self.server.hosts]:
            raise Refused(403, "this request comes from another page")
        if self._header("Sec-Fetch-Site") not in (None, "same-origin"):
            raise Refused(403, "this request comes from another page")
        token = self._header("X-Bertqa-Token") or ""
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self.server.token.encode()):
            raise Refused(403, "the token is not this page's: load it again")
        if (self._header("Content-Type") or "").partition(";")[0].strip() != "application/json":
            raise Refused(415, "the request must be application/json")
        request = self._body()
        if name not in Tasks.REQUESTS:
            raise Refused(404, "there is no such request")
        return "application/json", _json(self.server.tasks.run(name, request))

    def _body(self) -> Any:
        length = self._header("Content-Length") or ""
        if not (length.isascii() and length.isdigit()):
            raise Refused(411, "the request must say its length")
        if len(length) > 12 or int(length) > LARGEST_REQUEST:
            raise Refused(413, f"the text is too large: a request has at most {LARGEST_REQUEST >> 20} MiB")
        try:
            data = self.rfile.read(int(length))
        except socket.timeout:
            raise Refused(408, "the request was not sent in time") from None
        try:
            request = json.loads(data)
        except (ValueError, RecursionError):
            raise Refused(400, "the request is not JSON") from None
        if not isinstance(request, dict):
            raise Refused(400, "the request is not an object")
        return request

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing, because addresses contain the key."""


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
