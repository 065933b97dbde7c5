"""What clients put around the user's words, and who says it: the one table of texts by which a speaker is known.

It is read by `facts.speakers`, after the marks of the file. Each row names the agents whose row it is; a row that
is not written down here makes a text the user's own.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from foldline._facts.patterns import rare
from foldline._messages import Speaker
from foldline._patterns import pattern

BLOCKS: dict[str, Speaker] = {
    # Claude Code, and all that imitate it
    "system-reminder": "harness", "system_reminder": "harness", "local-command-caveat": "harness",
    "local-command-stdout": "harness", "local-command-stderr": "harness", "new-diagnostics": "harness",
    "user-prompt-submit-hook": "harness", "session-start-hook": "harness", "hook_context": "harness",
    "ide_opened_file": "harness", "ide_selection": "harness", "ide_diagnostics": "harness",
    "command-name": "command", "command-message": "command", "command-contents": "command", "bash-input": "command",
    "command-args": "user", "bash-stdout": "tool", "bash-stderr": "tool",
    "task-notification": "peer", "task_notification": "peer", "teammate-message": "peer", "agent-message": "peer",
    # Codex
    "environment_context": "harness", "user_instructions": "harness", "INSTRUCTIONS": "harness",
    "turn_aborted": "harness", "recommended_plugins": "harness", "permissions_instructions": "harness",
    "collaboration_mode": "harness", "apps_instructions": "harness", "plugins_instructions": "harness",
    "skills_instructions": "harness", "model_switch": "harness", "personality_spec": "harness",
    "skill": "command", "user_shell_command": "tool", "subagent_notification": "peer",
    # Cline, Roo Code, Cursor
    "environment_details": "harness", "file_content": "harness", "attached_files": "harness",
    "open_and_recently_viewed_files": "harness", "additional_data": "harness", "user_info": "harness",
    "project_layout": "harness", "git_status": "harness",
    # Copilot
    "current_datetime": "harness", "sql_tables": "harness", "tagged_files": "harness", "github_references": "harness",
    "tools_changed_notice": "harness", "agent_instructions": "harness", "skill-context": "command", "user_shell_command_output": "tool",
    # Gemini CLI, OpenHands, others
    "session_context": "harness", "EXTRA_INFO": "harness", "system-notification": "harness",
    "system_notification": "harness", "cwd": "harness", "tool_result": "tool", "function_results": "tool",
}  # fmt: skip
"""Who speaks between a tag and its end; of one that holds the user's words, the tags are the harness's."""

OPEN_TAG = pattern(rf"<({'|'.join(BLOCKS)})(?=[\s>])[^>]*>")

NAMED_BLOCK = pattern(
    r"<([\w-]*(?:environment|reminder|notification|diagnostics|session|status|notice|event|heartbeat|telemetry|metadata|hinweis|aviso)[\w-]*)(?:\s[^<>]*)?>.*</\1>",
    re.DOTALL | re.I,
)
"""A text between a tag and its end that is a host's by the name of the tag."""

WHOLE_TAG = pattern(
    r"<(?!(?:a|abbr|article|aside|b|body|button|code|details|div|em|footer|form|h[1-6]|head|header|html|i|img|input|label|li|link|main|meta|nav|ol|p|path|pre|section|script|select|span|strong|style|svg|table|t[bdhr]|ul|video)[\s>])"
    r"(?![a-z_-]*(?:user|task|query|question|prompt|request|instruction|input|issue|problem|description|goal|objective|message|feedback|answer))"
    r"([a-z][a-z0-9]*(?:[_-][a-z0-9_-]+)?)((?:\s+[\w-]+=(?:\"[^\"<>\n]*\"|'[^'<>\n]*'))*)\s*>.*</\1>",
    re.DOTALL,
)
"""A text that is nothing but a tag with attributes, or with a name of several parts, and what it holds: a host wrote that, where it is
no markup and not the frame around what somebody wants."""

