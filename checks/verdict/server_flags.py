"""Options that were left out when the inference server was started."""

from __future__ import annotations

from checks.reason import Reason
from checks.verdict.rules import Rule, row, table

ANSWERS: tuple[Rule, ...] = (
    table(
        # vLLM and SGLang name their own command line options.
        row(
            Reason.TOOL_PARSER_NOT_ENABLED,
            r"enable-auto-tool-choice|tool[-_]call[-_]parser|auto['\" ]{1,3}tool choice requires"
            r"|tool parser.{0,40}(?:not|must|required|set|enabled)|--jinja|without.{0,20}tool parser",
            "",
            (400, 404, 422, 500, 501),
        ),
        row(
            Reason.CHAT_TEMPLATE_MISSING,
            r"default chat template|provide a chat template"
            r"|chat[_ ]template(?! is passed with request).{0,80}(?:not (?:set"
            r"|defined|found|specified|provided)|missing|is none|required|must be)|(?:no|without"
            r"|missing|does not have|doesn.t have|set) (?:a |any "
            r"|the )?(?:\w{1,12}\.)?chat[_ ]template|没有.{0,8}(?:对话|聊天)模板",
            "",
            (400, 404, 422, 500, 501),
        ),
    ),
)
