#include "platform/view_rights.h"

#include <atomic>

namespace terrane::platform {
namespace {

std::atomic<bool> executable{false};
std::atomic<bool> used{false};

}  // namespace

void make_views_executable() { executable.store(true, std::memory_order_relaxed); }

bool views_are_executable() { return executable.load(std::memory_order_relaxed); }

void note_source_uses_rights() { used.store(true, std::memory_order_relaxed); }

bool source_uses_rights() { return used.load(std::memory_order_relaxed); }

}  // namespace terrane::platform
