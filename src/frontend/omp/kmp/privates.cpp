// Threadprivate variables of compilers that have no thread-local ones (clang -fnoopenmp-use-tls).
// Source: "Thread private data support" of the LLVM OpenMP Runtime Library's reference.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "frontend/omp/kmp/abi.h"
#include "frontend/threads/for_teams.h"

using namespace terrane::frontend::omp;
using namespace terrane::frontend::omp::kmp;

namespace {

using Construct = void*(void*);
using Copy = void*(void*, void*);
using ConstructMany = void*(void*, std::size_t);
using CopyMany = void*(void*, void*, std::size_t);

// What is known of a variable: how a copy of it begins. The functions are the program's, nullptr
// where there is none. Copies live as long as the program: threads of teams do not end before it.
struct Variable {
  Variable* next;
  void* address;
  Construct* construct;
  Copy* copy;
  ConstructMany* construct_many;  // of an array, with the number of its elements
  CopyMany* copy_many;
  std::size_t elements;
  void* first;  // what it was when the program asked for it first
};

// In shared memory. Variables that constructors of libraries register, before the program starts,
// are in a list of their own on each node: every node runs those.
Variable* early = nullptr;

struct List {
  List() : root(terrane_program_root(kProgramPrivates)) { terrane_program_lock(root); }
  ~List() { terrane_program_unlock(root); }
  List(const List&) = delete;
  List& operator=(const List&) = delete;

  Variable* find(const void* address) const {
    for (auto* one = static_cast<Variable*>(*root); one != nullptr; one = one->next)
      if (one->address == address) return one;
    for (Variable* one = early; one != nullptr; one = one->next)
      if (one->address == address) return one;
    return nullptr;
  }
  Variable* add(const Variable& what) const {
    auto* one = static_cast<Variable*>(std::malloc(sizeof(Variable)));
    if (one == nullptr) terrane_program_fail("no memory for a threadprivate variable");
    *one = what;
    if (terrane_program_has_started()) {
      one->next = static_cast<Variable*>(*root);
      *root = one;
    } else {
      one->next = early;
      early = one;
    }
    return one;
  }

  void** root;
};

void* new_memory(std::size_t bytes) {
  void* memory = std::calloc(1, bytes);
  if (memory == nullptr) terrane_program_fail("no memory for a threadprivate variable");
  return memory;
}

void* bytes_of(const void* variable, std::size_t bytes) {
  void* copy = new_memory(bytes);
  std::memcpy(copy, variable, bytes);
  return copy;
}

// Where the bytes are that copies begin with. `cache`: where the compiler keeps a pointer for this
// library, or nullptr.
const void* first_value(void* variable, std::size_t bytes, void*** cache) {
  List list;
  if (cache != nullptr) {
    if (*cache == nullptr) *cache = static_cast<void**>(bytes_of(variable, bytes));
    return *cache;
  }
  Variable* known = list.find(variable);
  if (known == nullptr) known = list.add({.address = variable});
  if (known->first == nullptr) known->first = bytes_of(variable, bytes);
  return known->first;
}

Variable known_of(const void* variable) {
  List list;
  const Variable* known = list.find(variable);
  return known == nullptr ? Variable{} : *known;
}

void* make_copy(void* variable, std::size_t bytes, const void* first) {
  Variable known = known_of(variable);
  void* own = new_memory(bytes);
  void* from = const_cast<void*>(first);
  if (known.construct != nullptr) {
    known.construct(own);
  } else if (known.construct_many != nullptr) {
    known.construct_many(own, known.elements);
  } else if (known.copy != nullptr) {
    known.copy(own, from);
  } else if (known.copy_many != nullptr) {
    known.copy_many(own, from, known.elements);
  } else {
    std::memcpy(own, first, bytes);
  }
  return own;
}

// The calling thread's variable; that of main's thread is the variable itself.
void* own_variable(void* variable, std::size_t bytes, void*** cache) {
  static thread_local std::unordered_map<void*, void*> own_variables;
  void*& own = own_variables[variable];
  if (own != nullptr) return own;
  const void* first = first_value(variable, bytes, cache);
  own = terrane_program_is_main() ? variable : make_copy(variable, bytes, first);
  return own;
}

void register_variable(const Variable& variable) {
  List list;
  if (list.find(variable.address) == nullptr) list.add(variable);
}

}  // namespace

extern "C" {

void* __kmpc_threadprivate_cached(const Ident*, Gtid, void* variable, std::size_t bytes,
                                  void*** cache) {
  return own_variable(variable, bytes, cache);
}
void* __kmpc_threadprivate(const Ident*, Gtid, void* variable, std::size_t bytes) {
  return own_variable(variable, bytes, nullptr);
}
void __kmpc_threadprivate_register(const Ident*, void* variable, Construct* construct, Copy* copy,
                                   void*) {
  register_variable({.address = variable, .construct = construct, .copy = copy});
}
void __kmpc_threadprivate_register_vec(const Ident*, void* variable, ConstructMany* construct,
                                       CopyMany* copy, void*, std::size_t elements) {
  register_variable(
      {.address = variable, .construct_many = construct, .copy_many = copy, .elements = elements});
}

}  // extern "C"