SENDER = pattern(
    r"\s(?:from|sender|agent|author|worker|von|absender|de|remitente|dari|pengirim)(?:[_-]?id)?=[\"']([^\"'\n]{1,60})"
)
"""An attribute of such a tag that says who speaks."""

OPERATOR = pattern(
    r"\[(?:supervisor|scheduler|watchdog|monitor|runner|orchestrator|dispatcher|autopilot|harness|hook|cron|gateway|heartbeat|daemon|controller|runtime)\b[^\]\n]{0,40}\]:? (?=\S)",
    re.IGNORECASE,
)
"""How a message begins that a program signs which runs agents."""

HOST = pattern(r"\[([A-Z][\w-]{2,24})\] (?=\S)")
"""How a message begins that an application signs with its name."""

_SYSTEM = (
    r"(?:system|auto(?:mat(?:ed|ic))?)[ -]?(?:notes?|notice|message|reminder|notification|hint|info|hinweis|nachricht|meldung|erinnerung)"
    r"|automatische (?:nachricht|erinnerung)|(?:nota|aviso|mensaje|recordatorio) (?:del sistema|automático)|(?:nota|aviso|mensagem|lembrete) do sistema"
    r"|(?:note|message|rappel) (?:du )?système|(?:catatan|pesan|pemberitahuan|pengingat) (?:dari )?sistem"
    r"|系统(?:提示|消息|通知|提醒)|系統(?:提示|訊息|通知|提醒)|システム(?:通知|メッセージ|からの?お知らせ|より)|시스템 ?(?:알림|메시지|안내|공지)"
)
SYSTEM_NOTE = pattern(
    rf"(?:[\[(（【]\s*(?:{_SYSTEM})\s*[:：].*[\])）】]|(?:{_SYSTEM})\s*[:：].*|<(?:{_SYSTEM})>.*</(?:{_SYSTEM})>"
    r"|\[[^\]\n]{0,40}(?:\buser|benutzer|usuario|usuário|utilisateur|pengguna|사용자|ユーザー|用户)[^\]\n]{0,24}(?:interrupt|unterbroch|interrump|dihentikan|중단|中断)[^\]\n]{0,40}\]"
    r"|\[[^\]\n]{0,24}(?:interrupt|unterbroch|interrump|dihentikan|중단|中断)[^\]\n]{0,24}(?:\buser|benutzer|usuario|usuário|utilisateur|pengguna|사용자|ユーザー|用户)[^\]\n]{0,24}\]"
    r"|\[(?:anfrage|solicitud|permintaan)[^\]\n]{0,60}(?:unterbrochen|interrumpida|dihentikan)\])",
    re.DOTALL | re.I,
)
"""A note that a host puts in the user's place, and says so; the words are in this form in seven languages and more."""

SKILL = "Base directory for this skill:"
"""How Claude Code begins the body of a skill."""

GIVEN = "ARGUMENTS: "
"""How Claude Code repeats, behind the body of a command, what the user gave it."""

EXPANDED = (
    "---\ndescription: ", "## User Input\n\n```", "Create or update `AGENTS.md` for this repository.\n",
    "Please analyze this codebase and create a CLAUDE.md file, which will be given", "Please analyze this codebase and create an AGENTS.md file containing:",
    "Generate a file named AGENTS.md that serves as a contributor guide for this repository.\n",
)  # fmt: skip
"""How a command begins that a client expands into what the user typed, which it then marks as such."""

