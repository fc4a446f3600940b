// A pool of threads that steal tasks from each other counts the ways to place queens on a board: a
// program that knows nothing of Terrane.
//   c++ -O2 -pthread pool.cpp -o pool
//   terrane threads -n 2 ./pool 4 11
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace {

class Pool {
 public:
  using Task = std::function<void(int worker)>;

  explicit Pool(int workers) {
    for (int w = 0; w < workers; ++w) queues_.push_back(std::make_unique<Queue>());
    for (int w = 0; w < workers; ++w) team_.emplace_back([this, w] { work(w); });
  }

  // A task more, of a worker or of the thread that made the pool.
  void add(int worker, Task task) {
    pending_.fetch_add(1);
    {
      std::lock_guard hold(queues_[worker]->mutex);
      queues_[worker]->tasks.push_back(std::move(task));
    }
    std::lock_guard hold(mutex_);
    ++added_;
    something_.notify_one();
  }

  // Waits for all tasks; how many were stolen.
  long finish() {
    {
      std::unique_lock hold(mutex_);
      something_.wait(hold, [this] { return pending_.load() == 0; });
      ends_ = true;
      something_.notify_all();
    }
    for (std::thread& thread : team_) thread.join();
    return stolen_.load();
  }

 private:
  struct Queue {
    std::mutex mutex;
    std::deque<Task> tasks;
  };

  // The latest task of the worker's own, or else the oldest of another's.
  bool take(int worker, Task& task) {
    int workers = static_cast<int>(queues_.size());
    for (int i = 0; i < workers; ++i) {
      Queue& queue = *queues_[(worker + i) % workers];
      std::lock_guard hold(queue.mutex);
      if (queue.tasks.empty()) continue;
      if (i == 0) {
        task = std::move(queue.tasks.back());
        queue.tasks.pop_back();
      } else {
        task = std::move(queue.tasks.front());
        queue.tasks.pop_front();
        stolen_.fetch_add(1, std::memory_order_relaxed);
      }
      return true;
    }
    return false;
  }

  void work(int worker) {
    for (;;) {
      long seen = 0;
      {
        std::lock_guard hold(mutex_);
        if (ends_) return;
        seen = added_;
      }
      Task task;
      if (take(worker, task)) {
        task(worker);
        task = nullptr;
        if (pending_.fetch_sub(1) == 1) {
          std::lock_guard hold(mutex_);
          something_.notify_all();
        }
        continue;
      }
      std::unique_lock hold(mutex_);
      something_.wait(hold, [this, seen] { return ends_ || added_ != seen; });
    }
  }

  std::vector<std::unique_ptr<Queue>> queues_;
  std::vector<std::thread> team_;
  std::atomic<long> pending_{0}, stolen_{0};
  std::mutex mutex_;  // of the two below
  std::condition_variable something_;
  long added_ = 0;
  bool ends_ = false;
};

// The rows so far, as bits: columns and both diagonals that are taken.
struct Board {
  unsigned columns = 0, left = 0, right = 0;

  Board with(unsigned queen) const {
    return {columns | queen, (left | queen) << 1, (right | queen) >> 1};
  }
};

long count(const Board& board, unsigned all) {
  if (board.columns == all) return 1;
  long found = 0;
  for (unsigned free = all & ~(board.columns | board.left | board.right); free != 0;
       free &= free - 1)
    found += count(board.with(free & -free), all);
  return found;
}

std::atomic<long> solutions{0};

void place(Pool& pool, int worker, const Board& board, unsigned all, int rows) {
  if (rows == 0) {
    solutions.fetch_add(count(board, all));
    return;
  }
  for (unsigned free = all & ~(board.columns | board.left | board.right); free != 0;
       free &= free - 1) {
    Board next = board.with(free & -free);
    pool.add(worker,
             [&pool, next, all, rows](int self) { place(pool, self, next, all, rows - 1); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  constexpr long kKnown[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596};
  int workers =
      argc > 1 ? std::atoi(argv[1]) : static_cast<int>(std::thread::hardware_concurrency());
  int size = argc > 2 ? std::atoi(argv[2]) : 12;
  if (workers < 1 || size < 4 || size > 14) {
    std::fprintf(stderr, "usage: pool [WORKERS [SIZE]]: at least 1 worker, a board of 4 to 14\n");
    return 2;
  }
  Pool pool(workers);
  place(pool, 0, Board(), (1u << size) - 1, 2);
  long stolen = pool.finish();
  bool good = solutions.load() == kKnown[size];
  std::printf("%ld ways for %d queens, %d workers stole %ld tasks: %s\n", solutions.load(), size,
              workers, stolen, good ? "good" : "wrong");
  return good ? 0 : 1;
}
