"""How jobs of Python begin and end. Usage: life_test.py ENVIRONMENT"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import textwrap
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

    def test_nodes_with_other_versions_are_refused_with_both(self):
        for change, mine in (("np.__version__ = '1.26.4'", "NumPy 1"),
                             ("sys.version_info = types.SimpleNamespace(major=3, minor=99)", "Python 3.99"),
                             ("tr._job._core = types.SimpleNamespace(**{**vars(tr._core), 'version': lambda: '9.9'})",
                              "pyterrane 9.9")):
            self.wrong(2, f"""
                import os, sys, types
                if os.environ["TERRANE_NODE"] == "1":
                    {change}
                tr.barrier()
            """, "this node has pyterrane", "and the first one has pyterrane", mine, "install the same on all hosts")

    def test_development_mode_and_faulthandler(self):
        done = subprocess.run(jobs.command(2) + ["-X", "dev"] + jobs.script("""
            import faulthandler, sys
            assert sys.flags.dev_mode and faulthandler.is_enabled()
            a = tr.zeros((300, 300), homes="block")
            a[tr.local_rows(a)] = 1
            tr.barrier()
            assert a.sum() == 90000
            tr.barrier()
            if tr.node() == 1:
                faulthandler._sigsegv()
            tr.barrier()
        """), capture_output=True, text=True, timeout=60)
        self.assertNotEqual(done.returncode, 0, done)
        self.assertEqual(done.stderr.count("Fatal Python error: Segmentation fault"), 1, done)
        self.assertIn("node 1", done.stderr)
        self.assertNotIn("Warning", done.stderr)

    def test_the_extra_hosts_serves_where_the_system_has_no_ucx(self):
        known = re.findall(r"libucp\.so\.0 .*=> (\S+)", subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout)
        if not known:
            self.skipTest("no UCX here")
        system = os.path.realpath(known[0])
        without = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), "sh", "-c",
                   f"mount --bind /dev/null {system} && exec \"$@\"", "sh"]
        if subprocess.run([*without, "true"], capture_output=True).returncode != 0:
            self.skipTest("no mount namespaces here")
        job = [*without, *jobs.command(2, "--transport", "ucx")] + jobs.script("print(tr.reduce(1))")
        done = subprocess.run(job, capture_output=True, text=True, timeout=60)
        self.assertIn("pip install 'pyterrane[hosts]'", done.stderr)
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder) / "libucx"
            (package / "lib").mkdir(parents=True)
            (package / "__init__.py").touch()
            shutil.copy(system, package / "lib" / "libucp.so.0")
            done = subprocess.run(job, capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": folder})
        self.assertEqual((done.returncode, done.stdout), (0, "2\n2\n"), done)

    def test_pytest_runs_on_every_node(self):
        if subprocess.run(jobs.command(0) + ["-c", "import pytest"], capture_output=True).returncode != 0:
            self.skipTest("pip cannot install pytest here")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "test_shared.py"
            path.write_text(textwrap.dedent("""
                import pytest
                import pyterrane as tr
                @pytest.fixture
                def array():
                    return tr.zeros(tr.nodes())
                def test_each_node_writes(array):
                    array[tr.node()] = 1
                    tr.barrier()
                    assert array.sum() == tr.nodes()
                def test_fails_on_a_node():
                    assert tr.node() == 0
            """))
            command = jobs.command(2) + ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
            done = subprocess.run([*command, "-k", "each", str(path)], capture_output=True, text=True, timeout=60, cwd=folder)
            self.assertEqual((done.returncode, done.stdout.count("1 passed")), (0, 2), done)
            done = subprocess.run([*command, str(path)], capture_output=True, text=True, timeout=60, cwd=folder)
        self.assertEqual((done.returncode, done.stdout.count("1 failed, 1 passed")), (1, 1), done)

    def test_a_script_without_the_launcher_is_a_job_of_one(self):
        self.assertEqual(self.right(0, "print(tr.node(), tr.nodes(), tr.ones((2, 2)).sum())"), "0 1 4.0\n")


if __name__ == "__main__":
    jobs.main()
