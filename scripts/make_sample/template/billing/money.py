"""Amounts of money: decimals with a currency, rounded once, at the end of a line."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Iterable

#: Digits after the point, for the currencies where it is not two.
DIGITS = {"JPY": 0, "KRW": 0, "ISK": 0, "CLP": 0, "BHD": 3, "KWD": 3, "OMR": 3, "TND": 3}


class CurrencyMismatch(ValueError):
    """Two amounts of different currencies met in one sum."""


@dataclass(frozen=True)
class Money:
    """An amount in one currency; arithmetic keeps full precision until `rounded` is called."""

    amount: Decimal
    currency: str = "EUR"

    @classmethod
    def of(cls, text: str, currency: str = "EUR") -> "Money":
        """Read an amount from text such as "1234.50"; commas and spaces are refused."""
        if "," in text or " " in text:
            raise ValueError(f"not a plain decimal: {text!r}")
        return cls(Decimal(text), currency)

    def __add__(self, other: "Money") -> "Money":
        self._same(other)
        return Money(self.amount + other.amount, self.currency)

    def __sub__(self, other: "Money") -> "Money":
        self._same(other)
        return Money(self.amount - other.amount, self.currency)

    def __mul__(self, factor: Decimal) -> "Money":
        return Money(self.amount * factor, self.currency)

    def __neg__(self) -> "Money":
        return Money(-self.amount, self.currency)

    def rounded(self) -> "Money":
        """Round to the smallest unit of the currency."""
        unit = Decimal(1).scaleb(-DIGITS.get(self.currency, 2))
        return Money(self.amount.quantize(unit), self.currency)

    def is_zero(self) -> bool:
        return self.amount == 0

    def _same(self, other: "Money") -> None:
        if self.currency != other.currency:
            raise CurrencyMismatch(f"{self.currency} and {other.currency} in one sum")

    def __str__(self) -> str:
        return f"{self.rounded().amount} {self.currency}"


def total(amounts: Iterable[Money], currency: str = "EUR") -> Money:
    """Add amounts up; an empty sum is zero in the given currency."""
    result = Money(Decimal(0), currency)
    for amount in amounts:
        result = result + amount
    return result
