"""The newest price of each symbol: one process keeps them, and others look or follow.

    python newest_prices.py [SECONDS]          # changes a price a hundred times a second
    python newest_prices.py get EURUSD         # in other terminals: the newest, at once
    python newest_prices.py follow             # each change
    annulus get prices                         # the same by the program, from a shell
"""

from __future__ import annotations

import random
import sys
import time

import annulus

PRICES = {"EURUSD": 1.0921, "USDJPY": 149.25, "GBPUSD": 1.2634}


def keep(seconds: float) -> None:
    with annulus.publish_newest("prices", [("bid", "f8"), ("ask", "f8")], cells=100) as prices:
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            symbol, price = random.choice(list(PRICES.items()))
            PRICES[symbol] = price * random.uniform(0.9999, 1.0001)
            prices[symbol] = (PRICES[symbol], PRICES[symbol] * 1.0001)
            time.sleep(0.01)


def follow() -> None:
    for change in annulus.read_newest("prices", timeout=60).changes():
        print(f"{change.key}: {change.value['bid']:.4f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["get"]:
        print(annulus.read_newest("prices")[sys.argv[2]])
    elif sys.argv[1:] == ["follow"]:
        follow()
    else:
        keep(float(sys.argv[1]) if len(sys.argv) > 1 else float("inf"))
