"""One connection or one request from this machine, asked as a client here would: through the proxy that the
login environment names, and directly too where that fails.

`request`: method (empty: connect and hang up), url, headers, content (base64), deadline (seconds), ca (PEM
text), never (networks that are refused), direct_url (what to GET directly when the proxy's way fails), plain
(the environment is known to hold nothing that matters), activate, workdir. Standard library, Python 3.8+;
`frame.py` and `shell_environment.py` go before it. No text that is told holds a value of `headers`.
"""
# ruff: noqa: F821 - the frame and shell_environment are sent with it

import base64
import contextlib
import http.client
import ipaddress
import os
import socket
import ssl
import threading
import time
import urllib.parse
import zlib

MAX_BODY = 1 << 20
MAX_TOLD = 900000  # characters of the packed body in one event
MAX_HEAD = 65536
MAX_TEXT = 400
MAX_CHAIN = 6
PIECE = 65536
FIRST_BYTES = 512
LOOK_SECONDS = 5.0
DIRECT_SECONDS = 3.0
LEAST_SECONDS = 0.5  # left to an exchange whose shell took its time
LEAST_SHELL_SECONDS = 2.0
NAME_SECONDS = 1.0  # for a name that the proxy resolves anyway
PORTS = {"http": 80, "https": 443}
PROXY_NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
CA_NAMES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


class Stopped(Exception):
    """A failure whose kind is known."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


def main(request, tell):
    """Ask once, and directly too where a proxy stood in the way; return all that was seen."""
    until = time.monotonic() + request["deadline"]
    found = {} if request["plain"] else _around(request)
    environment = dict(os.environ) if found is None else found
    exchange = Exchange(request, environment)
    exchange.run(max(LEAST_SECONDS, until - time.monotonic()))
    told = exchange.told()
    names = {name.upper() for name, value in environment.items() if value}
    told["matters"] = found is None or bool(names.intersection(PROXY_NAMES + CA_NAMES))
    if exchange.proxy and (exchange.failure or (exchange.status or 0) >= 400):
        told["direct"] = _directly(request, environment)
    return told


def _around(request):
    """The login environment, for a part of the exchange's own time."""
    seconds = max(LEAST_SHELL_SECONDS, min(SHELL_SECONDS, request["deadline"] / 3))
    return shell_environment(request["run"], request["activate"], request["workdir"], seconds)


def _directly(request, environment):
    """One word on the same server without the proxy."""
    asked = dict(request, content="", url=request["direct_url"], method="GET" if request["method"] else "")
    kept = {name: value for name, value in environment.items() if name in CA_NAMES}
    exchange = Exchange(asked, kept)
    exchange.run(DIRECT_SECONDS)
    if exchange.failure:
        return exchange.failure["kind"]
    return "ok" if exchange.status is None else str(exchange.status)


