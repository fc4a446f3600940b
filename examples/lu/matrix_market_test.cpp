#include "matrix_market.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "generate.h"

namespace lu {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

Outcome<Matrix> parse(std::string text) {
  const std::unique_ptr<std::FILE, CloseFile> file(fmemopen(text.data(), text.size(), "r"));
  return parse_matrix(file.get(), "m.mtx");
}

std::string banner(const std::string& rest) { return "%%MatrixMarket matrix " + rest + "\n"; }

Matrix good(const std::string& text) {
  Outcome<Matrix> outcome = parse(text);
  EXPECT_TRUE(outcome.ok()) << outcome.sentence();
  return outcome.ok() ? outcome.value() : Matrix{};
}

// The matrix's values, row by row.
std::vector<double> dense(const Matrix& matrix) {
  std::vector<double> values(std::size_t{matrix.size} * matrix.size);
  for (const Entry& e : matrix.entries) values[e.row * matrix.size + e.column] += e.value;
  return values;
}

void expect_refused(const std::string& text, const std::string& sentence) {
  const Outcome<Matrix> outcome = parse(text);
  ASSERT_FALSE(outcome.ok()) << text;
  EXPECT_EQ(outcome.sentence().find(sentence), 0u) << outcome.sentence();
}

using Values = std::vector<double>;

TEST(MatrixMarketTest, CoordinatesAreReadInAnyOrderWithCommentsAndBlankLines) {
  const std::string text = banner("coordinate real general") +
                           "% made by hand\n\n 2 2 3 \n2 1 -1.5e1\n%between\n1 1 +2\n1 2 .25\n\n";
  EXPECT_EQ(dense(good(text)), (Values{2, 0.25, -15, 0}));
}

TEST(MatrixMarketTest, ArraysAreReadColumnByColumn) {
  EXPECT_EQ(dense(good(banner("array integer general") + "2 2\n1\n2\n3\n4\n")),
            (Values{1, 3, 2, 4}));
}

TEST(MatrixMarketTest, HalvesAreMirrored) {
  EXPECT_EQ(dense(good(banner("coordinate real symmetric") + "2 2 2\n1 1 5\n2 1 3\n")),
            (Values{5, 3, 3, 0}));
  EXPECT_EQ(dense(good(banner("coordinate integer skew-symmetric") + "2 2 1\n2 1 3\n")),
            (Values{0, -3, 3, 0}));
  EXPECT_EQ(dense(good(banner("array real symmetric") + "2 2\n1\n2\n3\n")), (Values{1, 2, 2, 3}));
  EXPECT_EQ(dense(good(banner("array real skew-symmetric") + "3 3\n1\n2\n3\n")),
            (Values{0, -1, -2, 1, 0, -3, 2, 3, 0}));
}

TEST(MatrixMarketTest, EntriesOfAPatternAreOnes) {
  EXPECT_EQ(dense(good(banner("coordinate pattern general") + "2 2 2\n1 2\n2 1\n")),
            (Values{0, 1, 1, 0}));
}

TEST(MatrixMarketTest, TheBannerMayBeInCapitalsAndLinesMayEndAsOnWindows) {
  EXPECT_EQ(dense(good("%%MATRIXMARKET Matrix Coordinate REAL General\r\n1 1 1\r\n1 1 4\r\n")),
            (Values{4}));
}

TEST(MatrixMarketTest, EntriesOfOnePlaceAreAddedUp) {
  EXPECT_EQ(dense(good(banner("coordinate real general") + "1 1 1\n1 1 4\n")), (Values{4}));
  EXPECT_EQ(dense(good(banner("coordinate real general") + "2 2 3\n2 2 4\n1 1 1\n2 2 0.5\n")),
            (Values{1, 0, 0, 4.5}));
}

TEST(MatrixMarketTest, WrongHeadersAreNamed) {
  expect_refused("To whom it may concern\n", "m.mtx:1: no Matrix Market file");
  expect_refused(banner("coordinate complex general"), "m.mtx:1: numbers of kind 'complex'");
  expect_refused(banner("coordinate real hermitian"), "m.mtx:1: the symmetry 'hermitian'");
  expect_refused(banner("list real general"), "m.mtx:1: the format 'list'");
  expect_refused(banner("array pattern general"), "m.mtx:1: a pattern has no array");
  expect_refused(banner("coordinate real general"), "m.mtx:2: the file ends");
  expect_refused(banner("coordinate real general") + "% no sizes\n3 3\n", "m.mtx:3: expected");
  expect_refused(banner("array real general") + "3 -3\n", "m.mtx:2: '-3' rows or columns");
  expect_refused(banner("array real general") + "3 99999999999\n", "m.mtx:2: '99999999999'");
  expect_refused(banner("coordinate real general") + "2 2 5\n", "m.mtx:2: '5' entries");
  expect_refused(banner("array real general") + "2 3\n", "m.mtx:2: 2 rows and 3 columns");
}

TEST(MatrixMarketTest, WrongEntriesAreNamed) {
  const std::string head = banner("coordinate real general") + "2 2 2\n";
  expect_refused(head + "1 1 1\n", "m.mtx:4: the file ends after 1 of 2 entries");
  expect_refused(head + "1 1 1\n3 1 1\n", "m.mtx:4: row '3'");
  expect_refused(head + "1 0 1\n", "m.mtx:3: column '0'");
  expect_refused(head + "1 1\n", "m.mtx:3: expected 'ROW COLUMN VALUE'");
  expect_refused(head + "1 1 nan\n", "m.mtx:3: 'nan' is no finite number");
  expect_refused(head + "1 1 1e999\n", "m.mtx:3: '1e999'");
  expect_refused(head + "1 1 1x\n", "m.mtx:3: '1x'");
  expect_refused(head + "1 1 1\n1 2 1\n2 2 1\n", "m.mtx:5: more than the 2 entries");
  expect_refused(banner("coordinate integer general") + "1 1 1\n1 1 1.5\n", "m.mtx:3: '1.5'");
  expect_refused(banner("coordinate real symmetric") + "2 2 1\n1 2 1\n", "m.mtx:3: of a symmetric");
  expect_refused(banner("coordinate real skew-symmetric") + "2 2 1\n1 1 1\n", "m.mtx:3: of a");
}

TEST(MatrixMarketTest, HostileLinesAreBounded) {
  expect_refused(std::string(5000, '%'), "m.mtx:1: the line has more than 1024");
  expect_refused(banner("array real general") + "1 1\n" + std::string(2000, '1'), "m.mtx:3: the");
  expect_refused(banner("array real general") + std::string(3, '\0'), "m.mtx:2: a zero byte");
}

TEST(MatrixMarketTest, AColumnMustFitTheMatrix) {
  std::string text = banner("array real general") + "2 1\n3\n4\n";
  const auto open = [&] {
    return std::unique_ptr<std::FILE, CloseFile>(fmemopen(text.data(), text.size(), "r"));
  };
  Outcome<Vector> fits = parse_vector(open().get(), "b.mtx", 2);
  ASSERT_TRUE(fits.ok());
  EXPECT_EQ(fits.value(), (Vector{3, 4}));
  Outcome<Vector> not_so = parse_vector(open().get(), "b.mtx", 3);
  ASSERT_FALSE(not_so.ok());
  EXPECT_EQ(not_so.sentence(), "b.mtx:2: the right-hand side has to be 3 rows of one column");
}

TEST(MatrixMarketTest, WhatIsWrittenReadsBackBitForBit) {
  const std::string path = testing::TempDir() + "terrane_lu_written.mtx";
  const Matrix matrix = generate(20, 0.3, 5);
  ASSERT_TRUE(write_matrix(path, matrix, "a test").ok());
  Outcome<Matrix> read = read_matrix(path);
  std::remove(path.c_str());
  ASSERT_TRUE(read.ok()) << read.sentence();
  EXPECT_EQ(dense(read.value()), dense(matrix));
}

TEST(MatrixMarketTest, FilesThatCannotBeUsedAreNamed) {
  EXPECT_EQ(read_matrix("no/such.mtx").sentence(),
            "no/such.mtx: could not be opened: No such file or directory");
  EXPECT_EQ(read_matrix(".").sentence(), ".:1: could not be read: Is a directory");
  EXPECT_EQ(write_vector("no/such.mtx", {1}).sentence(),
            "no/such.mtx: could not be written: No such file or directory");
}

}  // namespace
}  // namespace lu
