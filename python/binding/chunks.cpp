// Chunks: a Scope hands out the memory of a version as buffers, and counts the buffers that are
// held.
#include <fcntl.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <terrane/chunks.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "calls.h"

namespace nb = nanobind;

namespace pyterrane {
namespace {

// What the last call has said, with the whole time that was waited in place of one slice of it.
std::string error_after(double seconds) {
  std::string text = terrane_chunks_error();
  const std::string before = " within ", after = " s";
  std::size_t begin = text.find(before);
  std::size_t end = begin == std::string::npos ? begin : text.find(after, begin + before.size());
  if (end == std::string::npos) return text;
  char number[32];
  std::snprintf(number, sizeof number, "%g", seconds);
  return text.replace(begin + before.size(), end - begin - before.size(), number);
}

[[noreturn]] void raise_chunk_error(int status, std::int64_t timeout_ns = 0) {
  PyObject* type = status == TERRANE_EINVAL || status == TERRANE_EMISMATCH  ? PyExc_ValueError
                   : status == TERRANE_ENOMEM                               ? PyExc_MemoryError
                   : status == TERRANE_ETIMEDOUT || status == TERRANE_EBUSY ? PyExc_TimeoutError
                   : status == TERRANE_EUNKNOWN                             ? PyExc_LookupError
                   : status == TERRANE_EFULL                                ? PyExc_BufferError
                                                                            : PyExc_RuntimeError;
  PyErr_SetString(type, error_after(static_cast<double>(timeout_ns) / 1e9).c_str());
  throw nb::python_error();
}

class Scope;

// The scopes of this process that are open: a node leaves its chunks only without one.
struct OpenScopes {
  std::mutex mutex;
  std::set<Scope*> all;
};
OpenScopes& open_scopes() {
  static auto* one = new OpenScopes();  // never destroyed: scopes are dropped until the end
  return *one;
}

// A scope, and the count of buffers of its memory. Once it is over it hands out no more of them,
// and ends with the last one. Threads: any.
class Scope {
 public:
  // One that was taken is over with its first buffer.
  Scope(const terrane_scope& scope, bool is_writable, bool is_taken)
      : scope_(scope), is_writable_(is_writable), is_taken_(is_taken) {
    std::lock_guard hold(open_scopes().mutex);
    open_scopes().all.insert(this);
  }
  ~Scope() {
    terrane_scope last;
    {
      std::lock_guard hold(open_scopes().mutex);
      last = end();
      open_scopes().all.erase(this);
    }
    release(last);
  }
  Scope(const Scope&) = delete;

  int give_buffer(PyObject* self, Py_buffer* view, int flags) {
    if (!count_buffer()) {
      PyErr_SetString(PyExc_BufferError, "the scope of this version is over");
      return -1;
    }
    int status = PyBuffer_FillInfo(view, self, data_, static_cast<Py_ssize_t>(bytes_),
                                   is_writable_ ? 0 : 1, flags);
    if (status != 0) take_buffer_back();
    return status;
  }

  void take_buffer_back() {
    terrane_scope last{};
    {
      std::lock_guard hold(open_scopes().mutex);
      if (--buffers_ == 0 && is_over_) last = end();
    }
    release(last);
  }

  // False: somebody has a buffer still; the scope ends with the last one.
  bool leave() {
    nb::gil_scoped_release others;
    terrane_scope last{};
    {
      std::lock_guard hold(open_scopes().mutex);
      is_over_ = true;
      if (buffers_ != 0) return false;
      last = end();
    }
    release(last);
    return true;
  }

  // What is to be released, if anything. Under the mutex.
  terrane_scope end() { return std::exchange(scope_, {}); }

  static void release(terrane_scope& scope) {
    if (scope.id != 0) terrane_chunk_release(&scope);
  }

  bool is_open() const { return scope_.id != 0; }  // under the mutex
  std::uint64_t version() const { return version_; }
  std::uint64_t missed() const { return missed_; }

 private:
  bool count_buffer() {
    std::lock_guard hold(open_scopes().mutex);
    if (is_over_) return false;
    is_over_ = is_taken_;
    ++buffers_;
    return true;
  }

  terrane_scope scope_;  // zero: it has ended
  bool is_writable_, is_taken_, is_over_ = false;
  int buffers_ = 0;
  void* data_ = scope_.data;
  std::size_t bytes_ = scope_.bytes;
  std::uint64_t version_ = scope_.version, missed_ = scope_.missed;
};

int give_buffer(PyObject* self, Py_buffer* view, int flags) {
  return nb::inst_ptr<Scope>(nb::handle(self))->give_buffer(self, view, flags);
}

void take_buffer_back(PyObject* self, Py_buffer*) {
  nb::inst_ptr<Scope>(nb::handle(self))->take_buffer_back();
}

PyType_Slot scope_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(give_buffer)},
                             {Py_bf_releasebuffer, reinterpret_cast<void*>(take_buffer_back)},
                             {0, nullptr}};

nb::object wrap(const terrane_scope& scope, bool is_writable, bool is_taken) {
  return nb::cast(new Scope(scope, is_writable, is_taken), nb::rv_policy::take_ownership);
}

// As terrane run's --patience: after so many seconds a wait says once what it waits for.
double patience() {
  const char* text = std::getenv("TERRANE_PATIENCE");
  return text == nullptr || *text == '\0' ? 10 : std::atof(text);
}

