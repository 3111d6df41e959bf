#pragma once

// Several commands have these kinds of options. CLI11 is slow to compile, so only the files that
// declare options include this header.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/cli/commands.h"

namespace orrery {

/// Each word stands for a value.
template <class T>
using Words = std::vector<std::pair<std::string, T>>;

/// Adds an option that takes one of `words`.
template <class T>
CLI::Option* add_choice(CLI::App& command, const char* option, T& target, const Words<T>& words,
                        const char* about) {
  std::string names;
  for (const auto& word : words)
    names += names.empty() ? word.first : "|" + word.first;
  return command
      .add_option_function<std::string>(
          option,
          [&target, words, option, names](const std::string& given) {
            for (const auto& word : words) {
              if (word.first == given) {
                target = word.second;
                return;
              }
            }
            throw CLI::ValidationError(option, "expected " + names + ", got " + given);
          },
          about)
      ->type_name(names);
}

/// Refuses anything but a whole number from `least` to `most`.
CLI::Validator whole_number(int64_t least, int64_t most);

/// These add --cluster-figure, and --limit.
void add_figures(CLI::App& command, std::vector<std::string>& figures);
void add_limits(CLI::App& command, Limits& limits);
/// Adds --junit and --annotate.
void add_ci(CLI::App& command, CiOptions& ci);

/// Adds the commands about tables of nccl-tests.
void add_perf(CLI::App& app, PerfCommand& perf);
void add_calibrate(CLI::App& app, CalibrateCommand& calibrate, CalibrateCudaCommand& on_gpus,
                   CalibrateOpsCommand& ops);
void add_validate(CLI::App& app, ValidateCommand& validate);

}  // namespace orrery
