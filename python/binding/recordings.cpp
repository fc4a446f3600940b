// Recordings: versions of a chunk in a file.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <terrane/chunks.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "calls.h"

namespace nb = nanobind;

namespace pyterrane {
namespace {

// A buffer of Python's, held while a call uses it.
class Buffer {
 public:
  Buffer(nb::handle object, int flags) {
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw nb::python_error();
  }
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer(const Buffer&) = delete;
  void* data() const { return view_.buf; }
  std::size_t bytes() const { return static_cast<std::size_t>(view_.len); }

 private:
  Py_buffer view_;
};

// A file that is written or read. Threads: any; their calls come one after the other.
class Recording {
 public:
  static Recording* create(const std::string& path, std::size_t bytes, const std::string& text) {
    auto made = std::make_unique<Recording>();
    made->call([&] {
      return terrane_chunk_recording_create(path.c_str(), bytes, text.c_str(), &made->file_);
    });
    return made.release();
  }
  static Recording* open(const std::string& path) {
    auto made = std::make_unique<Recording>();
    terrane_chunk_recording_facts facts;
    made->call([&] { return terrane_chunk_recording_open(path.c_str(), &made->file_, &facts); });
    made->bytes_ = facts.bytes;
    made->begin_ns_ = facts.begin_ns;
    made->description_ = facts.description;
    return made.release();
  }
  Recording() = default;
  Recording(const Recording&) = delete;
  ~Recording() { terrane_chunk_recording_close(file_); }

  void append(std::uint64_t version, nb::handle data) {
    Buffer buffer(data, PyBUF_C_CONTIGUOUS);
    terrane_scope scope{};
    scope.data = buffer.data();
    scope.bytes = buffer.bytes();
    scope.version = version;
    use([&] { return terrane_chunk_recording_append(file_, &scope); });
  }

  // The number, the time in nanoseconds, and the length of the next version; None: there is none.
  nb::object next() {
    terrane_recorded_version version;
    if (use([&] { return terrane_chunk_recording_next(file_, &version); }) == TERRANE_EENDED)
      return nb::none();
    return nb::make_tuple(version.version, version.time_ns, version.bytes);
  }

  void read(nb::handle room) {
    Buffer buffer(room, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE);
    use([&] { return terrane_chunk_recording_read(file_, buffer.data(), buffer.bytes()); });
  }

  void close() {
    call([&] {
      terrane_chunk_recording_close(file_);
      file_ = nullptr;
      return TERRANE_OK;
    });
  }

  std::size_t bytes() const { return bytes_; }
  std::uint64_t begin_ns() const { return begin_ns_; }
  const std::string& description() const { return description_; }

 private:
  template <typename Call>
  int call(Call one) {
    int status;
    {
      nb::gil_scoped_release others;
      std::lock_guard hold(mutex_);
      status = one();
    }
    if (status == TERRANE_OK || status == TERRANE_EENDED) return status;
    PyObject* type = status == TERRANE_ESYSTEM ? PyExc_OSError : PyExc_ValueError;
    PyErr_SetString(type, terrane_chunks_error());
    throw nb::python_error();
  }

  // Of a recording that is to be open.
  template <typename Call>
  int use(Call one) {
    if (file_ == nullptr) throw nb::value_error("the recording is closed");
    return call(one);
  }

  std::mutex mutex_;
  terrane_chunk_recording* file_ = nullptr;  // closed: NULL, which calls refuse
  std::size_t bytes_ = 0;
  std::uint64_t begin_ns_ = 0;
  std::string description_;
};

}  // namespace

void add_recordings(nb::module_& module) {
  nb::class_<Recording>(module, "Recording")
      .def_static("create", &Recording::create, nb::arg("path"), nb::arg("bytes"),
                  nb::arg("description"))
      .def_static("open", &Recording::open, nb::arg("path"))
      .def("append", &Recording::append, nb::arg("version"), nb::arg("data"))
      .def("next", &Recording::next, nb::sig("def next(self) -> tuple[int, int, int] | None"))
      .def("read", &Recording::read, nb::arg("room"))
      .def("close", &Recording::close)
      .def_prop_ro("bytes", &Recording::bytes)
      .def_prop_ro("begin_ns", &Recording::begin_ns)
      .def_prop_ro("description", &Recording::description);
}

}  // namespace pyterrane
