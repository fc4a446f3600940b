"""Commands of gdb for programs in a job: `source PREFIX/share/terrane/gdb.py`, or terrane run --debug=gdb.

They read what src/runtime/debugged_memory.h describes; terrane fetch alone runs a function in the process.
"""

import struct

import gdb

VERSION = 1
STATES = ("not present here", "present, a copy", "present, a copy that was written", "present, its home")
LAYOUT = struct.Struct("<8I9Q")
FIELDS = ("version", "self", "nodes", "entry_bytes", "state_at", "home_at", "home_mask", "synchronises", "unit", "bytes",
          "app", "runtime", "entries", "peers", "peer_bytes", "panes", "pane_count")
PANE = struct.Struct("<3Q")


def read(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size))


def number(address, size):
    return int.from_bytes(read(address, size), "little")


class Memory:
    """The shared memory of the selected process. Raises gdb.GdbError where it has none."""

    def __init__(self):
        symbol = gdb.lookup_minimal_symbol("terrane_debug_memory") if hasattr(gdb, "lookup_minimal_symbol") else None
        try:
            at = int(symbol.value().address) if symbol else int(gdb.parse_and_eval("(long)&terrane_debug_memory"))
            values = LAYOUT.unpack(read(at, LAYOUT.size))
        except gdb.error as error:
            raise gdb.GdbError(f"no library of Terrane is in this process, or it is an older one: {error}") from error
        for name, value in zip(FIELDS, values):
            setattr(self, name, value)
        if self.version == 0:
            raise gdb.GdbError("this process is in no job now: look behind terrane_init, or behind the start of main")
        if self.version != VERSION:
            raise gdb.GdbError(f"the library describes its memory by version {self.version}, this script reads {VERSION}: "
                               "source the share/terrane/gdb.py of the same installation")
        panes = read(self.panes, PANE.size * self.pane_count) if self.pane_count else b""
        self.pane_list = list(PANE.iter_unpack(panes))

    def offset_of(self, address):
        """In the shared space; None: private memory of this node."""
        for offset, size, place in self.pane_list:
            if place <= address < place + size:
                return offset + address - place
        inside = self.app <= address < self.app + self.bytes
        return address - self.app if inside else None

    def page_at(self, address):
        offset = self.offset_of(address)
        return None if offset is None else Page(self, address, offset)


class Page:
    """A page, as this node knows it."""

    def __init__(self, memory, address, offset):
        self.memory = memory
        self.offset = offset
        self.first = address - offset % memory.unit
        entry = memory.entries + offset // memory.unit * memory.entry_bytes
        self.state = number(entry + memory.state_at, 4) & 3
        word = number(entry + memory.home_at, 4)
        self.synchronises = bool(word & memory.synchronises)
        home = word & memory.home_mask
        self.home = home - 1 if home else None

    def present(self):
        return self.state != 0

    def at_home(self):
        """Where a debugger reads the home's bytes in this process; None: nowhere."""
        if self.home is None:
            return None
        if self.home == self.memory.self:
            return self.memory.runtime + self.offset
        peer = number(self.memory.peers + self.home * self.memory.peer_bytes, 8)
        return peer + self.offset if peer else None

    def text(self):
        lines = [f"page 0x{self.first:x}, number {self.offset // self.memory.unit} of shared memory: "
                 f"{STATES[self.state]} (node {self.memory.self} of {self.memory.nodes})"]
        if self.home is None:
            lines.append("  home: this node has not asked for it; nobody may have used the page yet")
        else:
            here = " (this node)" if self.home == self.memory.self else ""
            lines.append(f"  home: node {self.home}{here}")
        if self.synchronises:
            lines.append("  it has atomic words: one node at a time writes it (a synchronisation page)")
        where = self.at_home()
        if where is not None:
            lines.append(f"  the home's bytes: x/16xb 0x{where:x}")
        elif self.home is not None:
            lines.append("  the home's bytes: on another host; ask the debugger of that node, or `terrane fetch ADDRESS`")
        if not self.present() and self.home != self.memory.self:
            lines.append(f"  the bytes that this node had last: x/16xb 0x{self.memory.runtime + self.offset:x}")
        return "\n".join(lines)


def address_of(text):
    if not text:
        raise gdb.GdbError("which address? For instance: info terrane &variable")
    value = gdb.parse_and_eval(text)
    if value.type.strip_typedefs().code in (gdb.TYPE_CODE_ARRAY, gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        value = value.address
    return int(value) & (1 << 64) - 1


def arguments(text):
    """An expression, and after a comma a number of bytes."""
    expression, comma, count = text.rpartition(",")
    return (address_of(expression), int(gdb.parse_and_eval(count))) if comma else (address_of(text), 1)


class InfoTerrane(gdb.Command):
    """What this node knows of shared memory: info terrane [ADDRESS [, BYTES]].

Without an address: which node this is. With one: whether the page is present here, which node is its home, and where
the home's bytes can be read in this process. ADDRESS is an expression, such as &counter or pointer + 3."""

    def __init__(self):
        super().__init__("info terrane", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        memory = Memory()
        if not argument.strip():
            print(f"node {memory.self} of {memory.nodes}; shared memory from 0x{memory.app:x} to "
                  f"0x{memory.app + memory.bytes:x} in pages of {memory.unit} bytes, and {memory.pane_count} parts of "
                  "static data, stacks and mappings elsewhere")
            return
        address, size = arguments(argument)
        end, shown = address + max(size, 1), 0
        while address < end:
            page = memory.page_at(address)
            if page is None:
                print(f"0x{address:x} is private memory of this node, or none")
                return
            print(page.text())
            address = page.first + memory.unit
            shown += 1
            if shown == 16 and address < end:
                print(f"... and {(end - address + memory.unit - 1) // memory.unit} more pages")
                return


class Terrane(gdb.Command):
    """Commands for shared memory: terrane fetch; info terrane; and the function $home_of(POINTER)."""

    def __init__(self):
        super().__init__("terrane", gdb.COMMAND_DATA, prefix=True)


class Fetch(gdb.Command):
    """Lets this node fetch the pages of a range: terrane fetch ADDRESS [, BYTES].

Reads them in the selected thread, which must have stopped in the program's code, while the other nodes run."""

    def __init__(self):
        super().__init__("terrane fetch", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        memory = Memory()
        address, size = arguments(argument)
        page = memory.page_at(address)
        if page is None:
            raise gdb.GdbError(f"0x{address:x} is private memory of this node, or none")
        try:
            gdb.parse_and_eval(f"((void (*)(const void*, unsigned long))terrane_debug_fetch)((void*){address}, {size})")
        except gdb.error as error:
            raise gdb.GdbError(f"this gdb cannot call a function in the process now ({error}); `info terrane` says where "
                               "the home's bytes are") from error
        print(memory.page_at(address).text())


class HomeOf(gdb.Function):
    """The same pointer where its bytes are right in this process: $home_of(POINTER), as in print *$home_of(&counter).

The pointer itself where the page is present, else one to the bytes of its home; an error where these are on another
host."""

    def __init__(self):
        super().__init__("home_of")

    def invoke(self, pointer):
        memory = Memory()
        address = int(pointer) & (1 << 64) - 1
        page = memory.page_at(address)
        if page is None or page.present():
            return pointer
        where = page.at_home()
        if where is None:
            raise gdb.GdbError(page.text())
        return gdb.Value(where).cast(pointer.type)


InfoTerrane()
Terrane()
Fetch()
HomeOf()
# Faults of shared pages are signals.
gdb.execute("handle SIGSEGV SIGBUS nostop noprint pass", to_string=True)
