#pragma once

#include <vector>

#include "protocol/steps/step_kinds.h"
#include "runtime/counters.h"
#include "runtime/page_space.h"

namespace terrane::runtime {

// Performs the steps that touch pages or words (protocol/steps/step_kinds.h) on the memory of this
// node and of peers that can be reached. One overload of perform() for each step. Any thread may
// call, in the order that the protocol prescribes.
class PageSteps {
 public:
  PageSteps(PageSpace& space, Counters& counters) : space_(space), counters_(counters) {}

  void perform(protocol::LoadWord& step);
  void perform(const protocol::StoreWord& step);
  void perform(protocol::SwapWord& step);
  void perform(const protocol::CountFlush& step);
  void perform(protocol::LoadFlushing& step);
  void perform(const protocol::CountAnnounced& step);
  void perform(protocol::LoadAnnounced& step);
  void perform(const protocol::CountGiving& step);
  void perform(protocol::LoadGiving& step);
  void perform(protocol::SetWanted& step);
  void perform(const protocol::TakeWanted& step);
  void perform(protocol::LoadOwner& step);
  void perform(protocol::ClaimOwner& step);
  void perform(protocol::CountOwned& step);
  void perform(const protocol::ClearOwner& step);
  void perform(protocol::Populate& step);
  void perform(protocol::PopulateAt& step);
  void perform(const protocol::Map& step);
  void perform(const protocol::Remap& step);
  void perform(const protocol::Protect& step);
  void perform(const protocol::Unprotect& step);
  void perform(const protocol::Share& step);
  void perform(const protocol::Zap& step);
  void perform(const protocol::Scan& step);
  void perform(const protocol::Look& step);
  void perform(const protocol::Punch& step);
  void perform(const protocol::DropTwin& step);
  void perform(const protocol::CopyHome& step);
  void perform(const protocol::CopyTwin& step);
  void perform(protocol::StoreDiff& step);
  void perform(protocol::CompareHome& step);
  void perform(protocol::CloseAccesses& step);
  void perform(const protocol::StoreHome& step);
  void perform(const protocol::Merge& step);
  void perform(protocol::PerformAtomic& step);
  void perform(const protocol::Patch& step);
  void perform(const protocol::ReadBlock& step);
  void perform(protocol::ApplyDiff& step);

 private:
  void add_written(std::vector<protocol::BlockRange>& runs) const;

  PageSpace& space_;
  Counters& counters_;
};

}  // namespace terrane::runtime
