// Moving data: what tests/shmem/rma_test.cpp runs.
#include <shmemx.h>

#include <cstdint>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "program.h"

namespace {

using terrane::shmem_test::Mode;

int me, pes, next, before;

void begin(int level = SHMEM_THREAD_SINGLE) {
  int provided;
  shmem_init_thread(level, &provided);
  me = shmem_my_pe();
  pes = shmem_n_pes();
  next = (me + 1) % pes;
  before = (me + pes - 1) % pes;
}

// All that all have put is there after it. (Memory calls are collective; these tests are not of
// barriers.)
void meet() {
  shmem_quiet();
  shmem_free(shmem_malloc(1));
}

template <typename T>
T* symmetric(std::size_t count) {
  auto* made = static_cast<T*>(shmem_calloc(count, sizeof(T)));
  EXPECT(made != nullptr);
  return made;
}

// A value that tells its PE and its place.
template <typename T>
T value(int pe, int place) {
  return static_cast<T>(pe * 7 + place + 1);
}

// Each PE writes to the next, reads back, and looks at what the one before wrote.
template <typename T>
void move_type(shmem_ctx_t ctx) {
  constexpr int kCount = 10;
  T* there = symmetric<T>(kCount * 2);
  T* mine = symmetric<T>(kCount);
  T here[kCount * 2] = {};
  for (int i = 0; i < kCount; ++i) mine[i] = value<T>(me, i);
  meet();
  shmem_p(ctx, &there[0], value<T>(me, 0), next);
  shmem_put(ctx, &there[1], &mine[1], 3, next);
  shmem_put_nbi(ctx, &there[4], &mine[4], 2, next);
  shmem_iput(ctx, &there[6], &mine[6], 3, 2, 2, next);       // places 6, 9
  shmem_ibput(ctx, &there[12], &mine[0], 4, 5, 2, 2, next);  // 12, 13, 16, 17
  shmem_quiet();
  shmem_ctx_quiet(ctx);
  EXPECT(shmem_g(ctx, &there[0], next) == value<T>(me, 0));
  EXPECT(shmem_g(&there[3], next) == value<T>(me, 3));
  meet();
  for (int i : {0, 1, 2, 3, 4, 5, 6}) EXPECT(there[i] == value<T>(before, i));
  EXPECT(there[9] == value<T>(before, 8) && there[7] == T(0) && there[8] == T(0));
  EXPECT(there[12] == value<T>(before, 0) && there[13] == value<T>(before, 1));
  EXPECT(there[16] == value<T>(before, 5) && there[17] == value<T>(before, 6));
  EXPECT(there[14] == T(0) && there[15] == T(0));
  shmem_get(ctx, here, mine, kCount, next);
  for (int i = 0; i < kCount; ++i) EXPECT(here[i] == value<T>(next, i));
  shmem_get_nbi(ctx, here, &mine[5], 2, before);
  shmem_ctx_quiet(ctx);
  EXPECT(here[0] == value<T>(before, 5) && here[1] == value<T>(before, 6));
  shmem_iget(ctx, here, mine, 2, 3, 3, next);  // places 0, 3, 6
  EXPECT(here[0] == value<T>(next, 0) && here[2] == value<T>(next, 3) &&
         here[4] == value<T>(next, 6));
  shmem_ibget(ctx, here, mine, 2, 6, 2, 2, next);  // 0, 1, 6, 7
  EXPECT(here[1] == value<T>(next, 1) && here[2] == value<T>(next, 6) &&
         here[3] == value<T>(next, 7));
  meet();
  shmem_free(mine);
  shmem_free(there);
}

template <typename... T>
void move_types(shmem_ctx_t ctx) {
  (move_type<T>(ctx), ...);
}

void every_type() {
  begin();
  shmem_ctx_t ctx;
  EXPECT(shmem_ctx_create(0, &ctx) == 0);
  for (shmem_ctx_t one : {SHMEM_CTX_DEFAULT, ctx}) {
    move_types<float, double, long double, char, signed char, short, int, long, long long,
               unsigned char, unsigned short, unsigned, unsigned long, unsigned long long>(one);
  }
  shmem_ctx_destroy(ctx);
  shmem_finalize();
}

void every_size() {
  begin();
  constexpr std::size_t kRoom = std::size_t{20} << 20;
  auto* there = symmetric<unsigned char>(kRoom + 1);
  std::vector<unsigned char> source(kRoom), back(kRoom);
  std::mt19937 random(static_cast<unsigned>(me));
  for (auto& byte : source) byte = static_cast<unsigned char>(random());
  for (std::size_t bytes : {0ul, 1ul, 2ul, 3ul, 7ul, 8ul, 15ul, 16ul, 17ul, 63ul, 64ul, 65ul,
                            4095ul, 4096ul, 100001ul, (std::size_t{8} << 20) + 3, kRoom}) {
    for (std::size_t shift : {0ul, 1ul}) {
      if (bytes + shift > kRoom) continue;
      meet();
      there[bytes + shift] = 77;
      meet();
      shmem_putmem(there + shift, source.data(), bytes, next);
      shmem_quiet();
      shmem_getmem(back.data(), there + shift, bytes, next);
      EXPECT(std::memcmp(back.data(), source.data(), bytes) == 0);
      meet();
      EXPECT(there[bytes + shift] == 77);
    }
  }
  auto* wide = symmetric<unsigned char>(16 * 40);
  shmem_put8(wide, source.data(), 3, next);
  shmem_put16(wide + 16, source.data(), 3, next);
  shmem_put32(wide + 32, source.data(), 3, next);
  shmem_put64_nbi(wide + 64, source.data(), 3, next);
  shmem_put128(wide + 128, source.data(), 3, next);
  shmem_iput128(wide + 256, source.data(), 2, 1, 3, next);
  shmem_quiet();
  shmem_get128(back.data(), wide + 128, 3, next);
  EXPECT(std::memcmp(back.data(), source.data(), 48) == 0);
  shmem_iget128(back.data(), wide + 256, 1, 2, 3, next);
  EXPECT(std::memcmp(back.data(), source.data(), 48) == 0);
  shmem_get64(back.data(), wide + 64, 3, next);
  EXPECT(std::memcmp(back.data(), source.data(), 24) == 0);
  shmem_finalize();
}

// All PEs update words of PE 0; nothing is lost.
template <typename T>
void count_type() {
  constexpr int kRounds = 500;
  T* words = symmetric<T>(4);
  meet();
  for (int i = 0; i < kRounds; ++i) {
    shmem_atomic_inc(&words[0], 0);
    shmem_atomic_add(&words[0], T(2), 0);
    EXPECT(shmem_atomic_fetch_inc(&words[1], 0) >= T(0));
    T was;
    shmem_atomic_fetch_add_nbi(&was, &words[1], T(1), 0);
    shmem_quiet();
    T seen = shmem_atomic_fetch(&words[2], 0);
    while (true) {
      T old = shmem_atomic_compare_swap(&words[2], seen, T(seen + 1), 0);
      if (old == seen) break;
      seen = old;
    }
  }
  meet();
  EXPECT(shmem_atomic_fetch(&words[0], 0) == T(3 * kRounds * pes));
  EXPECT(shmem_atomic_fetch(&words[1], 0) == T(2 * kRounds * pes));
  EXPECT(shmem_atomic_fetch(&words[2], 0) == T(kRounds * pes));
  meet();
  shmem_free(words);
}

template <typename T>
void swap_type() {
  T* word = symmetric<T>(1);
  meet();
  shmem_atomic_set(word, T(1 + me), next);
  meet();
  EXPECT(shmem_atomic_swap(word, T(100), next) == T(1 + me));
  T was;
  shmem_atomic_swap_nbi(&was, word, T(101), next);
  shmem_quiet();
  EXPECT(was == T(100));
  shmem_atomic_fetch_nbi(&was, word, next);
  shmem_quiet();
  EXPECT(was == T(101));
  meet();
  shmem_free(word);
}

template <typename T>
void bits_type() {
  T* words = symmetric<T>(3);
  words[1] = T(-1);
  T bit = T(1) << me;
  meet();
  shmem_atomic_or(&words[0], bit, 0);
  EXPECT((shmem_atomic_fetch_and(&words[1], T(~bit), 0) & bit) == bit);
  shmem_atomic_xor(&words[2], bit, 0);
  EXPECT((shmem_atomic_fetch_xor(&words[2], bit, 0) & bit) == bit);
  T was;
  shmem_atomic_fetch_or_nbi(&was, &words[0], T(0), 0);
  shmem_quiet();
  EXPECT((was & bit) == bit);
  meet();
  T all = T((T(1) << pes) - 1);
  EXPECT(shmem_g(&words[0], 0) == all);
  EXPECT(T(~shmem_g(&words[1], 0)) == all);
  EXPECT(shmem_g(&words[2], 0) == T(0));
  meet();
  shmem_free(words);
}

void atomics() {
  begin();
  count_type<int>(), count_type<long>(), count_type<long long>();
  count_type<unsigned>(), count_type<unsigned long>(), count_type<unsigned long long>();
  swap_type<float>(), swap_type<double>(), swap_type<int>(), swap_type<unsigned long>();
  bits_type<unsigned>(), bits_type<unsigned long>(), bits_type<std::int32_t>(),
      bits_type<std::int64_t>();
  long* old = symmetric<long>(1);
  meet();
  shmem_long_add(old, 2, 0);
  shmem_long_inc(old, 0);
  EXPECT(shmem_long_fadd(old, 0, 0) >= 3);
  meet();
  EXPECT(shmem_long_fetch(old, 0) == 3 * pes);
  shmem_finalize();
}

// A ring of data with signals: a PE that sees the signal sees the data.
void signals() {
  begin();
  constexpr int kRounds = 300, kCount = 100;
  long* data = symmetric<long>(kCount);
  auto* signal = symmetric<std::uint64_t>(2);
  long source[kCount];
  for (int round = 1; round <= kRounds; ++round) {
    for (long& one : source) one = me * 1000 + round;
    int op = round % 2 ? SHMEM_SIGNAL_SET : SHMEM_SIGNAL_ADD;
    std::uint64_t by = round % 2 ? static_cast<std::uint64_t>(round) : 1;
    if (round % 3 == 0) {
      shmem_put_signal_nbi(data, source, kCount, signal, by, op, next);
    } else {
      shmem_put_signal(SHMEM_CTX_DEFAULT, data, source, kCount, signal, by, op, next);
    }
    while (shmem_signal_fetch(signal) < static_cast<std::uint64_t>(round))
      std::this_thread::yield();
    for (long one : std::vector<long>(data, data + kCount)) EXPECT(one == before * 1000 + round);
    shmem_signal_add(signal + 1, 1, before);  // read; the next round may come
    while (shmem_signal_fetch(signal + 1) < static_cast<std::uint64_t>(round)) {
      std::this_thread::yield();
    }
  }
  meet();
  shmem_signal_set(signal, 5, next);
  meet();
  EXPECT(shmem_signal_fetch(signal) == 5);
  shmem_finalize();
}

void contexts() {
  begin();
  long* word = symmetric<long>(1);
  meet();
  shmem_team_t team;
  EXPECT(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team) == 0 && team == SHMEM_TEAM_WORLD);
  EXPECT(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0 && team == SHMEM_TEAM_INVALID);
  shmem_ctx_t ctx[40];
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 40; ++i) {
      EXPECT(shmem_ctx_create(i % 8, &ctx[i]) == 0 && ctx[i] != SHMEM_CTX_INVALID);
      shmem_ctx_session_start(ctx[i], SHMEM_CTX_SESSION_BATCH, nullptr, 0);
      shmem_atomic_inc(ctx[i], word, 0);
      shmem_ctx_fence(ctx[i]);
      shmem_ctx_pe_quiet(ctx[i], &next, 1);
      shmem_ctx_session_stop(ctx[i]);
    }
    EXPECT(shmem_ctx_get_team(ctx[7], &team) == 0 && team == SHMEM_TEAM_WORLD);
    for (shmem_ctx_t one : ctx) shmem_ctx_destroy(one);
  }
  shmem_ctx_destroy(SHMEM_CTX_INVALID);
  shmem_ctx_session_start(SHMEM_CTX_INVALID, 0, nullptr, 0);
  EXPECT(shmem_ctx_create(1L << 20, &ctx[0]) != 0 && ctx[0] == SHMEM_CTX_INVALID);
  meet();
  EXPECT(shmem_g(word, 0) == 120L * pes);
  shmem_finalize();
}

