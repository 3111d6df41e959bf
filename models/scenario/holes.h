#pragma once

// Holes are the places of a law's document that are filled with drawn values: texts with "${E}",
// where E is a formula (expression.h). A text that is one hole takes the value and its type, as in
// {"shape": ["${n * rows}", 3]}. A hole within a longer text takes the text of a number, boolean or
// text: "w${n}".

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/scenario/document.h"
#include "models/scenario/expression.h"
#include "models/scenario/size_limits.h"

namespace orrery {

/// Returns the formula of a text that is one hole, "${E}". Another text is returned as it is.
std::string_view without_braces(std::string_view text);

/// Returns the message for an error of a formula: "\"n *\": expected a value, got the end".
std::string in_formula(std::string_view formula, const ExpressionError& error);

/// Adds an error for each text and key in the value that has a hole.
void refuse_holes(DocumentNode node, Diagnostics& diagnostics);

class Holes {
 public:
  /// Reads the formulas of all holes in the document, which must outlive this object. They may use
  /// the names. The members of the outermost object that are named in `apart` have none, and are
  /// left out when holes are filled. Adds errors.
  Holes(const Document& document, std::span<const std::string> names,
        std::span<const std::string_view> apart, Diagnostics& diagnostics);

  /// Returns the document with the formulas' values in the holes. Throws InputError for a formula
  /// that has none.
  std::unique_ptr<const Document> filled(std::span<const LawValue> values, Diagnostics& diagnostics,
                                         const Limits& limits) const;

 private:
  /// A Hole is a text of the document with formulas between pieces of text. There is one
  /// piece more than formulas.
  struct Hole {
    DocumentNode at;
    std::vector<std::string> pieces;
    std::vector<Expression> formulas;
    bool is_whole() const { return formulas.size() == 1 && pieces[0].empty() && pieces[1].empty(); }
  };

  void find(DocumentNode node, std::span<const std::string> names, Diagnostics& diagnostics);
  std::optional<Hole> read(DocumentNode node, std::span<const std::string> names,
                           Diagnostics& diagnostics) const;
  static LawValue value_of(const Hole& hole, std::span<const LawValue> values,
                           Diagnostics& diagnostics, const Limits& limits);

  bool is_apart(DocumentNode node) const;

  const Document& document_;
  std::vector<DocumentNode> apart_;
  std::vector<Hole> holes_;  // in the order of the document
};

}  // namespace orrery
