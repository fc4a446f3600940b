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
  kPairwise,  // sync: pairs of PEs in rounds
  kCounter,   // sync: by a count on each host
  kInline,    // small data, through cells of the control area
  kPut,       // the PE that has the data stores it to the others
  kGet,       // the PE that wants the data loads it from the others
};

std::string_view name(Collective collective);
std::string_view name(Algorithm algorithm);

// What the choice of an algorithm depends on; equal at all PEs of an operation.
struct Situation {
  Collective collective = Collective::kSync;
  std::uint64_t bytes = 0;  // of one PE's source, or of the part for one PE
  std::uint32_t pes = 1;
  bool on_one_host = true;
};

// Which algorithm serves which operation: rows that were measured, of which the first that fits
// counts, and the user's choices. Equal at every PE of a job.
class AlgorithmTable {
 public:
  struct Row {
    Collective collective;
    std::uint64_t up_to_bytes;
    std::uint32_t up_to_pes;
    bool crowded;  // true: for jobs with more PEs than processors; false: for others
    Algorithm algorithm;
  };

  // crowded: some host has more threads than processors.
  explicit AlgorithmTable(bool crowded);
  // choices: as in TERRANE_SHMEM_ALGORITHM: "reduce=get,sync=counter"; "@FILE" reads rows from a
  // file that `bench shmem --tune` has written. A wrong name gives an error with the valid names.
  static base::Result<AlgorithmTable> with_choices(bool crowded, std::string_view choices);

  Algorithm choose(const Situation& situation) const;
  bool crowded() const { return crowded_; }
  // Equal tables have equal fingerprints.
  std::uint64_t fingerprint() const;

  // Conversion between a row and a line of text.
  static std::string to_text(const Row& row);
  static base::Result<Row> from_text(std::string_view line);

 private:
  base::Result<> choose_by_name(std::string_view choice);
  base::Result<> read_rows(const std::string& path);

  bool crowded_;
  std::vector<Row> rows_;
};

}  // namespace terrane::runtime::shmem
