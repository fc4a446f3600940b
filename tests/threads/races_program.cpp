// Data races that one machine forgives: a writer says by a plain word how far it has come, as sort
// does; and two threads each store a word of their own and load the other's (with a fence between,
// as a processor asks for). Prints "good" if each thread saw what it sees on one machine.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>

namespace {

constexpr int kRecords = 20000, kRounds = 60;

struct Record {
  long number, twice;
  long unused[2];
};
Record records[kRecords];
struct alignas(4096) Page {
  volatile long word;
};
Page written, first, second, met[2];
pthread_barrier_t barrier;

void* write_records(void*) {
  for (long i = 0; i < kRecords; ++i) {
    records[i] = {i + 1, 2 * (i + 1), {}};
    asm volatile("" ::: "memory");
    written.word = i + 1;
    if (i % 997 == 0) usleep(1000);
  }
  return nullptr;
}

// Looks now and then, so that it has many pages before they are full.
bool read_records() {
  bool good = true;
  for (long seen = 0; seen < kRecords;) {
    long now = written.word;
    asm volatile("" ::: "memory");
    for (long i = seen > 200 ? seen - 200 : 0; i < now; ++i)
      good = good && records[i].number == i + 1 && records[i].twice == 2 * (i + 1);
    if (now == seen) usleep(200);
    seen = now;
  }
  return good;
}

void* meet(void* argument) {
  long self = argument != nullptr;
  for (long round = 1; round <= kRounds; ++round) {
    pthread_barrier_wait(&barrier);
    (self ? second : first).word = round;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    met[self].word = (self ? first : second).word;
    pthread_barrier_wait(&barrier);
    if (self == 0 && met[0].word < round && met[1].word < round) {
      printf("round %ld: neither thread saw the other's store\n", round);
      exit(1);
    }
  }
  return nullptr;
}

}  // namespace

int main() {
  pthread_t other;
  if (pthread_create(&other, nullptr, write_records, nullptr) != 0) return 2;
  bool good = read_records();
  pthread_join(other, nullptr);
  if (!good) {
    printf("a record was seen after its number, and before its contents\n");
    return 1;
  }
  pthread_barrier_init(&barrier, nullptr, 2);
  if (pthread_create(&other, nullptr, meet, &barrier) != 0) return 2;
  meet(nullptr);
  pthread_join(other, nullptr);
  printf("good\n");
}
