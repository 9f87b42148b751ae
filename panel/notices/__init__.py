"""Notices: who is told of what, put into words, sent to channels, each at most once.

Below this stand senders that know one product each; above it, incidents and reports plan what is told, a task
sends it. What a notice says never holds a key or a text of the other side.
"""

from __future__ import annotations

from panel.notices.message import Message, Result, Sending, Target, Trouble
from panel.notices.planning import plan, plan_keys, plan_report, plan_test, plan_watchdog
from panel.notices.posting import deliver
from panel.notices.queue import give_up, prune, send_again, settle, settle_lost, start, waiting
from panel.notices.senders.mail import available as mail_available
from panel.notices.troubles import sentence
from panel.notices.words import message_for

__all__ = [
    "Message",
    "Result",
    "Sending",
    "Target",
    "Trouble",
    "deliver",
    "give_up",
    "mail_available",
    "message_for",
    "plan",
    "plan_keys",
    "plan_report",
    "plan_test",
    "plan_watchdog",
    "prune",
    "send_again",
    "sentence",
    "settle",
    "settle_lost",
    "start",
    "waiting",
]
