"""Every public name, as a checked program uses it."""
import asyncio

import numpy as np
import pyterrane as tr


def arrays() -> float:
    a = tr.zeros((3, 4), "f4", homes="block", name="a")
    a[tr.local_rows(a)] = tr.node()
    b = tr.full(7, 2.5) + tr.ones(7) + tr.array([1] * 7) + tr.zeros_like(a[0], dtype=float).sum() + tr.empty(7, np.int32)
    tr.forget("a")
    with tr.references():
        return float(tr.find("a").sum() + b.sum())


def waits() -> bool:
    tr.barrier()
    tr.barrier(timeout=5)
    total: int = tr.reduce(tr.node(), "max", timeout=1.5)
    with tr.Lock("l") as lock, tr.Semaphore("s", 2):
        print(lock.name, tr.Counter("c").add() + total + tr.Counter(7).value, tr.nodes())
    return tr.Event("e").wait(timeout=3) and tr.Counter("c").wait(at_least=3)


def chunks() -> None:
    c = tr.Chunk("frames", (480, 640), np.uint8, home="subscriber")
    with c.write(timeout=1) as a, tr.Chunk.find("other").read() as b:
        a[...] = b
    c.subscribe("latest")
    for frame in c:
        print(frame.mean(), c.version, c.missed)

    async def newest() -> None:
        async for frame in c:
            print(frame.sum())

    asyncio.run(newest())
    print(c.record("frames.trn", versions=5, timeout=1.5), c.replay("frames.trn", speed=None), c.nbytes)
    with tr.Recording("frames.trn") as recording:
        for frame in recording:
            print(frame.shape == recording.shape, recording.time + recording.begin)


def session() -> list[object]:
    with tr.launch(n=2, hosts=["h0", "h1"], options=["--stats"]) as job:
        return job.run(arrays)
