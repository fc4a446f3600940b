"""A node of a job of launch(): python -m pyterrane._launched SOCKET"""

import os
import signal
import sys

if __name__ == "__main__":
    if os.environ.get("TERRANE_NODE") == "0":
        from pyterrane._launch import give_place

        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the session's
        give_place(sys.argv[1])
    else:
        from pyterrane._launch import work

        signal.signal(signal.SIGINT, signal.SIG_IGN)
        work()