OPENINGS: dict[Speaker, tuple[str, ...]] = {
    "harness": (
        # Claude Code
        "Caveat: The messages below", "API Error:", "Stop hook feedback:", "Unknown slash command", "Unknown command",
        "Unknown skill", "Continue from where you left off.", "Output token limit hit. Resume directly", "[Image: source:",
        "Your task is to create a detailed summary of the conversation",
        # Codex
        "# AGENTS.md instructions", "<permissions instructions>", "<image name=[",
        # Cline, Roo Code
        "# task_progress", "# TODO LIST UPDATE", "# Current Working Directory (", "# Current Workspace Directory (", "[TASK RESUMPTION]", "[ERROR] ",
        "(The user did not provide a new message", "Files attached by the user:",
        # opencode
        "Continue if you have next steps, or stop",
        "The previous request exceeded the provider's size limit due to large media attachments",
        # pi's extensions
        "Package the current working-tree",
        # OpenClaw
        "[Bootstrap pending]", "[OpenClaw heartbeat poll]", "Pre-compaction memory flush", "Read HEARTBEAT.md if it exists",
        "A new session was started via /new or /reset", "[SYSTEM]", "[System]", "[System:",
        # Gemini CLI
        "This is the Gemini CLI. We are setting up the context", "System: Please continue", "User has manually exited Plan Mode",
        "User has manually entered Plan Mode",
        # OpenHands, SWE-agent, mini-swe-agent, Terminus
        "Please continue working on the task on whatever approach you think is suitable",
        "Here is a demonstration of how to correctly accomplish this task", "Your output was not formatted correctly",
        "Your command contains syntax errors", "Previous response had parsing errors:", "No tool calls found in the response", "Please always provide EXACTLY ONE action",
    ),
    "command": (SKILL, "# Simplify: Code Review", *EXPANDED),
    "peer": ("Another Claude session sent",),
}  # fmt: skip
"""How a text begins that is another's from end to end."""

TEMPLATE = pattern(
    r"\A---\ndescription: [\"']?(?P<says>[^\n]+?)[\"']?\n(?:[\w-]+:[^\n]*\n)*---\n(?:(?:.{0,2000}?\n)?(?:User input|ARGUMENTS):[ \t]*\n*(?!\$ARGUMENTS)(?P<given>[^\n]+))?",
    re.DOTALL,
)
"""How a command begins that Codex and others expand into the user's message: the head of its file, and what the user gave it."""

INPUT = pattern(
    r"\A(?:[^\n]{0,80}\n+)?#{1,3} User Input\n+```\w*\n(?P<given>.*?)\n?```.{0,200}?\bconsider the user input.{0,400}?\n#{1,3} (?:Goal|Outline|Task)[^\n]*\n+(?:\d+\. )?(?P<says>(?:The text the user typed after `(?P<called>/[\w.:-]+)`)?[^\n]+)",
    re.DOTALL,
)
"""How a command of Spec Kit's begins where its head is not written: what the user gave it, and what it says it is for."""

PHASES = {
    "/speckit.plan": pattern(r"(?:\d+\. )?(?:Setup: )?Run .{0,200} parse JSON for FEATURE_SPEC, IMPL_PLAN"),
    "/speckit.checklist": pattern(r"Setup: Run .{0,200} parse JSON for FEATURE_DIR"),
    "/speckit.tasks": pattern(r"Setup: Run .{0,200} parse FEATURE_DIR"),
    "/speckit.implement": pattern(r"Run .{0,200} parse FEATURE_DIR"),
    "/speckit.clarify": pattern(r"(?:Goal: )?Detect and reduce ambiguity or missing decision points"),
    "/speckit.analyze": pattern(r"(?:Goal: )?Identify inconsistencies, duplications, ambiguities"),
    "/speckit.constitution": pattern(r"You are updating the project constitution at"),
}
"""The commands of Spec Kit by what the first line of their body orders, in its templates of 2025."""

INIT = pattern(
    r"\A(?P<says>(?:Create or update|Please analyze|Generate) [^\n]{20,80}?)(?=[.,:]? ?(?:\n|which will|containing|that serves))"
    r"(?:.{0,600}?\(honor these\):\n(?P<given>.*?)\n+## How to investigate)?",
    re.DOTALL,
)
"""How the command begins that has a project's instructions written: OpenCode, with what the user gave it, Claude Code, Codex."""

NO_REPLY = ("API Error:", "Please run /login", "No response requested.")
"""How a client begins what it writes in the agent's place where there was no reply."""

