"""What a strategy, a policy, a summarizer, a wire format, a session format or an adapter of your own is made with."""

from __future__ import annotations

from foldline._economics import Bill, Request, Reset, bills
from foldline._errors import FoldlineError, SessionError, SummaryFailed, UnsafeEdit, WireError
from foldline._fold import Fold, Receipt
from foldline._messages import (
    Media,
    Message,
    Opaque,
    Part,
    Role,
    Speaker,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    replace,
    text_of,
)
from foldline._models import Model, model
from foldline._policies import preset
from foldline._policies.file import read_policy
from foldline._policy import Automatic, Budget, Layer, Mark, Policy, Reactive, budget, policy
from foldline._sessions.context import Context
from foldline._sessions.file import Branch, Point, SessionFile
from foldline._sessions.format import Row, SessionFormat, StoreFolder, Tail
from foldline._sessions.reading import Fault, PastFold, Reading, Sealed, Stored
from foldline._sessions.source import Source
from foldline._sessions.transcript import Transcript
from foldline._stages import Stage
from foldline._strategies import (
    Strategy,
    drop_media,
    hard_strategies,
    may_summarize,
    never_summarizes,
    prune_tool_outputs,
    shorten_tool_outputs,
    summarize_older,
)
from foldline._strategies.truncate import truncate
from foldline._tokens.estimate import estimate
from foldline._tokens.weigh import weigh
from foldline._view import Brief, Edit, Entry, View, view_of
from foldline._wires import (
    SUMMARY_PREFIX,
    SUMMARY_SUFFIX,
    Ended,
    Picture,
    Sign,
    Tool,
    WireFormat,
    decode,
    decode_all,
    detect,
    encode,
    named,
    summary_in,
    summary_text,
)
from foldline._wires.format import HostFormat
from foldline._wording import Wording
from foldline._writers.calling import Endpoint, connect
from foldline._writers.draft import Draft, Summarizer
from foldline._writers.extraction import extract
from foldline._writers.shared import Conversation, SharedPrefix

__all__ = [
    "SUMMARY_PREFIX", "SUMMARY_SUFFIX", "Automatic", "Bill", "Branch", "Brief", "Budget", "Context", "Conversation",
    "Draft", "Edit", "Ended", "Endpoint", "Entry", "Fault", "Fold", "FoldlineError", "HostFormat", "Layer", "Mark",
    "Media", "Message", "Model", "Opaque", "Part", "PastFold", "Picture", "Point", "Policy", "Reactive", "Reading",
    "Receipt", "Request", "Reset", "Role", "Row", "Sealed", "SessionError", "SessionFile", "SessionFormat",
    "SharedPrefix", "Sign", "Source", "Speaker", "Stage", "StoreFolder", "Stored", "Strategy", "Summarizer", "Summary",
    "SummaryFailed", "Tail", "Text", "Thinking", "Tool", "ToolCall", "ToolResult", "Transcript", "UnsafeEdit",
    "Usage", "View", "WireError", "WireFormat", "Wording", "bills", "budget", "connect", "decode", "decode_all",
    "detect", "drop_media", "encode", "estimate", "extract", "hard_strategies", "may_summarize", "model", "named",
    "never_summarizes", "policy", "preset", "prune_tool_outputs", "read_policy", "replace", "shorten_tool_outputs",
    "summarize_older", "summary_in", "summary_text", "text_of", "truncate", "view_of", "weigh",
]  # fmt: skip
