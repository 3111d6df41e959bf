#pragma once

// Holes are the places of a document that are filled with values: texts with "${E}", where E is a
// formula (expression.h). A text that is one hole takes the value and its type, as in
// {"shape": ["${n * rows}", 3]}. A hole within a longer text takes the text of a number, boolean or
// text: "w${n}".
//
// A template is a scenario with holes, and with names that the formulas may use. Values for the
// names make a scenario of it. Laws (law.h) and plans (plan.h) are templates.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/callable.h"
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

  /// Returns whether there are none.
  bool empty() const { return holes_.empty(); }

  /// Returns the document with the formulas' values in the holes. Throws InputError for a formula
  /// that has none.
  std::unique_ptr<const Document> filled(std::span<const TemplateValue> values,
                                         Diagnostics& diagnostics, const Limits& limits) const;

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
  static TemplateValue value_of(const Hole& hole, std::span<const TemplateValue> values,
                                Diagnostics& diagnostics, const Limits& limits);

  bool is_apart(DocumentNode node) const;

  const Document& document_;
  std::vector<DocumentNode> apart_;
  std::vector<Hole> holes_;  // in the order of the document
};

class Fields;

/// A template is a JSON object with the keys of a scenario, "where", and keys of its own, which say
/// what values its names may have. "where" is a formula: only values for which it is true count.
class ScenarioTemplate {
 public:
  ScenarioTemplate(const ScenarioTemplate&) = delete;
  ScenarioTemplate& operator=(const ScenarioTemplate&) = delete;

  const std::string& file() const { return file_; }
  const std::string& text() const { return text_; }
  const std::string& name() const { return name_; }
  bool has_cluster() const { return has_cluster_; }

  /// Returns the names in the order of the file.
  const std::vector<std::string>& names() const { return names_; }

  /// Says where "where" stands.
  const Origin& where_origin() const { return where_origin_; }

  /// Returns the formula of "where"; "" if there is none.
  std::string_view where() const { return where_ ? where_->text() : std::string_view(); }

  /// Returns whether the values, one for each name, meet "where". Throws InputError if the formula
  /// has no value; the message ends with the values.
  bool admits(std::span<const TemplateValue> values) const;

 protected:
  /// Keeps the text, and throws InputError if it is no JSON object. read() tells other errors.
  /// `what` is "a law, an object".
  ScenarioTemplate(std::string file, std::string text, std::string_view what, const Limits& limits);
  ~ScenarioTemplate() = default;

  /// Reads the template. `read_own` reads the keys besides those of a scenario and "where", which
  /// are `own`, and among them the names. Throws InputError with all errors of these keys and of
  /// the holes.
  void read(std::span<const std::string_view> own,
            FunctionRef<void(Fields&, Diagnostics&)> read_own);

  /// Reads {NAME: VALUE, ..}. Formulas that are read after that may use the names, and `read_value`
  /// the names before its own.
  void read_names(DocumentNode node, std::string_view what,
                  FunctionRef<void(DocumentNode value)> read_value, Diagnostics& diagnostics);

  /// Returns the scenario's document, which has neither "where" nor the keys of the template's own.
  /// A value for each name is required. Throws InputError for a formula that has no value.
  std::unique_ptr<const Document> filled(std::span<const TemplateValue> values,
                                         Diagnostics& diagnostics) const {
    return holes_->filled(values, diagnostics, limits_);
  }

  const Document& document() const { return *document_; }
  const Limits& limits() const { return limits_; }

 private:
  void read_where(DocumentNode node, Diagnostics& diagnostics);

  std::string file_;
  std::string text_;
  Limits limits_;
  std::string name_;
  bool has_cluster_ = false;
  Diagnostics diagnostics_;  // of the text, until it is read
  std::unique_ptr<const Document> document_;
  std::vector<std::string> names_;
  std::optional<Expression> where_;
  Origin where_origin_;
  std::optional<Holes> holes_;
};

/// Returns whether the text is a JSON object with the key.
bool has_outer_key(std::string_view text, std::string_view key, const Limits& limits);

/// Returns the names with their values: "n = 8, dtype = \"bf16\"". There may be fewer values than
/// names.
std::string values_text(const ScenarioTemplate& of, std::span<const TemplateValue> values);

/// Returns the error with the values at the end of each message: "... (with n = 8)".
InputError with_values_told(const ScenarioTemplate& of, std::span<const TemplateValue> values,
                            const InputError& error);

}  // namespace orrery
