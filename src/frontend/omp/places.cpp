#include "frontend/omp/places.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <map>
#include <string_view>

namespace terrane::frontend::omp {
namespace {

constexpr int kMostOfAList = 1 << 16;

bool usable_in(const cpu_set_t& set, long processor) {
  return processor >= 0 && processor < CPU_SETSIZE &&
         CPU_ISSET(static_cast<std::size_t>(processor), &set);
}

// The first line of a file of a processor in sysfs; empty: there is none.
std::string topology(int processor, const std::string& file) {
  std::ifstream in("/sys/devices/system/cpu/cpu" + std::to_string(processor) + "/" + file);
  std::string line;
  std::getline(in, line);
  return line;
}

// Processors with equal texts are in one place.
std::string key_of(std::string_view kind, int processor) {
  if (kind == "threads") return std::to_string(processor);
  if (kind == "cores") return topology(processor, "topology/thread_siblings_list");
  if (kind == "sockets") return topology(processor, "topology/physical_package_id");
  if (kind == "ll_caches") {
    for (int level = 9; level >= 0; --level) {
      std::string found =
          topology(processor, "cache/index" + std::to_string(level) + "/shared_cpu_list");
      if (!found.empty()) return found;
    }
    return {};
  }
  for (int node = 0; node < 1024; ++node) {
    std::string name = "node" + std::to_string(node) + "/cpumap";
    if (!topology(processor, name).empty()) return name;
  }
  return {};
}

Places places_of_kind(std::string_view kind, std::size_t most, const cpu_set_t& usable) {
  Places places;
  std::map<std::string, std::size_t> index;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (!CPU_ISSET(i, &usable)) continue;
    auto [at, is_new] = index.try_emplace(key_of(kind, i), places.size());
    if (is_new) places.emplace_back();
    CPU_SET(i, &places[at->second]);
  }
  if (most != 0 && places.size() > most) places.resize(most);
  return places;
}

// Reads the text of OMP_PLACES from its begin.
class Parser {
 public:
  Parser(std::string_view text, const cpu_set_t& usable) : text_(text), usable_(usable) {}

  bool list(Places& out) {
    do {
      if (!interval(out)) return false;
    } while (skip(','));
    return at_end();
  }

  bool kind(Places& out) {
    constexpr std::string_view kKinds[] = {"threads", "cores", "ll_caches", "numa_domains",
                                           "sockets"};
    std::string word;
    blanks();
    while (!text_.empty() &&
           (std::isalpha(static_cast<unsigned char>(text_.front())) != 0 || text_.front() == '_')) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(text_.front())));
      text_.remove_prefix(1);
    }
    long most = 0;
    bool good = std::find(std::begin(kKinds), std::end(kKinds), word) != std::end(kKinds);
    if (good && skip('(')) good = number(most) && most > 0 && skip(')');
    if (!good || !at_end()) return false;
    out = places_of_kind(word, static_cast<std::size_t>(most), usable_);
    return true;
  }

 private:
  using Numbers = std::vector<long>;

  void blanks() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_.front())) != 0)
      text_.remove_prefix(1);
  }
  bool skip(char wanted) {
    blanks();
    bool is_there = !text_.empty() && text_.front() == wanted;
    if (is_there) text_.remove_prefix(1);
    return is_there;
  }
  bool at_end() {
    blanks();
    return text_.empty();
  }
  bool number(long& out) {
    blanks();
    auto [end, wrong] = std::from_chars(text_.data(), text_.data() + text_.size(), out);
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return wrong == std::errc() && out > -kMostOfAList && out < kMostOfAList;
  }
  // [:LENGTH[:STRIDE]]
  bool repeat(long& length, long& stride) {
    length = stride = 1;
    if (!skip(':')) return true;
    if (!number(length) || length < 1) return false;
    return !skip(':') || number(stride);
  }

  // [!]NUMBER[:LENGTH[:STRIDE]], ... within braces.
  bool place(Numbers& out) {
    if (!skip('{')) return false;
    do {
      bool leaves_out = skip('!');
      long first = 0, length = 0, stride = 0;
      if (!number(first) || first < 0 || !repeat(length, stride)) return false;
      for (long i = 0; i < length; ++i) {
        if (leaves_out) {
          std::erase(out, first + i * stride);
        } else {
          out.push_back(first + i * stride);
        }
      }
    } while (skip(','));
    return skip('}');
  }

  // [!]PLACE[:LENGTH[:STRIDE]]
  bool interval(Places& out) {
    bool leaves_out = skip('!');
    Numbers numbers;
    long length = 0, stride = 0;
    if (!place(numbers) || !repeat(length, stride)) return false;
    for (long i = 0; i < length; ++i) {
      cpu_set_t set;
      CPU_ZERO(&set);
      for (long processor : numbers)
        if (usable_in(usable_, processor + i * stride))
          CPU_SET(static_cast<std::size_t>(processor + i * stride), &set);
      if (CPU_COUNT(&set) == 0) continue;
      if (leaves_out) {
        std::erase_if(out, [&](const cpu_set_t& one) { return CPU_EQUAL(&one, &set); });
      } else {
        out.push_back(set);
      }
    }
    return true;
  }

  std::string_view text_;
  const cpu_set_t& usable_;
};

}  // namespace

bool parse_places(const std::string& text, const cpu_set_t& usable, Places& out) {
  out.clear();
  if (text.empty()) {
    out = places_of_kind("threads", 0, usable);
    return true;
  }
  bool is_list = text.find_first_of("{") != std::string::npos;
  Parser parser(text, usable);
  return is_list ? parser.list(out) : parser.kind(out);
}

Places share_of_places(const Places& all, std::uint32_t node, std::uint32_t nodes) {
  if (all.empty()) return {};
  if (all.size() < nodes) return {all[node % all.size()]};
  auto at = [&](std::uint32_t n) {
    return all.begin() + static_cast<std::ptrdiff_t>(all.size() * n / nodes);
  };
  return Places(at(node), at(node + 1));
}

Seat seat_of(Bind bind, std::uint32_t thread, std::uint32_t threads, std::uint32_t places) {
  if (bind == Bind::kMaster) return {0, 0, places};
  bool has_own = threads <= places;
  auto part = [&](std::uint64_t n) { return static_cast<std::uint32_t>(n * places / threads); };
  if (bind != Bind::kSpread) return {has_own ? thread : part(thread), 0, places};
  std::uint32_t first = part(thread);
  return {first, first, std::max(part(thread + 1) - first, 1u)};
}

Seat seat_within(const Seat& within, Bind bind, std::uint32_t thread, std::uint32_t threads) {
  Seat seat = seat_of(bind, thread, threads, within.count);
  if (bind == Bind::kSpread)
    return {within.first + seat.place, within.first + seat.first, seat.count};
  std::uint32_t place = (within.place - within.first + seat.place) % within.count;
  return {within.first + place, within.first, within.count};
}

}  // namespace terrane::frontend::omp
