// Shared memory as Python sees it: allocations, and objects that hand it out as buffers.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <terrane/pages.h>

#include <cstdint>
#include <optional>
#include <string>

#include "calls.h"

namespace nb = nanobind;

namespace pyterrane {
namespace {

// A range of shared memory. It owns nothing: Python's side frees the allocation when it is gone.
struct Memory {
  std::uintptr_t address;
  std::size_t bytes;
};

int give_buffer(PyObject* self, Py_buffer* view, int flags) {
  auto* memory = nb::inst_ptr<Memory>(nb::handle(self));
  return PyBuffer_FillInfo(view, self, reinterpret_cast<void*>(memory->address),
                           static_cast<Py_ssize_t>(memory->bytes), 0, flags);
}

PyType_Slot memory_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(give_buffer)},
                              {0, nullptr}};

std::uintptr_t alloc(std::size_t bytes, int homes, std::uint32_t home, std::uint32_t block_pages,
                     const std::optional<std::string>& name, bool collective) {
  terrane_alloc_options options{};
  options.homes = static_cast<terrane_homes>(homes);
  options.home = home;
  options.block_pages = block_pages;
  options.name = name ? name->c_str() : nullptr;
  options.size = sizeof options;
  void* address;
  {
    nb::gil_scoped_release others;
    address = (collective ? terrane_alloc_all : terrane_alloc)(bytes, &options);
  }
  if (address == nullptr) {
    PyErr_SetString(PyExc_MemoryError, terrane_error());
    throw nb::python_error();
  }
  return reinterpret_cast<std::uintptr_t>(address);
}

void* pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

nb::dict counters() {
  terrane_counters all;
  int status = terrane_read_counters(&all);
  if (status < 0) raise_error(status);
  nb::dict out;
  out["pages_fetched"] = all.pages_fetched;
  out["read_faults"] = all.read_faults;
  out["write_faults"] = all.write_faults;
  out["pages_flushed"] = all.pages_flushed;
  out["bytes_flushed"] = all.bytes_flushed;
  out["notices"] = all.notices;
  out["pages_invalidated"] = all.pages_invalidated;
  out["pages_evicted"] = all.pages_evicted;
  out["lock_acquires"] = all.lock_acquires;
  out["barriers"] = all.barriers;
  out["messages_sent"] = all.messages_sent;
  out["message_bytes_sent"] = all.message_bytes_sent;
  out["fetch_ns"] = all.fetch_ns;
  out["lock_ns"] = all.lock_ns;
  out["barrier_ns"] = all.barrier_ns;
  out["handler_ns"] = all.handler_ns;
  out["overhead_ns"] = all.overhead_ns;
  out["elapsed_ns"] = all.elapsed_ns;
  return out;
}

}  // namespace

void add_memory(nb::module_& module) {
  nb::class_<Memory>(module, "Memory", nb::is_weak_referenceable(), nb::type_slots(memory_slots))
      .def(nb::init<std::uintptr_t, std::size_t>(), nb::arg("address"), nb::arg("nbytes"))
      .def_ro("address", &Memory::address)
      .def_ro("nbytes", &Memory::bytes);
  module.def("alloc", &alloc, nb::arg("bytes"), nb::arg("homes"), nb::arg("home"),
             nb::arg("block_pages"), nb::arg("name").none(), nb::arg("collective"));
  module.def("free", [](std::uintptr_t address) {
    wait_in([=] { return terrane_free(pointer(address)); });
  });
  module.def("touch", [](std::uintptr_t address, std::size_t bytes, int access) {
    wait_in([=] { return terrane_touch(pointer(address), bytes, access); });
  });
  module.def("evict", [](std::uintptr_t address, std::size_t bytes) {
    wait_in([=] { return terrane_evict(pointer(address), bytes); });
  });
  module.def("counters", &counters);
}

}  // namespace pyterrane
