#pragma once

// An OpRequest is an op as the user wrote it, before any check.

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
  /// The parameters as given, hints included. Missing ones are filled in from the rules.
  Attributes attributes = {};
  std::vector<std::string> operands = {};       // names of values
  std::vector<std::string> donated = {};        // names among the operands
  std::vector<std::string> other_results = {};  // names of the second result and those after it
  std::string site = {};  // collectives: ops of several threads with one site name meet; else empty
  std::string group = {};                // Op::group
  uint32_t place_in_group = 0;           // counted from 0
  std::optional<uint32_t> reshard = {};  // Op::reshard
  std::string first_result = {};         // the first result's name, if it is not the op's
  std::optional<Origin> origin = {};
  /// If the request is a part of a written op, this is how errors name that op: 'psum "s"'. If it
  /// is empty, errors use the request's own name.
  std::string title = {};
  /// In a backward pass the `origin` is that of the op that this op goes back through, or computes
  /// again.
  Pass pass = Pass::Forward;
  std::string forward = {};  // the name of that op; empty, or the name of no op: there is none
  /// The places of its keys ("of", "axis_name", ...), and of the ids in a list ("id/0").
  std::map<std::string, Origin, std::less<>> key_origins = {};

  const std::string& result_name(size_t result) const {
    if (result > 0)
      return other_results[result - 1];
    return first_result.empty() ? name : first_result;
  }

  /// Returns the place of an error in `key`. It is the key's own place if that is known, else the
  /// op's place with the key appended to the pointer. If `key` is empty, or the op is of a backward
  /// pass, it is the op's place.
  Origin key_origin(std::string_view key) const;
  /// Returns the place of an error in the name of a result.
  Origin result_origin(size_t result) const;
};

/// Takes the hints out of an op's parameters, and returns them.
Hints take_hints(Attributes& attributes);
/// Returns the parameters of an op of this kind with its hints, as a scenario writes them.
Attributes with_hints(Attributes attributes, OpKind kind, const Hints& hints);
inline Attributes written_attributes(const Op& op) {
  return with_hints(op.attributes, op.kind, op.hints);
}

/// Returns where to report an error of `name`: `origin`, or "/name" if it was not read from a file.
Origin origin_of(std::string_view name, const std::optional<Origin>& origin);

}  // namespace orrery
