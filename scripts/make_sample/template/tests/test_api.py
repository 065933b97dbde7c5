import inspect
import unittest

from billing.api import Api, ApiError
from billing.server import answer
from tests.helpers import Case

CUSTOMER = {"id": "c-9", "name": "Mira Toth", "country": "HU"}
LINES = [{"text": "Seat", "quantity": "3", "unit_price": "9.99"}]

FROZEN = {
    "create_invoice": "(customer, lines, issued_on=None, *, issue=True)",
    "get_invoice": "(number)",
    "list_invoices": "(state=None, customer=None, since=None, limit=100)",
    "pay_invoice": "(number, paid_on=None)",
    "cancel_invoice": "(number)",
    "list_documents": "(number)",
    "health": "()",
}

KEYS = [
    "number", "state", "customer", "lines", "issued_on", "paid_on", "documents", "net", "tax", "gross", "currency",
]  # fmt: skip


def shape(function) -> str:
    parameters = []
    for parameter in inspect.signature(function).parameters.values():
        parameters.append(parameter.replace(annotation=inspect.Parameter.empty))
    return str(inspect.Signature([p for p in parameters if p.name != "self"]))


class ApiTest(Case):
    def make(self, **more):
        return self.api.create_invoice(CUSTOMER, LINES, "2025-03-14", **more)

    def test_signatures_are_frozen(self):
        public = {name: shape(call) for name, call in vars(Api).items() if not name.startswith("_")}
        self.assertEqual(public, FROZEN)

    def test_keys_are_frozen(self):
        self.assertEqual(list(self.make()), KEYS)

    def test_create(self):
        made = self.make()
        self.assertEqual((made["number"], made["state"]), ("INV-2025-00001", "issued"))
        self.assertEqual((made["net"], made["tax"], made["gross"]), ("29.97", "8.09", "38.06"))

    def test_errors_have_codes(self):
        for lines, code in (([], "no_lines"), ([{"text": "x"}], "bad_invoice")):
            with self.assertRaises(ApiError) as caught:
                self.api.create_invoice(CUSTOMER, lines)
            self.assertEqual(caught.exception.code, code)
        mixed = [*LINES, {"text": "x", "quantity": "1", "unit_price": "1", "currency": "USD"}]
        with self.assertRaises(ApiError) as caught:
            self.api.create_invoice(CUSTOMER, mixed)
        self.assertEqual(caught.exception.code, "mixed_currencies")

    def test_pay_then_cancel_is_refused(self):
        number = self.make()["number"]
        self.api.pay_invoice(number, "2025-04-01")
        status, body = answer(self.api, "DELETE", f"/v1/invoices/{number}", None)
        self.assertEqual((status, body["error"]["code"]), (409, "bad_transition"))

    def test_routes(self):
        self.make()
        self.assertEqual(answer(self.api, "GET", "/healthz", None)[1]["status"], "ok")
        self.assertEqual(answer(self.api, "GET", "/v1/invoices?state=issued&limit=5", None)[1]["count"], 1)
        self.assertEqual(answer(self.api, "PUT", "/v1/invoices", None)[0], 405)
        self.assertEqual(answer(self.api, "GET", "/v2/invoices", None)[0], 404)
        self.assertEqual(answer(self.api, "POST", "/v1/invoices", b'{"nonsense": 1}')[0], 400)


if __name__ == "__main__":
    unittest.main()
