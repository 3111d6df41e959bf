#pragma once

// An op as the user wrote it, before any check.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/program/op.h"

namespace orrery {

struct OpRequest {
  std::string name;  // the op's, and its first result's
  OpKind kind = OpKind::Compute;
  Issue issue = Issue::Sync;
  /// As given, those that are hints too; what is missing is filled in from the rules.
  Attributes attributes = {};
  std::vector<std::string> operands = {};       // names of values
  std::vector<std::string> donated = {};        // names among the operands
  std::vector<std::string> other_results = {};  // names of the second result and those after it
  std::string site = {};  // collectives: ops of several threads with one site name meet; else empty
  std::optional<Origin> origin = {};
  /// How errors name it where it is a part of a written op: 'psum "s"'. Empty: by its own name.
  std::string title = {};
  /// An op of a backward pass. Its `origin` is that of the op that it goes back through.
  bool backward = false;
  std::string forward = {};  // the name of that op; empty, or the name of no op: there is none
  /// The places of its keys ("of", "axis_name", ...), and of the ids in a list ("id/0").
  std::map<std::string, Origin, std::less<>> key_origins = {};

  const std::string& result_name(size_t result) const {
    return result == 0 ? name : other_results[result - 1];
  }

  /// The place of an error in `key`: the key's own, or if that is not known the op's with the key
  /// appended to the pointer. It is the op's if `key` is empty, or the op is not written.
  Origin key_origin(std::string_view key) const;
  /// The place of an error in the name of a result.
  Origin result_origin(size_t result) const;
};

/// Takes the parameters that are hints out of those of an op.
Hints take_hints(Attributes& attributes);
/// The parameters of an op of this kind as they can be written: with its hints.
Attributes with_hints(Attributes attributes, OpKind kind, const Hints& hints);
inline Attributes written_attributes(const Op& op) {
  return with_hints(op.attributes, op.kind, op.hints);
}

/// Where to report an error of `name`: `origin`, or "/name" if it was not read from a file.
Origin origin_of(std::string_view name, const std::optional<Origin>& origin);

}  // namespace orrery
