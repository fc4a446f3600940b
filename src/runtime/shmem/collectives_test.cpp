#include "runtime/shmem/collectives.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <functional>
#include <random>
#include <type_traits>

#include "runtime/shmem/segments.h"
#include "runtime/shmem/test_world.h"

namespace terrane::runtime::shmem {
namespace {

// The worlds and ways that everything is tried in.
std::vector<TestSetting> settings() {
  std::vector<TestSetting> all;
  for (const char* algorithms :
       {"", "broadcast=put,fcollect=put,collect=put,alltoall=put,alltoalls=put,reduce=put,scan=put",
        "broadcast=get,fcollect=get,collect=get,alltoall=get,alltoalls=get,reduce=get,scan=get"}) {
    std::vector<TestSetting> worlds;
    for (std::uint32_t pes : {1, 2, 3, 8}) worlds.push_back(TestSetting::one_host(pes, pes == 8));
    worlds.push_back(TestSetting::hosts(2, 1));
    worlds.push_back(TestSetting::hosts(5, 2));
    worlds.push_back({{0, 1, 0, 1, 1}, false, {}});
    worlds.push_back({{0, 0, 0, 1, 1}, true, {}});
    worlds.push_back(TestSetting::clusters({0, 1, 2, 3}, {0, 0, 1, 1}));
    worlds.push_back(TestSetting::clusters({0, 0, 1, 2, 2, 2, 3}, {0, 0, 1, 2}));
    worlds.push_back(TestSetting::clusters({0, 1, 0, 2, 1}, {0, 1, 0}));
    for (TestSetting& world : worlds) {
      world.algorithms = algorithms;
      all.push_back(world);
    }
  }
  return all;
}

// Element counts from none to more than a piece of each member.
constexpr std::uint64_t kCounts[] = {0, 1, 3, 31, 32, 100, 1025, 5000};
constexpr std::uint64_t kLargest = 5000;
// Where dest begins in the heap; the source begins at 64.
constexpr std::uint64_t kSource = 64, kDest = 6 << 20;

// PE `pe`'s element i in a round: small numbers, so that all types hold the results exactly.
template <typename T>
T element(std::uint64_t pe, std::uint64_t i, std::uint64_t round) {
  return static_cast<T>((pe * 5 + i * 3 + round) % 4 + 1);
}

template <typename T>
void fill(T* data, std::uint64_t count, std::uint64_t pe, std::uint64_t round) {
  for (std::uint64_t i = 0; i < count; ++i) data[i] = element<T>(pe, i, round);
}

// Calls body(team, round) with each count, twice in a row; between, everybody waits for everybody.
template <typename Body>
void in_every_world(Body body) {
  for (const TestSetting& setting : settings()) {
    run_pes(setting, [&](TestPe& pe) {
      std::uint64_t round = 0;
      for (std::uint64_t count : kCounts) {
        body(pe, count, ++round);
        pe.everybody();
        body(pe, count, ++round);
        pe.everybody();
      }
    });
  }
}

// Messages between clusters of an operation that all PEs call.
std::uint64_t crossings(TestPe& pe, const std::function<void()>& operation) {
  pe.everybody();
  std::uint64_t before = pe.world.crossed();
  pe.everybody();
  operation();
  pe.everybody();
  return pe.world.crossed() - before;
}

TEST(CollectivesTest, EachLinkIsCrossedOnceInEachDirection) {
  const TestSetting settings[] = {
      TestSetting::clusters({0, 1, 2, 3, 4, 5}, {0, 0, 0, 1, 1, 1}),
      TestSetting::clusters({0, 0, 1, 2, 2, 3}, {0, 0, 1, 1}),
      TestSetting::clusters({0, 1, 2, 3, 4, 5}, {0, 0, 1, 1, 2, 2}),
  };
  for (const TestSetting& setting : settings) {
    const std::uint64_t clusters = setting.cluster_of_host.back() + 1;
    run_pes(setting, [&](TestPe& pe) {
      Team& all = pe.all();
      auto* source = pe.world.heap<long>(kSource);
      auto* dest = pe.world.heap<long>(kDest);
      fill(source, 6, pe.self(), 0);
      const std::uint64_t links = clusters * (clusters - 1);
      const Combine& sum = combine_for(ReduceOp::kSum, ElementType::kInt64);
      EXPECT_EQ(crossings(pe, [&] { all.sync(); }), links);
      EXPECT_EQ(crossings(pe, [&] { reduce(all, dest, source, 1, sum); }), links);
      EXPECT_EQ(crossings(pe, [&] { broadcast(all, dest, source, 8, 1); }), clusters - 1);
      EXPECT_EQ(crossings(pe, [&] { broadcast(all, dest, source, 40'000, 4); }), clusters - 1);
      EXPECT_EQ(crossings(pe, [&] { fcollect(all, dest, source, 8); }), links);
      EXPECT_EQ(crossings(pe, [&] { collect(all, dest, source, 8 * pe.self()); }), 2 * links);
      EXPECT_EQ(crossings(pe, [&] { alltoall(all, dest, source, 8); }), 6 * (clusters - 1));
      // More than there are cells for: the operations themselves show that the others have come.
      auto many = [&] {
        for (int i = 0; i < 40; ++i) reduce(all, dest, source, 1, sum);
      };
      EXPECT_EQ(crossings(pe, many), 40 * links);
    });
  }
}

TEST(CollectivesTest, BroadcastBringsTheRootsData) {
  in_every_world([](TestPe& pe, std::uint64_t count, std::uint64_t round) {
    auto root = static_cast<std::uint32_t>(round % pe.all().size());
    auto* source = pe.world.heap<int>(kSource);
    auto* dest = pe.world.heap<int>(kDest);
    fill(source, count, pe.self(), round);
    std::fill_n(dest, count + 1, -1);
    pe.everybody();
    bool root_too = round % 2 == 0;
    broadcast(pe.all(), dest, source, count * sizeof(int), root, root_too);
    fill(source, count, 77, round);  // it may be used again at once
    for (std::uint64_t i = 0; i < count; ++i) {
      bool untouched = pe.self() == root && !root_too;
      ASSERT_EQ(dest[i], untouched ? -1 : element<int>(root, i, round)) << i;
    }
    ASSERT_EQ(dest[count], -1);
  });
}

TEST(CollectivesTest, FcollectJoinsAllSources) {
  in_every_world([](TestPe& pe, std::uint64_t count, std::uint64_t round) {
    auto* source = pe.world.heap<short>(kSource);
    auto* dest = pe.world.heap<short>(kDest);
    fill(source, count, pe.self(), round);
    dest[count * pe.all().size()] = -1;
    pe.everybody();
    fcollect(pe.all(), dest, source, count * sizeof(short));
    fill(source, count, 77, round);
    for (std::uint64_t member = 0; member < pe.all().size(); ++member) {
      for (std::uint64_t i = 0; i < count; ++i) {
        ASSERT_EQ(dest[member * count + i], element<short>(member, i, round));
      }
    }
    ASSERT_EQ(dest[count * pe.all().size()], -1);
  });
}

TEST(CollectivesTest, CollectJoinsSourcesOfDifferentLengths) {
  in_every_world([](TestPe& pe, std::uint64_t count, std::uint64_t round) {
    auto length = [&](std::uint64_t member) { return member % 3 == 1 ? 0 : count + member; };
    auto* source = pe.world.heap<int>(kSource);
    auto* dest = pe.world.heap<int>(kDest);
    fill(source, length(pe.self()), pe.self(), round);
    pe.everybody();
    collect(pe.all(), dest, source, length(pe.self()) * sizeof(int));
    fill(source, length(pe.self()), 77, round);
    std::uint64_t at = 0;
    for (std::uint64_t member = 0; member < pe.all().size(); ++member) {
      for (std::uint64_t i = 0; i < length(member); ++i) {
        ASSERT_EQ(dest[at++], element<int>(member, i, round));
      }
    }
  });
}

TEST(CollectivesTest, AlltoallExchangesBlocks) {
  in_every_world([](TestPe& pe, std::uint64_t count, std::uint64_t round) {
    std::uint64_t size = pe.all().size();
    auto* source = pe.world.heap<long>(kSource);
    auto* dest = pe.world.heap<long>(kDest);
    fill(source, count * size, pe.self(), round);
    pe.everybody();
    alltoall(pe.all(), dest, source, count * sizeof(long));
    fill(source, count * size, 77, round);
    for (std::uint64_t member = 0; member < size; ++member) {
      for (std::uint64_t i = 0; i < count; ++i) {
        ASSERT_EQ(dest[member * count + i], element<long>(member, pe.self() * count + i, round));
      }
    }
  });
}

template <typename T>
void check_alltoalls(TestPe& pe, std::uint64_t count, std::uint64_t round) {
  std::uint64_t size = pe.all().size(), dst = 1 + round % 3, sst = 1 + round % 4;
  auto* source = pe.world.heap<T>(kSource);
  auto* dest = pe.world.heap<T>(kDest);
  fill(source, count * size * sst, pe.self(), round);
  std::fill_n(dest, count * size * dst, T{100});
  pe.everybody();
  alltoalls(pe.all(), dest, source, {dst, sst}, count, sizeof(T));
  fill(source, count * size * sst, 77, round);
  for (std::uint64_t i = 0; i < count * size * dst; ++i) {
    std::uint64_t member = i / dst / count, in_block = i / dst % count;
    T expected =
        i % dst != 0 ? T{100} : element<T>(member, (pe.self() * count + in_block) * sst, round);
    ASSERT_EQ(dest[i], expected) << i;
  }
}

TEST(CollectivesTest, AlltoallsExchangesElementsThatLieApart) {
  in_every_world([](TestPe& pe, std::uint64_t count, std::uint64_t round) {
    if (count > 1100) return;
    check_alltoalls<std::int8_t>(pe, count, round);
    pe.everybody();
    check_alltoalls<short>(pe, count, round);
    pe.everybody();
    check_alltoalls<float>(pe, count, round);
    pe.everybody();
    check_alltoalls<double>(pe, count, round);
    pe.everybody();
    check_alltoalls<long double>(pe, count, round);
  });
}

template <typename T>
T serial(ReduceOp op, T left, T right) {
  if constexpr (std::is_integral_v<T>) {
    if (op == ReduceOp::kAnd) return static_cast<T>(left & right);
    if (op == ReduceOp::kOr) return static_cast<T>(left | right);
    if (op == ReduceOp::kXor) return static_cast<T>(left ^ right);
  }
  if constexpr (std::is_arithmetic_v<T>) {
    if (op == ReduceOp::kMax) return std::max(left, right);
    if (op == ReduceOp::kMin) return std::min(left, right);
  }
  if (op == ReduceOp::kSum) return static_cast<T>(left + right);
  return static_cast<T>(left * right);
}

template <typename T>
std::vector<ReduceOp> operations() {
  if (std::is_integral_v<T>) {
    return {ReduceOp::kAnd, ReduceOp::kOr,  ReduceOp::kXor, ReduceOp::kMax,
            ReduceOp::kMin, ReduceOp::kSum, ReduceOp::kProd};
  }
  if (std::is_arithmetic_v<T>) {
    return {ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kSum, ReduceOp::kProd};
  }
  return {ReduceOp::kSum, ReduceOp::kProd};
}

template <typename T>
void check_reduce(TestPe& pe, ReduceOp op, std::uint64_t count, std::uint64_t round) {
  bool in_place = round % 2 == 0;
  auto* source = pe.world.heap<T>(kSource);
  auto* dest = in_place ? source : pe.world.heap<T>(kDest);
  fill(source, count, pe.self(), round);
  pe.everybody();
  reduce(pe.all(), dest, source, count, combine_for(op, element_type<T>()));
  if (!in_place) fill(source, count, 77, round);
  for (std::uint64_t i = 0; i < count; ++i) {
    T expected = element<T>(0, i, round);
    for (std::uint32_t member = 1; member < pe.all().size(); ++member) {
      expected = serial(op, expected, element<T>(member, i, round));
    }
    ASSERT_EQ(dest[i], expected) << i;
  }
}

template <typename T>
void check_all_reduces() {
  in_every_world([](TestPe& pe, std::uint64_t count, std::uint64_t round) {
    if (count == kLargest && sizeof(T) != 4) return;  // enough to see the pieces
    for (ReduceOp op : operations<T>()) {
      check_reduce<T>(pe, op, count, round);
      pe.everybody();
    }
  });
}

TEST(ReduceTest, IntegersOfEverySize) {
  check_all_reduces<std::int8_t>();
  check_all_reduces<std::int16_t>();
  check_all_reduces<std::int32_t>();
  check_all_reduces<std::int64_t>();
}

TEST(ReduceTest, UnsignedIntegersOfEverySize) {
  check_all_reduces<std::uint8_t>();
  check_all_reduces<std::uint16_t>();
  check_all_reduces<std::uint32_t>();
  check_all_reduces<std::uint64_t>();
}

TEST(ReduceTest, RealAndComplexNumbers) {
  check_all_reduces<float>();
  check_all_reduces<double>();
  check_all_reduces<long double>();
  check_all_reduces<std::complex<float>>();
  check_all_reduces<std::complex<double>>();
}

TEST(ReduceTest, AllMembersGetTheSameBits) {
  for (std::uint64_t count : {3u, 30u, 3000u, 100'003u}) {
    std::vector<std::vector<double>> results(8);
    run_pes(TestSetting::one_host(8, count > 3000), [&](TestPe& pe) {
      std::mt19937 random(pe.self());
      std::uniform_real_distribution<double> number(-1e9, 1e-3);
      auto* source = pe.world.heap<double>(kSource);
      auto* dest = pe.world.heap<double>(kDest);
      for (std::uint64_t i = 0; i < count; ++i) source[i] = number(random);
      reduce(pe.all(), dest, source, count, combine_for(ReduceOp::kSum, ElementType::kDouble));
      results[pe.self()].assign(dest, dest + count);
    });
    for (const auto& result : results) EXPECT_EQ(result, results[0]);
  }
}

// How often each element of an array came to this PE when it worked on its pieces.
std::vector<int> work_on_pieces(TestPe& pe, std::uint64_t count, std::uint64_t piece_elements) {
  Arrays arrays{{}, {}, count, &combine_for(ReduceOp::kSum, ElementType::kInt64)};
  std::vector<int> times(count);
  for_each_piece(pe.all(), arrays, piece_elements, [&](std::uint32_t owner, ElementRange piece) {
    ElementRange segment = segment_of(pe.all(), arrays, owner);
    EXPECT_LE(segment.first, piece.first);
    EXPECT_LE(piece.end, segment.end);
    for (std::uint64_t i = piece.first; i < piece.end; ++i) ++times[i];
  });
  return times;
}

TEST(PiecesTest, WhoHasAProcessorDoesTheWorkOfThoseWhoWait) {
  constexpr std::uint64_t kCount = 10'007;
  run_pes(TestSetting::one_host(4, true), [&](TestPe& pe) {
    for (std::uint32_t first = 0; first < 4; ++first) {
      pe.all().offer_work();
      pe.all().sync();
      std::vector<int> times(kCount, 7);
      if (pe.self() == first) times = work_on_pieces(pe, kCount, 300);
      pe.everybody();
      if (pe.self() != first) times = work_on_pieces(pe, kCount, 300);
      EXPECT_EQ(times, std::vector(kCount, pe.self() == first ? 1 : 0));
      pe.all().sync();
    }
  });
}

TEST(PiecesTest, WithProcessorsForAllEachDoesItsOwn) {
  constexpr std::uint64_t kCount = 10'007;
  std::vector<std::vector<int>> times(4);
  run_pes(TestSetting::one_host(4), [&](TestPe& pe) {
    pe.all().offer_work();
    pe.all().sync();
    if (pe.self() != 2) times[pe.self()] = work_on_pieces(pe, kCount, 300);
    pe.everybody();
    if (pe.self() == 2) times[pe.self()] = work_on_pieces(pe, kCount, 300);
    pe.all().sync();
  });
  for (std::uint64_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(times[0][i] + times[1][i] + times[2][i] + times[3][i], 1) << i;
  }
  EXPECT_EQ(std::count(times[2].begin(), times[2].end(), 1), 2512);  // whole pairs of cache lines
}

template <typename T>
void check_scan(TestPe& pe, std::uint64_t count, std::uint64_t round, bool inclusive) {
  bool in_place = round % 2 == 0;
  auto* source = pe.world.heap<T>(kSource);
  auto* dest = in_place ? source : pe.world.heap<T>(kDest);
  fill(source, count, pe.self(), round);
  pe.everybody();
  scan(pe.all(), dest, source, count, combine_for(ReduceOp::kSum, element_type<T>()), inclusive);
  if (!in_place) fill(source, count, 77, round);
  for (std::uint64_t i = 0; i < count; ++i) {
    T expected{};
    for (std::uint32_t member = 0; member < pe.self() + (inclusive ? 1 : 0); ++member) {
      expected = static_cast<T>(expected + element<T>(member, i, round));
    }
    ASSERT_EQ(dest[i], expected) << i;
  }
}

TEST(ScanTest, SumsUpToOrBeforeAMember) {
  in_every_world([](TestPe& pe, std::uint64_t count, std::uint64_t round) {
    for (bool inclusive : {true, false}) {
      check_scan<int>(pe, count, round, inclusive);
      pe.everybody();
      check_scan<std::complex<double>>(pe, count, round, inclusive);
      pe.everybody();
    }
  });
}

TEST(CollectivesTest, ManyInARowNeedNoBarrierBetween) {
  for (const TestSetting& setting : settings()) {
    run_pes(setting, [&](TestPe& pe) {
      const Combine& sum = combine_for(ReduceOp::kSum, ElementType::kInt64);
      std::uint64_t size = pe.all().size();
      for (std::uint64_t round = 0; round < 40; ++round) {
        // Every round has memory of its own, which is what the specification asks of programs.
        auto* source = pe.world.heap<std::int64_t>(kSource + round * 4096);
        auto* dest = pe.world.heap<std::int64_t>(kDest + round * 8192);
        source[0] = static_cast<std::int64_t>(pe.self() + round);
        broadcast(pe.all(), dest, source, 8, static_cast<std::uint32_t>(round % size));
        fcollect(pe.all(), dest + 100, source, 8);
        reduce(pe.all(), dest + 200, source, 1, sum);
        scan(pe.all(), dest + 300, source, 1, sum, false);
        ASSERT_EQ(dest[0], static_cast<std::int64_t>(round % size + round));
        for (std::uint64_t member = 0; member < size; ++member) {
          ASSERT_EQ(dest[100 + member], static_cast<std::int64_t>(member + round));
        }
        std::uint64_t before = pe.self() * (pe.self() - 1) / 2 + pe.self() * round;
        ASSERT_EQ(dest[200], static_cast<std::int64_t>(size * (size - 1) / 2 + size * round));
        ASSERT_EQ(dest[300], static_cast<std::int64_t>(pe.self() == 0 ? 0 : before));
      }
    });
  }
}

TEST(CollectivesTest, WhoComesLateFindsItsDataThere) {
  for (const TestSetting& setting : settings()) {
    run_pes(setting, [&](TestPe& pe) {
      if (pe.self() + 1 == pe.all().size()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      auto* source = pe.world.heap<int>(kSource);
      auto* dest = pe.world.heap<int>(kDest);
      fill(source, kLargest, pe.self(), 1);
      broadcast(pe.all(), dest, source, kLargest * sizeof(int), 0);
      for (std::uint64_t i = 0; i < kLargest; ++i) ASSERT_EQ(dest[i], element<int>(0, i, 1));
    });
  }
}

TEST(CollectivesTest, AnAddressThatIsNotSymmetricEndsTheJobWithASentence) {
  EXPECT_EXIT(run_pes(TestSetting::one_host(1),
                      [](TestPe& pe) {
                        int local[2] = {};
                        alltoall(pe.all(), pe.world.heap<int>(kDest), local, sizeof local);
                      }),
              testing::ExitedWithCode(70), "source at .* is not symmetric");
}

}  // namespace
}  // namespace terrane::runtime::shmem
