"""Token budgets: the window as a whole, or the output alone."""

from __future__ import annotations

from checks.reason import Reason
from checks.verdict.rules import Rule, row, table

_STATUSES = (400, 413, 422, 500, 502, 200)

output_alone = table(
    row(
        Reason.OUTPUT_TOKENS_OUT_OF_RANGE,
        r"range of max_tokens|fewer output tokens|max_(?:completion_|output_"
        r"|new_)?tokens['\"`)]?.{0,80}(?:range|between|must be (?:less|<|at most|<=|a positive|smaller"
        r"|no more)|should be (?:less|between|<)|too (?:large|big|high)|larger than|greater than"
        r"|is above|exceeds? (?:the )?(?:max|model|limit|allowed)|cannot (?:be greater|exceed)"
        r"|maximum (?:value|allowed)|不能大于|超出|超过|范围|取值)"
        r"|max(?:imum)? (?:allowed )?(?:number of )?(?:output|completion) tokens"
        r"|supports at most \d+ (?:completion|output) tokens|输出长度|output (?:length"
        r"|tokens?).{0,40}(?:exceed|limit|max)|maximum (?:value|limit) (?:for|of) .{0,4}max_tokens",
        "",
        _STATUSES,
    )
)
window = table(
    row(
        Reason.CONTEXT_LENGTH_EXCEEDED,
        r"maximum context|(?:prompt|input) length.{0,40}(?:exceed|longer|greater|larger)"
        r"|exceed.{0,60}max_model_len|context[ _-]?(?:length|window|size|limit)|maximum model length"
        r"|longer than the (?:model|maximum)|(?:prompt|input|request|text|message)s?\b.{0,40}too long"
        r"|too many (?:input |prompt )?tokens|input (?:is )?too long|exceed.{0,80}(?:context|token"
        r"|input length|max(?:imum)? (?:length|tokens|input|sequence))|reduce (?:the )?(?:length"
        r"|your prompt)|max_tokens must be at least 1|max_tokens.{0,20}at least 1, got|input length"
        r"|max(?:imum)?_seq_?len|\bn_ctx\b|num_ctx|available context|input \(\d+ tokens\)"
        r"|tokens? (?:limit|count).{0,40}exceed|too long for|上下文.{0,6}(?:长度|窗口|超)|(?:输入"
        r"|提示词|prompt|请求|tokens?|内容|文本).{0,16}(?:过长|超长|超出|超过)|input tokens"
        r"|max_prompt_tokens|string too long",
        "context_length_exceeded string_above_max_length contextwindowexceedederror "
        "context_window_exceeded model_max_prompt_tokens_exceeded tokens_limit_reached "
        "prompt_too_long exceed_context_size_error 1261 maxcontextlength",
        _STATUSES,
    )
)
window_first = table(
    row(
        Reason.CONTEXT_LENGTH_EXCEEDED,
        r"maximum context length|exceeds? (?:the )?context|max_tokens must be at least 1"
        r"|prompt (?:is )?too long|longer than the (?:model|maximum)|(?:input"
        r"|prompt) .{0,60}(?:\+|and) .{0,20}max_tokens|上下文长度",
        "context_length_exceeded contextwindowexceedederror",
        _STATUSES,
    )
)

FIRST: tuple[Rule, ...] = (window_first,)
ANSWERS: tuple[Rule, ...] = (output_alone, window)
