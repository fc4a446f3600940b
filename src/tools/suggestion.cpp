#include "tools/suggestion.h"

#include <fmt/format.h>

#include <algorithm>

namespace terrane::tools {
namespace {

constexpr std::size_t kShort = 4;  // names up to this length may differ by one letter only

// The optimal string alignment distance: insertions, deletions, changes, and swaps of neighbours.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t change = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, change});
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string_view given, const std::vector<std::string>& known) {
  std::string best;
  std::size_t letters = given.size() - std::min(given.find_first_not_of('-'), given.size());
  std::size_t least = letters <= kShort ? 2 : 3;  // below this
  for (const std::string& name : known) {
    std::size_t apart = distance(given, name);
    if (given.size() > 2 && name.starts_with(given)) apart = std::min<std::size_t>(apart, 1);
    if (apart < least) {
      least = apart;
      best = name;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view given, const std::vector<std::string>& known) {
  std::string name = nearest(given, known);
  return name.empty() ? name : fmt::format("; did you mean {}?", name);
}

}  // namespace terrane::tools
