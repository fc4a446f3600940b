// Files that the example lu is given.
#include <cstdio>
#include <string>

#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_writer.h"
#include "lu/matrix_market.h"

namespace terrane::fuzz {

void run_one(std::span<const std::byte> input) {
  if (input.empty()) return;  // fmemopen takes no empty buffer
  std::string text(reinterpret_cast<const char*>(input.data()), input.size());
  std::FILE* file = ::fmemopen(text.data(), text.size(), "r");
  lu::Outcome<lu::Matrix> matrix = lu::parse_matrix(file, "fuzz");
  std::fclose(file);
  if (!matrix.ok()) {
    TERRANE_CHECK(matrix.sentence().starts_with("fuzz:"), "a sentence names the file and the line");
    return;
  }
  const lu::Matrix& m = matrix.value();
  TERRANE_CHECK(m.size >= 1 && m.size <= lu::kMaxSize, "the size is within its bounds");
  for (const lu::Entry& entry : m.entries) {
    TERRANE_CHECK(entry.row < m.size && entry.column < m.size, "entries lie in the matrix");
  }
}

std::vector<Input> seeds() {
  const std::string banner = "%%MatrixMarket matrix ";
  std::vector<Input> all;
  for (const char* rest :
       {"coordinate real general\n% c\n3 3 3\n1 2 1.5\n2 1 -2e3\n3 3 .25\n",
        "coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n",
        "coordinate integer skew-symmetric\n2 2 1\n2 1 7\n",
        "array real general\n2 2\n1\n2\n3\n4\n", "array real symmetric\n2 2\n1\n2\n3\n",
        "array real skew-symmetric\n3 3\n1\n2\n3\n"}) {
    all.push_back(InputWriter().text(banner).text(rest).input());
  }
  return all;
}

}  // namespace terrane::fuzz
