"""The model server's own state: crowded, not ready, or dead behind a living front."""

from __future__ import annotations

from checks.reason import Reason
from checks.verdict import servers
from checks.verdict.answer import Form
from checks.verdict.rules import Rule, row, table
from checks.verdict.view import View

not_ready = table(
    row(
        Reason.SERVER_NOT_READY,
        r"loading (?:the )?model|model.{0,60}(?:is )?(?:still |currently |being )?(?:loading|starting"
        r"|loaded now|warming)|currently loading|warming up|starting up|no healthy upstream"
        r"|not (?:yet )?ready|service (?:is )?starting|initiali[sz]ing|is being loaded|cold start"
        r"|no (?:backend|servers?|workers?|healthy).{0,30}(?:available|ready)|connection failure"
        r"|模型.{0,8}加载中|正在(?:加载|启动|初始化)|尚未就绪|scaling up|unhealthy",
        "model_loading model_not_ready server_not_ready modelnotready modelnotreadyexception "
        "unavailable_error",
        (408, 425, 429, 500, 502, 503, 504),
    ),
)
dead = table(
    row(
        Reason.ENGINE_CRASHED,
        r"enginedead|engine.{0,40}(?:died|dead|crashed|not running|is stopped|failure)|enginecore"
        r"|background loop (?:has errored|is stopped|has)|asyncenginedead|cuda|out of memory|\boom\b"
        r"|nccl|scheduler.{0,30}(?:died|dead|crash)|device-side assert|worker.{0,20}(?:died|dead"
        r"|crashed)|runner process (?:has terminated|no longer)|process.{0,20}(?:exited|terminated"
        r"|crashed)|segmentation fault|显存不足|xpu|hip error|崩溃",
        "enginedeaderror asyncenginedeaderror engine_dead",
        (500, 502, 503),
    ),
)
crowded = table(
    row(
        Reason.UPSTREAM_OVERLOADED,
        r"overload|(?:proxy|engine|server|service|generation|gateway) is (?:paused|sleeping|asleep)"
        r"|updating weights|(?:server|service|system|engine|model)s? (?:is |are )?(?:currently |too "
        r"|very )?busy|too busy|at (?:full )?capacity|capacity|high (?:demand|load|traffic)"
        r"|heavy (?:load|traffic)|rate-limited upstream|provider returned error|负载.{0,8}(?:饱和|过高"
        r"|较高|高)|繁忙|过载|拥挤|访问量|queue (?:is )?full|temporarily unavailable|try again later"
        r"|server had an error|no deployments available|请稍后|稍后重试|稍后再试|saturat",
        "overloaded_error engine_overloaded_error server_overloaded 1305 serveroverloaded "
        "modeloverloaded overloaded service_overloaded model_overloaded engine_overloaded 50505 "
        "server_busy system_busy",
        (429, 500, 502, 503, 529, 400, 408, 403),
    ),
)


def crowded_by_code(view: View) -> Reason | None:
    """The code says crowd, whatever type stands beside it."""
    return Reason.UPSTREAM_OVERLOADED if _CROWD_CODES & view.answer.codes and crowded(view) else None


_CROWD_CODES = frozenset(
    (
        "serveroverloaded",
        "modeloverloaded",
        "overloadederror",
        "engineoverloadederror",
        "1305",
        "50505",
        "engineoverloaded",
    )
)


def said_overloaded(view: View) -> Reason | None:
    """The one word that settles it ("overloaded or not ready yet" of a vendor means a crowd)."""
    return Reason.UPSTREAM_OVERLOADED if "overloaded" in view.answer.said and crowded(view) else None


def by_status(view: View) -> Reason | None:
    """What a bare 5xx most likely means on this kind of server."""
    if view.status == 529:
        return Reason.UPSTREAM_OVERLOADED
    if view.status == 503:
        return Reason.SERVER_NOT_READY if servers.self_hosted(view) else Reason.UPSTREAM_OVERLOADED
    if (view.status or 0) < 500:
        return None
    vendor = servers.is_vendor_itself(view) and view.answer.form is not Form.EMPTY
    return Reason.UPSTREAM_OVERLOADED if vendor and view.answer.is_error else Reason.ENGINE_CRASHED


ANSWERS: tuple[Rule, ...] = (dead, said_overloaded, not_ready)
CROWD: tuple[Rule, ...] = (crowded,)
CODES: tuple[Rule, ...] = (crowded_by_code,)
LATE: tuple[Rule, ...] = (by_status,)
