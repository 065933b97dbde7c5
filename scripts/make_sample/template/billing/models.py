"""What an invoice is made of; plain dataclasses that know how to become JSON and back."""

from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any, Dict, List, Optional

from billing.money import Money, total
from billing.tax import applied_rate

DRAFT, ISSUED, PAID, CANCELLED = "draft", "issued", "paid", "cancelled"

#: What may follow what.
NEXT = {DRAFT: {ISSUED, CANCELLED}, ISSUED: {PAID, CANCELLED}, PAID: set(), CANCELLED: set()}


class BadTransition(ValueError):
    """An invoice was asked to go where its state does not let it."""


@dataclass(frozen=True)
class Customer:
    """Who pays; `vat_id` only for businesses."""

    id: str
    name: str
    country: str
    vat_id: Optional[str] = None
    email: Optional[str] = None

    def to_json(self) -> Dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "country": self.country,
            "vat_id": self.vat_id,
            "email": self.email,
        }

    @classmethod
    def from_json(cls, data: Dict[str, Any]) -> "Customer":
        return cls(data["id"], data["name"], data["country"], data.get("vat_id"), data.get("email"))


@dataclass(frozen=True)
class Line:
    """One position: quantity times unit price, with the rate it was sold at."""

    text: str
    quantity: Decimal
    unit_price: Money
    reduced: bool = False

    def net(self) -> Money:
        return (self.unit_price * self.quantity).rounded()

    def to_json(self) -> Dict[str, Any]:
        return {
            "text": self.text,
            "quantity": str(self.quantity),
            "unit_price": str(self.unit_price.amount),
            "currency": self.unit_price.currency,
            "reduced": self.reduced,
        }

    @classmethod
    def from_json(cls, data: Dict[str, Any]) -> "Line":
        price = Money.of(data["unit_price"], data.get("currency", "EUR"))
        return cls(data["text"], Decimal(data["quantity"]), price, bool(data.get("reduced")))


@dataclass(frozen=True)
class Invoice:
    """An invoice; every change gives a new one."""

    customer: Customer
    lines: List[Line]
    issued_on: date
    number: Optional[str] = None
    state: str = DRAFT
    paid_on: Optional[date] = None
    documents: List[str] = field(default_factory=list)

    @property
    def currency(self) -> str:
        return self.lines[0].unit_price.currency if self.lines else "EUR"

    def net(self) -> Money:
        return total((line.net() for line in self.lines), self.currency)

    def tax(self) -> Money:
        """Tax for each line, rounded for each line, as the tax office wants it."""
        parts = []
        for line in self.lines:
            rate = applied_rate(self.customer.country, self.customer.vat_id, self.issued_on, line.reduced)
            parts.append((line.net() * (rate / Decimal(100))).rounded())
        return total(parts, self.currency)

    def gross(self) -> Money:
        return self.net() + self.tax()

    def moved(self, state: str, on: Optional[date] = None) -> "Invoice":
        """Return the invoice in another state, or refuse."""
        if state not in NEXT[self.state]:
            raise BadTransition(f"{self.number or 'draft'}: {self.state} cannot become {state}")
        return replace(self, state=state, paid_on=on if state == PAID else self.paid_on)

    def to_json(self) -> Dict[str, Any]:
        return {
            "number": self.number,
            "state": self.state,
            "customer": self.customer.to_json(),
            "lines": [line.to_json() for line in self.lines],
            "issued_on": self.issued_on.isoformat(),
            "paid_on": self.paid_on.isoformat() if self.paid_on else None,
            "documents": list(self.documents),
            "net": str(self.net().amount),
            "tax": str(self.tax().amount),
            "gross": str(self.gross().amount),
            "currency": self.currency,
        }

    @classmethod
    def from_json(cls, data: Dict[str, Any]) -> "Invoice":
        paid = data.get("paid_on")
        return cls(
            customer=Customer.from_json(data["customer"]),
            lines=[Line.from_json(line) for line in data["lines"]],
            issued_on=date.fromisoformat(data["issued_on"]),
            number=data.get("number"),
            state=data.get("state", DRAFT),
            paid_on=date.fromisoformat(paid) if paid else None,
            documents=list(data.get("documents", [])),
        )
