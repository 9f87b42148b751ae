"""A plain nginx: a static site where someone expected an API, and its error pages."""

from __future__ import annotations

from checks.simulator.call import Call
from checks.simulator.http import Answer, Reply

MARKS = {"server": "nginx/1.27.4"}
PHRASES = {
    301: "301 Moved Permanently",
    404: "404 Not Found",
    405: "405 Not Allowed",
    413: "413 Request Entity Too Large",
    502: "502 Bad Gateway",
    504: "504 Gateway Time-out",
}
WELCOME = (
    "<!DOCTYPE html>\n<html><head><title>Our site</title></head><body><h1>It is up.</h1></body></html>\n"
)


def error_page(status: int, **headers: str) -> Reply:
    """The built-in page of that status."""
    phrase = PHRASES[status]
    body = (
        f"<html>\r\n<head><title>{phrase}</title></head>\r\n<body>\r\n<center><h1>{phrase}</h1></center>\r\n"
        "<hr><center>nginx/1.27.4</center>\r\n</body>\r\n</html>\r\n"
    )
    return Reply(status, body.encode(), "text/html", MARKS | headers)


def answer(call: Call) -> Answer:
    """The site's front page; 405 for a POST to it, 404 for every other path."""
    if call.request.path in ("/", "/index.html"):
        if call.request.method in ("GET", "HEAD"):
            return Reply(200, WELCOME.encode(), "text/html", MARKS)
        return error_page(405)
    return error_page(404)
