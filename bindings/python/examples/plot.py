"""Draws the quotes of a live ring: a panel for each symbol, between its bid and its ask.

    python plot.py [FILE.png]             the quotes of one second, as a picture
    python plot.py --live [FILE.png]      those of ten seconds, again and again, in a window or a file

Needs matplotlib, and a publisher: publish_quotes.py, or the example `publish_quotes` in Rust.
"""

from __future__ import annotations

import argparse
import collections
from typing import Any

import annulus
import matplotlib
import numpy as np

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("file", nargs="?")
parser.add_argument("--live", action="store_true")
parser.add_argument("--rounds", type=int, metavar="N", help="with --live: end after so many pictures")
given = parser.parse_args()
if given.file or not given.live:
    matplotlib.use("Agg")  # pictures, without a window
import matplotlib.dates as dates  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402

SECONDS = 10.0 if given.live else 1.0
EACH = 0.5 if given.live else SECONDS


def draw(figure: Any, quotes: Any) -> None:
    figure.clear()
    names = annulus.text(quotes["symbol"])
    symbols = sorted(set(names))
    panels = figure.subplots(max(len(symbols), 1), sharex=True, squeeze=False)[:, 0]
    for number, (panel, symbol) in enumerate(zip(panels, symbols)):
        of = quotes[names == symbol]
        time, colour = of["time"].astype("M8[ns]"), f"C{number}"
        panel.fill_between(time, of["bid"], of["ask"], step="post", alpha=0.3, color=colour, linewidth=0)
        panel.step(time, (of["bid"] + of["ask"]) / 2, where="post", color=colour, linewidth=1)
        panel.set_title(
            f"{symbol}: bid {of['bid'][-1]:.6g}, ask {of['ask'][-1]:.6g}", loc="left", fontsize=10
        )
        panel.ticklabel_format(axis="y", useOffset=False)
        panel.locator_params(axis="y", nbins=4)
        panel.grid(alpha=0.3)
        panel.margins(x=0)
    ticks = dates.AutoDateLocator(maxticks=7)
    panels[-1].xaxis.set_major_locator(ticks)
    panels[-1].xaxis.set_major_formatter(dates.ConciseDateFormatter(ticks))


sub = annulus.subscribe("quotes", timeout=None)
figure = plt.figure(figsize=(8, 6), layout="constrained")
file = given.file or "quotes.png"
batches: collections.deque[Any] = collections.deque(maxlen=round(SECONDS / EACH))
rounds = given.rounds if given.live else 1
while rounds is None or rounds > 0:
    batches.append(annulus.collect(sub, seconds=EACH))
    draw(figure, np.concatenate(batches))
    if given.file or not given.live:
        figure.savefig(file)
    else:
        plt.pause(0.01)
    if rounds is not None:
        rounds -= 1
    if sub.is_closed or not plt.fignum_exists(figure.number):
        break
print(f"{sum(map(len, batches))} quotes in {file}, {sub.total_lagged} lost")
