#include "matrix_market.h"

#include <algorithm>
#include <cerrno>
#include <cfloat>
#include <cstring>
#include <memory>

#include "line_reader.h"
#include "support/number.h"

namespace lu {
namespace {

using example::parse_number;
using Words = std::vector<std::string_view>;

enum class Field { kReal, kInteger, kPattern };
enum class Symmetry { kGeneral, kSymmetric, kSkew };

struct Header {
  bool coordinate = false;
  Field field = Field::kReal;
  Symmetry symmetry = Symmetry::kGeneral;
  std::uint32_t rows = 0, columns = 0;
  std::uint64_t entries = 0;  // lines that follow
};

std::string quoted(std::string_view word) {
  constexpr std::size_t kMost = 40;
  std::string text(1, '\'');
  text.append(word.substr(0, kMost)).append(word.size() > kMost ? "...'" : "'");
  return text;
}

std::string lower(std::string_view word) {
  std::string text(word);
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

// %%MatrixMarket matrix FORMAT FIELD SYMMETRY
Outcome<> parse_banner(const LineReader& reader, const Words& words, Header& header) {
  if (words.size() != 5 || lower(words[0]) != "%%matrixmarket" || lower(words[1]) != "matrix") {
    return reader.failure("no Matrix Market file: it would begin with '%%MatrixMarket matrix'");
  }
  const std::string format = lower(words[2]);
  const std::string field = lower(words[3]);
  const std::string symmetry = lower(words[4]);
  header.coordinate = format == "coordinate";
  if (!header.coordinate && format != "array") {
    return reader.failure("the format " + quoted(words[2]) + " is neither coordinate nor array");
  }
  if (field == "integer") header.field = Field::kInteger;
  if (field == "pattern") header.field = Field::kPattern;
  if (field != "real" && field != "integer" && field != "pattern") {
    return reader.failure("numbers of kind " + quoted(words[3]) +
                          "; only real, integer and pattern are read");
  }
  if (header.field == Field::kPattern && !header.coordinate) {
    return reader.failure("a pattern has no array format");
  }
  if (symmetry == "symmetric") header.symmetry = Symmetry::kSymmetric;
  if (symmetry == "skew-symmetric") header.symmetry = Symmetry::kSkew;
  if (header.symmetry == Symmetry::kGeneral && symmetry != "general") {
    return reader.failure("the symmetry " + quoted(words[4]) +
                          "; only general, symmetric and skew-symmetric are read");
  }
  if (header.symmetry == Symmetry::kSkew && header.field == Field::kPattern) {
    return reader.failure("a pattern cannot be skew-symmetric");
  }
  return success();
}

// How many numbers an array of this shape has: of symmetric ones the lower half.
std::uint64_t array_entries(const Header& header) {
  const std::uint64_t rows = header.rows;
  if (header.symmetry == Symmetry::kSymmetric) return rows * (rows + 1) / 2;
  if (header.symmetry == Symmetry::kSkew) return rows * (rows - 1) / 2;
  return rows * header.columns;
}

// ROWS COLUMNS [ENTRIES]
Outcome<> parse_sizes(const LineReader& reader, const Words& words, Header& header) {
  const std::size_t wanted = header.coordinate ? 3 : 2;
  if (words.size() != wanted) {
    return reader.failure(header.coordinate ? "expected 'ROWS COLUMNS ENTRIES'"
                                            : "expected 'ROWS COLUMNS'");
  }
  for (const auto& [word, out] :
       {std::pair{words[0], &header.rows}, std::pair{words[1], &header.columns}}) {
    if (parse_number<std::uint32_t>(word, 1, kMaxSize, *out)) continue;
    return reader.failure(quoted(word) + " rows or columns; from 1 to " + std::to_string(kMaxSize) +
                          " can be solved");
  }
  if (header.symmetry != Symmetry::kGeneral && header.rows != header.columns) {
    return reader.failure("a symmetric matrix has as many rows as columns");
  }
  const std::uint64_t places = std::uint64_t{header.rows} * header.columns;
  header.entries = array_entries(header);
  if (header.coordinate && !parse_number<std::uint64_t>(words[2], 0, places, header.entries)) {
    return reader.failure(quoted(words[2]) + " entries; the matrix has " + std::to_string(places) +
                          " places");
  }
  return success();
}

Outcome<Header> parse_header(LineReader& reader) {
  Header header;
  Words words;
  Outcome<bool> read = reader.next(words);
  if (!read.ok()) return Failure{read.sentence()};
  Outcome<> banner = parse_banner(reader, words, header);
  if (!banner.ok()) return Failure{banner.sentence()};
  read = reader.next(words);
  if (!read.ok()) return Failure{read.sentence()};
  if (!read.value()) return reader.failure("the file ends before the line of sizes");
  Outcome<> sizes = parse_sizes(reader, words, header);
  if (!sizes.ok()) return Failure{sizes.sentence()};
  return header;
}

Outcome<> parse_value(const LineReader& reader, const Header& header, std::string_view word,
                      double& out) {
  if (header.field == Field::kInteger) {
    std::int64_t whole = 0;
    if (!parse_number<std::int64_t>(word, INT64_MIN, INT64_MAX, whole)) {
      return reader.failure(quoted(word) + " is no whole number");
    }
    out = static_cast<double>(whole);
    return success();
  }
  if (parse_number<double>(word, -DBL_MAX, DBL_MAX, out)) return success();
  return reader.failure(quoted(word) + " is no finite number");
}

Outcome<> parse_index(const LineReader& reader, std::string_view word, std::uint32_t most,
                      const char* what, std::uint32_t& out) {
  if (!parse_number<std::uint32_t>(word, 1, most, out)) {
    return reader.failure(std::string(what) + " " + quoted(word) + "; there are 1 to " +
                          std::to_string(most));
  }
  --out;
  return success();
}

// ROW COLUMN [VALUE]
Outcome<> parse_coordinate(const LineReader& reader, const Header& header, const Words& words,
                           Entry& entry) {
  const bool pattern = header.field == Field::kPattern;
  if (words.size() != (pattern ? 2u : 3u)) {
    return reader.failure(pattern ? "expected 'ROW COLUMN'" : "expected 'ROW COLUMN VALUE'");
  }
  Outcome<> taken = parse_index(reader, words[0], header.rows, "row", entry.row);
  if (taken.ok()) taken = parse_index(reader, words[1], header.columns, "column", entry.column);
  entry.value = 1;
  if (taken.ok() && !pattern) taken = parse_value(reader, header, words[2], entry.value);
  if (!taken.ok()) return taken;
  const bool outside = header.symmetry == Symmetry::kSymmetric ? entry.column > entry.row
                                                               : entry.column >= entry.row;
  if (header.symmetry != Symmetry::kGeneral && outside) {
    return reader.failure("of a symmetric matrix only the lower half is written");
  }
  return success();
}

// The places of an array, column by column.
class ArrayPlace {
 public:
  explicit ArrayPlace(const Header& header) : header_(header), row_(first_row(0)) {}

  Entry take() {
    while (row_ == header_.rows) row_ = first_row(++column_);
    return {row_++, column_, 0};
  }

 private:
  std::uint32_t first_row(std::uint32_t column) const {
    if (header_.symmetry == Symmetry::kGeneral) return 0;
    return header_.symmetry == Symmetry::kSymmetric ? column : column + 1;
  }

  const Header& header_;
  std::uint32_t column_ = 0;
  std::uint32_t row_;
};

void add_entry(const Header& header, const Entry& entry, std::vector<Entry>& entries) {
  if (entry.value != 0) entries.push_back(entry);
  if (header.symmetry == Symmetry::kGeneral || entry.row == entry.column || entry.value == 0)
    return;
  const double mirrored = header.symmetry == Symmetry::kSkew ? -entry.value : entry.value;
  entries.push_back({entry.column, entry.row, mirrored});
}

Outcome<std::vector<Entry>> parse_entries(LineReader& reader, const Header& header) {
  std::vector<Entry> entries;
  Words words;
  ArrayPlace place(header);
  for (std::uint64_t i = 0; i < header.entries; ++i) {
    Outcome<bool> read = reader.next(words);
    if (!read.ok()) return Failure{read.sentence()};
    if (!read.value()) {
      return reader.failure("the file ends after " + std::to_string(i) + " of " +
                            std::to_string(header.entries) + " entries");
    }
    Entry entry;
    Outcome<> taken = success();
    if (header.coordinate) {
      taken = parse_coordinate(reader, header, words, entry);
    } else if (words.size() == 1) {
      entry = place.take();
      taken = parse_value(reader, header, words[0], entry.value);
    } else {
      taken = reader.failure("expected one number");
    }
    if (!taken.ok()) return Failure{taken.sentence()};
    add_entry(header, entry, entries);
  }
  Outcome<bool> more = reader.next(words);
  if (!more.ok()) return Failure{more.sentence()};
  if (more.value()) {
    return reader.failure("more than the " + std::to_string(header.entries) + " entries announced");
  }
  return entries;
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

Outcome<File> open_file(const std::string& path, const char* mode) {
  File file(std::fopen(path.c_str(), mode));
  if (file) return file;
  const char* const what = mode[0] == 'r' ? ": could not be opened: " : ": could not be written: ";
  return Failure{path + what + std::strerror(errno)};
}

Outcome<> close_written(const std::string& path, File file) {
  const bool bad = std::ferror(file.get()) != 0;
  if (std::fclose(file.release()) == 0 && !bad) return success();
  return Failure{path + ": could not be written: " + std::strerror(errno)};
}

}  // namespace

Outcome<Matrix> parse_matrix(std::FILE* file, const std::string& name) {
  LineReader reader(file, name);
  Outcome<Header> header = parse_header(reader);
  if (!header.ok()) return Failure{header.sentence()};
  if (header.value().rows != header.value().columns) {
    return reader.failure(std::to_string(header.value().rows) + " rows and " +
                          std::to_string(header.value().columns) +
                          " columns; only a square matrix can be solved");
  }
  Outcome<std::vector<Entry>> entries = parse_entries(reader, header.value());
  if (!entries.ok()) return Failure{entries.sentence()};
  Matrix matrix{header.value().rows, std::move(entries.value())};
  matrix.sort_and_merge();
  return matrix;
}

Outcome<Vector> parse_vector(std::FILE* file, const std::string& name, std::uint32_t size) {
  LineReader reader(file, name);
  Outcome<Header> header = parse_header(reader);
  if (!header.ok()) return Failure{header.sentence()};
  if (header.value().rows != size || header.value().columns != 1) {
    return reader.failure("the right-hand side has to be " + std::to_string(size) +
                          " rows of one column");
  }
  Outcome<std::vector<Entry>> entries = parse_entries(reader, header.value());
  if (!entries.ok()) return Failure{entries.sentence()};
  Vector vector(size, 0.0);
  for (const Entry& entry : entries.value()) vector[entry.row] += entry.value;
  return vector;
}

Outcome<Matrix> read_matrix(const std::string& path) {
  Outcome<File> file = open_file(path, "r");
  if (!file.ok()) return Failure{file.sentence()};
  return parse_matrix(file.value().get(), path);
}

Outcome<Vector> read_vector(const std::string& path, std::uint32_t size) {
  Outcome<File> file = open_file(path, "r");
  if (!file.ok()) return Failure{file.sentence()};
  return parse_vector(file.value().get(), path, size);
}

Outcome<> write_matrix(const std::string& path, const Matrix& matrix, const std::string& comment) {
  Outcome<File> opened = open_file(path, "w");
  if (!opened.ok()) return Failure{opened.sentence()};
  std::FILE* const file = opened.value().get();
  std::fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n%% %s\n%u %u %zu\n",
               comment.c_str(), matrix.size, matrix.size, matrix.entries.size());
  for (const Entry& entry : matrix.entries) {
    std::fprintf(file, "%u %u %.17g\n", entry.row + 1, entry.column + 1, entry.value);
  }
  return close_written(path, std::move(opened.value()));
}

Outcome<> write_vector(const std::string& path, const Vector& vector) {
  Outcome<File> opened = open_file(path, "w");
  if (!opened.ok()) return Failure{opened.sentence()};
  std::FILE* const file = opened.value().get();
  std::fprintf(file, "%%%%MatrixMarket matrix array real general\n%zu 1\n", vector.size());
  for (const double value : vector) std::fprintf(file, "%.17g\n", value);
  return close_written(path, std::move(opened.value()));
}

}  // namespace lu
