// pyterrane._core: the C interface of Terrane (terrane/pages.h, terrane/chunks.h) for the modules
// of pyterrane.
#include <nanobind/nanobind.h>
#include <stdlib.h>
#include <terrane/pages.h>

#include <atomic>

#include "calls.h"

namespace nb = nanobind;

namespace pyterrane {

void raise_error(int status) {
  PyObject* type = status == TERRANE_EINVAL   ? PyExc_ValueError
                   : status == TERRANE_ENOMEM ? PyExc_MemoryError
                                              : PyExc_RuntimeError;
  PyErr_SetString(type, terrane_error());
  throw nb::python_error();
}

namespace {

std::atomic<bool> has_left{false};

// The interpreter has ended by then, and only here its exit code is known. A node that fails does
// not wait for the others: it ends, and the launcher ends them.
void leave_at_end(int code, void*) {
  if (code != 0 || has_left) return;
  leave_chunks();
  terrane_finalize();
}

void join() {
  wait_in([] { return terrane_init(); });
  join_chunks();
  on_exit(leave_at_end, nullptr);
}

void leave() {
  has_left = true;
  wait_in([] {
    leave_chunks();
    return terrane_finalize();
  });
}

// A number of the job, which says itself why there is none.
int known(int number) {
  if (number < 0) raise_error(number);
  return number;
}

}  // namespace
}  // namespace pyterrane

NB_MODULE(_core, module) {
  using namespace pyterrane;
  nb::set_leak_warnings(false);  // arrays may live until the process ends
  module.def("join", &join);
  module.def("leave", &leave);
  module.def("node", [] { return known(terrane_node()); });
  module.def("nodes", [] { return known(terrane_nodes()); });
  module.def("version", &terrane_version);
  add_chunks(module);
  add_interrupts(module);
  add_memory(module);
  add_recordings(module);
  add_waits(module);
}
