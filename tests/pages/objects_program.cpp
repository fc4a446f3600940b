// Objects of the C library's threads in shared memory, used by threads of all nodes. Says "good" on
// every node, or what went wrong. Usage: objects_program MODE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <threads.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <ctime>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "program.h"

using namespace terrane::pages_test;

namespace {

constexpr int kThreads = 2;  // of a node
constexpr int kRounds = 100;

int threads() { return kThreads * terrane_nodes(); }

// All nodes, one thread of each.
void meet() { EXPECT(terrane_barrier() == TERRANE_OK); }

// body(number) in threads of this node, whose numbers are unique in the job.
template <typename Body>
void in_threads(Body body) {
  std::vector<std::thread> workers;
  for (int i = 0; i < kThreads; ++i)
    workers.emplace_back([=] { body(terrane_node() * kThreads + i); });
  for (std::thread& worker : workers) worker.join();
}

timespec from_now(clockid_t clock, long milliseconds) {
  timespec time{};
  EXPECT(clock_gettime(clock, &time) == 0);
  time.tv_nsec += milliseconds * 1'000'000;
  time.tv_sec += time.tv_nsec / 1'000'000'000;
  time.tv_nsec %= 1'000'000'000;
  return time;
}

// Zeroed memory is a mutex; objects lie beside the data that they guard.
void mutexes() {
  struct Shared {
    std::mutex mutex;
    long count;
    std::timed_mutex timed;
    long timed_count;
    pthread_spinlock_t spin;
    long spin_count;
  };
  auto* shared = allocate_all<Shared>(1);
  meet();
  in_threads([=](int) {
    for (int i = 0; i < kRounds; ++i) {
      std::lock_guard hold(shared->mutex);
      ++shared->count;
    }
    for (int i = 0; i < kRounds; ++i) {
      if (i % 2 == 0) {
        while (!shared->timed.try_lock_for(std::chrono::seconds(20))) EXPECT(!"20 s");
      } else {
        while (!shared->timed.try_lock()) std::this_thread::yield();
      }
      ++shared->timed_count;
      shared->timed.unlock();
    }
    for (int i = 0; i < kRounds; ++i) {
      EXPECT(pthread_spin_lock(&shared->spin) == 0);
      ++shared->spin_count;
      EXPECT(pthread_spin_unlock(&shared->spin) == 0);
    }
  });
  meet();
  EXPECT(shared->count == threads() * kRounds);
  EXPECT(shared->timed_count == threads() * kRounds);
  EXPECT(shared->spin_count == threads() * kRounds);
}

// What node 0 holds is in use for the others, and free for them afterwards.
void tries() {
  auto* mutex = allocate_all<pthread_mutex_t>(1);
  if (terrane_node() == 0) EXPECT(pthread_mutex_lock(mutex) == 0);
  meet();
  if (terrane_node() != 0) {
    EXPECT(pthread_mutex_trylock(mutex) == EBUSY);
    timespec soon = from_now(CLOCK_REALTIME, 30);
    EXPECT(pthread_mutex_timedlock(mutex, &soon) == ETIMEDOUT);
    soon = from_now(CLOCK_MONOTONIC, 30);
    EXPECT(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &soon) == ETIMEDOUT);
    soon.tv_nsec = -1;
    EXPECT(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &soon) == EINVAL);
  }
  meet();
  if (terrane_node() == 0) EXPECT(pthread_mutex_unlock(mutex) == 0);
  meet();
  if (terrane_node() == terrane_nodes() - 1) {
    EXPECT(pthread_mutex_trylock(mutex) == 0);
    EXPECT(pthread_mutex_unlock(mutex) == 0);
    EXPECT(pthread_mutex_destroy(mutex) == 0);
  }
}

