#pragma once

// A law is a template of scenarios (holes.h) with the key "forall", an object of names, each with
// what is drawn for it (draw.h). A draw may use earlier names. The scenario's "expect" must hold
// whatever the values, and has an expectation or more. A law may have no "cluster", and arrays
// without "init": who makes the scenario gives them.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/scenario/draw.h"
#include "models/scenario/holes.h"
#include "models/scenario/reader.h"
#include "models/scenario/scenario.h"
#include "models/scenario/size_limits.h"

namespace orrery {

/// Returns whether the text is a law: a JSON object with the key "forall".
bool is_law(std::string_view text, const Limits& limits);

class Law : public ScenarioTemplate {
 public:
  /// Reads a law. Throws InputError with all errors of its own keys and of its holes. Errors in
  /// a scenario are found when one is made.
  Law(std::string file, std::string text, const Limits& limits = {});

  /// Returns what is drawn for each of the names of "forall".
  const std::vector<Draw>& draws() const { return draws_; }

  /// Makes the scenario. A value for each name is required. Throws InputError if it is wrong.
  Scenario scenario(std::span<const TemplateValue> values, const ScenarioDefaults& defaults) const;

 private:
  std::vector<Draw> draws_;
};

}  // namespace orrery
