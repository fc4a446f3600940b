#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace terrane::runtime::shmem {

enum class Collective : std::uint8_t {
  kSync,
  kBroadcast,
  kCollect,
  kFcollect,
  kAlltoall,
  kAlltoalls,
  kReduce,
  kScan,
};
constexpr std::uint32_t kCollectives = 8;

enum class Algorithm : std::uint8_t {
  kPairwise,  // sync: by rounds of pairs
  kCounter,   // sync: by a count on each host
  kInline,    // small data through cells of the control area
  kPut,       // the PE that has the data stores it to the others
  kGet,       // the PE that wants the data loads it from the others
};

std::string_view name(Collective collective);
std::string_view name(Algorithm algorithm);

// What an operation is like; the same at all of its PEs.
struct Situation {
  Collective collective = Collective::kSync;
  std::uint64_t bytes = 0;  // of one PE's source, or of the part for one PE
  std::uint32_t pes = 1;
  bool on_one_host = true;
};

// Which algorithm serves which operation: rows that were measured, the first that fits counts; and
// what the user has set. Every PE of a job must have the same one.
class AlgorithmTable {
 public:
  struct Row {
    Collective collective;
    std::uint64_t up_to_bytes;
    std::uint32_t up_to_pes;
    bool crowded;  // for jobs with more PEs than processors, or for the others
    Algorithm algorithm;
  };

  // `crowded`: on some host there are more threads than processors.
  explicit AlgorithmTable(bool crowded);
  // `choices` as in TERRANE_SHMEM_ALGORITHM: "reduce=get,sync=counter"; "@FILE" takes the rows of a
  // file that `bench shmem --tune` has written. A wrong name gives an error that lists the right
  // ones.
  static base::Result<AlgorithmTable> with_choices(bool crowded, std::string_view choices);

  Algorithm choose(const Situation& situation) const;
  bool crowded() const { return crowded_; }
  // Equal for equal tables.
  std::uint64_t fingerprint() const;

  // A row as a line of text, and back.
  static std::string to_text(const Row& row);
  static base::Result<Row> from_text(std::string_view line);

 private:
  base::Result<> choose_by_name(std::string_view choice);
  base::Result<> read_rows(const std::string& path);

  bool crowded_;
  std::vector<Row> rows_;
};

}  // namespace terrane::runtime::shmem
