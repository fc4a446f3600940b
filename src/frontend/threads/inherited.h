#pragma once

#include <cstdint>

#include "platform/floating_point.h"

// What a thread has of its own in the kernel and in the processor, and a new thread has from the
// one that creates it, on whatever node it starts.
namespace terrane::frontend::threads {

// What the kernel knows a thread may do. Plain data: it lies in the record of a new thread.
struct Rights {
  enum Field : std::uint32_t {
    kBoundingSet,  // bits of capabilities
    kSecureBits,
    kGroup,
    kEffectiveGroup,
    kSavedGroup,
    kFileGroup,
    kUser,
    kEffectiveUser,
    kSavedUser,
    kFileUser,
    kEffective,  // bits of capabilities
    kPermitted,
    kInheritable,
    kNoNewPrivileges,
    kNice,
    kFields,
  };
  std::uint64_t of[kFields];
  std::uint32_t changed;  // bits of the fields that are not what the creator's process has
};

struct Inherited {
  platform::FloatingPoint floating_point;
  Rights rights;
};

// Every node, as the only thread of the program: what its process may do now is what its threads
// may do by themselves. After each change of the process's rights on this node again.
void remember_rights();
// Later threads inherit the bounding set of capabilities of their creators, which costs a system
// call for each capability.
void inherit_bounding_set();
// Of the calling thread.
Inherited inherited_from_here();
// Gives it to the calling thread, which has just begun. nullptr, or what the kernel refuses: the
// thread would keep rights that its creator has given up.
const char* inherit(const Inherited& from);

}  // namespace terrane::frontend::threads
