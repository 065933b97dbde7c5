"""The append-only log: sessions in the dialect that pi and OpenClaw write."""

from foldline.session.context import Context
from foldline.session.log import Session
from foldline.session.past import Fault, PastFold

__all__ = ["Context", "Fault", "PastFold", "Session"]
