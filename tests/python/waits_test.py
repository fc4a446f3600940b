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
