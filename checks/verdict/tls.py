"""Certificates that do not convince, and the wrong kind of talk on a port."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import ip_address

from checks.outcome import FailureKind
from checks.reason import Reason
from checks.verdict.rules import Rule, failing, row, table
from checks.verdict.view import View

plain_port = failing(
    Reason.HTTPS_TO_HTTP_PORT,
    r"wrong[_ ]version[_ ]number|record[_ ]layer[_ ]failure|packet length too long|rx_record_too_long"
    r"|record_too_long"
    r"|unknown protocol|first record does not look like a tls|ssl routines.{0,40}http[_ ]request|\beproto\b"
    r"|invalid ?content ?type|corrupt ?message|plaintext connection|err_ssl_protocol_error"
    r"|unrecognized ssl message"
    r"|not an ssl/tls record|cannot determine the frame size|ssl3_get_record",
)
# A TLS alert or hello where a status line should be: the bytes 0x15/0x16 0x03.
tls_port = failing(
    Reason.HTTP_TO_HTTPS_PORT,
    r"\\x1[56]\\x03|illegal status line.{0,20}x1[56]|plain http request was sent to https"
    r"|http request to an https server"
    r"|malformed http response.{0,12}\\x1[56]",
)
expired = failing(
    Reason.TLS_EXPIRED,
    r"certificate (?:has |is )?expired|cert_has_expired|not yet valid|not_yet_valid"
    r"|expired certificate|err_cert_date"
    r"|notvalidyet|certexpired|certificate date|invalid peer certificate: expired|outside its validity"
    r"|证书.{0,6}过期",
)
_MISMATCH = re.compile(
    r"hostname mismatch|ip address mismatch|certificate is not valid for|doesn.?t match|does not match"
    r"|altname"
    r"|no alternative certificate subject|common_name_invalid|certificate is valid for|notvalidforname"
    r"|name mismatch"
    r"|unrecognized[_ ]name|no subject alternative|cannot validate certificate for .{1,80} because it doesn"
    r"|not valid for name|principalmismatch|证书.{0,8}(?:不匹配|不符)"
)
untrusted = failing(
    Reason.TLS_UNTRUSTED_CA,
    r"self[- _]signed|unable to get (?:local )?issuer|unable_to_verify_leaf|unable to verify the first"
    r"|unknown authority"
    r"|unknown ?ca\b|unknown ?issuer|untrusted|certificate_verify_failed|certificate verify failed"
    r"|unable_to_get_issuer|err_cert_authority"
    r"|pkix path|remotecertificatechain|certificate chain|sslcertverification|x509: "
    r"|invalid peer certificate|不受信任|自签名",
)
_NAMED = re.compile(
    r"(?:is valid for|cert(?:ificate)? is for|cert's altnames:|altnames:|dns:"
    r"|match(?: either of)?(?: one of)?|subject name)"
    r"[ '\"]{0,3}(?P<names>[^\n]{1,400})"
)
_DOMAIN = re.compile(r"(?:\*\.)?((?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,24})\b")
# Certificates that a server shows when no site was chosen: they say nothing on who owns the address.
_DEFAULT = re.compile(r"localhost|fake certificate|traefik|default|localdomain|\.local$|example\.")
_SECOND_LEVEL = frozenset(("co", "com", "net", "org", "gov", "edu", "ac"))


def wrong_name(view: View) -> Reason | None:
    """The certificate is for other names: of the same owner, or of an unrelated one?"""
    if not _MISMATCH.search(view.failure_text):
        return None
    names = _shown_names(view)
    owner = registrable(view.url.host)
    if not owner or view.to_lan or not names or any(_DEFAULT.search(name) for name in names):
        return Reason.TLS_HOSTNAME_MISMATCH
    related = any(_related(owner, registrable(name)) for name in names)
    return Reason.TLS_HOSTNAME_MISMATCH if related else Reason.DNS_POISONED


def _shown_names(view: View) -> list[str]:
    if view.evidence.certificate is not None and view.evidence.certificate.names:
        return [name.lower() for name in view.evidence.certificate.names]
    told = view.fact("certificate_names", "cert_names", "certificate_san", "peer_certificate", "cert_subject")
    texts: Iterable[object] = told if isinstance(told, list | tuple) else (told or "",)
    found = [name for text in texts for name in _DOMAIN.findall(str(text).lower()[:2000])]
    for match in _NAMED.finditer(view.failure_text):
        found += _DOMAIN.findall(match["names"])
    return [name for name in found if name != view.url.host]


def registrable(host: str) -> str:
    """The part of a name that one owner registers; empty for an address or a bare name."""
    name = host.lower().lstrip("*.")
    try:
        ip_address(name)
    except ValueError:
        parts = name.split(".")
    else:
        return ""
    if len(parts) < 2:
        return ""
    size = 3 if len(parts) > 2 and parts[-2] in _SECOND_LEVEL else 2
    return ".".join(parts[-size:])


def _related(one: str, other: str) -> bool:
    return one == other or one.split(".")[0] == other.split(".")[0]


def died_in_handshake(view: View) -> Reason | None:
    """Any other failure of the handshake: a cut is a cut, the rest is distrust."""
    if view.kind is not FailureKind.TLS:
        return None
    return Reason.CONNECTION_RESET if _CUT.search(view.failure_text) else Reason.TLS_UNTRUSTED_CA


_CUT = re.compile(r"eof|reset|syscall|closed|aborted|handshake.?failure|alert|protocol version|disconnected")

FAILURES: tuple[Rule, ...] = (plain_port, tls_port, expired, wrong_name, untrusted, died_in_handshake)

# Go's net/http, nginx's 497, Apache and Jetty say it in an answer of 400.
ANSWERS: tuple[Rule, ...] = (
    table(
        row(
            Reason.HTTP_TO_HTTPS_PORT,
            r"http request (?:was sent )?to (?:an )?https (?:server|port)"
            r"|plain http (?:request )?(?:was sent )?to (?:an )?"
            r"(?:https|ssl)|speaking plain http to an ssl|combination of host and port requires tls"
            r"|请求.{0,8}发送到.{0,4}https",
        )
    ),
)
