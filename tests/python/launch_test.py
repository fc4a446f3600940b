"""Sessions that start a job of their own. Usage: launch_test.py ENVIRONMENT"""

import os
import pathlib
import signal
import subprocess
import tempfile
import time

import jobs

FUNCTIONS = """
import os, time
import numpy as np, pyterrane as tr

def fill(a, more=1):
    a[tr.local_rows(a)] = more + tr.node()
    tr.barrier()
    return tr.node(), float(a.sum())

def own():
    b = tr.zeros(100)
    b[tr.node()] = 1
    tr.barrier()
    total = b.sum()
    tr.barrier()
    return total

def fails(node):
    if tr.node() == node:
        raise KeyError("this one")
    return 1

def made():
    return tr.full(1000, 7.0, name="made") if tr.node() == 1 else None

def slow():
    time.sleep(1.5)

def dies():
    os._exit(5) if tr.node() == 1 else time.sleep(30)
"""


class LaunchTest(jobs.JobTest):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        (pathlib.Path(self._folder.name) / "functions.py").write_text(FUNCTIONS)

    def session(self, text, **more):
        text = "import os, signal, sys, time\nimport functions as f\n" + text
        environment = {**os.environ, "PYTHONPATH": self._folder.name, "PYTHONMALLOC": "malloc"}  # finds what writes after free
        return jobs.run(0, text, env=environment, cwd=self._folder.name, **more)

    def good(self, text):
        outcome = self.session(text)
        self.assertEqual((outcome.code, outcome.err), (0, ""), outcome)
        return outcome.out

    def test_functions_run_on_every_node_and_share_arrays(self):
        self.good("""
job = tr.launch(n=3)
assert (job.nodes, tr.node(), tr.nodes()) == (3, 0, 3)
a = tr.zeros((300, 4))
assert job.run(f.fill, a) == [(n, 2400.0) for n in range(3)]
assert a[299, 3] == 3
assert job.run(f.fill, a, more=5)[0] == (0, 7200.0)
b = tr.zeros(10)
assert job.run(f.own) == job.run(f.own) == [3, 3, 3]
made = job.run(f.made)[1]
assert made.sum() == 7000
np.save("made.npy", made)
assert np.array_equal(np.load("made.npy"), made)
""")

    def test_functions_of_the_session_need_cloudpickle(self):
        self.good("""
try:
    import cloudpickle
    there = True
except ImportError:
    there = False
job = tr.launch(n=2)
try:
    assert job.run(lambda: tr.node() * 2) == [0, 2] and there
except RuntimeError as error:
    assert "pip install cloudpickle" in str(error) and not there
""")

    def test_an_exception_comes_back_and_the_job_goes_on(self):
        self.good("""
job = tr.launch(n=3)
for node in range(3):
    try:
        job.run(f.fails, node)
        raise SystemExit("nothing was raised")
    except KeyError as error:
        assert error.args == ("this one",)
        assert f"on node {node} of 3" in error.__notes__[0] and "in fails" in error.__notes__[0]
assert job.run(int) == [0, 0, 0]
""")

    def test_a_job_with_arrays_in_use_is_not_closed(self):
        self.good("""
with tr.launch(n=2) as job:
    a = tr.zeros(10)
    try:
        job.close()
        raise SystemExit("closed")
    except RuntimeError as error:
        assert "1 arrays of the job are in use" in str(error)
    kept = a.copy()
    del a
for wrong, says in ((lambda: job.run(int), "the job is closed"), (lambda: tr.launch(n=2), "already"),
                    (lambda: tr.zeros(3), "has left its job")):
    try:
        wrong()
        raise SystemExit("went on")
    except RuntimeError as error:
        assert says in str(error), error
assert kept.sum() == 0
""")

    def test_an_interrupt_ends_the_wait_and_not_the_job(self):
        self.good("""
signal.signal(signal.SIGINT, signal.default_int_handler)
job = tr.launch(n=2)
import threading
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    job.run(f.slow)
    raise SystemExit("not interrupted")
except KeyboardInterrupt:
    pass
assert job.run(int) == [0, 0]
""")

    def test_a_session_that_ends_after_a_call_failed_leaves_its_memory_whole(self):
        # Without a job in between: a message of a call is freed before the functions of on_exit run.
        for _ in range(4):
            outcome = self.session("tr.node()\ntr.Event('never').wait(0.05)\ntr._job.leave()")
            self.assertEqual((outcome.code, outcome.err), (0, ""), outcome)

    def test_exit_codes_are_the_sessions(self):
        for text, code in (("sys.exit(3)", 3), ("raise ValueError('x')", 1), ("pass", 0)):
            self.assertEqual(self.session(f"job = tr.launch(n=2)\na = tr.ones(5)\n{text}").code, code, text)

    def test_nothing_is_left_of_a_session_that_is_killed_or_whose_node_dies(self):
        for text in ("os.kill(os.getpid(), signal.SIGKILL)", "job.run(f.dies)"):
            outcome = self.session(f"job = tr.launch(n=3)\n{text}")
            self.assertEqual(outcome.code, -signal.SIGKILL, outcome)
            self.assertEqual(outcome.err.count("the other 2 nodes are being ended"), 1, outcome)
            until = time.monotonic() + 10
            while self.left() and time.monotonic() < until:
                time.sleep(0.05)
            self.assertEqual(self.left(), "", text)

    def left(self):
        """The processes of sessions of this test."""
        return subprocess.run(["pgrep", "-f", f"{jobs.ENVIRONMENT}.*pyterrane.[_]launched"], capture_output=True, text=True).stdout

    def test_wrong_calls_are_refused(self):
        self.assertIn("launch() needs n, or hosts", self.session("tr.launch()").err)
        outcome = self.session("tr.launch(n=2, options=['--no-such'])")
        self.assertIn("the job did not start", outcome.err)


if __name__ == "__main__":
    jobs.main()
