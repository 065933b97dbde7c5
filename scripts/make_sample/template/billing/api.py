"""The public API. The mobile app and two partners call these functions by name: signatures and keys are frozen.

Everything here takes and returns plain JSON values. See docs/api.md for the contract, and ask before any change.
"""

from datetime import date
from typing import Any, Dict, List, Optional

from billing import __version__
from billing.models import CANCELLED, ISSUED, PAID, BadTransition, Customer, Invoice, Line
from billing.numbering import Numbers
from billing.store import NotFound, Store


class ApiError(Exception):
    """An answer that is an error: a status and a code that clients may rely on."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message

    def to_json(self) -> Dict[str, Any]:
        return {"error": {"code": self.code, "message": self.message}}


class Api:
    """One instance for each process."""

    def __init__(self, store: Store, numbers: Numbers) -> None:
        self._store = store
        self._numbers = numbers

    def create_invoice(
        self,
        customer: Dict[str, Any],
        lines: List[Dict[str, Any]],
        issued_on: Optional[str] = None,
        *,
        issue: bool = True,
    ) -> Dict[str, Any]:
        """POST /v1/invoices"""
        if not lines:
            raise ApiError(422, "no_lines", "an invoice needs at least one line")
        try:
            day = date.fromisoformat(issued_on) if issued_on else date.today()
            draft = Invoice(Customer.from_json(customer), [Line.from_json(line) for line in lines], day)
        except (KeyError, ValueError, ArithmeticError) as error:
            raise ApiError(422, "bad_invoice", str(error)) from error
        currencies = {line.unit_price.currency for line in draft.lines}
        if len(currencies) > 1:
            raise ApiError(422, "mixed_currencies", f"one invoice, one currency: {sorted(currencies)}")
        number = self._numbers.next(day.year)
        invoice = Invoice(draft.customer, draft.lines, day, number=number)
        if issue:
            invoice = invoice.moved(ISSUED)
        self._store.add(invoice)
        return invoice.to_json()

    def get_invoice(self, number: str) -> Dict[str, Any]:
        """GET /v1/invoices/{number}"""
        return self._get(number).to_json()

    def list_invoices(
        self,
        state: Optional[str] = None,
        customer: Optional[str] = None,
        since: Optional[str] = None,
        limit: int = 100,
    ) -> Dict[str, Any]:
        """GET /v1/invoices"""
        try:
            day = date.fromisoformat(since) if since else None
        except ValueError as error:
            raise ApiError(422, "bad_date", str(error)) from error
        found = self._store.find(state, customer, day, min(max(limit, 1), 500))
        return {"invoices": [invoice.to_json() for invoice in found], "count": len(found)}

    def pay_invoice(self, number: str, paid_on: Optional[str] = None) -> Dict[str, Any]:
        """POST /v1/invoices/{number}/payment"""
        day = date.fromisoformat(paid_on) if paid_on else date.today()
        return self._move(number, PAID, day)

    def cancel_invoice(self, number: str) -> Dict[str, Any]:
        """DELETE /v1/invoices/{number}"""
        return self._move(number, CANCELLED)

    def list_documents(self, number: str) -> Dict[str, Any]:
        """GET /v1/invoices/{number}/documents"""
        self._get(number)
        return {"number": number, "documents": self._store.documents(number)}

    def health(self) -> Dict[str, Any]:
        """GET /healthz, also on the health port"""
        return {"status": "ok", "version": __version__}

    def _get(self, number: str) -> Invoice:
        try:
            return self._store.get(number)
        except NotFound:
            raise ApiError(404, "not_found", f"no invoice {number}") from None

    def _move(self, number: str, state: str, on: Optional[date] = None) -> Dict[str, Any]:
        try:
            invoice = self._get(number).moved(state, on)
        except BadTransition as error:
            raise ApiError(409, "bad_transition", str(error)) from error
        self._store.update(invoice)
        return invoice.to_json()