DID = rare(r"^(?:Applied edit to (?P<file>\S.*)|Commit [0-9a-f]{7,40} (?P<commit>\S.*))$", re.MULTILINE)
"""How aider says what it did of a reply."""

RUN_BY_USER = rare(r"\A<bash-input>(.+)</bash-input>\Z", re.DOTALL)
RAN_BY_USER = rare(r"\ARan `([^\n]+)`\n```\n(.*?)\n?```", re.DOTALL)
"""A command that the user ran in the client: of Claude Code, where what it put out stands in the next message, and of pi with that."""

PUT_OUT = rare(r"</?bash-std(?:out|err)>")

JOB_ENDED = rare(r"^\[\d+\][+-]?[ \t]+(?:Done|Exit \d+|Terminated|Killed)(?:\(\d+\))?[ \t]+(\S[^\n]*)$", re.MULTILINE)
"""How a shell says, amid the output of another command, that a program has ended which it left running."""

ARGUMENTS = "command-args"
OWN_COMMAND = pattern(
    r"<command-name>\s*/(?:model|effort|fast|config|theme|color|vim|voice|login|logout|exit|quit|clear|context|cost|usage|status|statusline|"
    r"doctor|help|mcp|plugins?|permissions|allowed-tools|hooks|agents|ide|terminal-setup|output-style|add-dir|resume|rename|rewind|export|copy|"
    r"memory|upgrade|release-notes|privacy-settings|keybindings|buddy|sandbox|stats|tag|branch|remote-control|extra-usage)\s*</command-name>"
)
"""Commands of Claude Code that speak to the program and to nobody else: what stands behind one is a setting."""

SIGNED_BLOCK = "<task-notification>"
"""A block whose speaker depends on what stands in it."""

SIGNED: tuple[tuple[Speaker, str, str], ...] = (
    ("peer", "Message Type: ", "\nSender: "),  # Codex: a sub-agent's report
    ("peer", "[new_task completed] Result:", "\n"),  # Roo Code: that of a task that was handed on
    ("harness", "Current terminal state:", "Are you sure you want to mark the task as complete"),  # Terminus
    ("harness", "Tool [", "] was not executed"),  # Cline: one tool for each message
    ("tool", "Ran `", "`\n```\n"),  # pi: a command that the user ran
    ("tool", "Ran `", "`\n(no output)"),
    ("harness", "# Code Review", "Code review completed"),  # pi: an extension's review
    ("tool", "<task-notification>", "<summary>Background command "),  # Claude Code: a command in the background ended
    ("tool", "<task-notification>", "<summary>Monitor "),  # what such a command printed, and that it ended
)
"""How another's text begins, and what else stands in it."""

HEAD_OF_RESULT = r"\[\w+(?: for '[\s\S]{0,8000}?')?\] Result:"
"""The pattern of what Cline and Roo Code write over what a call brought."""

RESULT = rare(rf"{HEAD_OF_RESULT}|EXECUTION RESULT of \[|<returncode>|<observation>|<task>\s*</task>")
"""How the tools of Cline, Roo Code, OpenHands and mini-swe-agent answer in the user's role."""

ADDRESSED = pattern(
    r"\[(?:sub-?)?agent\b[^\]\n]{0,60}\]|\[[\w .-]{1,30} (?:→|->) [\w .-]{1,30}[^\]\n]{0,30}\]|\[from (?:the )?[\w-]{1,30} agent\b",
    re.I,
)
"""How hosts of several agents put sender and receiver before what one of them reports."""

OBSERVATIONS = (
    "observation:", "<observation", "<output>", "<returncode>", "tool result", "tool output", "<tool_response>",
    "<tool_result", "<function_result", "execution result", "execution output", "exitcode:", "exit code", "exit status",
    "command output", "output:", "stdout:", "result:", "api response", "[tool",
)  # fmt: skip
"""How what came of an action begins, in small letters, where the agent acts by text."""

