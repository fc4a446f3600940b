"""A camera queue: node 0 films, the last node looks at every frame, and the others show the newest one when they can.

terrane run -n 4 python camera.py [FRAMES]      a frame is written in shared memory, and read there; nothing is copied
"""

import sys
import threading
import time

import numpy as np
import pyterrane as tr

FRAME = np.dtype([("number", "i8"), ("image", "u1", (480, 640))])


def film(frames, count):
    """A ball that flies from the left to the right."""
    y, x = np.ogrid[:480, :640]
    for number in range(1, count + 1):
        with frames.write() as frame:
            frame["number"] = number
            frame["image"] = np.where((x - 600 * number // count) ** 2 + (y - 240) ** 2 < 900, 200, 10)


def track(frames, count):
    """The columns at which the ball was, of every frame."""
    columns = []
    for frame in frames:
        columns.append(int(frame["image"].max(axis=0).argmax()))
        if frame["number"] == count:
            return columns


def show(frames, count):
    """How many frames this node had the time for."""
    for shown, frame in enumerate(frames, 1):
        time.sleep(0.01)
        if frame["number"] == count:
            return shown


def main(count=50):
    frames = tr.Chunk("frames", (), FRAME, home=0)
    is_last = tr.node() == tr.nodes() - 1
    frames.subscribe("block" if is_last else "latest")
    tr.barrier()  # all have subscribed
    if tr.node() == 0:
        threading.Thread(target=film, args=(frames, count)).start()
    columns = track(frames, count) if is_last else []
    shown = count if is_last else show(frames, count)
    assert tr.reduce(shown, "max") == count
    if is_last:
        print(f"{tr.nodes()} nodes, {len(columns)} frames, the ball went from {columns[0]} to {columns[-1]}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
