// pyterrane._core: the C interface of Terrane (terrane/pages.h) for the modules of pyterrane.
#include <nanobind/nanobind.h>
#include <stdlib.h>
#include <terrane/pages.h>

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

// The interpreter has ended by then, and only here its exit code is known. A node that fails does
// not wait for the others: it ends, and the launcher ends them.
void leave(int code, void*) {
  if (code == 0) terrane_finalize();
}

void join() {
  wait_in([] { return terrane_init(); });
  on_exit(leave, nullptr);
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
  module.def("join", &join);
  module.def("leave", [] { wait_in([] { return terrane_finalize(); }); });
  module.def("node", [] { return known(terrane_node()); });
  module.def("nodes", [] { return known(terrane_nodes()); });
  module.def("version", &terrane_version);
  add_interrupts(module);
  add_memory(module);
  add_waits(module);
}
