#pragma once

// A law is a scenario with holes (holes.h), and with further keys:
//
//   "forall"  an object: names, each with what is drawn for it (draw.h). A draw may use earlier
//             names
//   "where"   a formula: only drawn values for which it is true count
//
// Values for the names make a scenario of it. Its "expect" must hold whatever the values, and has
// an expectation or more. A law may have no "cluster", and arrays without "init": who makes the
// scenario gives them.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/scenario/draw.h"
#include "models/scenario/expression.h"
#include "models/scenario/holes.h"
#include "models/scenario/reader.h"
#include "models/scenario/scenario.h"
#include "models/scenario/size_limits.h"

namespace orrery {

/// Returns whether the text is a law: a JSON object with the key "forall".
bool is_law(std::string_view text, const Limits& limits);

class Law {
 public:
  /// Reads a law. Throws InputError with all errors of its own keys and of its holes. Errors in
  /// a scenario are found when one is made.
  Law(std::string file, std::string text, const Limits& limits = {});
  Law(const Law&) = delete;
  Law& operator=(const Law&) = delete;

  const std::string& file() const { return file_; }
  const std::string& name() const { return name_; }
  bool has_cluster() const { return has_cluster_; }

  /// The names of "forall" in its order, and what is drawn for each.
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<Draw>& draws() const { return draws_; }

  // A value for each name is required. These throw InputError for a formula that has no value.

  /// Says where "where" stands.
  const Origin& where_origin() const { return where_origin_; }

  /// Returns the formula of "where"; "" if there is none.
  std::string_view where() const { return where_ ? where_->text() : std::string_view(); }

  /// Returns whether the values meet "where". An error's message ends with the values.
  bool admits(std::span<const LawValue> values) const;

  /// Makes the scenario. Throws InputError if it is wrong.
  Scenario scenario(std::span<const LawValue> values, const ScenarioDefaults& defaults) const;

 private:
  void read(Diagnostics& diagnostics);
  void read_draws(DocumentNode node, Diagnostics& diagnostics);
  void read_where(DocumentNode node, Diagnostics& diagnostics);

  std::string file_;
  std::string text_;
  Limits limits_;
  std::string name_;
  bool has_cluster_ = false;
  std::unique_ptr<const Document> document_;
  std::vector<std::string> names_;
  std::vector<Draw> draws_;
  std::optional<Expression> where_;
  Origin where_origin_;
  std::optional<Holes> holes_;
};

/// Returns the names with their values: "n = 8, dtype = \"bf16\"". There may be fewer values than
/// names.
std::string values_text(const Law& law, std::span<const LawValue> values);

/// Returns the error with the values at the end of each message: "... (with n = 8)".
InputError with_drawn(const Law& law, std::span<const LawValue> values, const InputError& error);

}  // namespace orrery