// The PEs of a context are those of its team.
void team_contexts() {
  begin();
  int* word = symmetric<int>(1);
  shmem_team_t odd;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, pes / 2, nullptr, 0, &odd);
  if (odd != SHMEM_TEAM_INVALID) {
    shmem_ctx_t ctx;
    shmem_team_t back;
    EXPECT(shmem_team_create_ctx(odd, 0, &ctx) == 0);
    EXPECT(shmem_ctx_get_team(ctx, &back) == 0 && back == odd);
    for (int pe = 0; pe < pes / 2; ++pe) shmem_atomic_add(ctx, word, pe + 1, pe);
    shmem_ctx_destroy(ctx);
  }
  shmem_ctx_t shared;
  EXPECT(shmem_team_create_ctx(SHMEM_TEAM_SHARED, 0, &shared) == 0);
  EXPECT(shmem_g(shared, word, shmem_team_my_pe(SHMEM_TEAM_SHARED)) >= 0);
  shmem_ctx_destroy(shared);
  EXPECT(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &shared) != 0 && shared == SHMEM_CTX_INVALID);
  meet();
  EXPECT(*word == (me % 2 ? (me / 2 + 1) * (pes / 2) : 0));
  shmem_finalize();
}

// Each thread moves data by a context of its own.
void threads() {
  begin(SHMEM_THREAD_MULTIPLE);
  constexpr int kThreads = 4, kRounds = 2000;
  long* words = symmetric<long>(kThreads + 1);
  meet();
  std::vector<std::thread> running;
  for (int t = 0; t < kThreads; ++t) {
    running.emplace_back([=] {
      shmem_ctx_t ctx;
      EXPECT(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0);
      for (int i = 1; i <= kRounds; ++i) {
        shmem_p(ctx, &words[t], static_cast<long>(i), next);
        shmem_ctx_quiet(ctx);
        EXPECT(shmem_g(ctx, &words[t], next) == i);
        shmem_atomic_inc(ctx, &words[kThreads], 0);
      }
      shmem_ctx_destroy(ctx);
    });
  }
  for (std::thread& one : running) one.join();
  meet();
  EXPECT(shmem_g(&words[kThreads], 0) == long{kThreads} * kRounds * pes);
  shmem_finalize();
}

