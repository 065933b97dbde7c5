"""An agent's question answered by itself, as `foldline hook AGENT` is: loading the command line takes longer than reading a session."""

from __future__ import annotations

import gc
import os
import sys

from foldline._errors import FoldlineError

FAILED, INTERRUPTED = 1, 130


def main(agent: str) -> None:
    """Answers on standard output what is asked on standard input, and ends with the exit code."""
    gc.disable()  # what goes round in circles here is gone with the process, sooner than it would be found
    try:
        answer = answered(agent, sys.stdin.buffer.read())
        with open(sys.stdout.fileno(), "wb", closefd=False) as output:
            output.write(answer)
        os._exit(0)  # to free everything piece by piece first takes a tenth of the whole
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        sys.exit(FAILED)
    except OSError as error:
        sys.exit(f"foldline: {error.strerror}")


def answered(agent: str, data: bytes) -> bytes:
    """The line of JSON that answers a question; raises nothing."""
    import msgspec

    return msgspec.json.encode(_answer(agent, data)) + b"\n"


def _answer(agent: str, data: bytes) -> dict[str, object]:
    from foldline._desk.hook import asked_in, fold_for, not_folded, summary_for

    try:
        asked = asked_in(data)
        return fold_for(agent, asked) if asked.session else summary_for(asked)
    except FoldlineError as error:
        return not_folded(type(error).__name__, str(error))
    except Exception as error:  # noqa: BLE001  whatever it is, the agent goes on by itself
        return not_folded("Fault", f"{type(error).__name__}: {error}")
