#pragma once

#include <signal.h>
#include <sys/time.h>

#include <atomic>

// Signals for the process, in a program whose threads run on several nodes.
namespace terrane::frontend {

// What libterrane_threads knows of them; in other libraries there is none.
class ProcessSignals {
 public:
  // nullptr: this process is no node of such a program.
  static ProcessSignals* get() { return the_.load(std::memory_order_relaxed); }

  // The program has installed an action on this node, which is to hold on all.
  virtual void changed(int signal_number, const struct sigaction& action) = 0;
  // Whether signals for the process wait on another node.
  virtual bool are_elsewhere() = 0;
  // There: as sigtimedwait, signalfd (with a new descriptor) and sigpending. No argument lies in
  // private memory of this node that the call does not copy.
  virtual int wait(const sigset_t& set, siginfo_t* info, const timespec* timeout) = 0;
  virtual int open(int fd, const sigset_t& set, int flags) = 0;
  virtual int pending(sigset_t& to) = 0;
  // The timer ITIMER_REAL; no time: it is not set.
  virtual int timer(const itimerval* time, itimerval* before) = 0;

 protected:
  ~ProcessSignals() = default;
  static void set(ProcessSignals* one) { the_.store(one, std::memory_order_relaxed); }

 private:
  static constinit inline std::atomic<ProcessSignals*> the_{nullptr};
};

}  // namespace terrane::frontend
