// Communication contexts and sessions: the specification's sections "Communication Management
// Routines" and "Session Routines".
#include "frontend/shmem/contexts.h"

#include "frontend/shmem/call.h"
#include "frontend/shmem/call_place.h"
#include "frontend/shmem/checks.h"
#include "frontend/shmem/lifetime.h"
#include "frontend/shmem/process.h"
#include "frontend/shmem/team_handle.h"

namespace terrane::frontend::shmem {

namespace {

constexpr long kAllOptions = SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE;

// A team whose PEs are in no regular order has size 0 here: calls on it take the long way.
terrane_shmem_context head_of(const TeamShape& shape) {
  return {shape.start, shape.stride, shape.listed == nullptr ? shape.size : 0};
}

}  // namespace

ContextObject::ContextObject(const TeamShape& shape, shmem_team_t team, long options)
    : terrane_shmem_context(head_of(shape)), context(shape), team(team), options(options) {}

Contexts& Contexts::of_process() {
  static auto* one = new Contexts();  // never destroyed: threads may run on while the process exits
  return *one;
}

ContextObject* Contexts::make(const TeamShape& shape, shmem_team_t team, long options) {
  if ((options & ~kAllOptions) != 0) return nullptr;
  std::lock_guard hold(mutex_);
  if (destroyed_.empty()) {
    ContextObject& made = made_.emplace_back(shape, team, options);
    addresses_.insert(&made);
    return &made;
  }
  ContextObject* old = destroyed_.back();
  destroyed_.pop_back();
  std::destroy_at(old);
  return std::construct_at(old, shape, team, options);
}

void Contexts::retire(ContextObject& context) {
  if (!context.in_use) return;
  context.size = 0;
  context.in_use = false;
  destroyed_.push_back(&context);
}

void Contexts::destroy(ContextObject& context) {
  std::lock_guard hold(mutex_);
  retire(context);
}

void Contexts::destroy_those_of(shmem_team_t team) {
  std::lock_guard hold(mutex_);
  for (ContextObject& context : made_)
    if (context.team == team) retire(context);
}

bool Contexts::has(shmem_ctx_t handle) {
  std::lock_guard hold(mutex_);
  return addresses_.contains(handle) && static_cast<const ContextObject*>(handle)->in_use;
}

ContextObject& Contexts::standard(std::uint32_t pes) {
  static auto* one = new ContextObject(TeamShape{0, 1, pes}, SHMEM_TEAM_WORLD, 0);
  return *one;
}

ContextObject& context_of(shmem_ctx_t ctx, const char* call) noexcept {
  auto& world = world_for(call);
  if (ctx == SHMEM_CTX_DEFAULT) return Contexts::of_process().standard(world.pes());
  if (ctx == SHMEM_CTX_INVALID) fail(call, "ctx is SHMEM_CTX_INVALID; make it by shmem_ctx_create");
  if (checks_calls() && !Contexts::of_process().has(ctx)) {
    fail(call, "ctx is no context, or was destroyed; make it by shmem_ctx_create");
  }
  return *static_cast<ContextObject*>(ctx);
}

TimedOperation operation(shmem_ctx_t ctx, const char* call) noexcept {
  ContextObject& context = context_of(ctx, call);
  bool checked = checks_calls();
  bool others =
      (context.options & SHMEM_CTX_PRIVATE) != 0 && context.maker != std::this_thread::get_id();
  if (checked && others) fail(call, "ctx is private to the thread that made it, which is another");
  return {world_for(call), context.context, {call, checked, &place_of_call}};
}

}  // namespace terrane::frontend::shmem

using terrane::frontend::shmem::context_of;
using terrane::frontend::shmem::ContextObject;
using terrane::frontend::shmem::Contexts;
using terrane::frontend::shmem::operation;
using terrane::frontend::shmem::TeamShape;
using terrane::frontend::shmem::world_for;

extern "C" {

int shmem_ctx_create(long options, shmem_ctx_t* ctx) noexcept {
  auto& world = world_for("shmem_ctx_create");
  *ctx = Contexts::of_process().make(TeamShape{0, 1, world.pes()}, SHMEM_TEAM_WORLD, options);
  return *ctx == SHMEM_CTX_INVALID ? 1 : 0;
}

int shmem_team_create_ctx(shmem_team_t handle, long options, shmem_ctx_t* ctx) noexcept {
  auto* team = terrane::frontend::shmem::team_of(handle, "shmem_team_create_ctx");
  *ctx = SHMEM_CTX_INVALID;
  if (team == nullptr) return 1;
  *ctx = Contexts::of_process().make(team->shape(), handle, options);
  return *ctx == SHMEM_CTX_INVALID ? 1 : 0;
}

void shmem_ctx_destroy(shmem_ctx_t ctx) noexcept {
  constexpr const char* kCall = "shmem_ctx_destroy";
  world_for(kCall);
  if (ctx == SHMEM_CTX_INVALID) return;
  if (ctx == SHMEM_CTX_DEFAULT) {
    terrane::frontend::shmem::fail(kCall, "SHMEM_CTX_DEFAULT lives as long as the program");
  }
  operation(ctx, kCall).quiet();
  Contexts::of_process().destroy(context_of(ctx, kCall));
}

int shmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t* team) noexcept {
  world_for("shmem_ctx_get_team");
  *team = SHMEM_TEAM_INVALID;
  if (ctx == SHMEM_CTX_INVALID) return 1;
  *team = context_of(ctx, "shmem_ctx_get_team").team;
  return 0;
}

void shmem_ctx_session_start(shmem_ctx_t ctx, long options,
                             const shmem_ctx_session_config_t* config, long config_mask) noexcept {
  world_for("shmem_ctx_session_start");
  if (ctx == SHMEM_CTX_INVALID) return;
  ContextObject& context = context_of(ctx, "shmem_ctx_session_start");
  context.session = true;
  context.session_options |= options;
  bool told = config != nullptr && (config_mask & SHMEM_CTX_SESSION_TOTAL_OPS) != 0;
  if (told) context.session_operations = config->total_ops;
}

void shmem_ctx_session_stop(shmem_ctx_t ctx) noexcept {
  world_for("shmem_ctx_session_stop");
  if (ctx == SHMEM_CTX_INVALID) return;
  ContextObject& context = context_of(ctx, "shmem_ctx_session_stop");
  context.session = false;
  context.session_options = 0;
  context.session_operations = SIZE_MAX;
}

}  // extern "C"
