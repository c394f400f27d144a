#!/usr/bin/env bash
# From the program `annulus` to Python: lines of JSON become NumPy records.
#
#     PYTHON=python3 ANNULUS=annulus ./from_program.sh
set -euo pipefail

"${PYTHON:-python3}" -c '
import annulus
with annulus.subscribe("lines", timeout=60, start="oldest") as sub:
    print(sub.dtype)
    for message in sub:
        print(message, sub.enums["side"](message["side"]).name)
' &
"${ANNULUS:-annulus}" pub lines --json --lossless \
    --schema 'quote{bid:f64,ask:f64,side:enum u8{buy=0,sell=1}}' <<'END'
{"bid": 1.5, "ask": 1.75, "side": "buy"}
{"bid": 1.25, "ask": 1.5, "side": "sell"}
END
wait