class Exchange:
    """What is known of one exchange while it runs, so that one that dies still tells what it saw."""

    def __init__(self, request, environment):
        self.asked, self.environment = request, environment
        self.headers_sent = dict(request["headers"])
        self.secrets = [value for value in self.headers_sent.values() if len(value) >= 8]
        self.phase, self.begun, self.spent, self.ends = "build", 0.0, {}, 0.0
        self.addresses, self.peer, self.certificate, self.tls_version = [], "", b"", ""
        self.status, self.headers, self.body, self.failure = None, [], bytearray(), None
        self.parts = urllib.parse.urlsplit(request["url"])
        self.host = self.parts.hostname or ""
        self.port = self.parts.port or PORTS[self.parts.scheme]
        self.proxy = proxy_for(self.parts.scheme, self.host, self.port, environment)

    def run(self, seconds):
        """Ask for at most so long: what hangs in the resolver or trickles is left behind."""
        self.ends = time.monotonic() + seconds
        thread = threading.Thread(target=self._attempt, daemon=True)
        thread.start()
        thread.join(seconds)
        if thread.is_alive() and self.failure is None:
            self.failure = self._failed(Stopped("timeout", "timed out in phase " + self.phase))
            self._enter(self.phase)

    def told(self):
        """The whole as JSON."""
        body = base64.b64encode(zlib.compress(bytes(self.body))).decode()
        if len(body) > MAX_TOLD:
            body = base64.b64encode(zlib.compress(b"")).decode()
            self.failure = self._failed(Stopped("too_large", "The answer is too large to be told."))
        return {
            "status": self.status,
            "headers": self.headers,
            "body": body,
            "failure": self.failure,
            "addresses": self.addresses,
            "peer": self.peer,
            "certificate": base64.b64encode(self.certificate).decode(),
            "tls_version": self.tls_version,
            "timings": dict(self.spent),
            "environment": self._environment(),
            "proxy_variable": self.proxy[0] if self.proxy else "",
        }

    def _environment(self):
        """What bears on this exchange: the proxy's variables where one is used, without any password."""
        names = (*PROXY_NAMES, "NO_PROXY", *CA_NAMES) if self.proxy else CA_NAMES
        wanted = {name: value for name, value in self.environment.items() if name.upper() in names}
        return {name: without_login(value) for name, value in wanted.items() if value}

    def _enter(self, phase):
        now = time.monotonic()
        if self.phase != "build":
            self.spent[self.phase + "_ms"] = (now - self.begun) * 1000
        self.phase, self.begun = phase, now

    def _left(self):
        return max(0.001, self.ends - time.monotonic())

    def _attempt(self):
        try:
            line = self._dial_proxy() if self.proxy else self._dial()
            with contextlib.closing(self._secure(line) if self.parts.scheme == "https" else line) as line:
                if self.asked["method"]:
                    self._converse(line)
            self._enter("build")
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what happened to the exchange
            self.failure = self._failed(error)
            self._enter(self.phase)

    def _dial(self):
        """Resolve, refuse what is never asked, connect to the first address."""
        self._enter("dns")
        self.addresses = resolve(self.host, self.port)
        for address in self.addresses:
            if is_never(address, self.asked["never"]):
                raise Stopped("denied", "This address is never asked: " + address)
        self._enter("connect")
        line = socket.create_connection((self.addresses[0], self.port), timeout=self._left())
        self.peer = ("[%s]:%d" if ":" in self.addresses[0] else "%s:%d") % (self.addresses[0], self.port)
        return line

    def _dial_proxy(self):
        self._look_up()
        self._enter("connect")
        return self._through_proxy(self._left())

    def _through_proxy(self, seconds):
        """Connect to the proxy, and through it for https."""
        url = urllib.parse.urlsplit(self.proxy[1])
        if url.scheme != "http":
            raise Stopped("proxy", "Unknown scheme for proxy here: " + without_login(self.proxy[1]))
        self.peer = "%s:%d" % (url.hostname, url.port or 80)
        try:
            line = socket.create_connection((url.hostname, url.port or 80), timeout=seconds)
        except OSError as error:
            raise Stopped("proxy", "Unable to connect to proxy: %s" % error) from error
        login = {}
        if url.username:
            user = "%s:%s" % (urllib.parse.unquote(url.username), urllib.parse.unquote(url.password or ""))
            login = {"proxy-authorization": "Basic " + base64.b64encode(user.encode()).decode()}
        if self.parts.scheme == "https":
            tunnel(line, self.host, self.port, login)
        else:
            self.headers_sent.update(login)
        return line

    def _look_up(self):
        """The name as this machine resolves it: told, though the proxy resolves for itself."""

        def look_up():
            with contextlib.suppress(OSError, UnicodeError):
                self.addresses = resolve(self.host, self.port)

        thread = threading.Thread(target=look_up, daemon=True)
        thread.start()
        thread.join(NAME_SECONDS)

    def _secure(self, line):
        self._enter("tls")
        try:
            secured = self._trusting().wrap_socket(line, server_hostname=self.host)
        except ssl.SSLCertVerificationError:
            with contextlib.suppress(OSError, Stopped):
                self.certificate = self._look_at_certificate()
            raise
        self.certificate = secured.getpeercert(True) or b""
        self.tls_version = secured.version() or ""
        return secured

    def _trusting(self):
        """What httpx trusts: the file that the environment names, else certifi's list; the system's too."""
        named = self.environment.get("SSL_CERT_FILE") or None
        context = ssl.create_default_context(cafile=named)
        if named is None:
            with contextlib.suppress(ImportError, OSError):
                import certifi

                context.load_verify_locations(certifi.where())
        if self.asked["ca"]:
            context.load_verify_locations(cadata=self.asked["ca"])
        return context

    def _look_at_certificate(self):
        """The leaf of a server that is not trusted; no request is ever sent over this connection."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        seconds = min(LOOK_SECONDS, self._left())
        if self.proxy:
            line = self._through_proxy(seconds)
        else:
            line = socket.create_connection((self.addresses[0], self.port), timeout=seconds)
        with context.wrap_socket(line, server_hostname=self.host) as secured:
            return secured.getpeercert(True) or b""

    def _converse(self, line):
        self._enter("wait")
        line.settimeout(self._left())
        connection = http.client.HTTPConnection(self.host, self.port)
        connection.sock = line
        place = self.parts.netloc.rpartition("@")[2]
        target = (self.parts.path or "/") + ("?" + self.parts.query if self.parts.query else "")
        if self.proxy and self.parts.scheme == "http":
            target = "http://" + place + target
        content = base64.b64decode(self.asked["content"])
        connection.putrequest(self.asked["method"], target, skip_host=True, skip_accept_encoding=True)
        sent = dict(self.headers_sent, host=place)
        if content:
            sent["content-length"] = str(len(content))
        for name, value in sent.items():
            connection.putheader(name, value)
        connection.endheaders(content or None)
        self._read(connection.getresponse())

    def _read(self, answer):
        self.status = answer.status
        self.headers = [[name.lower(), value] for name, value in answer.getheaders()]
        self._enter("transfer")
        while True:
            piece = answer.read1(PIECE)
            if not piece:
                break
            self.body += piece
            if len(self.body) > MAX_BODY:
                raise Stopped("too_large", "The answer is larger than %d bytes." % MAX_BODY)
        if answer.length:
            raise http.client.IncompleteRead(b"", answer.length)

    def _failed(self, error):
        if isinstance(error, http.client.BadStatusLine) and not isinstance(error, ConnectionError):
            self.body = bytearray(error.line.encode("latin-1", "replace")[:FIRST_BYTES])
            error = Stopped("protocol", "The answer is not HTTP; it begins with %r." % bytes(self.body[:32]))
        chain, link = [], error
        while link is not None and len(chain) < MAX_CHAIN:
            chain.append([type(link).__module__ + "." + type(link).__qualname__, self._text(link)])
            link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
        return {
            "kind": kind_of(error, self.phase),
            "message": chain[0][1] or chain[0][0],
            "phase": self.phase,
            "errno": getattr(error, "errno", None),
            "chain": chain,
        }

    def _text(self, error):
        """What an exception says; those of headers and codecs quote what was about to be sent."""
        quotes = isinstance(error, ValueError) and not isinstance(error, ssl.SSLError)
        text = type(error).__name__ if quotes else str(error)
        for secret in self.secrets:
            text = text.replace(secret, "[masked]")
        return text[:MAX_TEXT]


def tunnel(line, host, port, login):
    """Ask a proxy for a connection to there."""
    head = {"host": "%s:%d" % (host, port), **login}
    lines = ["CONNECT %s:%d HTTP/1.1" % (host, port), *("%s: %s" % pair for pair in head.items()), "", ""]
    line.sendall("\r\n".join(lines).encode())
    said = b""
    while b"\r\n\r\n" not in said and len(said) < MAX_HEAD:
        piece = line.recv(1)  # what follows the head is TLS and not ours to read
        if not piece:
            break
        said += piece
    first = said.split(b"\r\n", 1)[0].decode("latin-1")
    if first.split(" ")[1:2] != ["200"]:
        raise Stopped("proxy", "Tunnel connection failed: " + first[9:MAX_TEXT])


def resolve(host, port):
    """All addresses of the host, in the order of the system's preference."""
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(answer[4][0] for answer in answers))


def is_never(address, networks):
    """Whether an address, or the IPv4 address that it carries, lies in one of the networks."""
    known = ipaddress.ip_address(address.partition("%")[0])
    known = getattr(known, "ipv4_mapped", None) or known
    return any(known in ipaddress.ip_network(network) for network in networks)


def kind_of(error, phase):
    """The kind of failure, as the engine names them (`checks.outcome.FailureKind`)."""
    if isinstance(error, Stopped):
        return error.kind
    if isinstance(error, (socket.gaierror, UnicodeError)):
        return "dns" if phase == "dns" else "protocol"
    for classes, kind in (
        (ConnectionRefusedError, "refused"),
        ((socket.timeout, TimeoutError), "timeout"),
        (ssl.SSLError, "tls"),
        (ConnectionError, "reset"),
        (OSError, "refused" if phase == "connect" else "reset"),
        ((http.client.HTTPException, ValueError), "protocol"),
    ):
        if isinstance(error, classes):
            return kind
    return "client"