PROTOCOL = (
    "exactly one", "single command", "*single*", "_single_", "one command", "one action", "wait for a response from the shell",
)  # fmt: skip
"""What a prompt says, in small letters, that tells the model to act by text, where it speaks of these as well."""

PROTOCOL_OF = ("command", "shell", "bash", "action:")

_TOOL_TAGS = (
    "execute_command|read_file|write_to_file|replace_in_file|apply_diff|insert_content|search_and_replace|search_files|"
    "list_files|list_code_definition_names|codebase_search|browser_action|use_mcp_tool|access_mcp_resource|new_task|"
    "switch_mode|update_todo_list|fetch_instructions|ask_followup_question|attempt_completion|plan_mode_respond|load_mcp_documentation|"
    "command|tool_call|tool_use|tool_code|function_call|function_calls|invoke|execute_bash|execute_ipython|execute_browse|bash|execute"
)
ACTS = pattern(
    rf'\n\s*(?:Action(?: \d+)?:(?!\s*None\b)|<(?:{_TOOL_TAGS})(?:\s[^<>\n]*)?>)|<(?:function=|keystrokes[ >])|"(?:keystrokes|load_skill)"\s*:'
)
"""A call that a reply makes by text, with a line's end before the reply: ReAct's `Action:`, OpenHands' `<function=`, the tags of
Cline and others, what Terminus types. It is tried only where one of three signs stands, since each alternative begins with one."""

ACTION_SIGNS = ("<", "Action", '"keystrokes"', '"load_skill"')
"""One of these stands in every such call."""

FINAL = "Final Answer:"
"""What ends a ReAct agent's turn: the next words are the user's."""


class Frame(NamedTuple):
    """A text of which only a part is the user's: what every one of them contains, and the whole; `whole` where the part is a task, and
    who speaks `behind` it."""

    sign: str
    pattern: re.Pattern[str]
    whole: bool = False
    behind: Literal["harness", "command"] = "harness"


def _frame(sign: str, regex: str, *, whole: bool = False, behind: Literal["harness", "command"] = "harness") -> Frame:
    return Frame(sign, pattern(regex, re.DOTALL), whole, behind)


_UPLOADED = r"(?:<uploaded_files>(?:(?!<(?:pr|issue)_description>).)*)?"

FRAMES: tuple[Frame, ...] = (
    # OpenHands, for models that call tools by text
    _frame("END OF EXAMPLE", r"Here's a running example of how to perform a task.*?END OF EXAMPLE.*?-+ NEW TASK DESCRIPTION -+\n(.*?)(?=\n-+ END OF NEW TASK DESCRIPTION -+|\Z)"),
    # SWE-agent; its challenges
    _frame("ISSUE:", r"We're currently solving the following issue[^\n]*\nISSUE:\n(.*?)(?=\nINSTRUCTIONS:\n|\Z)", whole=True),
    _frame("solving the following CTF", r"(We're currently solving the following CTF challenge.*?)(?=\nINSTRUCTIONS:\n|\Z)", whole=True),
    # SWE-agent 1.0, mini-swe-agent, OpenHands' benchmarks
    _frame("</pr_description>", rf"{_UPLOADED}<pr_description>\s*(?:Consider the following PR description:)?(.*?)</pr_description>", whole=True),
    _frame("</issue_description>", rf"{_UPLOADED}<issue_description>(.*?)</issue_description>", whole=True),
    _frame("You can execute bash commands", r"Please solve this (?:issue|task):(.*?)(?=\n\nYou can execute bash commands)", whole=True),
    # Cline, Roo Code
    _frame("</task>", r"<task>(.*?)</task>"),
    _frame("</user_input>", r"<user_input[^<>\n]*>(.*?)</user_input>"),
    _frame("</user_message>", r"(?:(?:\[TASK RESUMPTION\]|New (?:message|instructions) |\[\w+\] Result:)(?:(?!<user_message>).)*)?<user_message>(.*?)</user_message>"),
    _frame("</answer>", r"(?:\[ask_followup_question(?:(?!<answer>).)*\] Result:\s*)?<answer>(.*?)</answer>"),
    _frame("</feedback>", r"(?:[^<]{0,600}?\b(?:feedback|denied)\b[^<]{0,300})?<feedback>(.*?)</feedback>"),
    # prompts of users' own that put what follows a command's name into a tag; Antigravity
    _frame("</user_request>", r"<user_request>(.*?)</user_request>", behind="command"),
    _frame("</USER_REQUEST>", r"<USER_REQUEST>(.*?)</USER_REQUEST>"),
    # Terminus
    _frame("\nTask Description:\n", r"You are an AI assistant tasked with solving command-line tasks.*?\nTask Description:\n(.*?)(?=\n+Current terminal state:\n|\Z)", whole=True),
    # Copilot in an editor, which says the request twice where what it put around that is shown with it
    _frame("</userRequest>", r"(?:.*?</\w+>\s*)?<userRequest>(.*?)</userRequest>"),
    # Gemini in an editor, which says which file is open and which are selected
    _frame("\nCurrent File Path:\n```", r"(.*?)\n+Current File Path:\n```.*\Z"),
    # Codex in an editor
    _frame("## My request for Codex:", r"# [^\n]*\n.*?## My request for Codex:[^\n]*\n(.*)\Z"),
)  # fmt: skip
"""The templates around a task, an answer or an objection of the user."""

