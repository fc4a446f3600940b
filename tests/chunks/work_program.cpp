// A node of a job with work streams; what it does is named by its first argument. Prints "good".
#include <poll.h>

#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "program.h"

namespace {

using namespace terrane::chunks_test;

constexpr std::size_t kFull = 64 << 10;  // bytes of a full version

terrane_work stream(const std::string& name, int home, bool in_order = false,
                    std::uint64_t capacity = 8 * kFull) {
  terrane_work_options options{
      .size = sizeof options, .home = home, .in_order = in_order ? 1u : 0u, .capacity = capacity};
  terrane_work work;
  EXPECT_OK(terrane_work_create(name.c_str(), kFull, &options, &work, nullptr));
  return work;
}

std::uint64_t word_of(std::uint64_t tag, std::size_t at) { return tag * 1'000'003 + at; }

std::size_t length_of(std::uint64_t tag, bool full) {
  return full ? kFull : 8 * ((tag * 37) % (kFull / 8 + 1));
}

void put(terrane_work work, std::uint64_t tag, std::size_t bytes) {
  terrane_work_version version;
  EXPECT_OK(terrane_work_write(work, TERRANE_FOREVER, &version));
  EXPECT(version.bytes == kFull);
  auto* words = static_cast<std::uint64_t*>(version.data);
  for (std::size_t i = 0; i < bytes / 8; ++i) words[i] = word_of(tag, i);
  EXPECT_OK(terrane_work_publish(&version, bytes, tag));
}

// ---- A pipeline: node 0 is the source, the last node the sink, the others are workers.

// Node 1 dies by SIGKILL in its `frames`-th frame, at this point of it; 0: it does not.
struct Death {
  int frames = 0;
  int point = 0;
};

void die_at(const Death& death, int frame, int point) {
  if (self() == 1 && death.frames == frame && death.point == point) ::raise(SIGKILL);
}

// A worker that gets no processor takes few frames: from the 40th on the others are slow until it
// has died, so that it comes to the frame of its death.
void let_it_die(const Death& death, int frame) {
  static bool dead = death.frames == 0;
  terrane_member_change change;
  if (dead || self() == 1) return;
  dead = terrane_chunks_member(TERRANE_TRY, &change) == TERRANE_OK &&
         change.event == TERRANE_MEMBER_DIED;
  if (!dead && frame > 40) ::usleep(20'000);
}

void work_on(terrane_work frames, terrane_work results, const Death& death) {
  EXPECT_OK(terrane_work_subscribe(frames, 2 * kFull));
  meet("ready");
  terrane_work_version frame, result;
  for (int count = 1;; ++count) {
    int status = terrane_work_take(frames, TERRANE_FOREVER, &frame);
    if (status == TERRANE_EENDED) break;
    EXPECT_OK(status);
    let_it_die(death, count);
    die_at(death, count, 1);
    EXPECT_OK(terrane_work_write(results, TERRANE_FOREVER, &result));
    const auto* from = static_cast<const std::uint64_t*>(frame.data);
    auto* to = static_cast<std::uint64_t*>(result.data);
    for (std::size_t i = 0; i < frame.bytes / 8; ++i) to[i] = ~from[i];
    die_at(death, count, 2);
    EXPECT_OK(terrane_work_publish(&result, frame.bytes, frame.tag));
    die_at(death, count, 3);
    EXPECT_OK(terrane_work_release(&frame));
    die_at(death, count, 4);
  }
  EXPECT_OK(terrane_work_end(results));
}

void sink(terrane_work results, std::uint64_t count, bool full) {
  EXPECT_OK(terrane_work_subscribe(results, 2 * kFull));
  meet("ready");
  terrane_work_version shown;
  for (std::uint64_t tag = 0; tag < count; ++tag) {
    EXPECT_OK(terrane_work_take(results, TERRANE_FOREVER, &shown));
    EXPECT(shown.tag == tag);
    EXPECT(shown.bytes == length_of(tag, full));
    EXPECT(shown.writer > 0 && static_cast<int>(shown.writer) < nodes() - 1);
    const auto* words = static_cast<const std::uint64_t*>(shown.data);
    for (std::size_t i = 0; i < shown.bytes / 8; ++i) EXPECT(words[i] == ~word_of(tag, i));
    EXPECT_OK(terrane_work_release(&shown));
  }
  EXPECT(terrane_work_take(results, TERRANE_FOREVER, &shown) == TERRANE_EENDED);
}

void print_counters() {
  terrane_chunk_counters now;
  EXPECT_OK(terrane_chunks_counters(&now));
  std::printf("messages %llu data %llu shared %llu taken %llu again %llu\n",
              static_cast<unsigned long long>(now.messages_sent),
              static_cast<unsigned long long>(now.data_bytes_sent),
              static_cast<unsigned long long>(now.shared_bytes_sent),
              static_cast<unsigned long long>(now.versions_taken),
              static_cast<unsigned long long>(now.versions_again));
}

void pipeline(std::uint64_t count, bool full, const Death& death) {
  int last = nodes() - 1;
  terrane_work frames = stream("frames", 0);
  terrane_work results = stream("results", TERRANE_HOME_AT_FIRST_SUBSCRIBER, true, 9 * kFull);
  if (self() == last) {
    sink(results, count, full);
  } else if (self() > 0) {
    work_on(frames, results, death);
  } else {
    meet("ready");
    for (std::uint64_t tag = 0; tag < count; ++tag) put(frames, tag, length_of(tag, full));
    EXPECT_OK(terrane_work_end(frames));
  }
  if (self() > 0) EXPECT(terrane_work_home(results) == last);  // node 0 never asked
  EXPECT(terrane_work_home(frames) == 0);
  if (full) meet("all frames are shown");  // node 0 gives frames after it has ended their stream
  print_counters();
}

// ---- Whichever thread of its node delivers a version, what is made from it belongs to the taker.

// Node 1 makes results that node 2 holds, and dies; node 2 gets all frames again. Meanwhile a
// second thread of node 1 waits, and delivers messages for the first one.
void two_threads() {
  constexpr int kFrames = 200;
  terrane_work frames = stream("frames", 0), results = stream("results", 2);
  terrane_work never = stream("never", 0);
  terrane_work_version version, result;
  std::vector<terrane_work_version> held(kFrames);
  if (self() == 1) {
    EXPECT_OK(terrane_work_subscribe(frames, 4 * kFull));
    EXPECT_OK(terrane_work_subscribe(never, kFull));
    std::thread([never] {
      terrane_work_version none;
      while (terrane_work_take(never, 50'000, &none) == TERRANE_ETIMEDOUT) {
      }
    }).detach();
  }
  if (self() == 2) EXPECT_OK(terrane_work_subscribe(results, 4 * kFull));
  meet("ready");
  for (int i = 0; i < kFrames; ++i) {
    auto tag = static_cast<std::uint64_t>(i);
    if (self() == 0) put(frames, tag, 800);
    if (self() == 1) {
      EXPECT_OK(terrane_work_take(frames, TERRANE_FOREVER, &version));
      EXPECT_OK(terrane_work_write(results, TERRANE_FOREVER, &result));
      EXPECT_OK(terrane_work_publish(&result, 800, version.tag));
      EXPECT_OK(terrane_work_release(&version));
    }
    if (self() == 2)
      EXPECT_OK(terrane_work_take(results, TERRANE_FOREVER, &held[static_cast<std::size_t>(i)]));
    meet("frame " + std::to_string(i));
  }
  if (self() == 1) ::raise(SIGKILL);
  if (self() == 2) {
    EXPECT_OK(terrane_work_subscribe(frames, 4 * kFull));
    for (int i = 0; i < kFrames; ++i) {
      EXPECT_OK(terrane_work_take(frames, 20 * kSecond, &version));
      EXPECT(version.again == 1);
      EXPECT_OK(terrane_work_release(&version));
    }
    for (terrane_work_version& one : held) EXPECT_OK(terrane_work_release(&one));
  }
  EXPECT_OK(terrane_chunk_barrier("end", 2, 60 * kSecond));
}

// ---- Deaths are heard of

// Node 2 takes versions of node 1 through node 0, writes a chunk, and dies.
void members() {
  terrane_work frames = stream("frames", 0, false, 4 * kFull);
  terrane_chunk spoken = create("spoken", 8, TERRANE_CHUNK_UPDATE);
  int fd = terrane_chunks_members_descriptor();
  EXPECT(fd >= 0);
  pollfd ready{fd, POLLIN, 0};
  EXPECT(::poll(&ready, 1, 0) == 0);
  terrane_member_change change;
  EXPECT(terrane_chunks_member(TERRANE_TRY, &change) == TERRANE_EBUSY);
  terrane_work_version version;
  terrane_scope scope;
  if (self() == 2) {
    EXPECT_OK(terrane_work_subscribe(frames, 2 * kFull));
    std::uint64_t one = 1;
    EXPECT_OK(terrane_chunk_publish(spoken, 0, sizeof one, &one, TERRANE_FOREVER));
    EXPECT_OK(terrane_work_take(frames, TERRANE_FOREVER, &version));
    meet("subscribed");
    meet("spoken");
    ::raise(SIGKILL);
  }
  if (self() == 0)
    EXPECT_OK(terrane_chunk_subscribe(spoken, TERRANE_CHUNK_BLOCK, 2, nullptr, nullptr));
  if (self() == 1) put(frames, 7, 800);
  meet("subscribed");
  if (self() == 0) {
    EXPECT_OK(terrane_chunk_take(spoken, TERRANE_FOREVER, &scope));
    release(scope);
  } else {
    scope = open(spoken, TERRANE_CHUNK_READ);
  }
  if (self() == 1) put(frames, 8, kFull);  // node 2 may die before it could write another one
  meet("spoken");
  if (self() == 1) {  // writes until its capacity is used, and hears why nobody takes anything
    int status = TERRANE_OK;
    for (int i = 0; i < 10 && status == TERRANE_OK; ++i) {
      status = terrane_work_write(frames, 20 * kSecond, &version);
      if (status == TERRANE_OK) EXPECT_OK(terrane_work_publish(&version, kFull, 8));
    }
    EXPECT(status == TERRANE_EDIED);
    EXPECT(error_says("its last subscriber, node 2 on "));
  }
  EXPECT(::poll(&ready, 1, 20'000) == 1);
  EXPECT_OK(terrane_chunks_member(20 * kSecond, &change));
  EXPECT(change.event == TERRANE_MEMBER_DIED);
  EXPECT(change.node == 2);
  EXPECT(change.host[0] != 0);
  EXPECT(::poll(&ready, 1, 0) == 0);
  EXPECT(terrane_chunks_member(1'000'000, &change) == TERRANE_ETIMEDOUT);
  if (self() == 0) {  // the report of its long wait names the dead node
    EXPECT(terrane_chunk_take(spoken, 2 * kSecond, &scope) == TERRANE_ETIMEDOUT);
    EXPECT_OK(terrane_work_subscribe(frames, 2 * kFull));
    EXPECT_OK(terrane_work_take(frames, TERRANE_FOREVER, &version));
    EXPECT(version.tag == 7 && version.bytes == 800 && version.again == 1 && version.writer == 1);
    EXPECT_OK(terrane_work_release(&version));
    EXPECT_OK(terrane_work_take(frames, TERRANE_FOREVER, &version));
    EXPECT_OK(terrane_work_release(&version));
    EXPECT_OK(terrane_chunk_barrier("taken", 2, 20 * kSecond));
  } else {
    EXPECT_OK(terrane_chunk_barrier("taken", 2, 20 * kSecond));
    release(scope);
    EXPECT_OK(terrane_work_write(frames, 20 * kSecond, &version));
    EXPECT_OK(terrane_work_release(&version));
  }
}

// ---- Versions

// Many are open at once; descriptors say what can be written and taken.
void versions() {
  constexpr int kOpen = 8;
  terrane_work first = stream("first", 0), second = stream("second", 0);
  meet("made");
  if (self() == 1) {
    std::vector<terrane_work_version> open(kOpen);
    for (terrane_work_version& one : open)
      EXPECT_OK(terrane_work_write(first, TERRANE_FOREVER, &one));
    terrane_work_version more;
    EXPECT(terrane_work_write(first, TERRANE_TRY, &more) == TERRANE_EBUSY);
    EXPECT(terrane_work_write(first, 1'000'000, &more) == TERRANE_ETIMEDOUT);
    EXPECT_OK(terrane_work_write(second, TERRANE_FOREVER, &more));
    pollfd writable[] = {{terrane_work_writable_descriptor(first), POLLIN, 0},
                         {terrane_work_writable_descriptor(second), POLLIN, 0}};
    terrane_work_version none;
    EXPECT(terrane_work_write(first, TERRANE_TRY, &none) == TERRANE_EBUSY);
    EXPECT(::poll(writable, 2, 0) == 1);
    EXPECT(writable[0].revents == 0);
    EXPECT_OK(terrane_work_release(&more));  // it is given up
    for (int i = 0; i < kOpen; ++i)
      EXPECT_OK(terrane_work_publish(&open[static_cast<std::size_t>(i)], i == 0 ? 0 : kFull,
                                     100 + static_cast<std::uint64_t>(i)));
    EXPECT(::poll(writable, 1, 20'000) == 1);  // once node 0 has taken some
    put(first, 200, 8);
    EXPECT_OK(terrane_work_end(first));
    EXPECT(terrane_work_write(first, TERRANE_FOREVER, &more) == TERRANE_EENDED);
  } else if (self() == 0) {
    EXPECT_OK(terrane_work_subscribe(first, 8 * kFull));
    pollfd readable{terrane_work_descriptor(first), POLLIN, 0};
    std::vector<terrane_work_version> open;
    while (open.size() < 5) {
      EXPECT(::poll(&readable, 1, 20'000) == 1);
      terrane_work_version version;
      int status = terrane_work_take(first, TERRANE_TRY, &version);
      if (status == TERRANE_EBUSY) continue;
      EXPECT_OK(status);
      EXPECT(version.tag == 100 + open.size());
      EXPECT(version.bytes == (open.empty() ? 0 : kFull));
      EXPECT(version.number == open.size() + 1);
      open.push_back(version);
    }
    for (terrane_work_version& one : open) EXPECT_OK(terrane_work_release(&one));
    terrane_work_version version;
    int rest = 0, status;
    while ((status = terrane_work_take(first, TERRANE_FOREVER, &version)) == TERRANE_OK) {
      EXPECT_OK(terrane_work_release(&version));
      ++rest;
    }
    EXPECT(status == TERRANE_EENDED && rest == kOpen + 1 - 5);
  }
}

void misuse() {
  terrane_work work, other;
  terrane_work_version version, taken;
  terrane_work_options options{.size = sizeof options, .home = 0, .in_order = 0, .capacity = 10};
  EXPECT(terrane_work_create("w", 0, nullptr, &work, nullptr) == TERRANE_EINVAL);
  EXPECT(terrane_work_create("w", kFull, &options, &work, nullptr) == TERRANE_EINVAL);
  EXPECT(error_says("a capacity of 10 bytes, which is less than one version"));
  options.home = 99;
  options.capacity = 0;
  EXPECT(terrane_work_create("w", kFull, &options, &work, nullptr) == TERRANE_EINVAL);
  EXPECT(error_says("its home at node 99; the job has nodes 0 to"));
  options.size = 3;
  EXPECT(terrane_work_create("w", kFull, &options, &work, nullptr) == TERRANE_EINVAL);
  meet("first");
  work = stream("w", 0);
  options = {.size = sizeof options, .home = 0, .in_order = 1, .capacity = 8 * kFull};
  EXPECT(terrane_work_create("w", kFull, &options, &other, nullptr) == TERRANE_EMISMATCH);
  terrane_chunk chunk;
  EXPECT(terrane_chunk_create("w", kFull, TERRANE_CHUNK_STREAM, &chunk, nullptr) ==
         TERRANE_EMISMATCH);
  chunk = create("c", 8);
  EXPECT(terrane_work_find("c", TERRANE_TRY, &other) == TERRANE_EMISMATCH);
  EXPECT(error_says("'c' is a chunk with coherence invalidate"));
  EXPECT(terrane_work_find("none", TERRANE_TRY, &other) == TERRANE_EUNKNOWN);
  EXPECT(terrane_work_take({12345}, TERRANE_TRY, &taken) == TERRANE_EINVAL);
  terrane_scope scope;
  EXPECT(terrane_chunk_open({work.id}, TERRANE_CHUNK_READ, TERRANE_TRY, &scope) ==
         TERRANE_EMISMATCH);
  EXPECT(terrane_work_take(work, TERRANE_TRY, &taken) == TERRANE_EENDED);  // not subscribed
  EXPECT(terrane_work_subscribe(work, 0) == TERRANE_EINVAL);
  EXPECT(error_says("credits of 0 bytes; one version may have 65536: give 131072 for two"));
  EXPECT(terrane_work_subscribe(work, kFull - 1) == TERRANE_EINVAL);
  EXPECT(terrane_work_subscribe(work, 1ull << 60) == TERRANE_EINVAL);
  EXPECT(error_says("more than the budget for copies of this node"));
  EXPECT_OK(terrane_work_subscribe(work, kFull));
  EXPECT(terrane_work_subscribe(work, kFull) == TERRANE_ESTATE);
  meet("all subscribe");
  if (self() == 0) {
    EXPECT_OK(terrane_work_write(work, TERRANE_FOREVER, &version));
    EXPECT(terrane_work_publish(&version, kFull + 1, 1) == TERRANE_EINVAL);
    EXPECT(error_says("a version of 65537 bytes; its versions have at most 65536"));
    EXPECT_OK(terrane_work_publish(&version, kFull, 1));
    EXPECT(version.data == nullptr);
    EXPECT(terrane_work_publish(&version, 1, 1) == TERRANE_ENOTHELD);
    EXPECT(terrane_work_release(&version) == TERRANE_ENOTHELD);
    EXPECT_OK(terrane_work_write(work, TERRANE_FOREVER, &version));
    EXPECT_OK(terrane_work_end(work));
    EXPECT_OK(terrane_work_end(work));
    EXPECT(terrane_work_publish(&version, 1, 77) == TERRANE_EENDED);
    EXPECT(error_says("'w' has ended; the version with tag 77 is given up"));
    EXPECT(terrane_work_write(work, TERRANE_FOREVER, &version) == TERRANE_EENDED);
  }
  int got = 0, status;
  while ((status = terrane_work_take(work, TERRANE_FOREVER, &taken)) == TERRANE_OK) {
    EXPECT(terrane_work_publish(&taken, 1, 1) == TERRANE_ENOTHELD);
    EXPECT_OK(terrane_work_release(&taken));
    ++got;
  }
  EXPECT(status == TERRANE_EENDED && got <= 1);
  EXPECT_OK(terrane_work_unsubscribe(work));
  EXPECT(terrane_work_subscribe(work, kFull) == TERRANE_EENDED);
  EXPECT(error_says("all its versions are done: nobody can subscribe any more"));
}

}  // namespace

int main(int argc, char** argv) {
  EXPECT(argc >= 2);
  EXPECT_OK(terrane_chunks_init());
  std::string mode = argv[1];
  auto number = [&](int at) { return argc > at ? std::atoi(argv[at]) : 0; };
  if (mode == "pipeline" || mode == "counted") {
    pipeline(static_cast<std::uint64_t>(number(2)), mode == "counted", {number(3), number(4)});
  } else if (mode == "two_threads") {
    two_threads();
  } else if (mode == "members") {
    members();
  } else if (mode == "versions") {
    versions();
  } else if (mode == "misuse") {
    misuse();
  } else {
    bad("no such mode", __LINE__);
  }
  EXPECT_OK(terrane_chunks_finalize());
  std::puts("good");
  return 0;
}
