#pragma once

// This reads the values of a document as numbers, names, quantities and lists. Errors read
// "expected ..., got ...". The reader of an object asks for each key that it knows; others are
// errors.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/array/dtype.h"
#include "models/base/diagnostics.h"
#include "models/scenario/document.h"
#include "models/scenario/quantity_text.h"

namespace orrery {

/// Returns the value in a few words for a message: "\"x\"", "12", "a list", "null".
std::string got(DocumentNode node);

/// Adds "expected EXPECTED, got ..." at the value.
void expected(DocumentNode node, std::string_view what, Diagnostics& diagnostics);

// Each reader adds an error and returns nothing if the value is not of the kind. `what` says what
// was expected: "a name".

std::optional<std::string> read_text(DocumentNode node, std::string_view what,
                                     Diagnostics& diagnostics);
/// Reads one of the words. The error is "expected "a", "b" or "c", got ...", with a hint if one of
/// the words is similar.
std::optional<std::string_view> read_word(DocumentNode node,
                                          const std::vector<std::string_view>& words,
                                          Diagnostics& diagnostics);
std::optional<bool> read_boolean(DocumentNode node, Diagnostics& diagnostics);

struct IntegerRange {
  int64_t low;
  int64_t high;
};
/// Reads a whole number in the range. The error is "expected WHAT from LOW to HIGH, got ...". If
/// HIGH is the largest int64, it names only the end that is exceeded; if LOW is the smallest too,
/// it names an end only for a number beyond 64 bits.
std::optional<int64_t> read_integer(DocumentNode node, std::string_view what, IntegerRange range,
                                    Diagnostics& diagnostics);

/// Reads a number, or "Infinity", "-Infinity", "NaN". A 64-bit integer must be exact as a double,
/// or the largest of s64 or u64, to which conversion saturates.
std::optional<double> read_number(DocumentNode node, Diagnostics& diagnostics);
/// Reads a number as above, or a pair of numbers: [real part, imaginary part].
std::optional<NumberOrPair> read_number_or_pair(DocumentNode node, Diagnostics& diagnostics);

std::optional<Dtype> read_dtype(DocumentNode node, Diagnostics& diagnostics);

/// Returns the end of the error about `text`, which is no dtype. It names a similar one, or is "".
std::string dtype_hint(std::string_view text);

/// This is a range in base units. Its ends are included.
struct QuantityRange {
  int64_t least = 0;
  int64_t most = std::numeric_limits<int64_t>::max();
};
/// Says whether a number without a unit is an error, or a whole number of base units, for keys that
/// are named for their unit ("flops", "bytes").
enum class BareNumber : uint8_t { Refused, BaseUnits };

/// Returns whether the value is a list (or an object). Adds an error if it is not.
bool is_list(DocumentNode node, std::string_view what, Diagnostics& diagnostics);
bool is_object(DocumentNode node, std::string_view what, Diagnostics& diagnostics);

std::optional<std::vector<int64_t>> read_integers(DocumentNode node, std::string_view what,
                                                  IntegerRange range, Diagnostics& diagnostics);

/// Reads one name, or a list of names.
std::optional<std::vector<std::string>> read_names(DocumentNode node, std::string_view what,
                                                   Diagnostics& diagnostics);

/// It reads the members of one object, and requires one. The keys asked for must outlive it.
class Fields {
 public:
  Fields(DocumentNode object, Diagnostics& diagnostics)
      : object_(object), diagnostics_(diagnostics) {}

  DocumentNode object() const { return object_; }

  /// Returns the value under `key`. It is empty if the object has no such key.
  std::optional<DocumentNode> optional(std::string_view key);

  /// Returns the value under `key`. Adds an error if the object has no such key.
  std::optional<DocumentNode> required(std::string_view key);

  /// Returns the amount under `key`, or the number under `key` with a unit's suffix: "latency_ns".
  std::optional<int64_t> optional_quantity(std::string_view key, Dimension dimension,
                                           QuantityRange range = {},
                                           BareNumber bare = BareNumber::Refused);
  std::optional<int64_t> required_quantity(std::string_view key, Dimension dimension,
                                           QuantityRange range = {});

  /// Returns the value under `key`, or under `key` with a unit's suffix.
  std::optional<DocumentNode> find_quantity(std::string_view key, Dimension dimension) const;
  bool has_quantity(std::string_view key, Dimension dimension) const {
    return find_quantity(key, dimension).has_value();
  }

  /// Adds an error for each key that was not asked for.
  void finish();

 private:
  /// A key that was asked for, alone or also with the suffix of each unit of a dimension. A key
  /// that was asked for several times is known several times.
  struct Known {
    std::string_view key;
    std::optional<Dimension> dimension;
  };
  void know(std::string_view key, std::optional<Dimension> dimension = std::nullopt) {
    known_.push_back({key, dimension});
  }
  bool is_known(std::string_view key) const;
  /// Returns each known key once, in the order asked for. With `suffixed`, those without suffixes
  /// precede all with suffixes.
  std::vector<std::string> known_keys(bool suffixed) const;

  DocumentNode object_;
  Diagnostics& diagnostics_;
  std::vector<Known> known_;
};

}  // namespace orrery