void kinds() {
  struct Shared {
    pthread_mutex_t recursive, checked;
    pthread_once_t once;
    int calls;
    long count;
  };
  static Shared* shared;
  shared = allocate_all<Shared>(1);
  if (terrane_node() == 0) {
    pthread_mutexattr_t type;
    EXPECT(pthread_mutexattr_init(&type) == 0);
    EXPECT(pthread_mutexattr_settype(&type, PTHREAD_MUTEX_RECURSIVE) == 0);
    EXPECT(pthread_mutex_init(&shared->recursive, &type) == 0);
    shared->checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    EXPECT(pthread_mutexattr_setrobust(&type, PTHREAD_MUTEX_ROBUST) == 0);
    EXPECT(pthread_mutex_init(&shared->checked, &type) == ENOTSUP);
  }
  meet();
  in_threads([](int) {
    for (int i = 0; i < kRounds; ++i) {
      EXPECT(pthread_mutex_lock(&shared->recursive) == 0);
      EXPECT(pthread_mutex_lock(&shared->recursive) == 0);
      EXPECT(pthread_mutex_trylock(&shared->recursive) == 0);
      ++shared->count;
      for (int times = 0; times < 3; ++times) EXPECT(pthread_mutex_unlock(&shared->recursive) == 0);
    }
    EXPECT(pthread_mutex_unlock(&shared->recursive) == EPERM);
    EXPECT(pthread_mutex_lock(&shared->checked) == 0);
    EXPECT(pthread_mutex_lock(&shared->checked) == EDEADLK);
    EXPECT(pthread_mutex_trylock(&shared->checked) == EBUSY);
    std::thread([] { EXPECT(pthread_mutex_unlock(&shared->checked) == EPERM); }).join();
    EXPECT(pthread_mutex_unlock(&shared->checked) == 0);
    EXPECT(pthread_once(&shared->once, [] { ++shared->calls; }) == 0);
    EXPECT(shared->calls == 1);
  });
  meet();
  EXPECT(shared->count == threads() * kRounds);
}

// A ball goes round all threads of all nodes; then waits that end by themselves.
void conditions() {
  struct Shared {
    std::mutex mutex;
    std::condition_variable turned;
    int turn;
    std::condition_variable signal;
    int expired;
    pthread_cond_t monotonic;
  };
  auto* shared = allocate_all<Shared>(1);
  if (terrane_node() == 0) {
    pthread_condattr_t clock;
    EXPECT(pthread_condattr_init(&clock) == 0);
    EXPECT(pthread_condattr_setclock(&clock, CLOCK_MONOTONIC) == 0);
    EXPECT(pthread_cond_init(&shared->monotonic, &clock) == 0);
  }
  meet();
  in_threads([=](int number) {
    for (int round = 0; round < kRounds / 4; ++round) {
      std::unique_lock hold(shared->mutex);
      shared->turned.wait(hold, [&] { return shared->turn % threads() == number; });
      ++shared->turn;
      shared->turned.notify_all();
    }
  });
  meet();
  EXPECT(shared->turn == threads() * (kRounds / 4));
  in_threads([=](int) {  // nobody signals
    std::unique_lock hold(shared->mutex);
    auto never = [] { return false; };
    EXPECT(!shared->signal.wait_for(hold, std::chrono::milliseconds(5), never));
    pthread_mutex_t* mutex = hold.mutex()->native_handle();
    timespec soon = from_now(CLOCK_MONOTONIC, 20);
    EXPECT(pthread_cond_timedwait(&shared->monotonic, mutex, &soon) == ETIMEDOUT);
    ++shared->expired;
  });
  meet();
  EXPECT(shared->expired == threads());
}

// One thread signals once for each unit: none is lost on waits that end by themselves.
void signals() {
  struct Shared {
    std::mutex mutex;
    std::condition_variable signal;
    int units, taken;
  };
  auto* shared = allocate_all<Shared>(1);
  meet();
  in_threads([=](int number) {
    for (int i = 0; i < kRounds / 4; ++i) {
      std::unique_lock hold(shared->mutex);
      if (number == 0) {
        shared->units += threads() - 1;
        for (int unit = 1; unit < threads(); ++unit) shared->signal.notify_one();
      } else if (number % 2 == 1) {
        while (shared->units == 0) shared->signal.wait_for(hold, std::chrono::milliseconds(1));
        --shared->units;
        ++shared->taken;
      } else {
        shared->signal.wait(hold, [&] { return shared->units > 0; });
        --shared->units;
        ++shared->taken;
      }
    }
  });
  meet();
  EXPECT(shared->taken == (threads() - 1) * (kRounds / 4) && shared->units == 0);
}

