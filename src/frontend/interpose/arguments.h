#pragma once

#include <limits.h>

#include <cerrno>
#include <cstddef>

#include "frontend/interpose/bounce.h"
#include "frontend/interpose/for_kernel.h"
#include "frontend/interpose/shared_range.h"
#include "platform/guarded_copy.h"

// Arguments of calls that may lie in shared memory, where the kernel cannot reach them when their
// page is missing: the call gets a private copy instead. An argument elsewhere is passed on as it
// is. An address in no allocation is passed on too, so that the kernel says EFAULT.
namespace terrane::frontend {

// Something that the kernel reads. Guarantees that get() can be read, if the argument could.
template <typename T>
class In {
 public:
  explicit In(const T* from) : use_(from) {
    if (SharedRange::contains(from) && platform::guarded_copy(own_.get(), from, sizeof(T)))
      use_ = own_.get();
  }
  const T* get() const { return use_; }

 private:
  const T* use_;
  ForKernel<T> own_;
};

// Something that the kernel writes, and (kBoth) reads before: done() hands it to the program.
template <typename T, bool kBoth = false>
class Out {
 public:
  explicit Out(T* to) : to_(to), use_(to) {
    if (!SharedRange::contains(to)) return;
    if (!kBoth || platform::guarded_copy(own_.get(), to, sizeof(T))) use_ = own_.get();
  }
  T* get() { return use_; }
  // The call's result; -1 and EFAULT when the program cannot have what the kernel wrote.
  template <typename Result>
  Result done(Result result) {
    if (result < 0 || use_ == to_) return result;
    if (platform::guarded_copy(to_, own_.get(), sizeof(T))) return result;
    errno = EFAULT;
    return -1;
  }

 private:
  T* to_;
  T* use_;
  ForKernel<T> own_;
};
template <typename T>
using InOut = Out<T, true>;

// Bytes that the kernel reads.
class InBytes {
 public:
  InBytes(const void* from, std::size_t bytes) : use_(from), bounce_(shared(from) ? bytes : 0) {
    if (shared(from) && bounce_.data() != nullptr &&
        platform::guarded_copy(bounce_.data(), from, bytes))
      use_ = bounce_.data();
  }
  const void* get() const { return use_; }

 private:
  static bool shared(const void* from) { return SharedRange::contains(from); }

  const void* use_;
  Bounce bounce_;
};

// Bytes that the kernel writes; it may read them, too.
class OutBytes {
 public:
  OutBytes(void* to, std::size_t bytes) : to_(to), use_(to), bounce_(shared(to) ? bytes : 0) {
    if (shared(to) && bounce_.data() != nullptr &&
        platform::guarded_copy(bounce_.data(), to, bytes))
      use_ = bounce_.data();
  }
  void* get() const { return use_; }
  // `bytes`: how many the kernel wrote.
  template <typename Result>
  Result done(Result result, std::size_t bytes) {
    if (result < 0 || use_ == to_) return result;
    if (platform::guarded_copy(to_, use_, bytes)) return result;
    errno = EFAULT;
    return -1;
  }

 private:
  static bool shared(const void* to) { return SharedRange::contains(to); }

  void* to_;
  void* use_;
  Bounce bounce_;
};

// A path.
class InPath {
 public:
  explicit InPath(const char* from) : use_(from) {
    if (SharedRange::contains(from) && platform::guarded_copy_string(own_->text, from, PATH_MAX))
      use_ = own_->text;
  }
  const char* get() const { return use_; }

 private:
  struct Path {
    char text[PATH_MAX];
  };
  const char* use_;
  ForKernel<Path> own_;
};

}  // namespace terrane::frontend
