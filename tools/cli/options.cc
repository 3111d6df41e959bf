#include "tools/cli/options.h"

#include <charconv>

#include <fmt/format.h>

#include "tools/cli/inputs.h"

namespace orrery {

CLI::Validator whole_number(int64_t least, int64_t most) {
  return CLI::Validator(
      [least, most](const std::string& given) {
        int64_t value = 0;
        const char* const end = given.data() + given.size();
        const auto [read, error] = std::from_chars(given.data(), end, value);
        return error == std::errc() && read == end && value >= least && value <= most
                   ? std::string()
                   : fmt::format("expected a whole number from {} to {}, got {}", least, most,
                                 given);
      },
      "");
}

void add_figures(CLI::App& command, std::vector<std::string>& figures) {
  command
      .add_option("--cluster-figure", figures,
                  "A figure of the cluster in place of its own: latency=\"2 us\", "
                  "transport/ll/launch=\"5 us\"")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("NAME=VALUE");
}

void add_limits(CLI::App& command, Limits& limits) {
  std::string about = "Sets a limit of what is read and run, instead of";
  for (const LimitInfo& limit : all_limits())
    about += fmt::format("{} {}={}", &limit == &all_limits().front() ? "" : ",", limit.name,
                         limit_text(limit, Limits()));
  command
      .add_option_function<std::vector<std::string>>(
          "--limit",
          [&limits](const std::vector<std::string>& settings) {
            for (const std::string& setting : settings)
              set_limit(limits, setting);
          },
          about)
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
}

void add_ci(CLI::App& command, CiOptions& ci) {
  command
      .add_option("--junit", ci.junit,
                  "Write the verdicts to this file as JUnit XML: a test suite a file, a test case "
                  "a check or a law")
      ->type_name("FILE");
  add_choice<Annotations>(command, "--annotate", ci.annotations, {{"github", Annotations::Github}},
                          "Print a line for each check that does not hold, and each error, by "
                          "which GitHub shows it at its line of the file");
}

}  // namespace orrery
