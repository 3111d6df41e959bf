#pragma once

// The JSON report. Its keys are a contract with readers of version 1: more may be added, none
// changed. Same report, same bytes.

#include <string>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/base/id.h"
#include "models/scenario/literal.h"
#include "tools/report/explain.h"
#include "verifier/report.h"

namespace orrery {

/// A value, under one of its names: "l" is another of what the loop "l" carries.
struct NamedValue {
  std::string name;
  ValueId value;
};

struct JsonOptions {
  std::vector<NamedValue> values;  // those to write out, in this order, under these names
  Encoding encoding = Encoding::Values;
  const Explanation* explanation = nullptr;  // goes in where there is one
};

/// Elements are numbers (NaN and infinities as the strings "NaN", "Infinity", "-Infinity", pred as
/// true and false), or their bit patterns in unsigned integers, and "encoding" says so. Ends with a
/// newline. What does not apply is null: the algorithm of a local op, the time of a program that
/// hangs, the bandwidth of an op that took no time, a value on a device without it.
std::string json_text(const Report& report, const JsonOptions& options);

/// Instead of a report, for a scenario that is wrong: {"report": 1, "file": FILE, "holds": false,
/// "errors": [{"pointer", "line", "column", "message"}, ...]}; line and column are null for errors
/// without a text position.
std::string json_text(const std::string& file, const InputError& error);

/// The reports of several scenarios: {"reports": [...], "holds": whether all hold, "verdict":
/// that of all together}.
std::string json_list(const std::vector<std::string>& reports, Verdict verdict);

}  // namespace orrery
