#include "runtime/chunks/names.h"

#include <gtest/gtest.h>

namespace terrane::runtime::chunks {
namespace {

TEST(ChunkNamesTest, MessagesNameWhatAChunkCarries) {
  EXPECT_EQ(title_of("a"), "chunk 'a'");
  EXPECT_EQ(title_of("\1lock a"), "lock 'a'");
  EXPECT_EQ(title_of("\1barrier a"), "barrier 'a'");
  EXPECT_EQ(title_of("\1type a"), "type of chunk 'a'");
  EXPECT_EQ(title_of("\1signal a"), "signal 'a'");
  EXPECT_EQ(title_of("\1chain a"), "chain 'a'");
  EXPECT_EQ(title_of("\1signal \1chain made a"), "completion of chain 'a'");
}

}  // namespace
}  // namespace terrane::runtime::chunks