COMMENT = pattern(r"^[ \t]*<!--.*?-->[ \t]*\n?", re.DOTALL | re.MULTILINE)
"""What the template of an issue says to who files it, which its page does not show."""

REFUSALS: tuple[Frame, ...] = (
    _frame("The user said:", r"Permission for this tool use was denied.{0,400}?The user said:\s*\n(.*?)(?=\s*(?:<system-reminder>|\n\nNote: The user's next message|\Z))"),  # Claude Code, later
    _frame("the user said:", r"The user doesn't want to .{0,400}?the user said:\s*\n(.*?)(?=\s*(?:<system-reminder>|\n\nNote: The user's next message|\Z))"),  # Claude Code
    _frame("reason for the rejection:", r"The user doesn't want to .{0,400}?following reason for the rejection:\s*(.*?)(?=\s*(?:<system-reminder>|\n\nNote: The user's next message|\Z))"),  # Claude Code, newer
    _frame("following feedback:", r"The user rejected permission to use this specific tool call with the following feedback:\s*(.*)\Z"),  # opencode
    _frame("User feedback:", r"The user rejected this tool call\. User feedback:\s*(.*?)\.?\s*\Z"),  # Copilot
    _frame("<feedback>", r"(?:\[[^\n]*\] Result:\s*)?The user denied this operation[^<]{0,200}<feedback>(.*?)</feedback>"),  # Cline
    _frame('"denied"', r'\{"status":\s*"denied".*?"feedback":\s*"((?:[^"\\]|\\.)*)"'),  # Roo Code
)  # fmt: skip
"""How a tool's result begins that the user refused, and in which words."""

DENIED = pattern(r"(?:\[[^\]\n]{1,2000}\] Result:\s*)?The user denied this operation\b")
"""How Cline begins what it says of a call that the user refused, which it does not call an error."""

REFUSED = pattern(
    r"(?:\[Operation Cancelled\] Reason: User (?:did not allow|denied)|the user (?:doesn't want|does not want|rejected|denied|declined)|(?:rejected|denied|declined) by (?:the )?user|tool use was denied\. .{0,200}The user said:)",
    re.IGNORECASE,
)
"""How a client says that the user refused a call, which is no error; what the user said to it is read where it was said."""

BROKE = "Script failed\n"
"""How Codex says that code of the agent's did not run to its end."""

