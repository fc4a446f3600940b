"""A job that an interactive session starts: the session is node 0, and hands functions to all nodes.

The launcher starts `python -m pyterrane._launched SOCKET` for each node. That of node 0 gives its place to the session
by the socket, and stays until the session has ended: to the launcher it is the node. The others wait for functions.
"""

from __future__ import annotations

import array
import atexit
import gc
import json
import os
import pathlib
import pickle
import select
import socket
import subprocess
import sys
import tempfile
import threading
import typing

from . import _arrays, _core, _job, _pickling
from ._command import COMMAND
from ._sync import Counter

_WORK, _DONE, _TABLE = "pyterrane.launch.work", "pyterrane.launch.done", "pyterrane.launch.table"
_PLACE = ("TERRANE_NODE", "TERRANE_NODES", "TERRANE_JOB", "TERRANE_BOOTSTRAP_FD")
_END = -1  # in place of a length

_launched = False
_mutex = threading.Lock()


def _dump(value):
    """A pickle that nodes of the job read: arrays in shared memory are no copies, and functions of the session go."""
    with _pickling.references():
        try:
            import cloudpickle
        except ImportError:
            try:
                return pickle.dumps(value)
            except (pickle.PicklingError, AttributeError, TypeError) as error:
                raise RuntimeError(f"{error}; a function that is defined in the session itself needs the package "
                                   "cloudpickle: pip install cloudpickle") from error
        return cloudpickle.dumps(value)


def _put(row, data):
    """The bytes in an array of this node, which stays as long as what is returned; `row` of the table says where."""
    held = _arrays.own_bytes(data)
    row[:] = (*_arrays.slot_of(_arrays.memory_of(held)), len(data))
    return held


def _get(row):
    slot, generation, size = (int(one) for one in row)
    memory = _arrays.reopen(slot, generation)
    return bytes(_arrays.as_bytes(memory)[:size])


def _call(data):
    """What a function has given, as bytes: (True, value) or (False, exception, its traceback)."""
    import traceback
    try:
        function, args, more = pickle.loads(data)
        return _dump((True, function(*args, **more)))
    except BaseException as error:  # KeyboardInterrupt and SystemExit, too, go to the session
        text = traceback.format_exc()
        try:
            return _dump((False, error, text))
        except Exception:
            return _dump((False, RuntimeError(f"{type(error).__name__}: {error}"), text))


def work():
    """A node that is not the session: runs functions until the session ends the job."""
    _job.directory()
    todo, done = Counter(_WORK), Counter(_DONE)
    todo.wait(1)
    table = _arrays.find(_TABLE)
    for number in range(1, sys.maxsize):
        if table[0][2] == _END:
            return
        held = _put(table[1 + _job.node()], _call(_get(table[0])))  # until the next one has come
        sys.stdout.flush()
        done.add()
        todo.wait(number + 1)
        del held


