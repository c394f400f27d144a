"""A camera and its viewers, each a process of its own: frames are written once, and read where they lie.

    python camera.py [SECONDS]          # a picture 100 times a second
    python camera.py view               # in other terminals, as many as you like

A viewer that is slow, stopped or killed holds nobody up.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import annulus

SHAPE = (480, 640)


def shoot(seconds: float) -> None:
    x, y = np.meshgrid(np.arange(SHAPE[1]), np.arange(SHAPE[0]))
    with annulus.publish_frames("camera", SHAPE, "u1", subscribers=16) as camera:
        begin = time.monotonic()
        while (passed := time.monotonic() - begin) < seconds:
            with camera.loan() as frame:
                frame[...] = (x + y + int(passed * 100)) % 256
            time.sleep(0.01)


def view() -> None:
    with annulus.subscribe_frames("camera", timeout=60) as camera:
        for number, frame in enumerate(camera):
            if number % 100 == 0:
                mean, lost = frame.array.mean(), camera.total_lagged
                print(f"frame {frame.sequence}: {frame.array.shape}, mean {mean:.1f}, {lost} lost", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["view"]:
        view()
    else:
        shoot(float(sys.argv[1]) if len(sys.argv) > 1 else float("inf"))
