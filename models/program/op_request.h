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
  std::string name;
  OpKind kind = OpKind::Compute;
  Issue issue = Issue::Sync;
  Attributes attributes = {};              // as given; what is missing is filled in from the rules
  std::vector<std::string> operands = {};  // names of values
  std::vector<std::string> donated = {};   // names among the operands
  std::string site =
      {};  // collectives: ops of several threads with the same site name meet; else empty
  std::optional<Origin> origin = {};
  std::map<std::string, Origin, std::less<>> key_origins =
      {};  // of its keys ("of", "axis_name", ...)

  /// Where to report an error in `key`: where the key stands, or if that is unknown the op, with
  /// the key appended to the pointer. The op itself where `key` is empty.
  Origin key_origin(std::string_view key) const;
};

/// Where to report an error of `name`: `origin`, or "/name" if it was not read from a file.
Origin origin_of(std::string_view name, const std::optional<Origin>& origin);

}  // namespace orrery
