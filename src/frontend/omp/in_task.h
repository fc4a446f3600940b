#pragma once

#include <cstdint>

#include "frontend/omp/task_queue.h"

namespace terrane::frontend::omp {

// The calling thread is in a task while this lives. The task has control variables of its own.
class InTask {
 public:
  explicit InTask(bool is_final) : before_(controls()), is_final_(is_final) {
    Thread& me = this_thread();
    ++me.explicit_tasks;
    if (is_final_ || me.final_tasks != 0) ++me.final_tasks;
    number_ = begin_task_number();
    enter_task(frame_);
  }
  ~InTask() {
    leave_task(frame_);
    Thread& me = this_thread();
    --me.explicit_tasks;
    if (me.final_tasks != 0) --me.final_tasks;
    me.task_number = number_;
    me.controls = before_;
  }
  InTask(const InTask&) = delete;

 private:
  Controls before_;
  bool is_final_;
  std::uint32_t number_;
  Frame frame_;
};

}  // namespace terrane::frontend::omp
