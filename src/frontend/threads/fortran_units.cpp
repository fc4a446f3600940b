// Units of Fortran lie on node 0, as they do in a program of one process: a statement of a thread
// of another node about a unit runs there, in a thread that node 0 has for this one. What is
// internal, a character variable in place of a unit, stays where it is.
#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/shared_range.h"
#include "frontend/pages/objects/shared_object.h"
#include "frontend/threads/for_teams.h"
#include "frontend/threads/program.h"

namespace terrane::frontend::threads {
namespace {

using Argument = std::uintptr_t;

// A thread of another node, as its thread on node 0 sees it, which makes one call after the other
// for it. In shared memory.
struct Caller {
  std::uint64_t asked, answered;  // semaphores, by their addresses
  void* function;
  std::array<Argument, 4> arguments;
};

constexpr std::size_t kStackBytes = 256 << 10;

void* serve(void* raw) {
  auto& caller = *static_cast<Caller*>(raw);
  runtime::Node& node = Program::get()->node();
  for (;;) {
    node.take_units(count_of(&caller.asked), {}, pages::kForEver);
    const auto& all = caller.arguments;
    reinterpret_cast<void (*)(Argument, Argument, Argument, Argument)>(caller.function)(
        all[0], all[1], all[2], all[3]);
    node.change_count(count_of(&caller.answered), protocol::CountOp::kAdd, 1);
  }
}

Caller& own_caller() {
  static thread_local Caller* caller = nullptr;
  if (caller != nullptr) return *caller;
  caller = static_cast<Caller*>(Program::get()->heap().allocate(sizeof(Caller)));
  if (caller == nullptr) terrane_program_fail("no memory for a statement about a unit of Fortran");
  std::memset(caller, 0, sizeof *caller);
  if (int error = terrane_program_thread(0, serve, caller, kStackBytes); error != 0)
    terrane_program_fail("cannot start the thread of node 0 that uses units of Fortran");
  return *caller;
}

template <typename... Arguments>
void call_on_node_0(void* function, Arguments... arguments) {
  Caller& caller = own_caller();
  runtime::Node& node = Program::get()->node();
  caller.function = function;
  caller.arguments = {static_cast<Argument>(arguments)...};
  node.change_count(count_of(&caller.asked), protocol::CountOp::kAdd, 1);
  node.take_units(count_of(&caller.answered), {}, pages::kForEver);
}

bool is_elsewhere_now() {
  Program* program = Program::get();
  return program != nullptr && program->self() != 0 && is_in_program();
}

// The parameters of a statement of libgfortran begin with these.
struct Parameters {
  static constexpr std::uint32_t kGivesLength = 1 << 11, kIsInternal = 1 << 14;
  std::uint32_t flags;
  std::int32_t unit;
};

// Whether a read, a write or a part of one is made on node 0.
bool is_forwarded(const Parameters* statement) {
  return (statement->flags & (Parameters::kIsInternal | Parameters::kGivesLength)) == 0 &&
         is_elsewhere_now();
}

void refuse_private() {
  terrane_program_fail(
      "a thread of another node than the first reads or writes a threadprivate variable by a "
      "statement about a unit of Fortran: copy it to another variable for that");
}

void* find(const char* name) { return ::dlsym(RTLD_NEXT, name); }

// Bytes of a real or complex variable: kind 10 takes 16.
std::size_t bytes_of(int kind) { return kind == 10 ? 16 : static_cast<std::size_t>(kind); }

template <typename... Arguments>
void call_here(void* function, Arguments... arguments) {
  reinterpret_cast<void (*)(Arguments...)>(function)(arguments...);
}

template <typename Pointer>
Argument as_argument(Pointer pointer) {
  return reinterpret_cast<Argument>(pointer);
}

// A variable of a statement; what it has by value follows it.
template <typename... Rest>
void transfer(void* function, Parameters* statement, void* variable, std::size_t bytes, bool reads,
              Rest... rest) {
  if (!is_forwarded(statement)) return call_here(function, statement, variable, rest...);
  if (reads) {
    OutShared shared(variable, bytes);
    if (!SharedRange::contains(variable)) std::memcpy(shared.get(), variable, bytes);
    call_on_node_0(function, as_argument(statement), as_argument(shared.get()), rest...);
    shared.done(bytes);
  } else {
    InShared shared(variable, bytes);
    call_on_node_0(function, as_argument(statement), as_argument(shared.get()), rest...);
  }
}

// `array`: a descriptor, which begins with the address.
void transfer_all(void* function, Parameters* statement, void* array, int kind,
                  std::size_t length) {
  if (!is_forwarded(statement)) return call_here(function, statement, array, kind, length);
  void* first = *static_cast<void**>(array);
  if (first != nullptr && !SharedRange::contains(first)) refuse_private();
  call_on_node_0(function, as_argument(statement), as_argument(array), kind, length);
}

struct Type {  // of a variable of a namelist
  std::size_t element_bytes;
  std::int32_t version;
  std::int8_t rank, type;
  std::int16_t attribute;
};

}  // namespace
}  // namespace terrane::frontend::threads