class Job:
    """A job of launch(). Use: any thread, one call at a time."""

    def __init__(self) -> None:
        self._calls, self._is_open = 0, True
        self._held = None
        self._pid = os.getpid()
        _arrays.makes_own = True
        self._table = _arrays.zeros((1 + _job.nodes(), 3), "i8", name=_TABLE)
        self._work, self._done = Counter(_WORK), Counter(_DONE)
        atexit.register(self._end)

    @property
    def nodes(self) -> int:
        """How many nodes it has; this process is node 0."""
        return _job.nodes()

    def run(self, function: typing.Callable[..., typing.Any], /, *args: typing.Any, **more: typing.Any) -> list[typing.Any]:
        """Calls function(*args, **more) on every node, here too, and returns the results as a list, by node.

        Shared arrays among the arguments and results are the same memory; everything else is copied. An exception of
        the node with the lowest number is raised, with the traceback of that node as a note; the others have ended
        their call. A function of the session needs the package cloudpickle.
        """
        with _mutex:
            self._check()
            data = _dump((function, args, more))
            self._calls += 1
            self._held = _put(self._table[0], data)  # nodes may read it after an interrupt, too
            self._work.add()
            _arrays.makes_own = False
            try:
                own = _call(data)
            finally:
                _arrays.makes_own = True
            self._done.wait(self._calls * (self.nodes - 1))
            results = [pickle.loads(own)] + [pickle.loads(_get(self._table[1 + n])) for n in range(1, self.nodes)]
        for node, result in enumerate(results):
            if not result[0]:
                result[1].add_note(f"on node {node} of {self.nodes}:\n{result[2]}")
                raise result[1]
        return [result[1] for result in results]

    def close(self) -> None:
        """Ends the job; its launcher stays until this process ends, which it watches.

        Raises RuntimeError while the session has arrays of the job: their memory would be gone.
        """
        with _mutex:
            if not self._is_open or os.getpid() != self._pid:
                return
            self._held = None
            gc.collect()
            alive = _arrays.open_arrays() - 1  # without the table
            if alive > 0:
                raise RuntimeError(f"{alive} arrays of the job are in use: delete them and their views, such as the variable of "
                                   "a loop over rows (del a, row), or keep copies (a.copy())")
            if _core.open_scopes():
                raise RuntimeError(f"{_core.open_scopes()} scopes or versions of chunks are in use: leave them, and delete the "
                                   "arrays that were taken (del a)")
            self._leave()

    def _leave(self):
        self._is_open = False
        self._table[0][2] = _END
        self._work.add()
        del self._table
        _job.leave()

    def _end(self):
        """At the end of the session. Where a call is still under way, the job ends as one whose node has died."""
        if self._is_open and os.getpid() == self._pid and _mutex.acquire(blocking=False):
            self._leave()
            _mutex.release()

    def _check(self):
        if not self._is_open:
            raise RuntimeError("the job is closed; a process starts one job: restart the session for another one")
        if os.getpid() != self._pid:
            raise RuntimeError("this process was forked from node 0 of the job, and is no node itself")

    def __enter__(self) -> typing.Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_open:
            self.close()


def launch(n: int | None = None, hosts: typing.Sequence[str] | None = None, options: typing.Sequence[str] = (),
           timeout: float = 60) -> Job:
    """Starts a job whose node 0 is this process, such as a notebook, and returns its Job.

    n: how many nodes, on this host, or in all with `hosts`. hosts: a list of names, as after -H; the first one is this
      host. options: more words for `terrane run`. timeout: seconds in which all nodes have to come.
    Raises RuntimeError: this process is a node already, or the job did not start, and why.
    """
    global _launched
    if _launched or _job.has_joined():
        raise RuntimeError("this process is a node of a job already; one process starts one job")
    words = [str(COMMAND), "run"]
    words += ["-n", str(n)] if n is not None else []
    words += ["-H", ",".join(hosts)] if hosts else []
    if n is None and not hosts:
        raise ValueError("launch() needs n, or hosts")
    with tempfile.TemporaryDirectory(prefix="pyterrane-") as folder, socket.socket(socket.AF_UNIX) as door:
        path = str(pathlib.Path(folder) / "node0")
        door.bind(path)
        door.listen(1)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(one or os.getcwd() for one in sys.path)}
        process = subprocess.Popen([*words, *options, sys.executable, "-m", "pyterrane._launched", path], env=environment,
                                   stdin=subprocess.DEVNULL, start_new_session=True)
        link = _accept(door, process, timeout)
    _launched = True
    _take_place(link)
    link.detach()  # stays open until this process has ended, which the launcher learns by it
    _job.directory()
    return Job()


def _accept(door, process, timeout):
    for _ in range(int(timeout * 10)):
        if select.select([door], [], [], 0.1)[0]:
            return door.accept()[0]
        if process.poll() is not None:
            raise RuntimeError(f"the job did not start: terrane run ended with {process.returncode}, and said why")
    process.terminate()
    process.wait()
    raise RuntimeError(f"the job did not start within {timeout} s: node 0 has to be on this host")


def _take_place(link):
    """Becomes the node whose place the other end of the link has."""
    files = array.array("i")
    data, more, _, _ = link.recvmsg(65536, socket.CMSG_SPACE(files.itemsize))
    files.frombytes(more[0][2][:files.itemsize])
    place = json.loads(data)
    os.set_inheritable(files[0], False)
    place["TERRANE_BOOTSTRAP_FD"] = str(files[0])
    os.environ.update(place)


def give_place(path):
    """The stand-in of node 0: gives its place to the session, and ends when that has. The exit code is the session's."""
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(path)
        place = {name: os.environ[name] for name in _PLACE if name in os.environ}
        socket.send_fds(link, [json.dumps(place).encode()], [int(place["TERRANE_BOOTSTRAP_FD"])])
        os.close(int(place["TERRANE_BOOTSTRAP_FD"]))
        link.recv(1)  # until it is closed
