"""A live ring as a data frame: the quotes of one second, by symbol. Works with any publisher, in any language.

python live_frame.py [pandas | polars]
"""

from __future__ import annotations

import sys

import annulus

if sys.argv[1:] == ["polars"]:
    quotes = annulus.frame(annulus.subscribe("quotes", timeout=None), seconds=1, library="polars")
    print(quotes.group_by("symbol").len().sort("symbol"))
else:
    quotes = annulus.frame(annulus.subscribe("quotes", timeout=None), seconds=1)
    print(quotes.groupby("symbol")[["bid", "ask"]].agg(["count", "min", "max"]))
