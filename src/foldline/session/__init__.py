"""The append-only log: sessions in the dialect that pi and OpenClaw write."""

from foldline.session.context import Context
from foldline.session.log import Fault, PastFold, Session

__all__ = ["Context", "Fault", "PastFold", "Session"]