using namespace terrane::frontend::threads;

#define TERRANE_FIND(NAME) static void* function = find("_gfortran_" #NAME)
// A statement as a whole, its beginning or its end.
#define TERRANE_STATEMENT(NAME)                                          \
  void _gfortran_##NAME(Parameters* statement) {                         \
    TERRANE_FIND(NAME);                                                  \
    if (!is_forwarded(statement)) return call_here(function, statement); \
    call_on_node_0(function, as_argument(statement));                    \
  }
#define TERRANE_OTHER_STATEMENT(NAME)                               \
  void _gfortran_##NAME(Parameters* statement) {                    \
    TERRANE_FIND(NAME);                                             \
    if (!is_elsewhere_now()) return call_here(function, statement); \
    call_on_node_0(function, as_argument(statement));               \
  }
#define TERRANE_TRANSFER(NAME, BYTES)                                                       \
  void _gfortran_transfer_##NAME(Parameters* statement, void* variable, int kind) {         \
    TERRANE_FIND(transfer_##NAME);                                                          \
    transfer(function, statement, variable, BYTES, true, kind);                             \
  }                                                                                         \
  void _gfortran_transfer_##NAME##_write(Parameters* statement, void* variable, int kind) { \
    TERRANE_FIND(transfer_##NAME##_write);                                                  \
    transfer(function, statement, variable, BYTES, false, kind);                            \
  }
#define TERRANE_TRANSFER_TEXT(NAME, READS)                                                         \
  void _gfortran_transfer_character##NAME(Parameters* statement, void* text, std::size_t length) { \
    TERRANE_FIND(transfer_character##NAME);                                                        \
    transfer(function, statement, text, length, READS, length);                                    \
  }                                                                                                \
  void _gfortran_transfer_character_wide##NAME(Parameters* statement, void* text,                  \
                                               std::size_t length, int kind) {                     \
    TERRANE_FIND(transfer_character_wide##NAME);                                                   \
    transfer(function, statement, text, length* static_cast<std::size_t>(kind), READS, length,     \
             kind);                                                                                \
  }
#define TERRANE_TRANSFER_ARRAY(NAME)                                           \
  void _gfortran_transfer_##NAME(Parameters* statement, void* array, int kind, \
                                 std::size_t length) {                         \
    TERRANE_FIND(transfer_##NAME);                                             \
    transfer_all(function, statement, array, kind, length);                    \
  }
#define TERRANE_FLUSH(NAME)                                    \
  void _gfortran_##NAME(void* unit) {                          \
    TERRANE_FIND(NAME);                                        \
    if (!is_elsewhere_now()) return call_here(function, unit); \
    call_on_node_0(function, as_argument(unit));               \
  }

#pragma GCC visibility push(default)
extern "C" {

TERRANE_STATEMENT(st_read)
TERRANE_STATEMENT(st_read_done)
TERRANE_STATEMENT(st_write)
TERRANE_STATEMENT(st_write_done)
TERRANE_OTHER_STATEMENT(st_open)
TERRANE_OTHER_STATEMENT(st_close)
TERRANE_OTHER_STATEMENT(st_inquire)
TERRANE_OTHER_STATEMENT(st_rewind)
TERRANE_OTHER_STATEMENT(st_backspace)
TERRANE_OTHER_STATEMENT(st_endfile)
TERRANE_OTHER_STATEMENT(st_flush)
TERRANE_OTHER_STATEMENT(st_wait)
TERRANE_OTHER_STATEMENT(st_wait_async)
TERRANE_FLUSH(flush_i4)
TERRANE_FLUSH(flush_i8)
TERRANE_TRANSFER(integer, static_cast<std::size_t>(kind))
TERRANE_TRANSFER(logical, static_cast<std::size_t>(kind))
TERRANE_TRANSFER(real, bytes_of(kind))
TERRANE_TRANSFER(real128, bytes_of(kind))
TERRANE_TRANSFER(complex, 2 * bytes_of(kind))
TERRANE_TRANSFER(complex128, 2 * bytes_of(kind))
TERRANE_TRANSFER_TEXT(, true)
TERRANE_TRANSFER_TEXT(_write, false)
TERRANE_TRANSFER_ARRAY(array)
TERRANE_TRANSFER_ARRAY(array_write)

void _gfortran_st_set_nml_var(Parameters* statement, void* variable, const char* name, int length,
                              std::size_t text_length, Type type) {
  TERRANE_FIND(st_set_nml_var);
  if (is_elsewhere_now() && !terrane::frontend::SharedRange::contains(variable)) refuse_private();
  call_here(function, statement, variable, name, length, text_length, type);
}

}  // extern "C"
