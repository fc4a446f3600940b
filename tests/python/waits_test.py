"""What nodes wait for. Usage: waits_test.py ENVIRONMENT"""

import signal
import subprocess
import time

import jobs


class WaitsTest(jobs.JobTest):
    def test_what_was_written_before_is_seen_after(self):
        self.right(3, """
            me, nodes = tr.node(), tr.nodes()
            a = tr.zeros(4096, "i8")
            for turn in range(20):
                with tr.Lock("sum"):
                    a[0] += 1
            tr.barrier()
            assert a[0] == 20 * nodes
            event, counter, tickets = tr.Event("written"), tr.Counter("count"), tr.Counter("tickets")
            if me == 0:
                assert not event.is_set()
                a[1000] = 5
                event.set()
                a[2000] = 6
                counter.set(3)
            else:
                assert event.wait() and a[1000] == 5 and counter.wait(3, timeout=60) and a[2000] == 6
            mine = tickets.add()
            tr.barrier()
            assert tickets.value == nodes and tr.reduce(1 << mine, "or") == (1 << nodes) - 1
            event.clear() if me == 0 else None
            tr.barrier()
            assert not event.is_set()
        """)

    def test_reductions_are_those_of_numpy(self):
        self.right(3, """
            me = tr.node()
            assert tr.reduce(me) == 3 and tr.reduce(me, "max") == 2 and tr.reduce(me, "min") == 0
            assert tr.reduce(np.float32(0.5)) == 1.5 and tr.reduce(True) == 3 and tr.reduce(1 << me, "xor") == 7
            total = tr.reduce(np.arange(6).reshape(2, 3) * me)
            assert total.tolist() == [[0, 3, 6], [9, 12, 15]]
            for value, op, kind in ((1j, "sum", TypeError), (1, "mean", ValueError), (np.zeros(2000), "sum", ValueError)):
                try:
                    tr.reduce(value, op)
                except kind:
                    continue
                assert False, (value, op)
        """)

    def test_waits_end_in_time(self):
        self.right(2, """
            import time
            lock = tr.Lock("held")
            if tr.node() == 0:
                lock.acquire()
            tr.barrier()
            if tr.node() == 1:
                for wait in (lambda: lock.acquire(timeout=0.2), lambda: tr.Event("never").wait(0.2),
                             lambda: tr.Counter("low").wait(1, 0.2), lambda: tr.Semaphore("empty").acquire(timeout=0.2)):
                    begin = time.monotonic()
                    assert wait() is False and 0.2 <= time.monotonic() - begin < 5
                assert lock.acquire(blocking=False) is False
            tr.barrier()
            if tr.node() == 0:
                lock.release()
            tr.barrier()
            assert tr.Semaphore("two", 2).acquire()
        """)

    def test_a_barrier_with_a_limit_is_one(self):
        self.right(3, """
            me, nodes = tr.node(), tr.nodes()
            a = tr.zeros((nodes, 1000), "i8")
            for turn in range(1, 100):
                a[me] = turn
                tr.barrier(timeout=60)
                assert (a == turn).all()
                assert tr.reduce(turn * me, timeout=60) == turn * nodes * (nodes - 1) // 2
            total = tr.reduce(np.arange(6.0).reshape(2, 3) * me, "max", timeout=60)
            assert total.tolist() == [[0, 2, 4], [6, 8, 10]] and tr.reduce(1 << me, "or", 60) == (1 << nodes) - 1
            tr.barrier()
        """)

    def test_a_node_that_leaves_a_barrier_never_came(self):
        self.right(3, """
            import time
            a = tr.zeros(3, "i8")
            if tr.node() == 2:
                time.sleep(1)
            else:
                for call in (lambda: tr.barrier(timeout=0.1), lambda: tr.reduce(100, timeout=0.1), lambda: tr.barrier(0)):
                    try:
                        call()
                    except TimeoutError as error:
                        assert "node 2" in str(error) or "node 0, 2" in str(error) or "node 1, 2" in str(error), error
                    else:
                        assert False
            a[tr.node()] = 1
            tr.barrier(timeout=60)
            assert a.sum() == 3 and tr.reduce(tr.node(), "max", timeout=60) == 2
            tr.barrier()
        """)

    def test_control_c_leaves_a_barrier_with_a_limit(self):
        self.right(2, """
            import os, signal, threading, time
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if tr.node() == 0:
                for call in (lambda: tr.barrier(timeout=60), lambda: tr.reduce(5, timeout=60)):
                    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
                    try:
                        call()
                    except KeyboardInterrupt:
                        continue
                    assert False
            else:
                time.sleep(1.5)
            assert tr.reduce(1, timeout=60) == 2
        """)

    def test_wrong_limits_and_values_are_refused(self):
        self.right(2, """
            for call, kind, part in ((lambda: tr.barrier(timeout=-1), ValueError, "seconds from 0"),
                                     (lambda: tr.barrier(timeout=float("inf")), ValueError, "seconds from 0"),
                                     (lambda: tr.reduce(1.5, "xor", 60), ValueError, "for integers"),
                                     (lambda: tr.reduce([1, 2] if tr.node() else 1, timeout=60), ValueError, "values as sum int64"),
                                     (lambda: tr.reduce(1 if tr.node() else 1.0, timeout=60), ValueError, "sum float64")):
                try:
                    call()
                except kind as error:
                    assert part in str(error), error
                    continue
                assert False
        """)

    def test_other_threads_run_while_one_waits(self):
        self.right(2, """
            import threading, time
            if tr.node() == 0:
                thread = threading.Thread(target=tr.Event("go").wait)
                thread.start()
                time.sleep(0.05)
                tr.Event("go").set()                   # by this thread, while the other one waits
                thread.join()
            tr.barrier()
        """)

    def test_control_c_interrupts_a_wait(self):
        text = """
            import signal, sys
            signal.signal(signal.SIGINT, signal.default_int_handler)
            tr.node()
            print("waits", flush=True)
            try:
                {}
            except KeyboardInterrupt:
                print("interrupted", flush=True)
        """
        for wait in ('tr.Event("never").wait()', 'tr.Counter("low").wait(1)', 'tr.Semaphore("empty").acquire()'):
            job = subprocess.Popen(jobs.command(0) + jobs.script(text.format(wait)), stdout=subprocess.PIPE, text=True)
            self.assertEqual(job.stdout.readline(), "waits\n")
            time.sleep(0.2)
            job.send_signal(signal.SIGINT)
            self.assertEqual(job.communicate(timeout=30)[0], "interrupted\n", wait)
            self.assertEqual(job.returncode, 0)


if __name__ == "__main__":
    jobs.main()