// wait_for() of calls.h over a call on a chunk, which gives its status.
template <typename Call>
int wait_for_chunk(std::int64_t timeout_ns, Call call) {
  using Clock = std::chrono::steady_clock;
  auto begin = Clock::now();
  double seconds = -1;  // not looked up yet
  int status = TERRANE_OK;
  auto in_time = [&](std::uint64_t ns) {
    status = call(static_cast<std::int64_t>(ns));
    if (status == TERRANE_EBUSY) status = TERRANE_ETIMEDOUT;
    return status == TERRANE_ETIMEDOUT ? status : TERRANE_OK;
  };
  auto report = [&] {
    if (seconds < 0) seconds = std::max(patience(), 0.0);
    if (seconds == 0 || Clock::now() - begin < std::chrono::duration<double>(seconds)) return;
    std::string text = error_after(seconds);
    PySys_FormatStderr("pyterrane: node %d waits: %.900s\n", terrane_chunks_node(), text.c_str());
    seconds = 0;
  };
  wait_for(timeout_ns, in_time, report);
  return status;
}

nb::object open_chunk(std::uint64_t chunk, int mode, std::int64_t timeout_ns) {
  terrane_scope scope;
  int status = wait_for_chunk(timeout_ns, [&](std::int64_t ns) {
    return terrane_chunk_open({chunk}, static_cast<terrane_chunk_mode>(mode), ns, &scope);
  });
  if (status < 0) raise_chunk_error(status, timeout_ns);
  return wrap(scope, mode != TERRANE_CHUNK_READ, false);
}

// A version that came, as a scope that ends with its last buffer. None: none came in time, or
// (False) no more will.
nb::object take(std::uint64_t chunk, std::int64_t timeout_ns) {
  terrane_scope scope;
  int status = wait_for_chunk(
      timeout_ns, [&](std::int64_t ns) { return terrane_chunk_take({chunk}, ns, &scope); });
  if (status == TERRANE_EENDED) return nb::bool_(false);
  if (status == TERRANE_ETIMEDOUT) return nb::none();
  if (status < 0) raise_chunk_error(status);
  return wrap(scope, false, true);
}

std::uint64_t create(const std::string& name, std::size_t bytes, int coherence, int home) {
  terrane_chunk chunk;
  int status;
  {
    nb::gil_scoped_release others;
    status = terrane_chunk_create_at(name.c_str(), bytes,
                                     static_cast<terrane_chunk_coherence>(coherence), home, &chunk,
                                     nullptr);
  }
  if (status < 0) raise_chunk_error(status);
  return chunk.id;
}

std::uint64_t find(const std::string& name, std::int64_t timeout_ns) {
  terrane_chunk chunk{};
  int status = wait_for_chunk(timeout_ns, [&](std::int64_t ns) {
    int one = terrane_chunk_find(name.c_str(), ns, &chunk);
    return one == TERRANE_EUNKNOWN ? TERRANE_ETIMEDOUT : one;
  });
  if (status < 0) raise_chunk_error(status, timeout_ns);
  return chunk.id;
}

void subscribe(std::uint64_t chunk, int policy, std::uint32_t window) {
  int status;
  {
    nb::gil_scoped_release others;
    status = terrane_chunk_subscribe({chunk}, static_cast<terrane_chunk_policy>(policy), window,
                                     nullptr, nullptr);
  }
  if (status < 0) raise_chunk_error(status);
}

void unsubscribe(std::uint64_t chunk) {
  int status;
  {
    nb::gil_scoped_release others;
    status = terrane_chunk_unsubscribe({chunk});
  }
  if (status < 0 && status != TERRANE_EENDED) raise_chunk_error(status);
}

// The caller's own descriptor, readable when a version may have come.
int descriptor(std::uint64_t chunk) {
  int fd = terrane_chunk_descriptor({chunk});
  if (fd == TERRANE_EENDED) return -1;
  if (fd < 0) raise_chunk_error(fd);
  return ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

std::size_t open_scope_count() {
  std::lock_guard hold(open_scopes().mutex);
  const auto& all = open_scopes().all;
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const Scope* scope) { return scope->is_open(); }));
}

}  // namespace

void join_chunks() {
  int status;
  {
    nb::gil_scoped_release others;
    status = terrane_chunks_init();
  }
  if (status < 0) raise_chunk_error(status);
}

void leave_chunks() {
  std::vector<terrane_scope> last;
  {
    std::lock_guard hold(open_scopes().mutex);
    for (Scope* scope : open_scopes().all) last.push_back(scope->end());
  }
  for (terrane_scope& scope : last) Scope::release(scope);
  terrane_chunks_finalize();
}

void add_chunks(nb::module_& module) {
  nb::class_<Scope>(module, "Scope", nb::type_slots(scope_slots))
      .def("leave", &Scope::leave)
      .def_prop_ro("version", &Scope::version)
      .def_prop_ro("missed", &Scope::missed);
  module.def("chunk_create", &create, nb::arg("name"), nb::arg("bytes"), nb::arg("coherence"),
             nb::arg("home"));
  module.def("chunk_find", &find, nb::arg("name"), nb::arg("timeout_ns"));
  module.def("chunk_open", &open_chunk, nb::arg("chunk"), nb::arg("mode"), nb::arg("timeout_ns"),
             nb::sig("def chunk_open(chunk: int, mode: int, timeout_ns: int) -> Scope"));
  module.def("chunk_take", &take, nb::arg("chunk"), nb::arg("timeout_ns"),
             nb::sig("def chunk_take(chunk: int, timeout_ns: int) -> Scope | bool | None"));
  module.def("chunk_subscribe", &subscribe, nb::arg("chunk"), nb::arg("policy"), nb::arg("window"));
  module.def("chunk_unsubscribe", &unsubscribe, nb::arg("chunk"));
  module.def("chunk_descriptor", &descriptor, nb::arg("chunk"));
  module.def("open_scopes", &open_scope_count);
}

}  // namespace pyterrane
