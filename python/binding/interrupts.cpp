// Ctrl-C in waits that cannot be left: a node that has come to a barrier cannot take that back.
#include <nanobind/nanobind.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "calls.h"

namespace nb = nanobind;

namespace pyterrane {
namespace {

// Of the one node of this process. The signal's handler uses only lock-free atomics and sem_post.
std::atomic<std::uint64_t> wait_number{0};  // odd: the main thread is in such a wait
std::atomic<pthread_t> main_thread{0};
sem_t interrupted;
struct sigaction before;

void on_interrupt(int number, siginfo_t* info, void* context) {
  sem_post(&interrupted);
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(number, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  }
}

// Python's own handler only makes a note, which the main thread reads once its wait is over.
void watch(PyObject* report) {
  constexpr std::chrono::milliseconds kGrace{300};
  for (;;) {
    while (sem_wait(&interrupted) != 0) continue;
    std::uint64_t number = wait_number.load();
    if (number % 2 == 0) continue;
    std::this_thread::sleep_for(kGrace);
    if (wait_number.load() != number) continue;
    nb::gil_scoped_acquire python;
    PyObject* result = PyObject_CallNoArgs(report);
    if (result == nullptr) PyErr_WriteUnraisable(report);
    Py_XDECREF(result);
  }
}

// Calls `report` from another thread when Ctrl-C came while the main thread was in such a wait.
void watch_interrupts(std::uintptr_t main, nb::object report) {
  struct sigaction own {};
  sigaction(SIGINT, nullptr, &before);
  bool is_handled = (before.sa_flags & SA_SIGINFO) != 0 ||
                    (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN);
  if (!is_handled || sem_init(&interrupted, 0, 0) != 0) return;
  std::thread(watch, report.release().ptr()).detach();
  main_thread = static_cast<pthread_t>(main);
  own.sa_sigaction = on_interrupt;
  own.sa_flags = SA_SIGINFO | SA_ONSTACK;
  own.sa_mask = before.sa_mask;
  sigaction(SIGINT, &own, nullptr);
}

}  // namespace

WaitToTheEnd::WaitToTheEnd() : counts_(pthread_self() == main_thread.load()) {
  if (counts_) ++wait_number;
}
WaitToTheEnd::~WaitToTheEnd() {
  if (counts_) ++wait_number;
}

void add_interrupts(nb::module_& module) {
  module.def("watch_interrupts", &watch_interrupts, nb::arg("main"), nb::arg("report"));
}

}  // namespace pyterrane
