#pragma once

// This file runs a scenario, and answers what is asked of the run beside its report: values by
// their names, and the explanation of an op or a value.
//
// The report leaves out iterations of long loops (verifier/README.md). Where such an iteration is
// asked about, a second run of the first iterations answers, if they suffice. Else the report is
// that of a run in which every iteration is written.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "tools/report/explain.h"
#include "tools/report/json.h"
#include "verifier/report.h"
#include "verifier/run.h"

namespace orrery {

/// The questions about a run.
struct Questions {
  std::vector<std::string> values;     // their names, or "all" alone
  std::optional<std::string> explain;  // the id of an op or a value
  bool every_iteration = false;        // the report must have all
};

/// The report of a run, and the answers. An answer may refer to the report of another run.
struct Answers {
  std::shared_ptr<const Report> report;
  std::vector<NamedValue> values;  // in the order in which they were asked for
  std::optional<Explanation> explanation;
  std::shared_ptr<const Report> explained;      // of the run that is explained
  std::shared_ptr<const Report> of_iterations;  // has values of single iterations; may be null
};

/// Returns the options of the run that is reported, which shows or computes what is asked for.
RunOptions options_for(const Scenario& given, const Questions& questions, RunOptions options);

/// Runs the scenario with the options above. Throws InputError for a name that it has not, and as
/// run() does.
Answers answer(std::shared_ptr<const Scenario> given, const Questions& questions,
               RunOptions options);

}  // namespace orrery
