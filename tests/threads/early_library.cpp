// A library whose constructors start threads before main: one that waits to be asked, one whose
// name is moved, one that is detached, and two that a constructor waits for.
#include <pthread.h>
#include <semaphore.h>

#include <thread>

namespace {

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
pthread_t worker;
std::thread* mover = nullptr;
int asked = 0, answer = 0;
bool ends = false;
int moved = 0, detached = 0, waited = 0, posted = 0;

void* work(void* argument) {
  pthread_mutex_lock(&lock);
  while (!ends) {
    if (asked != 0) {
      answer = 2 * asked;
      asked = 0;
      pthread_cond_broadcast(&changed);
    }
    pthread_cond_wait(&changed, &lock);
  }
  pthread_mutex_unlock(&lock);
  return argument;
}

void* count(void* number) {
  pthread_mutex_lock(&lock);
  ++*static_cast<int*>(number);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  return number;
}

[[gnu::constructor]] void begin() {
  std::thread here([] { count(&moved); });
  mover = new std::thread(std::move(here));
  pthread_attr_t large;
  pthread_attr_init(&large);
  pthread_attr_setstacksize(&large, 1 << 20);
  pthread_create(&worker, &large, work, &worker);
  pthread_attr_destroy(&large);
  pthread_t other;
  pthread_create(&other, nullptr, count, &detached);
  pthread_detach(other);
}

[[gnu::constructor]] void wait_for_one() {
  pthread_t other;
  void* result = nullptr;
  pthread_create(&other, nullptr, count, &waited);
  pthread_join(other, &result);
  if (result != &waited) waited = -1;
}

void* post(void* semaphore) {
  sem_post(static_cast<sem_t*>(semaphore));
  return semaphore;
}

// By a semaphore: the threads that others have started still wait for main.
[[gnu::constructor]] void wait_without_join() {
  static sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  pthread_t other;
  pthread_create(&other, nullptr, post, &semaphore);
  pthread_detach(other);
  sem_wait(&semaphore);
  posted = 1;
}

}  // namespace

// By any thread of the program, one at a time.
extern "C" int ask(int number) {
  pthread_mutex_lock(&lock);
  asked = number;
  answer = 0;
  pthread_cond_broadcast(&changed);
  while (answer == 0) pthread_cond_wait(&changed, &lock);
  int got = answer;
  pthread_mutex_unlock(&lock);
  return got;
}

// Whether all threads did what they were started for.
extern "C" int end_early_threads() {
  mover->join();
  pthread_mutex_lock(&lock);
  ends = true;
  pthread_cond_broadcast(&changed);
  while (detached == 0) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  void* result = nullptr;
  int error = pthread_join(worker, &result);
  return error == 0 && result == &worker && moved == 1 && detached == 1 && waited == 1 &&
         posted == 1;
}
