#pragma once

#include <cstddef>
#include <cstdint>

// The part of the PMIx client interface that we call, as the PMIx Standard (versions 3 to 5,
// chapters 3, 5 and 9) lays it down for every library named libpmix.so.2. The library is loaded at
// run time only, where a PMIx launcher started the program; so neither the build nor other programs
// need it.
namespace terrane::bootstrap::pmix {

using Status = int;
using Rank = std::uint32_t;

inline constexpr Status kSuccess = 0;
inline constexpr Rank kWildcardRank = UINT32_MAX - 1;  // "of the job as a whole"

struct Process {
  char space[256];  // the job's name
  Rank rank;
};

enum class Type : std::uint16_t {
  kBool = 1,
  kString = 3,
  kSize = 4,
  kInt = 6,
  kUint = 11,
  kUint16 = 13,
  kUint32 = 14,
  kUint64 = 15,
};

struct Value {
  Type type;
  union {
    bool flag;
    char* string;
    int integer;
    std::uint16_t uint16;
    std::uint32_t uint32;
    std::uint64_t uint64;
    struct {  // as large as the largest member that the standard has: an environment variable
      char* words[2];
      char separator;
    } largest;
  } data;
};
static_assert(sizeof(Value) == 32);

struct Info {
  char key[512];
  std::uint32_t flags;
  Value value;
};
static_assert(offsetof(Info, value) == 520 && sizeof(Info) == 552);

enum class Scope : std::uint8_t { kGlobal = 3 };

using InitFunction = Status(Process* self, Info* info, std::size_t count);
using FinalizeFunction = Status(const Info* info, std::size_t count);
using PutFunction = Status(Scope scope, const char* key, Value* value);
using CommitFunction = Status();
// Called once, by a thread of the library.
using OperationDone = void(Status status, void* data);
using FenceFunction = Status(const Process* of, std::size_t processes, const Info* info,
                             std::size_t count, OperationDone* done, void* data);
// Of all processes of the job, where `of` is null.
using AbortFunction = Status(int code, const char* message, Process* of, std::size_t processes);
// *value: allocated by malloc, also what it points to.
using GetFunction = Status(const Process* of, const char* key, const Info* info, std::size_t count,
                           Value** value);
using ErrorStringFunction = const char*(Status status);

// Keys of the standard.
inline constexpr const char* kJobSize = "pmix.job.size";
inline constexpr const char* kHostName = "pmix.hname";
inline constexpr const char* kHostNumber = "pmix.nodeid";
inline constexpr const char* kCollect = "pmix.collect";

}  // namespace terrane::bootstrap::pmix
