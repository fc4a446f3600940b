"""This process as a node of its job."""

import os
import platform
import signal
import sys
import threading
import traceback

import numpy as np

from . import _core
from ._command import name_ucx
from ._directory import Directory

_PARENT = "PYTERRANE_NODE_PROCESS"  # in the environment of a node's children

_mutex = threading.Lock()
_directory = None
_name = None
_process = None
_is_child = False  # of the process that joined


def _note_fork():
    global _is_child
    _is_child = _directory is not None


os.register_at_fork(after_in_child=_note_fork)


def directory():
    """The job's directory; joins the job at the first call. All nodes must come, each by any call of pyterrane."""
    if _directory is None:
        _join()
    if _is_child:
        raise RuntimeError("this process was forked from a node, which alone has shared memory: start it by spawn, and "
                           "hand it a copy (pickle, or numpy.array)")
    return _directory


def _versions():
    python = f"{platform.python_implementation()} {sys.version_info.major}.{sys.version_info.minor}"
    return f"pyterrane {_core.version()}, {python}, NumPy {np.__version__.split('.')[0]}"


def _join():
    global _directory, _name, _process
    with _mutex:
        if _directory is not None:
            return
        parent = os.environ.get(_PARENT, "")
        if parent not in ("", str(os.getpid())) and "TERRANE_BOOTSTRAP_FD" not in os.environ:
            raise RuntimeError("this process was started by a node of a job, and is none itself: shared arrays are for "
                               "nodes alone; it may receive copies (pickle, numpy.array)")
        from . import _pickling  # which needs this module

        name_ucx()
        _core.join()
        os.environ[_PARENT] = str(os.getpid())
        _process = os.getpid()
        table = Directory()
        _name = table.check_versions(_versions())
        if _core.nodes() > 1:
            _say_which_node_failed()
        _pickling.install()
        _directory = table


def has_joined():
    """Whether this process is a node already."""
    return _directory is not None


def leave():
    """Leaves the job: this process has no shared memory afterwards."""
    _directory.close()
    _core.leave()


def job_name():
    """A text that no other job has."""
    directory()
    return _name


def is_in(name):
    """Whether this process is a node of the job of that name already."""
    return _directory is not None and os.getpid() == _process and _name == name


def node() -> int:
    """This process's number in the job: 0 .. nodes() - 1."""
    directory()
    return _core.node()


def nodes() -> int:
    """How many nodes the job has; 1 without `terrane run`."""
    directory()
    return _core.nodes()


def _whose():
    return f"pyterrane: node {_core.node()} of {_core.nodes()} (process {os.getpid()} on {os.uname().nodename})"


def _say_which_node_failed():
    before = sys.excepthook

    def hook(kind, value, trace):
        if before is sys.__excepthook__:  # in one piece, for other nodes write there, too
            text = "".join(traceback.format_exception(kind, value, trace))
            print(f"{_whose()} failed:\n{text}", end="", file=sys.stderr, flush=True)
        else:
            print(f"{_whose()} failed:", file=sys.stderr, flush=True)
            before(kind, value, trace)

    sys.excepthook = hook
    main = threading.main_thread()
    _core.watch_interrupts(main.ident, lambda: _end_interrupted_wait(main.ident))


def _end_interrupted_wait(thread):
    """Ctrl-C came while that thread was in a barrier, which cannot be left: the node ends, and the job with it."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return  # the program's own handler runs after the barrier
    stack = "".join(traceback.format_stack(sys._current_frames()[thread]))
    print(f"{_whose()} was interrupted in a barrier:\n{stack}KeyboardInterrupt", file=sys.stderr, flush=True)
    sys.stdout.flush()
    os._exit(128 + signal.SIGINT)