// No bytes need no memory on either side, whatever PE they would go to.
void nothing() {
  begin();
  static std::uint64_t signal = 0;
  meet();
  for (int pe = 0; pe < pes; ++pe) {
    shmem_putmem(nullptr, nullptr, 0, pe);
    shmem_getmem(nullptr, nullptr, 0, pe);
    shmem_long_put(nullptr, nullptr, 0, pe);
    shmem_long_get(nullptr, nullptr, 0, pe);
    shmem_put128(nullptr, nullptr, 0, pe);
    shmem_get8(nullptr, nullptr, 0, pe);
    shmem_putmem_nbi(nullptr, nullptr, 0, pe);
    shmem_getmem_nbi(nullptr, nullptr, 0, pe);
    shmem_double_put_nbi(nullptr, nullptr, 0, pe);
    shmem_double_get_nbi(nullptr, nullptr, 0, pe);
    shmem_long_iput(nullptr, nullptr, 1, 1, 0, pe);
    shmem_long_iget(nullptr, nullptr, 0, 0, 0, pe);
    shmem_iput32(nullptr, nullptr, 1, 1, 0, pe);
    shmem_long_ibput(nullptr, nullptr, 1, 1, 0, 5, pe);
    shmem_long_ibget(nullptr, nullptr, -1, -1, 0, 5, pe);
    shmem_ibget64(nullptr, nullptr, 1, 1, 5, 0, pe);
    shmem_putmem(&signal, nullptr, 0, pe);
    shmem_getmem(nullptr, &signal, 0, pe);
    shmem_putmem_signal(nullptr, nullptr, 0, &signal, 1, SHMEM_SIGNAL_ADD, pe);
    shmem_long_put_signal_nbi(nullptr, nullptr, 0, &signal, 1, SHMEM_SIGNAL_ADD, pe);
  }
  shmem_pe_quiet(nullptr, 0);
  meet();
  EXPECT(shmem_signal_fetch(&signal) == 2 * static_cast<std::uint64_t>(pes));
  shmem_finalize();
}

