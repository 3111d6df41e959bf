#pragma once

// A Draw says which values a name of a law may have ("forall" of law.h):
//
//   {"from": 1, "to": 8}             a whole number
//   {"choose": ["f32", "bf16"]}      one of these values, the simplest first
//   {"list": DRAW, "length": E}      a list of so many values
//   {"permutation": E}               0 to E-1, each once
//   {"some_of": E}                   some of 0 to E-1, ascending
//
// The ends and lengths are numbers, or formulas of earlier names. Each draw has a least value, from
// which values grow more complex: the least number, the first choice, the identity, the empty list.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/base/random.h"
#include "models/scenario/document.h"
#include "models/scenario/expression.h"

namespace orrery {

/// A drawn list has at most this many items, with those of its items.
inline constexpr int64_t kMostDrawn = 4096;

class Draw {
 public:
  enum class Kind : uint8_t { Number, Choice, List, Permutation, SomeOf };

  /// Reads a draw. Formulas may use the names. Adds errors, and then returns nothing.
  static std::optional<Draw> read(DocumentNode node, std::span<const std::string> names,
                                  Diagnostics& diagnostics);

  Kind kind() const { return kind_; }
  const std::vector<TemplateValue>& choices() const { return choices_; }

  // `known` has the values of earlier names. A formula that has no value, or none that makes sense
  // here, throws InputError of `file`.

  TemplateValue least(std::string_view file, std::span<const TemplateValue> known) const;
  TemplateValue greatest(std::string_view file, std::span<const TemplateValue> known) const;
  TemplateValue random(std::string_view file, std::span<const TemplateValue> known,
                       Random& random) const;

  /// Returns the value as the draw gives it, in which choices are those of the law; nothing if it
  /// cannot give it.
  std::optional<TemplateValue> given(std::string_view file, std::span<const TemplateValue> known,
                                     const TemplateValue& value) const;

  /// Returns what the draw gives, for a message: "a whole number from 1 to 8".
  std::string given_text(std::string_view file, std::span<const TemplateValue> known) const;

  /// Returns the value if the draw may give it, or one that is much like it. Requires a value of
  /// the draw's kind.
  TemplateValue fitted(std::string_view file, std::span<const TemplateValue> known,
                       TemplateValue value) const;

  /// Returns simpler values than this one, those that are much simpler first.
  std::vector<TemplateValue> simpler(std::string_view file, std::span<const TemplateValue> known,
                                     const TemplateValue& value) const;

 private:
  /// A bound of a draw, with the place of its text.
  struct Bound {
    Expression expression;
    Origin origin;
  };
  struct Range {
    int64_t least = 0;
    int64_t most = 0;
  };

  struct Sizes {
    int64_t length = 0;  // of a list
    int64_t items = 1;   // the most that a value has, as all_items() counts them
  };

  static std::optional<Bound> read_bound(DocumentNode node, std::span<const std::string> names,
                                         Diagnostics& diagnostics);
  static int64_t number(const Bound& bound, std::string_view file,
                        std::span<const TemplateValue> known);
  Range range(std::string_view file, std::span<const TemplateValue> known) const;
  int64_t length(std::string_view file, std::span<const TemplateValue> known) const;
  Sizes sizes(std::string_view file, std::span<const TemplateValue> known) const;

  Kind kind_ = Kind::Number;
  std::vector<Bound> bounds_;  // from and to, or a length
  std::vector<TemplateValue> choices_;
  int64_t choice_items_ = 1;        // of the longest choice, as all_items() counts them
  std::shared_ptr<const Draw> of_;  // the draw of each item of a list
};

}  // namespace orrery
