// getopt: its variables (optarg, optind, opterr, optopt) and what it remembers within an argument
// are a node's own, if the program does not name the variables. So it runs on node 0, and its
// variables follow the calling thread.
#include <getopt.h>

#include "frontend/threads/copies.h"

using terrane::frontend::call_on;
using terrane::frontend::next;
using namespace terrane::frontend::threads;

namespace {

using Long = int (*)(int, char* const*, const char*, const option*, int*);

// A call, and the variables before and after it. In shared memory.
struct Asked {
  Long function;
  int count;
  char* const* arguments;
  const char* letters;
  const option* names;
  int* index;
  int place, prints, wrong;
  char* value;
};

void take_variables(Asked& asked) {
  asked.place = optind;
  asked.prints = opterr;
  asked.wrong = optopt;
  asked.value = optarg;
}

void put_variables(const Asked& asked) {
  optind = asked.place;
  opterr = asked.prints;
  optopt = asked.wrong;
  optarg = asked.value;
}

int ask(Asked* asked) {
  put_variables(*asked);
  int found =
      asked->function(asked->count, asked->arguments, asked->letters, asked->names, asked->index);
  take_variables(*asked);
  return found;
}

int at_node_0(Long function, int count, char* const* arguments, const char* letters,
              const option* names, int* index) {
  if (!is_for_node_0()) return function(count, arguments, letters, names, index);
  Asked asked{function, count, arguments, letters, names, index, 0, 0, 0, nullptr};
  take_variables(asked);
  int found = call_on(0, ask, &asked);
  put_variables(asked);
  return found;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int getopt(int count, char* const* arguments, const char* letters) noexcept {
  Long plain = [](int all, char* const* list, const char* text, const option*, int*) {
    return next<"getopt">(::getopt)(all, list, text);
  };
  return at_node_0(plain, count, arguments, letters, nullptr, nullptr);
}

int getopt_long(int count, char* const* arguments, const char* letters, const option* names,
                int* index) noexcept {
  Long plain = [](int all, char* const* list, const char* text, const option* options, int* at) {
    return next<"getopt_long">(::getopt_long)(all, list, text, options, at);
  };
  return at_node_0(plain, count, arguments, letters, names, index);
}

int getopt_long_only(int count, char* const* arguments, const char* letters, const option* names,
                     int* index) noexcept {
  Long plain = [](int all, char* const* list, const char* text, const option* options, int* at) {
    return next<"getopt_long_only">(::getopt_long_only)(all, list, text, options, at);
  };
  return at_node_0(plain, count, arguments, letters, names, index);
}

}  // extern "C"
#pragma GCC visibility pop