RULED_OUT = rare(
    r"\A\s*(?:Script error:\n)?exec_command failed for `.*` rejected: (?P<codex>[^\\\"\n]{3,200})"
    r"|\A(?:<\w+>)?Permission for this action was denied by [^\n]{1,60}?\. Reason: (?P<claude>[^\n]{3,400}?)\.*(?: If you have other |$)"
    r"|\A(?:<\w+>)?Permission (?:to use \w+ [^\n]{1,2000}? has been|for this tool use was) denied\.",
    re.DOTALL | re.MULTILINE,
)
"""How a client says that its rules do not allow a call, which was not made, and why: Codex, Claude Code."""

UNREAD = pattern(
    r"\s*(?:\[ERROR\] )?((?:Please always provide EXACTLY ONE action|Your output was not formatted correctly|Your command contains syntax errors"
    r"|No tool calls found in the response|Previous response had parsing errors:|You did not use a tool in your previous response).*)"
)
"""How a harness says that it could not read an action out of a reply, and carried out nothing: mini-swe-agent, SWE-agent, Terminus,
Cline."""

SPEAKING = pattern(
    r"<(attempt_completion|plan_mode_respond|ask_followup_question)>(?:(?!<(?:result|response|question)>).)*"
    r"<(result|response|question)>(?P<said>.*?)(?:</\2>.*?(?:</\1>|\Z)|\Z)",
    re.DOTALL,
)
"""The tags of Cline and Roo Code in which an agent that acts by text speaks to the user."""

ASKS = frozenset((
    "askuserquestion", "askuserquestions", "askuser", "askhuman", "humaninput", "getuserinput", "requestuserinput", "question",
    "askquestion", "askquestions", "askfollowupquestion", "askforclarification", "clarify",
))  # fmt: skip
"""Tools that ask the user, whose result is the answer, in small letters without what joins their words."""

ASKED_BY_TEXT = "[ask_followup_question"
"""How the answer begins to what an agent asked of Cline or Roo Code that acts by text."""

ASKED_OF = frozenset((
    "repo", "reponame", "repository", "owner", "url", "library", "libraryid", "libraryname", "file", "filepath", "path", "document",
    "documents", "docs", "collection", "index", "database", "model", "agent", "agentid", "topic",
))  # fmt: skip
"""Arguments by which a tool asks something else than the user, as that of a wiki asks a repository; in small letters without what
joins their words."""

REPORTS = frozenset(("attempt_completion", "plan_mode_respond"))
"""Tools that report to the user, whose result may hold an answer in tags."""

QUESTIONS = ("questions", "question", "prompt", "message", "query")
"""The arguments in which a tool asks."""

NO_ANSWER = pattern(
    r"\W*(?:error\b|(?:the )?(?:user|request|question|operation|prompt)s? (?:has |was |is |were )?(?:cancel|declin|dismiss|skipp|abort|did not|didn.t|not? )|"
    r"no (?:answer|response|input|reply)|timed? ?out|cancell?ed|waiting)",
    re.IGNORECASE,
)
"""How a tool that asks says that it has no answer."""

ANSWER = pattern(
    r"\A\s*(?:(?:the )?(?:user|human)(?:.s)? (?:has )?(?:answer(?:ed)?|respon(?:ded|se)|repl(?:ied|y)|said|select(?:ed|ion)|chose|chosen|input)|answer|a)"
    r"[^:\n]{0,30}:\s*",
    re.IGNORECASE,
)
"""What a tool puts before an answer."""

ANSWERED = ("answers", "answer", "response", "feedback", "user_message")
"""Tags around an answer of the user, in Cline and Roo Code, and names of it in a record."""

QUOTED_ANSWER = pattern(r'"="((?:[^"\\]|\\.|"(?![,.\s]|\Z))*)"')
"""An answer behind its question, as Claude Code and opencode write them."""

ANSWERED_LINE = pattern(r"^[^\n]{2,300}\? ?(?:->|=>|→) ?([^\n]+)$", re.MULTILINE)
"""An answer behind its question, each pair in a line."""

