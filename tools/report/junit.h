#pragma once

// Writes verdicts as JUnit XML, which systems of continuous integration show. The text validates
// against the schema of Jenkins' xUnit plugin (tests/data/junit). It has no times and no dates, so
// the same input gives the same bytes.

#include <cstdint>
#include <string>
#include <vector>

#include "verifier/verdict.h"

namespace orrery {

/// Passed is a test case without a child, Failed and Undecided are <failure> with the type "fails"
/// or "undecided", Allowed is <skipped>, and WrongInput is <error>.
enum class JunitOutcome : uint8_t { Passed, Failed, Undecided, Allowed, WrongInput };

struct JunitCase {
  std::string name;       // "DEADLOCK.FREE /program/3"
  std::string classname;  // groups cases; Jenkins takes what precedes the last dot for a package
  JunitOutcome outcome = JunitOutcome::Passed;
  std::string message = {};  // one sentence; not shown if the case passed
  std::string details = {};  // lines that each end with a newline, such as those of a witness
  std::string replay = {};   // the command that repeats it
};

struct JunitSuite {
  std::string name;  // the file
  std::vector<JunitCase> cases;
};

/// Returns the cases of a file's checks, one a check, named by the check and its subject. If checks
/// have the same name and subject, the second is called "NAME SUBJECT (2)".
std::vector<JunitCase> junit_cases(const std::string& file, const std::vector<Check>& checks,
                                   const std::string& replay);

/// Returns the suites as XML. Bytes that are not UTF-8 and characters that XML forbids become
/// U+FFFD.
std::string junit_text(const std::vector<JunitSuite>& suites);

}  // namespace orrery
