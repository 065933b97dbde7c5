"""The command line: serve, nightly, show."""

import argparse
import json
import logging
import sys
from datetime import date
from pathlib import Path
from typing import List, Optional

from billing.api import Api
from billing.config import load
from billing.jobs import Run
from billing.numbering import Numbers
from billing.store import Store


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="billing", description=__doc__)
    top.add_argument("--config", type=Path, default=Path("config/service.ini"))
    top.add_argument("--verbose", action="store_true")
    commands = top.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="run the HTTPS front")
    serve.add_argument("--certificate", required=True)
    serve.add_argument("--key", required=True)
    nightly = commands.add_parser("nightly", help="run the nightly jobs now")
    nightly.add_argument("--day", type=date.fromisoformat, default=None)
    show = commands.add_parser("show", help="print an invoice")
    show.add_argument("number")
    return top


def main(argv: Optional[List[str]] = None) -> int:
    args = parser().parse_args(argv)
    logging.basicConfig(
        level=logging.DEBUG if args.verbose else logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s %(message)s",
    )
    config = load(args.config)
    config.numbering.mkdir(parents=True, exist_ok=True)
    store = Store(config.database)
    api = Api(store, Numbers(config.numbering, config.prefix))
    if args.command == "serve":
        from billing.server import serve

        serve(config, api, args.certificate, args.key)
        return 0
    if args.command == "nightly":
        return 0 if Run(config, store, api, args.day)().ok else 1
    print(json.dumps(api.get_invoice(args.number), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