// Names of <shmemx.h> do what their namesakes of the specification do.
void extensions() {
  begin();
  long* words = symmetric<long>(8);
  auto* signal = symmetric<std::uint64_t>(2);
  long source[8] = {me, me + 1, me + 2, me + 3, 0, 0, 0, 0};
  meet();
  shmemx_long_ibput(words, source, 4, 2, 2, 2, next);
  shmemx_ctx_long_ibput(SHMEM_CTX_DEFAULT, words + 2, source, 2, 2, 2, 1, next);
  shmemx_request_handle_t handle;
  shmemx_long_put_nb(words + 6, source + 3, 1, next, &handle);
  shmemx_putmem_nb(words + 7, source + 3, sizeof(long), next, nullptr);
  shmemx_wait_req(handle);
  shmemx_signal_add(&signal[0], 5, next);
  shmemx_signal_set(SHMEM_CTX_DEFAULT, &signal[1], 6, next);
  meet();
  const long expected[8] = {before,     before + 1, before,     before + 1,
                            before + 2, before + 3, before + 3, before + 3};
  EXPECT(std::memcmp(words, expected, sizeof expected) == 0);
  EXPECT(signal[0] == 5 && signal[1] == 6);
  shmemx_long_ibget(source, words, 2, 4, 2, 2, me);
  EXPECT(source[2] == before + 2);
  int done = 0;
  shmemx_long_get_nb(source, words + 7, 1, next, &handle);
  shmemx_test_req(handle, &done);
  EXPECT(done == 1 && source[0] == me + 3);
  meet();
  EXPECT(shmemx_long_sum_exscan(SHMEM_TEAM_WORLD, words, words + 7, 1) == 0);
  EXPECT(me != 0 || words[0] == 0);
  EXPECT(shmem_team_n_pes(SHMEMX_TEAM_NODE) == shmem_team_n_pes(SHMEM_TEAM_SHARED));
  shmem_free(shmem_malloc_with_hints(8, SHMEMX_MALLOC_NO_BARRIER));
  shmem_finalize();
}

