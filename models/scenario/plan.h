#pragma once

// A plan is a template of scenarios (holes.h) that is timed for many values of its names. Its keys,
// besides those of a scenario and "where":
//
//   "sweep"        {NAME: VALUES, ..}; VALUES is a list, {"from": 1, "to": 64, "times": 2} or
//                  {"from": 1, "to": 9, "step": 2}. The points are all combinations, of which those
//                  that do not meet "where" are left out
//   "constraints"  what a point must keep: {"peak_memory": {"at_most": "76 GiB"}, ..}
//   "minimize"     the figures by which points are compared; the first one decides which is best
//   "work"         what one run does: {"tokens": "${batch * 4096}"}
//   "price"        {"per_device_hour": "2.10 USD"}
//   "cases"        values of the names that are timed in any case: [{"id": "ours", "let": {..}}]
//   "kinds"        what arguments are called in a breakdown of memory: {"weights": "w_*"}
//
// "constraints", "work" and "price" may have holes.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/quantity.h"
#include "models/scenario/holes.h"
#include "models/scenario/scenario.h"
#include "models/scenario/size_limits.h"

namespace orrery {

/// Returns whether the text is a plan: a JSON object with the key "sweep".
bool is_plan(std::string_view text, const Limits& limits);

/// Returns whether the text is a law or a plan.
bool is_template(std::string_view text, const Limits& limits);

/// The figures by which points are compared: less is better. With "work", Makespan and Cost are
/// those of a unit of it.
enum class PlanAxis : uint8_t { Makespan, Devices, PeakMemory, Cost };
/// Returns "makespan", "devices", "peak_memory" or "cost".
std::string_view key_of(PlanAxis axis);

/// Constraints that are absent do not bind. The memory of the cluster's devices always does.
struct PlanConstraints {
  std::optional<Bytes> peak_memory = {};
  std::optional<Duration> makespan = {};
  std::optional<int64_t> devices = {};
};

/// This is the work of one run, such as 4,096 "tokens".
struct PlanWork {
  std::string unit;
  int64_t amount = 1;
};

/// This is the price of a device, in millionths of the currency.
struct PlanPrice {
  int64_t micros_per_device_hour = 0;
  std::string currency;  // "USD"
};

/// The terms are what a plan says of one point besides its scenario.
struct PlanTerms {
  PlanConstraints constraints;
  std::optional<PlanWork> work;
  std::optional<PlanPrice> price;
};

/// A case is a point that has an id of its own.
struct PlanCase {
  std::string id;
  std::vector<TemplateValue> values;  // one for each name
};

/// Arguments whose names match a pattern are of this kind. "*" stands for any characters.
struct PlanKind {
  std::string name;
  std::vector<std::string> patterns;
};

class Plan : public ScenarioTemplate {
 public:
  /// Reads a plan. Throws InputError with all errors of its own keys and of its holes. Errors in a
  /// scenario are found when one is made.
  Plan(std::string file, std::string text, const Limits& limits = {});

  /// Returns the values of each name, in the order of the file.
  const std::vector<std::vector<TemplateValue>>& sweep() const { return sweep_; }

  /// Leaves one value of the name, which need not be among those of the sweep.
  void let(size_t name, TemplateValue value) { sweep_[name] = {std::move(value)}; }

  /// Returns the value of a name for which the file has no other. Null if it has several.
  const TemplateValue* only_value(size_t name) const {
    return only_[name] ? &*only_[name] : nullptr;
  }

  /// Returns the values of each point that meets "where". The last name changes fastest. Throws
  /// InputError if there are none, or if the combinations are more than Limits::points.
  std::vector<std::vector<TemplateValue>> points() const;

  const std::vector<PlanAxis>& minimize() const { return minimize_; }
  const std::vector<PlanCase>& cases() const { return cases_; }
  const std::vector<PlanKind>& kinds() const { return kinds_; }

  /// Returns the value of a key as the file has it, on one line. It is empty if the file has none.
  std::optional<std::string> said(std::string_view key) const;

  // A value for each name is required. These throw InputError for what is wrong with them.

  Scenario scenario(std::span<const TemplateValue> values) const;
  PlanTerms terms(std::span<const TemplateValue> values) const;

 private:
  void read_sweep(DocumentNode node, Diagnostics& diagnostics);
  void read_minimize(DocumentNode node, Diagnostics& diagnostics);
  void read_cases(DocumentNode node, Diagnostics& diagnostics);
  void read_kinds(DocumentNode node, Diagnostics& diagnostics);
  /// Throws InputError with the errors of terms that no value of a hole would mend.
  void check_terms() const;

  std::vector<std::vector<TemplateValue>> sweep_;
  std::vector<std::optional<TemplateValue>> only_;  // by name: of the file
  Origin sweep_origin_;
  std::vector<PlanAxis> minimize_ = {PlanAxis::Makespan, PlanAxis::Devices};
  std::vector<PlanCase> cases_;
  std::vector<PlanKind> kinds_;
  std::optional<Holes> terms_;  // of the keys that PlanTerms has
};

/// Returns what a point is called: its values, "tp=4,recompute=none". A name for which the file has
/// only the point's value is left out, unless all names are such. Numbers, booleans, texts and
/// lists of them are written as `--let` takes them.
std::string point_id(const Plan& plan, std::span<const TemplateValue> values);

/// Returns whether the text matches the pattern, in which "*" stands for any characters.
bool matches(std::string_view text, std::string_view pattern);

}  // namespace orrery
