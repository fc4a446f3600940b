"""How jobs of Python begin and end. Usage: life_test.py ENVIRONMENT"""

import os
import signal
import subprocess
import time

import jobs


class LifeTest(jobs.JobTest):
    def test_an_exception_on_one_node_ends_the_job_with_its_traceback(self):
        outcome = self.wrong(3, """
            tr.barrier()
            if tr.node() == 1:
                raise ValueError("this one")
            tr.barrier()
        """, "node 1 of 3", "ValueError: this one", "Traceback")
        self.assertEqual(outcome.err.count("Traceback"), 1, outcome)

    def test_control_c_ends_a_job_that_waits_in_a_barrier(self):
        text = """
            import signal, time
            signal.signal(signal.SIGINT, signal.default_int_handler)
            tr.node()
            print("here", flush=True)
            tr.barrier() if tr.node() else time.sleep(60)
        """
        job = subprocess.Popen(jobs.command(2) + jobs.script(text), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2):
            self.assertEqual(job.stdout.readline(), "here\n")
        time.sleep(0.3)
        begin = time.monotonic()
        job.send_signal(signal.SIGINT)
        error = job.communicate(timeout=30)[1]
        self.assertLess(time.monotonic() - begin, 5)
        self.assertIn("KeyboardInterrupt", error)
        self.assertNotEqual(job.returncode, 0)

    def test_nothing_is_left_of_jobs_whose_nodes_are_killed(self):
        before = set(os.listdir("/dev/shm"))
        for turn in range(5):
            job = subprocess.Popen(jobs.command(2) + jobs.script("""
                import os, time
                a = tr.zeros(100000)
                a[...] = tr.node()
                tr.barrier()
                print(os.getpid(), flush=True)
                tr.barrier() if tr.node() else time.sleep(60)
            """), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            processes = [int(job.stdout.readline()) for _ in range(2)]
            os.kill(processes[turn % 2], signal.SIGKILL)
            self.assertIn("was killed by SIGKILL", job.communicate(timeout=30)[1])
            for process in processes:
                self.assertFalse(os.path.exists(f"/proc/{process}"))
        self.assertEqual(set(os.listdir("/dev/shm")) - before, set())

    def test_exit_codes_are_the_jobs(self):
        for code in (0, 3):
            outcome = jobs.run(2, f"""
                import sys
                tr.barrier()
                if tr.node() == 1:
                    sys.exit({code})
                {'tr.barrier()' if code else ''}
            """)
            self.assertEqual(outcome.code, code, outcome)

    def test_functions_of_atexit_may_use_arrays(self):
        out = self.right(2, """
            import atexit
            a = tr.zeros(2)
            atexit.register(lambda: (tr.barrier(), print(a.sum())))
            a[tr.node()] = 1
        """)
        self.assertEqual(out, "2.0\n2.0\n")

    def test_children_are_refused_in_use_and_live_without(self):
        self.right(2, """
            import os, subprocess, sys, warnings
            warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of any fork with threads
            a = tr.zeros(3)
            child = os.fork()
            if child == 0:
                try:
                    tr.zeros(3)
                except RuntimeError as error:
                    os._exit(0 if "forked" in str(error) else 1)
                os._exit(2)
            assert os.waitpid(child, 0)[1] == 0
            code = "import pyterrane as tr\\ntry: tr.node()\\nexcept RuntimeError as e: print('started by a node' in str(e))"
            assert subprocess.check_output([sys.executable, "-c", code], text=True) == "True\\n"
        """)

    def test_a_script_without_the_launcher_is_a_job_of_one(self):
        self.assertEqual(self.right(0, "print(tr.node(), tr.nodes(), tr.ones((2, 2)).sum())"), "0 1 4.0\n")


if __name__ == "__main__":
    jobs.main()