NOTIFIES = pattern(
    r"\s*(?:termux-notification|notify-send|terminal-notifier|osascript -e ['\"]display notification|paplay|afplay) "
)
"""A command that calls the user to the screen."""

SPEAKS: dict[str, str] = {
    "attempt_completion": "result", "plan_mode_respond": "response",  # Cline
    "finish": "message", "submit_final": "answer", "final_answer": "answer", "respond": "content",  # OpenHands, smolagents, tau-bench
    "ExitPlanMode": "plan", "exit_plan_mode": "plan",  # Claude Code, Qwen Code
    "task_complete": "summary",  # Copilot
}  # fmt: skip
"""Tools that speak beside those that ask: the argument in which the agent says something to the user."""

THINKS: dict[str, str] = {
    "think": "thought", "sequentialthinking": "thought", "update_topic": "summary", "report_intent": "intent",
}  # fmt: skip
"""Tools that do nothing but note a thought down, as OpenHands, tau-bench, Gemini CLI and Copilot have them: the argument in which it
stands."""

ATTACHED = ("--- Content from referenced files ---", "--- End of content ---")
"""Between which texts Gemini CLI and Qwen Code put the files that a user named."""

SAID_IN = ("message", "response", "reply", "answer", "final_answer", "content", "text")
"""The fields in which an agent says something that replies with records."""

SHOWN_FILE, LEAST_SHOWN = pattern(r"(?:[A-Za-z]:[\\/]|/)[^\s<>|\"]{3,200}\n\s*\n(?=\s*\S)"), 3
"""How a message begins that Qwen Code's companion in an editor sends with the file that it shows; how often before it is known by that."""

LINES = pattern(
    r"^(?:\[Request interrupted by user[^\]\n]*\]|\[Queued messages while agent was busy\]|System: \[[^\n]*|---\nQueued #\d+"
    r"|\[message_id: [^\]\n]*\]|\[media attached[^\]\n]*\]|To send an image back, prefer the message tool[^\n]*"
    r"|Full transcript available at: \S+|Read the output file to retrieve the result: \S+"
    r"|If you need specific details from before exiting plan mode \([^\n]*\), read the full transcript at: [^\n]+"
    r"|If this plan can be broken down into multiple independent tasks, consider using the \w+ tool [^\n]*)[ \t]*$"
    r"|^ou_[0-9a-f]{16,}: (?=\S)"
    r"|^\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{4}-\d\d-\d\d[^\]\n]*\] ",
    re.MULTILINE,
)
"""Lines of Claude Code and OpenClaw between the user's own: of Claude Code also what it puts behind a plan and behind what ended."""

LINE_SIGNS = (
    "[",
    "ou_",
    "To send an image back",
    "Queued #",
    " transcript ",
    "Read the output file",
    "If this plan can ",
)
"""One of these stands in every such line."""

METADATA = pattern(r"^[\w ]{3,40}\(untrusted[^)\n]*\):\s*\n```[a-z]*\n.*?\n```\s*", re.DOTALL | re.MULTILINE)
"""OpenClaw: what it knows of the sender and of the conversation."""

SLASH = pattern(r"/[\w:-]*$")
"""A command of a client without arguments."""

STOPS = ("[Request interrupted by user", "<turn_aborted>", "[Operation Cancelled] Reason: Operation cancelled")
"""How a text begins that tells of a stop by the user: Claude Code, Codex, Gemini CLI."""

SUMMARY = rare(
    r"(?:This session is being continued from a previous conversation|Another language model (?:has )?(?:started|worked)|"
    r"The conversation history before this point was compacted|The following is a summary of a branch that|"
    r"\[COMPACT SUMMARY\]|## Session Summary \(Compaction|<state_snapshot>|"
    r"<(?:conversation-|context_|compact_)?summary>|\[Context truncated|\[CONTEXT COMPACTION|Here is a summary of the conversation)",
    re.IGNORECASE,
)
"""How the summary of another compactor begins."""