void barriers() {
  struct Shared {
    pthread_barrier_t barrier;
    std::mutex mutex;
    long serial;
    long values[64];
  };
  auto* shared = allocate_all<Shared>(1);
  if (terrane_node() == 0)
    EXPECT(pthread_barrier_init(&shared->barrier, nullptr, static_cast<unsigned>(threads())) == 0);
  meet();
  in_threads([=](int number) {
    for (long round = 1; round <= kRounds / 2; ++round) {
      shared->values[number] = round;
      int result = pthread_barrier_wait(&shared->barrier);
      EXPECT(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
      for (int i = 0; i < threads(); ++i) EXPECT(shared->values[i] == round);
      if (result == PTHREAD_BARRIER_SERIAL_THREAD) {
        std::lock_guard hold(shared->mutex);
        ++shared->serial;
      }
      EXPECT(pthread_barrier_wait(&shared->barrier) != EINVAL);
    }
  });
  meet();
  EXPECT(shared->serial == kRounds / 2);
  meet();
  if (terrane_node() == 0) {
    EXPECT(pthread_barrier_destroy(&shared->barrier) == 0);
    EXPECT(pthread_barrier_wait(&shared->barrier) == EINVAL);
    EXPECT(pthread_barrier_init(&shared->barrier, nullptr, 0) == EINVAL);
  }
}

void read_write_locks() {
  struct Shared {
    std::shared_mutex mutex;
    long a, b;
    pthread_rwlock_t lock;
  };
  auto* shared = allocate_all<Shared>(1);
  meet();
  in_threads([=](int number) {
    for (int i = 0; i < kRounds; ++i) {
      if ((i + number) % 4 == 0) {
        std::unique_lock writes(shared->mutex);
        ++shared->a;
        ++shared->b;
      } else {
        std::shared_lock reads(shared->mutex);
        EXPECT(shared->a == shared->b);
      }
    }
  });
  meet();
  EXPECT(shared->a == threads() * kRounds / 4);
  pthread_rwlock_t* lock = &shared->lock;
  EXPECT(pthread_rwlock_rdlock(lock) == 0);  // of all nodes
  EXPECT(pthread_rwlock_rdlock(lock) == 0);
  EXPECT(pthread_rwlock_tryrdlock(lock) == 0);
  EXPECT(pthread_rwlock_wrlock(lock) == EDEADLK);
  meet();
  std::thread([=] {
    EXPECT(pthread_rwlock_trywrlock(lock) == EBUSY);
    timespec soon = from_now(CLOCK_REALTIME, 20);
    EXPECT(pthread_rwlock_timedwrlock(lock, &soon) == ETIMEDOUT);
    EXPECT(pthread_rwlock_rdlock(lock) == 0);  // writers that gave up are not in the way
    EXPECT(pthread_rwlock_unlock(lock) == 0);
    EXPECT(pthread_rwlock_unlock(lock) == EPERM);
  }).join();
  meet();
  for (int times = 0; times < 3; ++times) EXPECT(pthread_rwlock_unlock(lock) == 0);
  EXPECT(pthread_rwlock_unlock(lock) == EPERM);
  meet();
  if (terrane_node() != terrane_nodes() - 1) return;
  EXPECT(pthread_rwlock_trywrlock(lock) == 0);
  EXPECT(pthread_rwlock_tryrdlock(lock) == EBUSY);
  EXPECT(pthread_rwlock_rdlock(lock) == EDEADLK);
  EXPECT(pthread_rwlock_unlock(lock) == 0);
}

// A ring of one place between all threads.
void semaphores() {
  struct Shared {
    sem_t free, full, none;
    long place, sum;
  };
  auto* shared = allocate_all<Shared>(1);
  if (terrane_node() == 0) {
    EXPECT(sem_init(&shared->free, 1, 1) == 0);
    EXPECT(sem_init(&shared->full, 0, 0) == 0);
  }
  meet();
  in_threads([=](int number) {
    for (int i = 0; i < kRounds / 2; ++i) {
      bool fills = number % 2 == 0;
      if (i % 10 == 0) {
        timespec soon = from_now(CLOCK_REALTIME, 1);
        EXPECT(sem_timedwait(&shared->none, &soon) == -1 && errno == ETIMEDOUT);
      }
      EXPECT(sem_wait(fills ? &shared->free : &shared->full) == 0);
      if (fills) {
        shared->place = 1;
      } else {
        shared->sum += shared->place;
        shared->place = 0;
      }
      EXPECT(sem_post(fills ? &shared->full : &shared->free) == 0);
    }
  });
  meet();
  EXPECT(shared->sum == threads() / 2 * (kRounds / 2));
  int value = -1;
  EXPECT(sem_getvalue(&shared->free, &value) == 0 && value == 1);
  EXPECT(sem_getvalue(&shared->full, &value) == 0 && value == 0);
  EXPECT(sem_trywait(&shared->full) == -1 && errno == EAGAIN);
  meet();
  if (terrane_node() == 0) {
    EXPECT(sem_init(&shared->free, 1, ~0u) == -1 && errno == EINVAL);
    EXPECT(sem_init(&shared->free, 1, 2) == 0);
    EXPECT(sem_trywait(&shared->free) == 0 && sem_trywait(&shared->free) == 0);
    EXPECT(sem_trywait(&shared->free) == -1 && errno == EAGAIN);
    EXPECT(sem_destroy(&shared->free) == 0);
  }
}

// A post in a signal handler is done, or refused where the handler interrupted a call of Terrane.
void handlers() {
  struct Shared {
    sem_t posted;
    std::mutex mutex;
  };
  static Shared* shared;
  static volatile sig_atomic_t handled, done;
  constexpr int kSignals = 300;
  shared = allocate_all<Shared>(1);
  if (terrane_node() == 0) EXPECT(sem_init(&shared->posted, 0, 0) == 0);
  meet();
  if (terrane_node() == 0) {
    struct sigaction action {};
    action.sa_handler = [](int) {
      int before = errno;
      if (sem_post(&shared->posted) == 0) {
        done = done + 1;
      } else if (errno != EDEADLK) {
        std::_Exit(8);
      }
      handled = handled + 1;
      errno = before;
    };
    EXPECT(sigaction(SIGUSR1, &action, nullptr) == 0);
    pthread_t self = pthread_self();
    std::thread sender([=] {
      for (int sent = 0; sent < kSignals; ++sent) {
        EXPECT(pthread_kill(self, SIGUSR1) == 0);
        while (handled <= sent) sched_yield();
      }
    });
    while (handled < kSignals) {
      if (handled % 3 == 0) {  // outside of calls
        for (int i = 0; i < 20; ++i) sched_yield();
      }
      std::lock_guard hold(shared->mutex);
    }
    sender.join();
    int value = -1;
    EXPECT(sem_getvalue(&shared->posted, &value) == 0 && value == done && done > 0);
  }
  meet();
}

// A ball between all threads, by the names of C.
void c_threads() {
  struct Shared {
    mtx_t mutex;
    cnd_t turned;
    long turn;
  };
  auto* shared = allocate_all<Shared>(1);
  if (terrane_node() == 0) {
    EXPECT(mtx_init(&shared->mutex, mtx_timed | mtx_recursive) == thrd_success);
    EXPECT(cnd_init(&shared->turned) == thrd_success);
  }
  meet();
  in_threads([=](int number) {
    for (int round = 0; round < kRounds / 4; ++round) {
      EXPECT(mtx_lock(&shared->mutex) == thrd_success);
      EXPECT(mtx_trylock(&shared->mutex) == thrd_success);
      EXPECT(mtx_unlock(&shared->mutex) == thrd_success);
      while (shared->turn % threads() != number)
        EXPECT(cnd_wait(&shared->turned, &shared->mutex) == thrd_success);
      ++shared->turn;
      EXPECT(cnd_broadcast(&shared->turned) == thrd_success);
      EXPECT(mtx_unlock(&shared->mutex) == thrd_success);
    }
  });
  meet();
  EXPECT(shared->turn == threads() * (kRounds / 4));
  timespec soon = from_now(CLOCK_REALTIME, 5);
  EXPECT(mtx_lock(&shared->mutex) == thrd_success);
  EXPECT(cnd_timedwait(&shared->turned, &shared->mutex, &soon) == thrd_timedout);
  EXPECT(mtx_unlock(&shared->mutex) == thrd_success);
}

// Each says so once.
void errors() {
  struct Shared {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    pthread_barrier_t barrier;
    pthread_rwlock_t lock;
  };
  auto* shared = allocate_all<Shared>(1);
  pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t own_condition = PTHREAD_COND_INITIALIZER;
  for (int times = 0; times < 2; ++times) {
    EXPECT(pthread_mutex_unlock(&shared->mutex) == EPERM);
    EXPECT(pthread_cond_wait(&shared->condition, &shared->mutex) == EPERM);
    EXPECT(pthread_cond_wait(&shared->condition, &own) == EINVAL);
    EXPECT(pthread_cond_wait(&own_condition, &shared->mutex) == EINVAL);
    EXPECT(pthread_barrier_wait(&shared->barrier) == EINVAL);
    EXPECT(pthread_rwlock_unlock(&shared->lock) == EPERM);
  }
  meet();
  if (terrane_node() == 0) {
    EXPECT(pthread_mutex_lock(&shared->mutex) == 0);
    EXPECT(pthread_mutex_lock(&shared->mutex) == EDEADLK);
    EXPECT(pthread_mutex_unlock(&shared->mutex) == 0);
  }
}

// Objects elsewhere are the C library's.
void elsewhere() {
  std::mutex mutex;
  std::condition_variable condition;
  std::shared_mutex lock;
  sem_t semaphore;
  pthread_barrier_t barrier;
  EXPECT(sem_init(&semaphore, 0, 0) == 0);
  EXPECT(pthread_barrier_init(&barrier, nullptr, 2) == 0);
  bool ready = false;
  std::thread other([&] {
    {
      std::lock_guard hold(mutex);
      ready = true;
    }
    condition.notify_one();
    std::shared_lock reads(lock);
    EXPECT(sem_post(&semaphore) == 0);
    EXPECT(pthread_barrier_wait(&barrier) != EINVAL);
  });
  std::unique_lock hold(mutex);
  condition.wait(hold, [&] { return ready; });
  EXPECT(condition.wait_for(hold, std::chrono::milliseconds(1)) == std::cv_status::timeout ||
         ready);
  EXPECT(sem_wait(&semaphore) == 0);
  EXPECT(pthread_barrier_wait(&barrier) != EINVAL);
  other.join();
}

// The thread that ends holds a mutex of shared memory: the job cannot go on.
void abandons() {
  auto* mutex = allocate_all<pthread_mutex_t>(1);
  meet();
  if (terrane_node() == 0) std::thread([=] { pthread_mutex_lock(mutex); }).join();
  meet();
}

// For a report about waits that last.
void waits() {
  auto* mutex = allocate_all<pthread_mutex_t>(1);
  if (terrane_node() == 0) EXPECT(pthread_mutex_lock(mutex) == 0);
  meet();
  if (terrane_node() == 0) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
  } else {
    EXPECT(pthread_mutex_lock(mutex) == 0);
  }
  EXPECT(pthread_mutex_unlock(mutex) == 0);
}

}  // namespace

int main(int argc, char** argv) {
  EXPECT(argc == 2);
  if (terrane_init() != TERRANE_OK) {
    std::fprintf(stderr, "%s\n", terrane_error());
    return 9;
  }
  struct {
    const char* name;
    void (*run)();
  } modes[] = {{"mutexes", mutexes},       {"tries", tries},       {"kinds", kinds},
               {"handlers", handlers},     {"c", c_threads},       {"conditions", conditions},
               {"signals", signals},       {"barriers", barriers}, {"locks", read_write_locks},
               {"semaphores", semaphores}, {"errors", errors},     {"elsewhere", elsewhere},
               {"abandons", abandons},     {"waits", waits}};
  bool known = false;
  for (const auto& mode : modes) {
    if (argv[1] != std::string(mode.name)) continue;
    known = true;
    mode.run();
  }
  EXPECT(known);
  EXPECT(terrane_finalize() == TERRANE_OK);
  std::puts("good");
  return 0;
}