// A handle is given once, however often contexts are made and destroyed.
void many_contexts() {
  begin();
  constexpr std::size_t kContexts = 2000;
  std::vector<shmem_ctx_t> contexts(kContexts);
  for (int round = 0; round < 3; ++round) {
    for (shmem_ctx_t& one : contexts) EXPECT(shmem_ctx_create(0, &one) == 0);
    std::set<shmem_ctx_t> all(contexts.begin(), contexts.end());
    EXPECT(all.size() == kContexts && all.count(SHMEM_CTX_INVALID) == 0);
    for (std::size_t i = 0; i < kContexts; ++i) shmem_ctx_destroy(contexts[(i * 7) % kContexts]);
  }
  shmem_ctx_t first, second;
  EXPECT(shmem_team_create_ctx(SHMEM_TEAM_SHARED, 0, &first) == 0);
  EXPECT(shmem_ctx_create(0, &second) == 0 && first != second);
  shmem_team_t team;
  EXPECT(shmem_ctx_get_team(second, &team) == 0 && team == SHMEM_TEAM_WORLD);
  shmem_finalize();
}

long initialised[3] = {1, 2, 3};
int zeroed[5000];

void statics() {
  begin();
  static double inside = 2.5;
  meet();
  shmem_p(&zeroed[4000 + me], me + 1, next);
  shmem_atomic_add(&initialised[1], 10, 0);
  EXPECT(shmem_g(&inside, next) == 2.5);
  meet();
  EXPECT(zeroed[4000 + before] == before + 1);
  EXPECT(shmem_g(&initialised[1], 0) == 2 + 10 * pes);
  shmem_finalize();
}

constexpr Mode kModes[] = {
    {"types", every_type},      {"sizes", every_size},
    {"atomics", atomics},       {"signals", signals},
    {"contexts", contexts},     {"team-contexts", team_contexts},
    {"threads", threads},       {"statics", statics},
    {"nothing", nothing},       {"many-contexts", many_contexts},
    {"extensions", extensions},
};

}  // namespace

int main(int argc, char** argv) { return terrane::shmem_test::run_mode(kModes, argc, argv); }
