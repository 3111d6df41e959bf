#pragma once

// Reads the values of a document as numbers, names, quantities and lists; errors read "expected
// ..., got ...". The reader of an object asks for every key that it knows; other keys are errors.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/array/dtype.h"
#include "models/base/diagnostics.h"
#include "models/program/did_you_mean.h"
#include "models/scenario/document.h"
#include "models/scenario/quantity_text.h"

namespace orrery {

/// The value in a few words for a message: "\"x\"", "12", "a list", "null".
std::string got(DocumentNode node);

/// Adds "expected EXPECTED, got ..." at the value.
void expected(DocumentNode node, std::string_view what, Diagnostics& diagnostics);

// Each adds an error and is empty if the value is not of that kind. `what` says what was expected:
// "a name".

std::optional<std::string> read_text(DocumentNode node, std::string_view what,
                                     Diagnostics& diagnostics);
/// One of the words: "expected "a", "b" or "c", got ...", with a hint where one of them is near.
std::optional<std::string_view> read_word(DocumentNode node,
                                          const std::vector<std::string_view>& words,
                                          Diagnostics& diagnostics);
std::optional<bool> read_boolean(DocumentNode node, Diagnostics& diagnostics);

struct IntegerRange {
  int64_t low;
  int64_t high;
};
/// A whole number in the range: "expected WHAT from LOW to HIGH, got ...". If HIGH is the
/// largest of int64, only the end that is broken is named; if LOW is the smallest too, none is.
std::optional<int64_t> read_integer(DocumentNode node, std::string_view what, IntegerRange range,
                                    Diagnostics& diagnostics);

/// A number, or "Infinity", "-Infinity", "NaN". A 64-bit integer must be exact as a double, or the
/// largest of s64 or u64, to which conversion saturates.
std::optional<double> read_number(DocumentNode node, Diagnostics& diagnostics);
/// A number as above, or a pair of them: [real part, imaginary part].
std::optional<NumberOrPair> read_number_or_pair(DocumentNode node, Diagnostics& diagnostics);

std::optional<Dtype> read_dtype(DocumentNode node, Diagnostics& diagnostics);

/// The end of the error about `text`, which is no dtype: it names a similar dtype, or is empty.
std::string dtype_hint(std::string_view text);

/// A range of base units.
struct QuantityRange {
  int64_t least = 0;
  int64_t most = std::numeric_limits<int64_t>::max();
};
/// Whether a number without a unit is a whole number of base units, for keys that are named for
/// their unit ("flops", "bytes"), or an error.
enum class BareNumber : uint8_t { Refused, BaseUnits };

/// Whether it is a list (or an object); adds an error if it is not.
bool is_list(DocumentNode node, std::string_view what, Diagnostics& diagnostics);
bool is_object(DocumentNode node, std::string_view what, Diagnostics& diagnostics);

std::optional<std::vector<int64_t>> read_integers(DocumentNode node, std::string_view what,
                                                  IntegerRange range, Diagnostics& diagnostics);

/// One name, or a list of names.
std::optional<std::vector<std::string>> read_names(DocumentNode node, std::string_view what,
                                                   Diagnostics& diagnostics);

/// The members of one object. Requires that it is one. The keys asked for must outlive it.
class Fields {
 public:
  Fields(DocumentNode object, Diagnostics& diagnostics)
      : object_(object), diagnostics_(diagnostics) {}

  DocumentNode object() const { return object_; }

  /// Empty if the object has no such key.
  std::optional<DocumentNode> optional(std::string_view key);

  /// Adds an error if the object has no such key.
  std::optional<DocumentNode> required(std::string_view key);

  /// The amount under `key`, or as a whole number under `key` with a unit's suffix ("latency_ns").
  std::optional<int64_t> optional_quantity(std::string_view key, Dimension dimension,
                                           QuantityRange range = {},
                                           BareNumber bare = BareNumber::Refused);
  std::optional<int64_t> required_quantity(std::string_view key, Dimension dimension,
                                           QuantityRange range = {});

  /// The value under `key`, or under `key` with a unit's suffix.
  std::optional<DocumentNode> find_quantity(std::string_view key, Dimension dimension) const;
  bool has_quantity(std::string_view key, Dimension dimension) const {
    return find_quantity(key, dimension).has_value();
  }

  /// Adds an error for each key that was not asked for.
  void finish();

 private:
  /// A key that was asked for: alone, or also with the suffix of each unit of a dimension.
  struct Known {
    std::string_view key;
    std::optional<Dimension> dimension;
  };
  void know(std::string_view key, std::optional<Dimension> dimension = std::nullopt);
  bool is_known(std::string_view key) const;
  /// Each known key once, in the order asked for; with suffixes, those after all without.
  std::vector<std::string> known_keys(bool suffixed) const;

  DocumentNode object_;
  Diagnostics& diagnostics_;
  std::vector<Known> known_;
};

}  // namespace orrery
