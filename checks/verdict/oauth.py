"""Login tokens: out of date, or mixed up with API keys."""

from __future__ import annotations

import re

from checks.reason import Reason
from checks.verdict import keys, servers
from checks.verdict.answer import Form
from checks.verdict.rules import Rule, row, table
from checks.verdict.view import View

_TOKEN_VARIABLES = ("ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "OPENAI_OAUTH_TOKEN")

expired = table(
    row(
        Reason.OAUTH_TOKEN_EXPIRED,
        r"oauth.{0,60}(?:expired|revoked|no longer valid)|authentication token (?:has |is )?expired"
        r"|(?:access|login|session|refresh|id|bearer|auth)[ _]token.{0,60}(?:expired|revoked"
        r"|could not be refreshed|was already used|has been invalidated)"
        r"|refresh[ _]token|(?:log|sign) ?in again|re-?authenticat|run /login|/login\b"
        r"|登录.{0,10}(?:过期|失效|超时)|重新登录|login.{0,20}expired|session.{0,12}expired"
        r"|token has been (?:invalidated|revoked)",
        "oauth_token_expired invalid_grant refresh_token_expired refresh_token_reused token_revoked "
        "session_expired token_invalidated",
        (400, 401, 403, 500),
    ),
    row(Reason.OAUTH_TOKEN_EXPIRED, "", "token_expired", (401, 403)),
)
conflict = table(
    row(
        Reason.OAUTH_ENV_CONFLICT,
        r"oauth (?:authentication|token|access|credentials?).{0,60}(?:not (?:currently )?(?:supported"
        r"|allowed|accepted)|currently not supported|unsupported)"
        r"|both .{0,60}(?:token|key).{0,60}(?:are set|set|present|configured)|auth conflict|(?:two"
        r"|multiple|conflicting) (?:credentials|auth)|only authorized for use with claude code"
        r"|does not support oauth",
        "",
        (400, 401, 403, 500, 502),
    ),
)


def conflict_by_facts(view: View) -> Reason | None:
    """A login token where an API key belongs, or a token variable that overrides the key."""
    if keys.prefix(view).startswith("sk-ant-oat"):
        return Reason.OAUTH_ENV_CONFLICT
    tokens = [name for name in _TOKEN_VARIABLES if view.env.get(name, "").strip()]
    if not tokens:
        return None
    stale = "stale" in view.words("credential_file") or "expired" in view.words("credential_file")
    wire = servers.vendor_of(view.url.host) == "anthropic" or stale
    return Reason.OAUTH_ENV_CONFLICT if wire else None


_NATIVE_REFUSAL = re.compile(r"invalid x-api-key|invalid bearer token")


def vendor_refusal(view: View) -> Reason | None:
    """Anthropic's two refusals name the header that came; facts say whether it was the wrong one."""
    if view.status not in (401, 403) or not _NATIVE_REFUSAL.search(view.answer.said):
        return None
    return conflict_by_facts(view)


def token_with_facts(view: View) -> Reason | None:
    """An expired login token, while a valid token or key is set beside it: the wrong one was sent."""
    if expired(view) is None or view.answer.codes & {"invalidapikey", "apikeyinvalid"}:
        return None
    return conflict_by_facts(view) or Reason.OAUTH_TOKEN_EXPIRED


def bearer_refused(view: View) -> Reason | None:
    """Anthropic's words for a bearer value that is no login token of its own."""
    own = servers.family(view) == "anthropic" or view.answer.form is Form.FLAT_ERROR
    plain = view.status == 401 and "invalid bearer token" in view.answer.said
    return Reason.OAUTH_ENV_CONFLICT if plain and own else None


ANSWERS: tuple[Rule, ...] = (bearer_refused, token_with_facts, vendor_refusal, conflict)
