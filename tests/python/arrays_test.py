"""Arrays of all nodes. Usage: arrays_test.py ENVIRONMENT"""

import pathlib
import subprocess
import tempfile

import jobs

ABSENT = """
import hashlib, socket, sys
import numpy as np
import pyterrane as tr
try:
    import numba
except ImportError:
    numba = None
me, nodes, folder = tr.node(), tr.nodes(), sys.argv[1]
wanted = np.arange(40000.0).reshape(200, 200)
def absent(use, times=[0]):
    # Each node hands a fresh array to `use`, whose pages the next node has written, so that none is here.
    times[0] += 1
    all = [tr.zeros((200, 200), homes=(node + 1) % nodes, name=f"a{times[0]}.{node}") for node in range(nodes)]
    all[(me - 1) % nodes][...] = wanted
    tr.barrier()
    use(all[me])
    tr.barrier()
path = f"{folder}/{me}"
def saves(a):
    np.save(path + ".npy", a)
    assert np.array_equal(np.load(path + ".npy"), wanted)
def writes(a):
    a.tofile(path)
    assert open(path, "rb").read() == wanted.tobytes()
def reads(a):
    (wanted + 1).tofile(path)
    with open(path, "rb", buffering=0) as file:
        assert file.readinto(a) == wanted.nbytes
    assert np.array_equal(a, wanted + 1)
def sends(a):
    one, other = socket.socketpair()
    one.sendall(a[:10])
    data = b""
    while len(data) < 16000:
        data += other.recv(16000)
    assert data == wanted[:10].tobytes()
def receives(a):
    one, other = socket.socketpair()
    one.sendall(wanted[5:15])
    assert other.recv_into(a[:10], flags=socket.MSG_WAITALL) == 16000
    assert np.array_equal(a[:10], wanted[5:15]) and np.array_equal(a[10:], wanted[10:])
def hashes(a):
    assert hashlib.sha256(a).digest() == hashlib.sha256(wanted).digest()
def multiplies(a):
    assert np.array_equal(np.dot(a, a), np.dot(wanted, wanted))
def compiles(a):
    @numba.njit
    def total(a):
        sum = 0.0
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                sum += a[i, j]
                a[i, j] += 1
        return sum
    assert total(a) == wanted.sum() and np.array_equal(a, wanted + 1)
for use in (saves, writes, reads, sends, receives, hashes, multiplies, *([compiles] if numba else [])):
    absent(use)
print("right" if numba else "right-without-numba", flush=True)
tr.barrier()
"""


