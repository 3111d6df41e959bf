#pragma once

// Expressions are the formulas of templates (holes.h): "n * n * rows", "inverse(p)". They have
// whole numbers of 64 bits, booleans, texts in single quotes, and lists:
//
//   or, and, not, == != < <= > >=, + -, * / %, p[i]      from the weakest to the strongest
//   if(c, a, b)  min(a, ..)  max(a, ..)  len(p)
//   pairs(p)      [[0, p[0]], [1, p[1]], ..]
//   inverse(p)    the permutation that undoes p
//   each(p)       [[p[0]], [p[1]], ..]
//   repeat(v, k)  a list of k times v
//
// A division must be exact, and a remainder has the divisor's sign. `if`, `and` and `or` work out
// only what they need.

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/scenario/document.h"

namespace orrery {

/// A TemplateValue is what a name of a template stands for, or what a formula gives. Values that
/// are none of the first four (null, objects, other numbers) are those of the template's document.
struct TemplateValue {
  using List = std::vector<TemplateValue>;
  std::variant<int64_t, bool, std::string, List, DocumentNode> is;

  /// Compares values as they are written. A value is not equal to one of another kind.
  friend bool operator==(const TemplateValue& a, const TemplateValue& b);
};

/// Returns a value of a document. Lists are read item by item.
TemplateValue template_value(DocumentNode node);

/// Returns 1 for a value that is no list, and otherwise 1 more than all of a list's items have.
int64_t all_items(const TemplateValue& value);

/// Returns the value on one line: "8", "\"bf16\"", "[1, 0]"; an object as "{..}". Long texts are
/// cut.
std::string value_text(const TemplateValue& value);

/// Returns the same for a message, in which long lists are cut: "[0, 1, 2, ..]".
std::string shown(const TemplateValue& value);

/// A formula is wrong, or has no value. what() is the message without a place.
class ExpressionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the words that formulas have themselves: operators, constants and functions.
std::vector<std::string_view> formula_words();

/// Returns whether formulas may use the text as a name: letters, digits and "_", and no word that
/// formulas have themselves.
bool is_name(std::string_view text);

class Expression {
 public:
  /// Reads a formula. It may use the names. Throws ExpressionError.
  Expression(std::string_view text, std::span<const std::string> names);

  /// Returns the value; `values` has one for each of the names, or for the first of them that
  /// the formula uses. Throws ExpressionError.
  TemplateValue value(std::span<const TemplateValue> values) const;

  const std::string& text() const { return text_; }

  /// A node of the formula.
  struct Node;

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

/// A list that a formula makes has at most this many items, with those of its items.
inline constexpr int64_t kMostItems = 65'536;

}  // namespace orrery
