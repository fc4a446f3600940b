"""This process as a node of its job."""

import os
import platform
import sys
import threading

import numpy as np

from . import _core
from ._directory import Directory

_PARENT = "PYTERRANE_NODE_PROCESS"  # in the environment of a node's children

_mutex = threading.Lock()
_directory = None
_name = None
_process = None


def directory():
    """The job's directory; joins the job at the first call. All nodes must come, each by any call of pyterrane."""
    if _directory is None:
        _join()
    if os.getpid() != _process:
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
        _core.join()
        os.environ[_PARENT] = str(os.getpid())
        _process = os.getpid()
        table = Directory()
        _name = table.check_versions(_versions())
        if _core.nodes() > 1:
            _say_which_node_failed()
        _directory = table


def job_name():
    """A text that no other job has."""
    directory()
    return _name


def node():
    """This process's number in the job: 0 .. nodes() - 1."""
    directory()
    return _core.node()


def nodes():
    """How many nodes the job has; 1 without `terrane run`."""
    directory()
    return _core.nodes()


def _say_which_node_failed():
    before = sys.excepthook

    def hook(kind, value, traceback):
        host = os.uname().nodename
        print(f"pyterrane: node {_core.node()} of {_core.nodes()} (process {os.getpid()} on {host}) failed:",
              file=sys.stderr)
        before(kind, value, traceback)

    sys.excepthook = hook
