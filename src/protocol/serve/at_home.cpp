#include "protocol/serve/at_home.h"

#include <array>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<FetchResult> AtHome::read(Strand& s, BlockRange run, NodeId home, bool follows,
                               HomeReader& reader) {
  using enum HomeAnswer::What;
  std::array<std::uint32_t, kMaxRun> words{};
  FetchResult got;
  do {  // until a first block has stayed here while it was copied
    got = {.ask = home};
    if (mutant(Mutant::kFetchCopiesFirst)) co_await reader.copy(s, run);
    BlockRange some{run.first, 0};
    while (some.count < std::min<std::uint64_t>(run.count, kMaxRun)) {
      std::uint64_t block = some.end();
      std::uint32_t word = co_await s.perform(LoadWord{home, BlockId{block}});
      HomeAnswer answer = answer_of(word, follows, Purpose::kRead);
      bool here = answer.what == kUsable && reader.admits(block, word);
      if (!here && some.count == 0) {
        if (answer.what == kElsewhere) got.ask = answer.ask;
        co_return got;
      }
      bool own = here && reader.wants_home(word);
      if (!here || (some.count > 0 && own != got.own)) break;
      if (own && !co_await reader.take(s, block, word)) break;
      got.own = own;
      if (!(word & kTracked)) {
        bool was = co_await s.perform(SetWanted{home, BlockId{block}});
        if (was) mark(Mark::kFaultFindsWantedSet);
      }
      words[some.count++] = word;
    }
    if (some.count == 0) continue;
    if (!mutant(Mutant::kFetchCopiesFirst)) co_await reader.copy(s, some);
    if (got.own) co_await reader.end_take(s);
    while (got.count < some.count) {
      std::uint32_t word = words[got.count];
      if (!got.own && !co_await stayed(s, home, some.first + got.count, word)) break;
      if (word & kTracked) got.tracked |= 1u << got.count;
      ++got.count;
    }
    if (some.count > 1)
      mark(got.count == some.count ? Mark::kFaultCopiesRun : Mark::kFaultCopiesPart);
  } while (got.count == 0);
  co_return got;
}

// Whether the home has not moved since its word was loaded. If it has, a copy made since then is
// void: the memory of a former home may hold anything.
Task<bool> AtHome::stayed(Strand& s, NodeId home, std::uint64_t block, std::uint32_t word) {
  if (mutant(Mutant::kReadOnce) || mutant(Mutant::kReadFormerHome)) co_return true;
  std::uint32_t now = co_await s.perform(LoadWord{home, BlockId{block}});
  bool same = !(now & kMoved) && (now & kTimes) == (word & kTimes);
  if (!same) mark(Mark::kFaultReadsAgain);
  co_return same;
}

Task<std::uint64_t> AtHome::moved_together(Strand& s, BlockRange run, NodeId home, NodeId next) {
  std::uint64_t count = 1;
  for (; count < run.count; ++count) {
    std::uint32_t word = co_await s.perform(LoadWord{home, BlockId{run.first + count}});
    if (!(word & kMoved) || word & kComing || home_in(word) != next) break;
  }
  co_return count;
}

Task<HomeAnswer> AtHome::may_store(Strand& s, NodeId home, std::uint64_t block, NodeId writer,
                                   bool follows) {
  for (;;) {
    std::uint32_t word = co_await s.perform(LoadWord{home, BlockId{block}});
    HomeAnswer answer = answer_of(word, follows, Purpose::kStore);
    bool ends = answer.what == HomeAnswer::What::kUsable && word & kOffered &&
                home_in(word) != writer && !mutant(Mutant::kStoreKeepsOffer);
    if (!ends) co_return answer;
    mark(Mark::kStoreEndsOffer);
    co_await s.perform(SwapWord{home, BlockId{block}, word, word & kStays});
  }
}

Task<AtomicAnswer> AtHome::atomic(Strand& s, NodeId home, std::uint64_t block, AtomicOp op,
                                  NodeId writer, bool follows) {
  using enum HomeAnswer::What;
  bool counted = !mutant(Mutant::kAtomicUncounted);
  if (counted) co_await s.perform(CountFlush{true});
  HomeAnswer answer = co_await may_store(s, home, block, writer, follows);
  AtomicAnswer done;
  if (answer.what == kUsable) {
    done.before = co_await s.perform(PerformAtomic{home, BlockId{block}, op});
    done.what = AtomicAnswer::What::kDone;
  } else if (answer.what == kElsewhere) {
    done = {.what = AtomicAnswer::What::kElsewhere, .ask = answer.ask};
  }
  if (counted) co_await s.perform(CountFlush{false});
  co_return done;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
