"""Draws one second of quotes into a picture.

python plot.py [FILE.png]
"""

from __future__ import annotations

import sys

import annulus
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

file = sys.argv[1] if len(sys.argv) > 1 else "quotes.png"
sub = annulus.subscribe("quotes", timeout=None)
quotes = annulus.collect(sub, seconds=1)
symbols = annulus.text(quotes["symbol"])

figure, axes = plt.subplots(figsize=(8, 4))
for symbol in sorted(set(symbols)):
    of = quotes[symbols == symbol]
    axes.plot(of["time"].astype("M8[ns]"), of["bid"], label=symbol)
axes.set_ylabel("bid")
axes.legend()
figure.autofmt_xdate()
figure.savefig(file)
print(f"{len(quotes)} quotes in {file}, {sub.total_lagged} lost")
