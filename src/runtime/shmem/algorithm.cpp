#include "runtime/shmem/algorithm.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <span>
#include <sstream>
#include <utility>

#include "runtime/shmem/control_layout.h"

namespace terrane::runtime::shmem {
namespace {

constexpr std::uint64_t kAny = ~std::uint64_t{0};
constexpr std::uint32_t kAnyPes = ~std::uint32_t{0};

constexpr std::array<std::string_view, kCollectives> kCollectiveNames = {
    "sync", "broadcast", "collect", "fcollect", "alltoall", "alltoalls", "reduce", "scan"};
constexpr std::array<std::string_view, 5> kAlgorithmNames = {"pairwise", "counter", "inline", "put",
                                                             "get"};

// The algorithms of a collective. The last one serves all cases.
std::span<const Algorithm> algorithms_of(Collective collective) {
  using enum Algorithm;
  static constexpr std::array kForSync = {kPairwise, kCounter};
  static constexpr std::array kForData = {kInline, kGet, kPut};
  static constexpr std::array kForBlocks = {kGet, kPut};
  switch (collective) {
    case Collective::kSync:
      return kForSync;
    case Collective::kAlltoall:
    case Collective::kAlltoalls:
    case Collective::kCollect:
      return kForBlocks;
    default:
      return kForData;
  }
}

bool can(Algorithm algorithm, const Situation& situation) {
  if (algorithm == Algorithm::kPairwise) return situation.on_one_host;
  if (algorithm != Algorithm::kInline) return true;
  return situation.bytes <= kCellBytes &&
         (situation.on_one_host || situation.collective == Collective::kBroadcast);
}

// Measured by `./run bench shmem --tune` (docs/design/shmem.md).
std::vector<AlgorithmTable::Row> measured_rows() {
  using enum Collective;
  using enum Algorithm;
  return {
      {kSync, kAny, kAnyPes, false, kPairwise},
      {kSync, kAny, 2, true, kPairwise},
      {kSync, kAny, kAnyPes, true, kCounter},
      {kBroadcast, kCellBytes, kAnyPes, false, kInline},
      {kBroadcast, kCellBytes, kAnyPes, true, kInline},
      {kFcollect, kCellBytes, 64, false, kInline},
      {kFcollect, kCellBytes, 64, true, kInline},
      {kReduce, kCellBytes, 64, false, kInline},
      {kReduce, kCellBytes, 64, true, kInline},
      {kScan, kCellBytes, 64, false, kInline},
      {kScan, kCellBytes, 64, true, kInline},
  };
}

template <std::size_t count>
std::string listed(const std::array<std::string_view, count>& names) {
  std::string list;
  for (std::string_view name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  return list;
}

base::Result<Collective> collective_by_name(std::string_view text) {
  for (std::uint32_t i = 0; i < kCollectives; ++i) {
    if (kCollectiveNames[i] == text) return Collective{static_cast<std::uint8_t>(i)};
  }
  return base::error("there is no collective '{}': {}", text, listed(kCollectiveNames));
}

base::Result<Algorithm> algorithm_by_name(Collective collective, std::string_view text) {
  std::string names;
  for (Algorithm algorithm : algorithms_of(collective)) {
    if (name(algorithm) == text) return algorithm;
    names += (names.empty() ? "" : ", ") + std::string(name(algorithm));
  }
  return base::error("{} has no algorithm '{}': {}", name(collective), text, names);
}

template <typename Number>
base::Result<Number> number(std::string_view text) {
  if (text == "any") return static_cast<Number>(~Number{0});
  Number value{};
  auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (wrong == std::errc() && end == text.data() + text.size()) return value;
  return base::error("'{}' is no number and not 'any'", text);
}

std::string number_text(std::uint64_t value, std::uint64_t any) {
  return value == any ? "any" : std::to_string(value);
}

}  // namespace

std::string_view name(Collective collective) {
  return kCollectiveNames[static_cast<std::size_t>(collective)];
}

std::string_view name(Algorithm algorithm) {
  return kAlgorithmNames[static_cast<std::size_t>(algorithm)];
}

AlgorithmTable::AlgorithmTable(bool crowded) : crowded_(crowded), rows_(measured_rows()) {}

base::Result<AlgorithmTable> AlgorithmTable::with_choices(bool crowded, std::string_view choices) {
  AlgorithmTable table(crowded);
  while (!choices.empty()) {
    std::string_view choice = choices.substr(0, choices.find(','));
    choices.remove_prefix(std::min(choices.size(), choice.size() + 1));
    if (auto chosen = table.choose_by_name(choice); !chosen) {
      return base::error("TERRANE_SHMEM_ALGORITHM: {}", chosen.error().message);
    }
  }
  return table;
}

base::Result<> AlgorithmTable::choose_by_name(std::string_view choice) {
  if (choice.starts_with('@')) return read_rows(std::string(choice.substr(1)));
  std::size_t equals = choice.find('=');
  if (equals == choice.npos) {
    return base::error("'{}' is not of the form COLLECTIVE=ALGORITHM or @FILE", choice);
  }
  auto collective = collective_by_name(choice.substr(0, equals));
  if (!collective) return collective.error();
  auto algorithm = algorithm_by_name(collective.value(), choice.substr(equals + 1));
  if (!algorithm) return algorithm.error();
  rows_.insert(rows_.begin(), {collective.value(), kAny, kAnyPes, crowded_, algorithm.value()});
  return {};
}

base::Result<> AlgorithmTable::read_rows(const std::string& path) {
  std::ifstream file(path);
  if (!file) return base::errno_error("the file " + path);
  std::vector<Row> rows;
  std::string line;
  for (std::uint32_t count = 1; std::getline(file, line); ++count) {
    if (line.empty() || line[0] == '#') continue;
    auto row = from_text(line);
    if (!row) return base::error("{}, line {}: {}", path, count, row.error().message);
    rows.push_back(row.value());
  }
  rows_.insert(rows_.begin(), rows.begin(), rows.end());
  return {};
}

std::string AlgorithmTable::to_text(const Row& row) {
  return fmt::format("{} {} {} {} {}", name(row.collective), number_text(row.up_to_bytes, kAny),
                     number_text(row.up_to_pes, kAnyPes), row.crowded ? "crowded" : "roomy",
                     name(row.algorithm));
}

base::Result<AlgorithmTable::Row> AlgorithmTable::from_text(std::string_view line) {
  std::istringstream words{std::string(line)};
  std::string collective_name, bytes_text, pes_text, room, algorithm_name;
  words >> collective_name >> bytes_text >> pes_text >> room >> algorithm_name;
  if (!words || (room != "crowded" && room != "roomy")) {
    return base::error("'{}' is not COLLECTIVE BYTES PES crowded|roomy ALGORITHM", line);
  }
  auto collective = collective_by_name(collective_name);
  if (!collective) return collective.error();
  auto bytes = number<std::uint64_t>(bytes_text);
  if (!bytes) return bytes.error();
  auto pes = number<std::uint32_t>(pes_text);
  if (!pes) return pes.error();
  auto algorithm = algorithm_by_name(collective.value(), algorithm_name);
  if (!algorithm) return algorithm.error();
  return Row{collective.value(), bytes.value(), pes.value(), room == "crowded", algorithm.value()};
}

Algorithm AlgorithmTable::choose(const Situation& situation) const {
  for (const Row& row : rows_) {
    if (row.collective == situation.collective && row.crowded == crowded_ &&
        situation.bytes <= row.up_to_bytes && situation.pes <= row.up_to_pes &&
        can(row.algorithm, situation)) {
      return row.algorithm;
    }
  }
  return algorithms_of(situation.collective).back();
}

std::uint64_t AlgorithmTable::fingerprint() const {
  std::uint64_t hash = 14695981039346656037u;
  for (const Row& row : rows_) {
    for (char letter : to_text(row))
      hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211u;
  }
  return hash;
}

}  // namespace terrane::runtime::shmem
