"""A server on loopback that hands each request on to a lane as it came, and remembers what came of it.

Streams pass piece by piece, through no proxy, with the caller's own key. What is remembered of a call holds
no message and no key: path, model, status, the beginning of an answer that is no completion, tokens, time.
The events that an Agent-Lightning 1.x agent posts are taken as well. Standard library, Python 3.8+; sent
before the program that records.
"""

import http.client
import http.server
import json
import secrets
import socket
import ssl
import threading
import time
import urllib.parse

MAX_REQUEST = 16 << 20
MAX_READ = 4 << 20  # of an answer, for what is told of it; the rest is passed on unread
MAX_BODY_TOLD = 4096
MAX_BODIES = 8
MAX_CALLS = 200  # further ones are refused: an agent that loops must not spend a budget
MAX_EVENTS = 50
MAX_EVENT_BYTES = 65536
HOP = {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer"}
HOP |= {"transfer-encoding", "upgrade", "host", "content-length", "accept-encoding", "proxy-connection"}
TOLD_HEADERS = ("content-type", "server", "retry-after", "www-authenticate", "x-agl-paused", "location")
KEY_HEADERS = ("authorization", "x-api-key", "api-key")
RELAY_PIECE = 16384


class Relay:
    """A server on loopback that hands each request on to the lane and remembers what came of it."""

    def __init__(self, base_url, ca, until):
        self.target = urllib.parse.urlsplit(base_url)
        self.until = until
        self.tls = _trust(ca) if self.target.scheme == "https" else None
        self.event_path = "/preflight-%s/events" % secrets.token_hex(8)
        self._calls, self._events, self._bodies, self._refused = [], [], 0, 0
        self._lock = threading.Lock()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.relay = self
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        origin = "http://127.0.0.1:%d" % self._server.server_address[1]
        self.base_url = origin + self.target.path
        self.event_url = origin + self.event_path

    def begin(self, call):
        with self._lock:
            if len(self._calls) >= MAX_CALLS:
                self._refused += 1
                return False
            self._calls.append(call)
            return True

    def add_event(self, event):
        with self._lock:
            if len(self._events) < MAX_EVENTS:
                self._events.append(event)

    def keep_answer(self, call, headers, body):
        """Tell the text of an answer that is no completion; of the first few such answers."""
        with self._lock:
            self._bodies += 1
            if self._bodies <= MAX_BODIES:
                call["headers"] = {name: headers[name][:200] for name in TOLD_HEADERS if name in headers}
                call["body"] = body[:MAX_BODY_TOLD].decode("utf-8", "replace")

    def told(self):
        with self._lock:
            calls = [dict(call) for call in self._calls]
            return {"calls": calls, "events": list(self._events), "refused": self._refused}


def _trust(ca):
    context = ssl.create_default_context()
    if ca:
        context.load_verify_locations(cadata=ca)
    return context


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def log_message(self, *args):
        pass

    def _serve(self):
        relay = self.server.relay
        length = self.headers.get("content-length") or "0"
        if self.headers.get("transfer-encoding") or not length.isdigit() or int(length) > MAX_REQUEST:
            self.close_connection = True
            self._answer(411, b'{"error":{"message":"The relay needs a content-length."}}')
            return
        body = self.rfile.read(int(length))
        if self.path == relay.event_path:
            self._take_event(body)
            return
        call = _described(self.command, self.path, self.headers, body)
        if not relay.begin(call):
            self._answer(429, b'{"error":{"message":"The recording relay takes no further calls."}}')
            return
        begun = time.monotonic()
        try:
            self._hand_on(call, body)
        finally:
            call["ms"] = (time.monotonic() - begun) * 1000

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _serve

    def _take_event(self, body):
        try:
            event = json.loads(body[:MAX_EVENT_BYTES].decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict):
            self._answer(422, b'{"detail":"An event is a JSON object."}')
            return
        self.server.relay.add_event(_short(event))
        self._answer(200, b"{}")

    def _hand_on(self, call, body):
        relay = self.server.relay
        seconds = max(0.1, relay.until - time.monotonic())
        host, port = relay.target.hostname, relay.target.port
        if relay.tls:
            line = http.client.HTTPSConnection(host, port, timeout=seconds, context=relay.tls)
        else:
            line = http.client.HTTPConnection(host, port, timeout=seconds)
        phase = "dns"
        try:
            socket.getaddrinfo(host, port or 0)
            phase = "connect"
            line.connect()
            phase = "wait"
            sent = {name: value for name, value in self.headers.items() if name.lower() not in HOP}
            sent["Accept-Encoding"] = "identity"
            line.request(self.command, self.path, body=body or None, headers=sent)
            answer = line.getresponse()
            phase = "transfer"
            self._pass_back(call, answer)
        except (OSError, http.client.HTTPException) as error:
            self._fail(call, error, phase)
        finally:
            line.close()

    def _pass_back(self, call, answer):
        """Give the answer back as it comes, and keep its beginning for what is told of it."""
        call["status"] = answer.status
        bare = self.command == "HEAD" or answer.status in (204, 304)
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.headers.items():
            if name.lower() not in HOP:
                self.send_header(name, value)
        if not bare:
            self.send_header("Transfer-Encoding", "chunked")
        self._give(b"")
        kept = b""
        piece = b"" if bare else answer.read1(RELAY_PIECE)
        while piece:
            kept += piece[: MAX_READ - len(kept)]
            self._give(b"%x\r\n%b\r\n" % (len(piece), piece))
            piece = answer.read1(RELAY_PIECE)
        if not _read_answer(call, kept):
            self.server.relay.keep_answer(call, answer.headers, kept)
        if not bare:
            self._give(b"0\r\n\r\n")

    def _give(self, data):
        """Write to the agent; that it hung up meanwhile is no failure of the lane."""
        try:
            self.wfile.write(data) if data else self.end_headers()
        except OSError:
            self.close_connection = True

    def _fail(self, call, error, phase):
        call["failure"] = {
            "kind": _kind(error, phase),
            "phase": phase,
            "class": "%s.%s" % (type(error).__module__, type(error).__name__),
            "text": str(error)[:500],
            "errno": error.errno if isinstance(error, OSError) else None,
        }
        self.close_connection = True
        if call["status"] is None:
            self._answer(502, b'{"error":{"message":"The lane gave no answer to the recording relay."}}')

    def _answer(self, status, body):
        try:
            self.send_response_only(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            pass


def _kind(error, phase):
    """The name of the failure as the engine's `FailureKind` spells it."""
    if isinstance(error, ssl.SSLError):
        return "tls"
    if isinstance(error, (socket.timeout, TimeoutError)):
        return "timeout"
    if isinstance(error, socket.gaierror) or phase == "dns":
        return "dns"
    if isinstance(error, ConnectionRefusedError) or phase == "connect":
        return "refused"
    return "reset" if isinstance(error, OSError) else "protocol"


def _described(method, path, headers, body):
    """What is told of a request: no header but whether a key came, no message."""
    try:
        asked = json.loads(body.decode("utf-8", "replace")) if body else {}
    except (ValueError, RecursionError):
        asked = {}
    asked = asked if isinstance(asked, dict) else {}
    return {
        "method": method,
        "path": path[:200],
        "model": str(asked.get("model") or "")[:120],
        "authorized": any(headers.get(name) for name in KEY_HEADERS),
        "agent": (headers.get("user-agent") or "")[:80],
        "tools": bool(asked.get("tools")),
        "stream": bool(asked.get("stream")),
        "status": None,
        "complete": False,
        "failure": None,
        "ms": None,
    }


def _read_answer(call, body):
    """Note whether a completion came, what it cost and what it carries; False where it is none."""
    chunks = _documents(body)
    choices = [one for chunk in chunks for one in (chunk.get("choices") or []) if isinstance(one, dict)]
    spoken = [
        one for one in choices if isinstance(one.get("message") or one.get("delta"), dict) or "text" in one
    ]
    good = call["status"] is not None and 200 <= call["status"] < 300
    call["complete"] = bool(good and spoken and not any(chunk.get("error") for chunk in chunks))
    for chunk in chunks:
        if isinstance(chunk.get("usage"), dict):
            call["tokens"] = chunk["usage"].get("total_tokens")
    parts = [_part(one) for one in spoken]
    call["tool_calls"] = any(isinstance(part, dict) and part.get("tool_calls") for part in parts)
    call["token_ids"] = any(one.get("token_ids") or one.get("response_token_ids") for one in spoken)
    call["logprobs"] = any(one.get("logprobs") for one in spoken)
    other = good and not _is_chat(call["path"])  # a list of models, an embedding
    return call["complete"] or other


def _part(choice):
    return choice.get("message") or choice.get("delta")


def _is_chat(path):
    return path.split("?")[0].rstrip("/").endswith("/completions")


def _documents(body):
    """The JSON objects of an answer: the one, or those of its events."""
    text = body.decode("utf-8", "replace").strip()
    pieces = [text]
    if text[:1] != "{":
        pieces = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")]
    found = []
    for piece in pieces:
        try:
            document = json.loads(piece)
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict):
            found.append(document)
    return found


def _short(event):
    """Of an event: its type, and the value that a reward carries."""
    data = event.get("data")
    value = data.get("value") if isinstance(data, dict) else None
    number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    return {
        "type": str(event.get("event_type") or "")[:80],
        "value": None if number is None else repr(number),
    }
