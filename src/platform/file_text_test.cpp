#include "platform/file_text.h"

#include <gtest/gtest.h>

#include <locale>

namespace terrane::platform {
namespace {

class Grouped : public std::numpunct<char> {
  char do_thousands_sep() const override { return '1'; }
  std::string do_grouping() const override { return "\1"; }
};

TEST(FileTextTest, AFileIsReadWhole) {
  EXPECT_GT(file_text("/proc/self/maps").size(), 4096u);
  EXPECT_EQ(file_text("/no/such/file"), "");
  EXPECT_EQ(file_text("/"), "");
}

TEST(FileTextTest, TextsHaveLinesAndWords) {
  std::vector<std::string_view> lines{"a 1", "b\t22"}, words{"a", "1", "b", "22"};
  EXPECT_EQ(lines_of("a 1\n\nb\t22\n"), lines);
  EXPECT_EQ(words_of("a 1\n\nb\t22"), words);
  EXPECT_TRUE(words_of(" \n").empty());
}

TEST(FileTextTest, NumbersAreReadWhateverTheLocaleIs) {
  std::locale before = std::locale::global(std::locale(std::locale::classic(), new Grouped));
  EXPECT_EQ(number_of("1111"), 1111u);
  EXPECT_GT(number_in_file("/proc/sys/kernel/pid_max"), 100u);
  std::locale::global(before);
  for (const char* wrong : {"", "max", "12x", "-1", "99999999999999999999"})
    EXPECT_EQ(number_of(wrong), std::nullopt) << wrong;
  EXPECT_EQ(number_in_file("/no/such/file"), std::nullopt);
}

}  // namespace
}  // namespace terrane::platform
