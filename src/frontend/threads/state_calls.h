#pragma once

#include <sched.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>

#include "frontend/interpose/for_caller.h"
#include "frontend/interpose/next.h"

// What the functions do that the build makes from the rows of src/frontend/process_state.txt, and
// others that change the state of a process on several nodes.
namespace terrane::frontend::threads {

// Whether a call is the program's and there are other nodes. Not of a child of vfork, which has
// a state of its own.
bool concerns_all_nodes();

// One sentence about a call that is refused, said once on each node for each `said`; errno.
void tell_refusal(std::atomic_flag& said, int error, const char* call, const char* sentence);

// The result of a call that is refused: -1 or nullptr, with errno.
template <Name kCall, typename Result>
Result refused(int error, const char* sentence) {
  static std::atomic_flag said;
  tell_refusal(said, error, kCall.text, sentence);
  if constexpr (std::is_void_v<Result>) {
    return;
  } else if constexpr (std::is_pointer_v<Result>) {
    return nullptr;
  } else {
    return static_cast<Result>(-1);
  }
}

// A call that is refused where it concerns all nodes.
template <Name kCall, typename Result, typename... Parameters>
Result refused(Result (*)(Parameters...), int error, const char* sentence,
               std::type_identity_t<Parameters>... arguments) {
  if (!concerns_all_nodes()) return Next<kCall, Result(Parameters...)>::get()(arguments...);
  return refused<kCall, Result>(error, sentence);
}

// Ends the program with the name of the call.
[[noreturn]] void ended(const char* call, const char* sentence);
[[noreturn]] inline void ended_of_node(const char* call) {
  ended(call, "it is used on another node than the one that has opened it");
}

// A change that one node after the other makes, this one first. It lies in shared memory.
struct Change {
  // Makes the change on the calling node; errno where it cannot be.
  bool (*make)(Change& change);
  // Whether the calling node could make it; errno. nullptr: only the attempt shows that.
  bool (*may)(Change& change) = nullptr;
};

// Makes it on this node and then on all others. False, with errno: this node refuses it, or a node
// that was asked before, and no node has changed. If a later node refuses, the nodes would differ:
// the job ends with a sentence.
bool change_all_nodes(const char* call, Change& change);

// A call with numbers alone that changes the process, made on every node; the result on this node.
template <typename Result, typename... Parameters>
Result on_every_node(const char* call, Result (*function)(Parameters...),
                     std::type_identity_t<Parameters>... arguments) {
  using Kept = std::conditional_t<std::is_void_v<Result>, int, Result>;
  struct Made : Change {
    Result (*function)(Parameters...);
    std::tuple<Parameters...> arguments;
    Kept first;
    bool has_first;
  };
  if (!concerns_all_nodes()) return function(arguments...);
  Made made;
  made.make = [](Change& change) {
    Made& one = static_cast<Made&>(change);
    Kept result{};
    if constexpr (std::is_void_v<Result>) {
      std::apply(one.function, one.arguments);
    } else {
      result = std::apply(one.function, one.arguments);
    }
    if (!one.has_first) one.first = result;
    one.has_first = true;
    return std::is_void_v<Result> || result != static_cast<Kept>(-1);
  };
  made.function = function;
  made.arguments = {arguments...};
  made.has_first = false;
  change_all_nodes(call, made);
  if constexpr (!std::is_void_v<Result>) return made.first;
}
template <Name kCall, typename Result, typename... Parameters>
Result on_every_node(Result (*)(Parameters...), std::type_identity_t<Parameters>... arguments) {
  return on_every_node(kCall.text, Next<kCall, Result(Parameters...)>::get(), arguments...);
}

}  // namespace terrane::frontend::threads
