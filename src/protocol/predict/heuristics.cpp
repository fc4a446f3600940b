#include "protocol/predict/heuristics.h"

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace terrane::protocol {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Heuristic::kCount)> kNames{
    "neighbours",
    "sequential",
    "run_length",
    "backward",
    "pipeline",
    "probation",
    "seal_reads",
    "skip_present",
    "claim_behind",
    "refresh",
    "lock_refresh",
    "probe",
    "show_many",
    "subscribe",
    "first_miss",
    "push_tree",
    "push_version",
    "with_arrival",
    "with_grant",
    "track_back_off",
    "keep_tracked",
    "untrack_idle",
    "tell_unchanged",
    "offer",
    "offer_later",
    "offer_back_off",
    "offer_ends_run",
    "ask_homes_to_write",
    "ask_homes_to_read",
    "adopt",
    "fewer_homes",
    "memory_barrier",
    "memory_barrier_with_leases",
    "memory_barrier_back_off",
    "look_first",
    "lazy_release",
    "extend_turn",
    "keep_open"};
constexpr std::pair<std::string_view, PredictorKind> kKinds[] = {
    {"adaptive", PredictorKind::kAdaptive},
    {"never", PredictorKind::kNever},
    {"four_pages", PredictorKind::kFourPages}};

std::optional<Heuristic> heuristic_named(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<Heuristic>(i);
  return std::nullopt;
}

std::optional<PredictorKind> kind_named(std::string_view name) {
  for (const auto& [text, kind] : kKinds)
    if (text == name) return kind;
  return std::nullopt;
}

base::Error unknown(std::string_view name) {
  std::string kinds, names;
  for (const auto& [text, kind] : kKinds) kinds += (kinds.empty() ? "" : ", ") + std::string(text);
  for (std::string_view text : kNames) names += (names.empty() ? "-" : ", -") + std::string(text);
  return {"--predict: there is no '" + std::string(name) + "'; give a predictor (" + kinds +
          "), or heuristics to switch off (" + names + ")"};
}

}  // namespace

std::string_view name_of(Heuristic heuristic) {
  return kNames[static_cast<std::size_t>(heuristic)];
}

base::Result<Prediction> parse_prediction(std::string_view text) {
  Prediction prediction;
  while (!text.empty()) {
    std::size_t end = std::min(text.find(','), text.size());
    std::string_view name = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (name.starts_with('-')) {
      auto heuristic = heuristic_named(name.substr(1));
      if (!heuristic) return unknown(name);
      prediction.on.set(*heuristic, false);
    } else {
      auto kind = kind_named(name);
      if (!kind) return unknown(name);
      prediction.kind = *kind;
    }
  }
  return prediction;
}

Tunables tuned(Tunables tunables, Heuristics on) {
  constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();
  if (!on.on(Heuristic::kSubscribe)) tunables.unused_pushes = 0;
  if (!on.on(Heuristic::kLookFirst)) tunables.look_from = kNever;
  return tunables;
}

}  // namespace terrane::protocol
