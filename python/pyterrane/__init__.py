"""NumPy arrays that processes on several hosts write in place: `import pyterrane as tr`.

A script is started as `terrane run -n 4 python script.py`, each of whose processes is a node of one job; as
`python script.py` it is a job of one node. A node sees what others have written once both have synchronised: barrier(),
Lock, Counter, Event, Semaphore, reduce(). A Chunk changes as a whole, and goes to those that subscribe to it.
"""

from ._arrays import array, empty, find, forget, full, local_rows, ones, zeros, zeros_like
from ._chunks import Chunk
from ._core import version as _version
from ._job import node, nodes
from ._launch import Job, launch
from ._pickling import references
from ._recordings import Recording
from ._sync import Counter, Event, Lock, Semaphore, barrier, reduce

__all__ = ["Chunk", "Counter", "Event", "Job", "Lock", "Recording", "Semaphore", "array", "barrier", "empty", "find",
           "forget", "full", "launch", "local_rows", "node", "nodes", "ones", "reduce", "references", "zeros", "zeros_like"]
__version__ = _version()
