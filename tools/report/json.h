#pragma once

// Writes the JSON report. Its keys are a contract with readers of version 1: more may be added,
// none changed. The same report gives the same bytes.

#include <string>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/base/id.h"
#include "models/scenario/literal.h"
#include "tools/report/explain.h"
#include "verifier/report.h"

namespace orrery {

/// This is a value, under one of its names: "l" is another name of what the loop "l" carries.
struct NamedValue {
  std::string name;
  ValueId value;
  const Report* in = nullptr;  // of the run that has it; null: the report that is written
};

struct JsonOptions {
  std::vector<NamedValue> values;  // those to write, in this order, under these names
  Encoding encoding = Encoding::Values;
  const Explanation* explanation = nullptr;  // written unless it is null
  const Report* explained = nullptr;         // of the run that it explains; null: as above
};

/// Returns the report of one run, which ends with a newline. Elements are numbers (NaN and
/// infinities are the strings "NaN", "Infinity" and "-Infinity", preds are true and false), or
/// their bit patterns as unsigned integers; the key "encoding" says which. A key that does not
/// apply is null, for example the algorithm of a local op or the time of a program that hangs.
std::string json_text(const Report& report, const JsonOptions& options);

/// Returns the text in place of a report for a scenario that is wrong: {"report": 1, "file": FILE,
/// "holds": false, "errors": [{"pointer", "line", "column", "message"}, ...]}. Line and column are
/// null for errors without a text position.
std::string json_text(const std::string& file, const InputError& error);

/// Returns the reports of several scenarios: {"reports": [...], "holds": ..., "verdict": ...},
/// where the last two are about all of them together.
std::string json_list(const std::vector<std::string>& reports, Verdict verdict);

}  // namespace orrery
