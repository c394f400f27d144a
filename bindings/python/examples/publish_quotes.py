"""A publisher: a random walk of quotes, some 1,500 messages a second, until Ctrl-C or for some seconds.

    python publish_quotes.py [SECONDS]

Then `annulus watch quotes` shows them, and the other examples receive them.
"""

from __future__ import annotations

import random
import sys
import time

import annulus

SCHEMA = "quote{time:u64(ns),bid:f64,ask:f64,symbol:text 8,side:enum u8{buy=0,sell=1}}"


def main(seconds: float) -> None:
    prices = {"EURUSD": 1.09, "EURCHF": 0.94, "USDJPY": 151.2}
    with annulus.publish("quotes", schema=SCHEMA, capacity=1 << 14) as quotes:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for symbol in prices:
                prices[symbol] *= 1 + random.gauss(0, 2e-5)
                side = "buy" if random.random() < 0.5 else "sell"
                quotes.send((time.time_ns(), prices[symbol], prices[symbol] * 1.0001, symbol, side))
            time.sleep(0.002)


if __name__ == "__main__":
    try:
        main(float(sys.argv[1]) if len(sys.argv) > 1 else float("inf"))
    except KeyboardInterrupt:
        pass
