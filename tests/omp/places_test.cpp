// Places of OpenMP: what OMP_PLACES means, and which place a thread gets.
#include "frontend/omp/places.h"

#include <gtest/gtest.h>

#include <vector>

namespace terrane::frontend::omp {
namespace {

cpu_set_t first_processors(int count) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int i = 0; i < count; ++i) CPU_SET(i, &set);
  return set;
}

using Numbers = std::vector<std::vector<int>>;

Numbers numbers_of(const Places& places) {
  Numbers all;
  for (const cpu_set_t& place : places) {
    all.emplace_back();
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &place)) all.back().push_back(i);
  }
  return all;
}

Numbers parsed(const char* text, int processors = 8) {
  Places places;
  EXPECT_TRUE(parse_places(text, first_processors(processors), places)) << text;
  return numbers_of(places);
}

TEST(PlacesTest, ListsNameProcessors) {
  EXPECT_EQ(parsed("{0,1},{2,3}"), (Numbers{{0, 1}, {2, 3}}));
  EXPECT_EQ(parsed(" { 0 : 2 } : 3 : 2 "), (Numbers{{0, 1}, {2, 3}, {4, 5}}));
  EXPECT_EQ(parsed("{0:4:2}"), (Numbers{{0, 2, 4, 6}}));
  EXPECT_EQ(parsed("{3}:3:-1"), (Numbers{{3}, {2}, {1}}));
  EXPECT_EQ(parsed("{0:4,!2}"), (Numbers{{0, 1, 3}}));
  EXPECT_EQ(parsed("{0}:4,!{2}"), (Numbers{{0}, {1}, {3}}));
}

TEST(PlacesTest, ProcessorsThatMayNotBeUsedAreLeftOut) {
  EXPECT_EQ(parsed("{0,1},{2,3},{6,7}", 3), (Numbers{{0, 1}, {2}}));
  EXPECT_EQ(parsed("", 3), (Numbers{{0}, {1}, {2}}));
  EXPECT_EQ(parsed("threads(2)"), (Numbers{{0}, {1}}));
  EXPECT_EQ(parsed(" Threads ( 1 ) "), (Numbers{{0}}));
}

TEST(PlacesTest, EveryUsableProcessorIsInOnePlace) {
  for (const char* kind : {"threads", "cores", "sockets", "ll_caches", "numa_domains"}) {
    std::size_t count = 0;
    for (const auto& place : parsed(kind, 2)) count += place.size();
    EXPECT_EQ(count, 2u) << kind;
  }
}

TEST(PlacesTest, OtherTextsAreRefused) {
  Places places;
  for (const char* text : {"often", "cores(0)", "cores(", "{0", "{0}:0", "{a}", "{0},", "cores x",
                           "{0}{1}", "{-1}", "0,1", "threads(2),cores"})
    EXPECT_FALSE(parse_places(text, first_processors(8), places)) << text;
}

TEST(PlacesTest, NodesOfAHostShareItsPlaces) {
  Places all;
  ASSERT_TRUE(parse_places("", first_processors(5), all));
  EXPECT_EQ(numbers_of(share_of_places(all, 0, 2)), (Numbers{{0}, {1}}));
  EXPECT_EQ(numbers_of(share_of_places(all, 1, 2)), (Numbers{{2}, {3}, {4}}));
  EXPECT_EQ(numbers_of(share_of_places(all, 7, 8)), (Numbers{{2}}));
  EXPECT_TRUE(share_of_places({}, 0, 2).empty());
}

std::vector<std::uint32_t> seats(Bind bind, std::uint32_t threads, std::uint32_t places) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < threads; ++i)
    all.push_back(seat_of(bind, i, threads, places).place);
  return all;
}

TEST(PlacesTest, ThreadsGetTheirPlaces) {
  using List = std::vector<std::uint32_t>;
  EXPECT_EQ(seats(Bind::kMaster, 3, 4), (List{0, 0, 0}));
  EXPECT_EQ(seats(Bind::kClose, 3, 4), (List{0, 1, 2}));
  EXPECT_EQ(seats(Bind::kClose, 6, 3), (List{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(seats(Bind::kSpread, 2, 8), (List{0, 4}));
  EXPECT_EQ(seats(Bind::kSpread, 4, 2), (List{0, 0, 1, 1}));
  EXPECT_EQ(seat_of(Bind::kSpread, 1, 2, 8).count, 4u);
  EXPECT_EQ(seat_of(Bind::kClose, 1, 2, 8).count, 8u);
}

TEST(PlacesTest, TeamsWithinAnotherHaveThePlacesOfTheirMaster) {
  using List = std::vector<std::uint32_t>;
  auto seat = [](Bind bind, std::uint32_t thread, std::uint32_t threads) {
    Seat got = seat_within({.place = 6, .first = 4, .count = 4}, bind, thread, threads);
    return List{got.place, got.first, got.count};
  };
  EXPECT_EQ(seat(Bind::kMaster, 2, 3), (List{6, 4, 4}));
  EXPECT_EQ(seat(Bind::kClose, 0, 3), (List{6, 4, 4}));
  EXPECT_EQ(seat(Bind::kClose, 2, 3), (List{4, 4, 4}));
  EXPECT_EQ(seat(Bind::kSpread, 0, 2), (List{4, 4, 2}));
  EXPECT_EQ(seat(Bind::kSpread, 1, 2), (List{6, 6, 2}));
}

}  // namespace
}  // namespace terrane::frontend::omp
