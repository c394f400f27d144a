"""A model that learns from a live ring: PyTorch predicts whether the next price goes up.

    python torch_model.py [BATCHES]

Needs torch, and a publisher: publish_quotes.py, or the example `publish_quotes` in Rust.
"""

from __future__ import annotations

import sys

import annulus
import numpy as np
import torch

BEFORE = 8  # It looks at so many changes of a price.
SYMBOL = b"EURUSD"


def examples_of(quotes: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Changes of the price, in units of 1/10,000, and the change that follows."""
    of = quotes[quotes["symbol"]["bytes"] == SYMBOL]
    # A field of records has the stride of a record, which no tensor has: the column is copied.
    bids = torch.from_numpy(np.ascontiguousarray(of["bid"]))
    changes = (bids[1:] / bids[:-1] - 1) * 1e4
    windows = changes.unfold(0, BEFORE + 1, 1)
    return windows[:, :-1].float(), (windows[:, -1:] > 0).float()


def main(batches: int) -> None:
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(BEFORE, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    loss_of = torch.nn.BCEWithLogitsLoss()
    with annulus.subscribe("quotes", timeout=None) as sub:
        for number in range(batches):
            quotes = annulus.collect(sub, seconds=0.2)
            seen, next_up = examples_of(quotes)
            if not len(seen):
                continue
            loss = loss_of(model(seen), next_up)  # before it learns from them
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f"batch {number}: {len(quotes)} quotes, {len(seen)} examples, loss {loss.item():.3f}")
        print(f"{sub.total_lagged} lost")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
