"""Chunks of Python: scopes, versions, subscriptions. Usage: chunks_test.py ENVIRONMENT"""

import signal
import subprocess
import textwrap
import time

import jobs

# In front of a text whose calls are to fail.
REFUSED = """
def refused(kind, part, call):
    try:
        call()
    except kind as error:
        assert part in str(error), error
    else:
        assert False, part
"""


class ChunksTest(jobs.JobTest):
    def test_scopes_make_versions_that_other_nodes_read(self):
        for coherence in ("stream", "update", "invalidate"):
            self.right(3, f"""
                c = tr.Chunk("field", (30, 40), "f4", coherence={coherence!r})
                with c.read() as a:
                    assert type(a) is np.ndarray and not a.flags.writeable and not a.any() and a.shape == (30, 40)
                tr.barrier()
                if tr.node() == 1:
                    with c.write() as a:
                        a[...] = np.arange(1200).reshape(30, 40)
                    with c.read_write() as a:
                        a += 1
                while True:
                    with c.read() as a:
                        if a[0, 0] == 1:
                            assert (a.reshape(-1) == np.arange(1, 1201)).all()
                            break
                tr.barrier()
            """)

    def test_subscribers_get_every_version_in_order(self):
        for options in ((), ("--transport", "ucx")):
            self.right(3, """
                c = tr.Chunk("numbers", 1000, "i8")
                if tr.node() != 0:
                    c.subscribe()
                tr.barrier()
                if tr.node() == 0:
                    for number in range(1, 101):
                        with c.write() as a:
                            a[...] = number
                else:
                    seen = []
                    for i, a in enumerate(c):
                        assert (a == a[0]).all() and not a.flags.writeable
                        seen.append(int(a[0]))
                        if a[0] == 100:
                            break
                    assert seen in (list(range(1, 101)), list(range(101))), seen
                    assert c.missed == 0 and c.version >= 100
                tr.barrier()
            """, *options)

    def test_the_newest_version_comes_where_a_subscriber_is_slow(self):
        self.right(2, """
            import time
            c = tr.Chunk("frames", 100, "i8")
            if tr.node() == 1:
                c.subscribe("latest")
            tr.barrier()
            if tr.node() == 0:
                for number in range(1, 301):
                    with c.write() as a:
                        a[...] = number
            else:
                seen = []
                for a in c:
                    seen.append(int(a[7]))
                    time.sleep(0.05)
                    if a[7] == 300:
                        break
                assert seen == sorted(seen) and len(seen) < 200, seen
            tr.barrier()
        """)

    def test_a_task_takes_versions_while_others_run(self):
        self.right(2, """
            import asyncio
            c, d = tr.Chunk("one", 10, "i8"), tr.Chunk("other", 10, "i8")
            async def count(chunk, last):
                seen = 0
                async for a in chunk:
                    seen += 1
                    if a[0] == last:
                        return seen
            async def both():
                beats = 0
                async def beat():
                    nonlocal beats
                    while True:
                        await asyncio.sleep(0.01)
                        beats += 1
                beating = asyncio.create_task(beat())
                got = await asyncio.gather(count(c, 20), count(d, 10))
                beating.cancel()
                return got, beats
            if tr.node() == 1:
                c.subscribe(), d.subscribe("latest")
            tr.barrier()
            if tr.node() == 0:
                import time
                for number in range(1, 21):
                    time.sleep(0.02)
                    with c.write() as a:
                        a[...] = number
                    if number <= 10:
                        with d.write() as a:
                            a[...] = number
            else:
                (first, second), beats = asyncio.run(both())
                assert first in (20, 21) and 1 <= second <= 11 and beats >= 5, (first, second, beats)
                async def ends():
                    asyncio.get_running_loop().call_later(0.1, c.unsubscribe)
                    return [1 async for a in c]
                asyncio.run(ends())
            tr.barrier()
        """)

    def test_a_view_that_outlives_its_scope_is_an_error(self):
        self.right(0, """
            c = tr.Chunk("frame", (4, 5))
            def refused(part, make):
                kept = []
                try:
                    with c.write() as a:
                        make(a, kept)
                except BufferError as error:
                    assert part in str(error), error
                else:
                    assert False, part
            refused("a view of it is kept", lambda a, kept: kept.append(a[1:]))
            refused("a view of it is kept", lambda a, kept: kept.append(a.T.reshape(-1, 2, order="F")))
            refused("another name or object", lambda a, kept: kept.append(a))
            refused("another name or object", lambda a, kept: kept.append(memoryview(a)))
            refused("another name or object", lambda a, kept: kept.append(np.asarray(memoryview(a))))
            with c.write() as a:                                # the last scope has ended with its view
                a[...] = 5
                total, copy = a.sum(), a[1:].copy()
            assert total == 100 and copy.sum() == 75
            assert "whose scope is over" in str(a)
            for use in (lambda: a + 1, lambda: a[0, 0], lambda: a.mean()):
                try:
                    use()
                except (TypeError, IndexError):
                    continue
                assert False
            def raises():
                with c.write() as a:
                    row = a[1]
                    raise KeyError("this one")
            try:
                raises()
            except KeyError as error:
                assert error.args == ("this one",)
            with c.read() as a:
                assert a.shape == (4, 5)
        """)

    def test_versions_of_a_loop_stay_while_they_are_held(self):
        self.right(0, """
            c = tr.Chunk("frame", 1000)
            c.subscribe(window=4)
            with c.write() as a:
                a[...] = 0
            kept = []
            try:
                for number, a in enumerate(c):
                    kept.append(a)
                    with c.write(timeout=5) as b:
                        b[...] = number + 1
            except BufferError as error:
                assert "all that its window of 4 has room for" in str(error), error
            else:
                assert False
            assert [int(one.sum()) for one in kept] == [1000 * number for number in range(len(kept))] and len(kept) >= 4
            del a, kept[1:]
            assert c.take(timeout=5)[0] > 0 and kept[0].sum() == 0
            c.unsubscribe()
            c.subscribe("latest")
            first = c.take(timeout=5)
            view = first[:2]
            try:
                c.take(timeout=0.1)
            except BufferError as error:
                assert "a view of it is kept" in str(error)
            else:
                assert False
            del view
            assert "which is over" in str(first)
            with c.write() as b:
                b[...] = 77
            assert c.take(timeout=5)[0] == 77
            try:
                c.take(timeout=0.1)
            except TimeoutError as error:
                assert "within 0.1 s" in str(error)
            else:
                assert False
        """)

    def test_versions_have_the_buffer_protocol_and_dlpack(self):
        self.right(0, """
            c = tr.Chunk("frame", (3, 4), "i4")
            with c.write() as a:
                a[...] = np.arange(12).reshape(3, 4)
            a = c.take()
            view = memoryview(a)
            assert view.readonly and view.shape == (3, 4) and view.format == "i" and bytes(view[:1].tobytes())[4] == 1
            try:
                other = np.from_dlpack(a)
            except (BufferError, TypeError) as error:     # NumPy before 2.1 has no read-only DLPack
                assert tuple(map(int, np.__version__.split(".")[:2])) < (2, 1), error
            else:
                assert not other.flags.writeable and np.shares_memory(a, other) and other[2, 3] == 11
            try:
                a[0, 0] = 1
            except ValueError:
                pass
            else:
                assert False
            import pickle
            copy = pickle.loads(pickle.dumps(a))
            assert not np.shares_memory(a, copy) and (copy == a).all()
        """)

    def test_structured_versions_and_chunks_that_are_found(self):
        self.right(2, """
            kind = np.dtype([("number", "i8"), ("image", "u1", (4, 6))])
            if tr.node() == 0:
                import time
                time.sleep(0.3)
                c = tr.Chunk("camera", (), kind, home=1)
            else:
                c = tr.Chunk.find("camera", timeout=30)
                assert c.shape == () and c.dtype == kind
            tr.barrier()
            if tr.node() == 0:
                with c.write() as a:
                    a["number"], a["image"] = 7, 9
            else:
                for a in c:
                    if a["number"] == 7:
                        assert a["image"].sum() == 9 * 24
                        break
            tr.barrier()
        """)

    def test_versions_are_recorded_and_replayed(self):
        self.right(2, """
            import os, tempfile, time
            live, again = (tr.Chunk(name, (3, 4), "f4") for name in ("live", "again"))
            (live if tr.node() == 1 else again).subscribe()
            tr.barrier()
            path = f"{tempfile.gettempdir()}/recorded.{os.getpid()}"
            if tr.node() == 0:
                for number in range(10):
                    with live.write() as a:
                        a[...] = number
                    time.sleep(0.02)
                assert [int(again.take(20).sum()) for _ in range(10)] == [12 * n for n in range(10)]
            else:
                try:
                    assert live.record(path, versions=10) == 10
                    with tr.Recording(path) as recording:
                        assert recording.shape == (3, 4) and recording.dtype == np.float32
                        assert abs(recording.begin - time.time()) < 60
                        seen = [(recording.version, recording.time, a.copy()) for a in recording]
                    assert [version for version, _, _ in seen] == list(range(1, 11))
                    assert [int(a[0, 0]) for _, _, a in seen] == list(range(10))
                    took = seen[-1][1] - seen[0][1]
                    assert took > 0.15, took
                    begin = time.monotonic()
                    assert again.replay(path, speed=0.5) == 10
                    assert time.monotonic() - begin > 2 * took
                finally:
                    os.remove(path)
            tr.barrier()
        """)

    def test_a_recording_that_was_cut_short_or_is_none_says_so(self):
        self.right(0, REFUSED + textwrap.dedent("""
            import os, tempfile
            c = tr.Chunk("frame", 100, "i8")
            c.subscribe("drop", window=8)
            with tempfile.TemporaryDirectory() as folder:
                path = folder + "/recording"
                for number in range(3):
                    with c.write() as a:
                        a[...] = number
                assert c.record(path, timeout=0.5) == 3
                whole = os.path.getsize(path)
                os.truncate(path, whole - 100)
                seen = []
                def read():
                    for a in tr.Recording(path):
                        seen.append(int(a[0]))
                refused(ValueError, "was cut short: it has 700 of 800 bytes of version 3; the 2 versions before it", read)
                assert seen == [0, 1]
                refused(ValueError, "was cut short", lambda: c.replay(path, speed=None))
                assert c.take(5)[0] == 0 and c.take(5)[0] == 1
                other = tr.Chunk("other", 100, "f8")
                refused(ValueError, "dtype int64", lambda: other.replay(path))
                refused(ValueError, "speed=0", lambda: c.replay(path, speed=0))
                refused(OSError, "No such file", lambda: tr.Recording(folder + "/none"))
                refused(OSError, "Is a directory", lambda: c.record(folder))
                open(path, "w").write("a text")
                refused(ValueError, "is no recording of a chunk", lambda: tr.Recording(path))
                assert c.record(path, timeout=0) == 0 and list(tr.Recording(path)) == []
                closed = tr.Recording(path)
                closed.close()
                refused(ValueError, "the recording is closed", lambda: list(closed))
        """))

    def test_wrong_calls_are_refused_with_a_sentence(self):
        self.right(0, REFUSED + textwrap.dedent("""
            c = tr.Chunk("a", 3)
            refused(ValueError, "has shape (3,)", lambda: tr.Chunk("a", 4))
            refused(ValueError, "dtype float64", lambda: tr.Chunk("a", 3, "i8"))
            refused(ValueError, "coherence", lambda: tr.Chunk("a", 3, coherence="update"))
            refused(ValueError, "coherence='none'", lambda: tr.Chunk("b", 3, coherence="none"))
            refused(ValueError, "at least one byte", lambda: tr.Chunk("b", 0))
            refused(ValueError, "number of a node: 0 to 0", lambda: tr.Chunk("b", 3, home=1))
            refused(ValueError, "negative", lambda: tr.Chunk("b", -3))
            refused(TypeError, "pointers", lambda: tr.Chunk("b", 3, object))
            refused(MemoryError, "'b'", lambda: tr.Chunk("b", 1 << 36))
            assert tr.Chunk("b", 3).shape == (3,)             # the name is free
            refused(TimeoutError, "'nowhere'", lambda: tr.Chunk.find("nowhere", timeout=0.2))
            refused(ValueError, "policy='none'", lambda: c.subscribe("none"))
            c.subscribe()
            refused(RuntimeError, "'a'", c.subscribe)
            c.unsubscribe()
            once = tr.Chunk("once", 3, coherence="once")
            def write(chunk, timeout=None):
                with chunk.write(timeout) as a:
                    a[...] = 1
            write(once)
            refused(RuntimeError, "once", lambda: write(once))
            with c.write() as a:
                refused(TimeoutError, "within 0.2 s", lambda: write(c, 0.2))
                a[...] = 0
        """))

    def test_control_c_interrupts_a_loop_over_versions(self):
        text = """
            import signal
            signal.signal(signal.SIGINT, signal.default_int_handler)
            c = tr.Chunk("frame", 10)
            print("waits", flush=True)
            try:
                for a in c:
                    pass
            except KeyboardInterrupt:
                print("interrupted", flush=True)
        """
        job = subprocess.Popen(jobs.command(0) + jobs.script(text), stdout=subprocess.PIPE, text=True)
        self.assertEqual(job.stdout.readline(), "waits\n")
        time.sleep(0.3)
        job.send_signal(signal.SIGINT)
        self.assertEqual(job.communicate(timeout=30)[0], "interrupted\n")
        self.assertEqual(job.returncode, 0)

    def test_a_long_wait_is_reported(self):
        outcome = jobs.run(2, """
            c = tr.Chunk("frame", 10)
            if tr.node() == 1:
                try:
                    c.take(timeout=1.5)
                except TimeoutError:
                    pass
            tr.barrier()
        """, "--patience", "0.5")
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(outcome.err.count("pyterrane: node 1 waits: terrane_chunk_take: chunk 'frame'"), 1, outcome)

    def test_a_session_with_versions_in_use_is_not_closed(self):
        self.right(0, """
            job = tr.launch(n=2)
            c = tr.Chunk("frame", 10)
            with c.write() as a:
                a[...] = 1
            a = c.take(timeout=5)
            try:
                job.close()
            except RuntimeError as error:
                assert "1 scopes or versions" in str(error)
            else:
                assert False
            del a
            job.close()
        """)


if __name__ == "__main__":
    jobs.main()
