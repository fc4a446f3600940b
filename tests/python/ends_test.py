"""Jobs that end badly, time after time: nodes that are killed, interrupted, or raise, whatever the others do.

Usage: ends_test.py ENVIRONMENT     TERRANE_PYTHON_TURNS=20: of each kind (default 4)
Nothing is left: no process, no file in /dev/shm and /tmp (with a mount namespace of its own), and there is one sentence.
"""

import os
import pathlib
import signal
import subprocess
import sys
import time
import uuid

import jobs

TURNS = int(os.environ.get("TERRANE_PYTHON_TURNS", "4"))
ALONE = "TERRANE_TEST_ALONE"
FOLDERS = ("/dev/shm", "/tmp")
NODES = 3
TEXT = """
import os, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
turn, kind = {turn}, {kind!r}
a, c, lock = tr.zeros((300, 300), homes="block"), tr.Chunk("c", 1000), tr.Lock("held")
if tr.node() == turn % 3:
    lock.acquire()
def compute():
    while True:
        a[:] = a + 1
def versions():
    for number, one in enumerate(c):
        with c.write() as b:
            b[...] = number
waits = [tr.barrier, lambda: tr.barrier(timeout=60), lambda: tr.Event("never").wait(), lambda: c.take(), lambda: time.sleep(60),
         compute, lambda: tr.Semaphore("none").acquire(), lambda: tr.reduce(1, timeout=60), lambda: tr.Counter("low").wait(1),
         versions, lambda: lock.acquire() if tr.node() != turn % 3 else time.sleep(60)]
tr.barrier()
print(os.getpid(), flush=True)
if kind == "raise" and tr.node() == turn % 3:
    time.sleep(0.2)
    raise ValueError("this one")
waits[(turn + 4 * tr.node()) % len(waits)]()
time.sleep(60)
"""


def alone():
    """Runs this test again with folders of its own, where the system allows it."""
    if ALONE in os.environ:
        return
    unshare = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    here = [str(jobs.ENVIRONMENT), os.getcwd(), __file__]
    folders = [one for one in FOLDERS if not any(path.startswith(one + "/") for path in here)]
    mounts = " && ".join(f"mount -t tmpfs none {one}" for one in folders)
    if subprocess.run([*unshare, "sh", "-c", mounts], capture_output=True).returncode == 0:
        os.environ[ALONE] = ":".join(folders)
        os.execvp(unshare[0], [*unshare, "sh", "-c", mounts + ' && exec "$@"', "sh", sys.executable, "-B", *sys.argv])


class EndsTest(jobs.JobTest):
    def turn(self, number, kind, end):
        """Standard error of a job that `end`(job, processes of nodes) has ended."""
        mark = uuid.uuid4().hex
        job = subprocess.Popen(jobs.command(NODES) + jobs.script(TEXT.format(turn=number, kind=kind)), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True,
                               env={**os.environ, "TERRANE_TEST_MARK": mark})
        processes = [int(job.stdout.readline()) for _ in range(NODES)]
        time.sleep(0.05 * (number % 4))
        end(job, processes)
        error = job.communicate(timeout=30)[1]
        self.assertNotEqual(job.returncode, 0, error)
        until = time.monotonic() + 10
        while self.left(mark) and time.monotonic() < until:
            time.sleep(0.02)
        self.assertEqual(self.left(mark), [], f"turn {number}: {error}")
        return error

    def left(self, mark):
        """Processes of the job, and files in the folders that this test has alone."""
        found = [name for folder in os.environ.get(ALONE, "").split(":") if folder for name in os.listdir(folder)]
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if mark.encode() in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_text().replace("\0", " "))
            except OSError:
                continue
        return found

    def test_nodes_are_killed(self):
        for number in range(TURNS):
            error = self.turn(number, "kill", lambda job, processes: os.kill(processes[number % NODES], signal.SIGKILL))
            self.assertEqual(error.count("\n"), 1, error)
            self.assertIn("was killed by SIGKILL", error)

    def test_jobs_are_interrupted(self):
        for number in range(TURNS):  # by the launcher alone, and as a terminal does
            send = (lambda job, _: job.send_signal(signal.SIGINT), lambda job, _: os.killpg(job.pid, signal.SIGINT))[number % 2]
            error = self.turn(number, "interrupt", send)
            self.assertEqual(error.count("terrane: the job"), 1, error)
            self.assertIn("was ended by SIGINT", error)
            self.assertLessEqual(error.count("KeyboardInterrupt\n"), NODES, error)

    def test_nodes_raise(self):
        for number in range(TURNS):
            error = self.turn(number, "raise", lambda *_: None)
            self.assertEqual((error.count("Traceback"), error.count("ValueError: this one")), (1, 1), error)
            self.assertEqual(error.count("exited with code 1"), 1, error)


if __name__ == "__main__":
    alone()
    jobs.main()