class ArraysTest(jobs.JobTest):
    def test_each_node_writes_its_rows_of_a_real_array(self):
        for nodes, options in ((0, ()), (3, ()), (2, ("--fault-source", "sigsegv")), (2, ("--transport", "ucx"))):
            self.right(nodes, """
                a = tr.zeros((1000, 77), homes="block")
                assert type(a) is np.ndarray and a.flags.writeable and a.flags.c_contiguous
                a[tr.local_rows(a)] = tr.node() + 1
                tr.barrier()
                assert a.sum() == sum((node + 1) * 77 * len(range(1000 * node // tr.nodes(), 1000 * (node + 1) // tr.nodes()))
                                      for node in range(tr.nodes()))
                tr.barrier()
                np.add(a, 1, out=a) if tr.node() == 0 else None
                tr.barrier()
                assert a[0, 0] == 2 and a[-1, -1] == tr.nodes() + 1
            """, *options)

    def test_values_are_those_of_the_node_that_came_first(self):
        self.right(3, """
            a, b, c = tr.full((5, 4), 2.5), tr.ones(7, "i4"), tr.array([[1, 2], [3, 4 ]])
            d = tr.full(3, tr.node())                # whichever node was first, all see the same
            e, f = tr.zeros_like(c), tr.array(["ab", "c"])
            assert (a == 2.5).all() and (b == 1).all() and b.dtype == "i4" and c.tolist() == [[1, 2], [3, 4]]
            assert tr.reduce(int(d[0]), "min") == tr.reduce(int(d[2]), "max")
            assert e.shape == (2, 2) and e.dtype == c.dtype and not e.any() and f.dtype == "U2" and f[0] == "ab"
        """)

    def test_homes_are_where_they_were_asked_for(self):
        self.right(2, """
            for homes in (None, "first touch", "block", "cyclic", 0, 1):
                a = tr.zeros(10000, homes=homes)
                a[tr.node()::2] = 1 + tr.node()
                tr.barrier()
                assert a.sum() == 15000
        """)

    def test_a_named_array_is_found_with_its_shape_and_dtype(self):
        self.right(3, """
            kind = np.dtype([("x", "f8"), ("y", "i4", (2, 3)), ("z", [("u", "u1"), ("v", "M8[s]")])])
            if tr.node() == 1:
                a = tr.zeros((4, 5), kind, name="records")
                a[1, 2]["y"][1] = 7
                del a                                 # the name keeps it
            tr.barrier()
            b = tr.find("records")
            assert b.shape == (4, 5) and b.dtype == kind and b[1, 2]["y"].sum() == 21
            tr.barrier()
            if tr.node() == 0:
                tr.forget("records")
            tr.barrier()
            c = tr.zeros(3, name="records")            # another one
            assert not c.any() and b[1, 2]["y"].sum() == 21
            try:
                tr.find("nothing")
            except KeyError as error:
                assert "nothing" in str(error)
            else:
                assert False
        """)

    def test_other_shapes_and_dtypes_are_refused(self):
        for call in ('tr.zeros(3 + tr.node(), name="a")', 'tr.zeros(3, "f4" if tr.node() else "f8", name="a")',
                     'tr.zeros(3 + tr.node())'):
            self.wrong(2, f"a = {call}\ntr.barrier()", "ValueError", "on another node", "here")

    def test_what_cannot_be_shared_is_refused_with_a_sentence(self):
        self.right(0, """
            def refused(kind, part, *call, **more):
                try:
                    tr.zeros(*call, **more)
                except kind as error:
                    assert part in str(error), error
                else:
                    assert False, call
            refused(TypeError, "pointers", 3, object)
            refused(TypeError, "pointers", 3, [("a", "i4"), ("b", "O")])
            if hasattr(np.dtypes, "StringDType"):
                refused(TypeError, "pointers", 3, np.dtypes.StringDType())
            refused(ValueError, "negative", -1)
            refused(ValueError, "negative", (3, -2))
            refused(ValueError, "more than a job can address", (1 << 40, 1 << 40))
            refused(ValueError, "more than a job can address", 1 << 70)
            refused(MemoryError, "", 1 << 42)
            refused(ValueError, "homes=", 3, homes="nowhere")
            refused(ValueError, "nodes 0 to 0", 3, homes=1)
            refused(ValueError, "name", 3, name="")
            refused(TypeError, "str", 3, name=5)
            assert tr.zeros(0).size == 0 and tr.zeros(()).shape == () and tr.zeros((0, 5)).shape == (0, 5)
        """)

    def test_memory_lives_as_long_as_a_view_and_is_freed_after(self):
        self.right(3, """
            import gc
            view = tr.full((1000, 100), 5.0)[10:20, ::2]
            gc.collect()
            tr.barrier()
            for turn in range(40):                     # its address would be taken again
                other = tr.zeros((1000, 100))
                other[...] = 1
                del other
            tr.barrier()
            assert view.sum() == 2500
            from pyterrane import _job
            tr.barrier()
            gc.collect()
            table = _job.directory()
            with table.open():
                assert int((table._slots["kind"] == 1).sum()) <= 3
        """)

    def test_system_calls_work_on_pages_that_are_not_there(self):
        self.right(2, """
            import hashlib, io, os, socket, tempfile
            a = tr.zeros((300, 1000), homes=0)
            if tr.node() == 0:
                a[...] = np.arange(300000).reshape(300, 1000)
            tr.barrier()
            wanted = np.arange(300000.0).reshape(300, 1000)
            b = tr.zeros((300, 1000), homes=1 - tr.node())
            c = tr.zeros((300, 1000), homes=1 - tr.node(), name=f"read by {tr.node()}")
            with tempfile.TemporaryDirectory() as folder:
                if tr.node() == 1:
                    np.save(folder + "/a.npy", a)
                    assert (np.load(folder + "/a.npy") == wanted).all()
                else:
                    wanted.tofile(folder + "/a.bin")
                    with open(folder + "/a.bin", "rb", buffering=0) as file:
                        assert file.readinto(c) == wanted.nbytes
                    assert (c == wanted).all()
                    with open(folder + "/b.bin", "wb") as file:
                        a.tofile(file)
                    assert open(folder + "/b.bin", "rb").read() == wanted.tobytes()
            assert hashlib.sha256(a).digest() == hashlib.sha256(wanted).digest()
            d = tr.zeros(1000, "u1", name=f"received by {tr.node()}")
            one, other = socket.socketpair()
            one.sendall(a[:1])
            assert other.recv_into(d) == 1000 and d.tobytes() == wanted[:1].tobytes()[:1000]
        """)

    def test_absent_pages_work_everywhere_on_two_hosts(self):
        hosts = jobs.command(1)[:1] + ["hosts", "-n", "2"]
        if subprocess.run([*hosts, "true"], capture_output=True).returncode != 0:
            self.skipTest("no hosts of namespaces here")
        with tempfile.TemporaryDirectory(dir=".") as folder:
            program = pathlib.Path(folder).absolute() / "absent.py"
            program.write_text(ABSENT)
            done = subprocess.run([*hosts, "--share", folder, "--", *jobs.command(4, "-H", "h0:2,h1:2"), str(program), folder],
                                  capture_output=True, text=True, timeout=100)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        lines = done.stdout.split()
        self.assertEqual(len([line for line in lines if line.startswith("right")]), 4, done)
        if "right-without-numba" in lines:
            self.skipTest("all but numba, which pip cannot install here")

    def test_pickles_are_the_memory_in_the_job_and_copies_elsewhere(self):
        out = self.right(2, """
            import multiprocessing, pickle
            a = tr.zeros((6, 8), "i4", name="a")
            whole, view = pickle.loads(pickle.dumps((a, a[1:4, ::-2])))
            assert np.shares_memory(whole, a) and np.shares_memory(view, a) and view.shape == (3, 4)
            message = tr.zeros(400, "u1")                # how it comes to the other node
            if tr.node() == 0:
                with tr.references():
                    data = pickle.dumps(a.T)
                message[:len(data)] = np.frombuffer(data, "u1")
            tr.barrier()
            turned = pickle.loads(message.tobytes())
            turned[tr.node(), 0] = 7 + tr.node()
            tr.barrier()
            assert a[0, :3].tolist() == [7, 8, 0]
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                assert pool.apply(np.sum, (a,)) == 15
            plain, buffers = np.arange(5), []
            data = pickle.dumps(plain, protocol=5, buffer_callback=buffers.append)
            assert len(buffers) == 1 and b"pyterrane" not in data
            assert (pickle.loads(data, buffers=buffers) == plain).all()
            mixed = np.array([1, "a", None], object)
            assert pickle.loads(pickle.dumps(mixed)).tolist() == [1, "a", None]
            if tr.node() == 0:
                print(pickle.dumps(a[:1]).hex(), message.tobytes().hex())
        """)
        copy, reference = out.split()
        self.right(0, f"""
            import pickle
            assert pickle.loads(bytes.fromhex("{copy}")).tolist() == [[7, 8, 0, 0, 0, 0, 0, 0]]
            try:
                pickle.loads(bytes.fromhex("{reference}"))
            except RuntimeError as error:
                assert "is no node of" in str(error)
            else:
                assert False
        """)

    def test_workers_of_other_libraries_get_copies(self):
        self.right(2, """
            import concurrent.futures, multiprocessing
            try:
                import joblib
            except ImportError:
                joblib = None                            # pip cannot install it here
            a = tr.zeros((2, 300000))                    # joblib maps arrays of this size from files
            a[tr.node()] = 1 + tr.node()
            tr.barrier()
            wanted = [300000.0, 600000.0]
            with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
                assert list(pool.map(np.sum, a)) == wanted
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                assert list(pool.map(np.sum, a)) == wanted
            if joblib is not None:
                assert joblib.Parallel(n_jobs=2)(joblib.delayed(np.sum)(row) for row in a) == wanted
            tr.barrier()
        """)


if __name__ == "__main__":
    jobs.main()
