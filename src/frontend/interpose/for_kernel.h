#pragma once

#include "frontend/interpose/bounce.h"
#include "frontend/interpose/shared_range.h"

namespace terrane::frontend {

// Something for the kernel to read or to write: on the stack, or in private memory where the stack
// is shared memory, as that of a program's thread is (terrane threads). Not initialised.
template <typename T>
class ForKernel {
 public:
  ForKernel() : bounce_(SharedRange::contains(&on_stack_) ? sizeof(T) : 0) {}
  T* get() { return bounce_.data() == nullptr ? &on_stack_ : reinterpret_cast<T*>(bounce_.data()); }
  const T* get() const { return const_cast<ForKernel*>(this)->get(); }
  T* operator->() { return get(); }
  T& operator*() { return *get(); }

 private:
  union {  // without a constructor of T
    T on_stack_;
  };
  Bounce bounce_;
};

}  // namespace terrane::frontend
