#include "runtime/program/stacks.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "platform/page_size.h"

namespace terrane::runtime {
namespace {

constexpr std::uint64_t kLeast = 64 << 10;
constexpr std::uint64_t kPresent = 256 << 10;
constexpr std::uint64_t kUnlimited = 64 << 20;

// With the page that guards it.
std::uint64_t whole(std::uint64_t bytes) {
  std::uint64_t page = platform::page_bytes();
  return (std::max(bytes, kLeast) + page - 1) / page * page + page;
}

}  // namespace

std::uint64_t Stacks::default_bytes() {
  rlimit limit{};
  bool known = ::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return known ? std::max<std::uint64_t>(limit.rlim_cur, kLeast) : kUnlimited;
}

Stack Stacks::take(std::uint64_t bytes, std::string_view of) {
  std::string why;
  Stack stack = try_take(bytes, why);
  if (stack.base == nullptr)
    node_.fail(
        fmt::format("no shared memory for {}, which takes {} KiB (lower 'ulimit -s', or the "
                    "thread's own size): {}",
                    of, whole(bytes) >> 10, why));
  return stack;
}

Stack Stacks::try_take(std::uint64_t bytes, std::string& why) {
  std::uint64_t page = platform::page_bytes();
  bytes = whole(bytes);
  {
    std::lock_guard hold(mutex_);
    auto found = std::find_if(idle_.begin(), idle_.end(),
                              [&](const Stack& stack) { return stack.bytes == bytes; });
    if (found != idle_.end()) {
      Stack stack = *found;
      idle_.erase(found);
      return stack;
    }
  }
  Allocation options;
  options.policy.homes = protocol::Homes::kExplicit;
  options.policy.argument = node_.self().value;
  options.name = "stack";
  options.sparse = bytes <= whole(kUnlimited);  // a larger one is meant to be used
  void* base = nullptr;
  if (Outcome done = node_.allocate(bytes, options, base); !done.ok()) {
    why = done.message;
    return {};
  }
  Stack stack{static_cast<std::byte*>(base), bytes};
  node_.guard(base);
  std::uint64_t present = std::min(kPresent, bytes - page);
  node_.touch(stack.top() - present, present, true);
  return stack;
}

Stack Stacks::take_for_main() {
  constexpr std::uint64_t kMost = std::uint64_t{16} << 30;
  rlimit limit{};
  bool known = ::getrlimit(RLIMIT_STACK, &limit) == 0;
  std::uint64_t wanted = known ? std::min<std::uint64_t>(limit.rlim_cur, kMost) : kUnlimited;
  for (std::uint64_t bytes = wanted; bytes > kUnlimited; bytes /= 2) {
    std::string why;
    Stack stack = try_take(bytes, why);
    if (stack.base != nullptr) return stack;
  }
  return take(std::min(wanted, kUnlimited), "the stack of main");
}

void Stacks::give_back(Stack stack) {
  std::lock_guard hold(mutex_);
  idle_.push_back(stack);
}

}  // namespace terrane::runtime
