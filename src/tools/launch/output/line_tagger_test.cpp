#include "tools/launch/output/line_tagger.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace terrane::tools {
namespace {

TEST(LineTaggerTest, PiecesOfALineAreKeptUntilItEnds) {
  LineTagger tagger("[7] ");
  std::string out;
  tagger.add("on", out);
  EXPECT_EQ(out, "");
  tagger.add("e\ntwo\n\nthr", out);
  EXPECT_EQ(out, "[7] one\n[7] two\n[7] \n");
  tagger.add("ee", out);
  tagger.finish(out);
  EXPECT_EQ(out, "[7] one\n[7] two\n[7] \n[7] three\n");
}

TEST(LineTaggerTest, NothingIsAddedToAStreamThatEndsWithItsLastLine) {
  LineTagger tagger("[0] ");
  std::string out;
  tagger.add("end\n", out);
  tagger.finish(out);
  EXPECT_EQ(out, "[0] end\n");
}

TEST(LineTaggerTest, AnEndlessLineIsCutAndNothingOfItIsLost) {
  LineTagger tagger("[1] ");
  std::string out, text(LineTagger::kMaxLine / 2 + 1, 'x');
  for (int i = 0; i < 4; ++i) tagger.add(text, out);
  tagger.finish(out);
  EXPECT_EQ(std::count(out.begin(), out.end(), 'x'), static_cast<long>(4 * text.size()));
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 3);
}

}  // namespace
}  // namespace terrane::tools
