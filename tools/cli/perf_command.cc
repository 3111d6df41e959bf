// orrery perf makes the table of a program of nccl-tests, by our model or measured on GPUs.

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/characters.h"
#include "models/base/diagnostics.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"
#include "tools/cli/overrides.h"
#include "tools/cli/perf_flags.h"
#include "tools/nccl_tests/call.h"
#include "tools/nccl_tests/decimal.h"
#include "tools/nccl_tests/perf.h"
#include "tools/nccl_tests/table.h"
#include "verifier/gpus/gpus.h"

namespace orrery {
namespace {

NcclCollective collective_given(const std::string& text) {
  if (const auto collective = nccl_collective_named(text))
    return *collective;
  std::vector<std::string_view> names;
  for (const NcclCollective collective : nccl_collectives())
    names.push_back(name(collective));
  refuse("COLLECTIVE", fmt::format("expected one of {}, got \"{}\"{}", fmt::join(names, ", "), text,
                                   did_you_mean(text, names)));
}

/// Reads a size such as "32M", where K, M and G are powers of 1024.
Bytes perf_size(std::string_view option, const std::string& text) {
  static const std::map<std::string, int, std::less<>> kShifts = {
      {"", 0},    {"k", 10},   {"kb", 10}, {"kib", 10}, {"m", 20},
      {"mb", 20}, {"mib", 20}, {"g", 30},  {"gb", 30},  {"gib", 30}};
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const size_t letter = std::min(text.find_first_not_of(' ', digits), text.size());
  const auto shift = kShifts.find(in_lower_case(std::string_view(text).substr(letter)));
  constexpr int kDecimals = 9;
  constexpr int64_t kBillion = 1'000'000'000;
  const auto number = read_decimal(std::string_view(text).substr(0, digits), kDecimals);
  if (shift == kShifts.end() || !number)
    refuse(option, fmt::format("expected bytes, or a number with K, M or G, got \"{}\"", text));
  const Int128 billionths = Int128{number->value} * (int64_t{1} << shift->second);
  if (billionths % kBillion != 0)
    refuse(option, fmt::format("expected whole bytes, got \"{}\"", text));
  constexpr int64_t kMost = int64_t{1} << 50;
  if (billionths / kBillion > kMost)
    refuse(option, fmt::format("expected at most {} bytes, got \"{}\"", kMost, text));
  return Bytes(static_cast<int64_t>(billionths / kBillion));
}

NcclSettings settings_given(const PerfCommand& command) {
  NcclSettings settings;
  settings.threads = command.threads;
  settings.gpus = command.gpus;
  settings.least = perf_size("-b", command.least);
  settings.most = perf_size("-e", command.most);
  settings.step_is_factor = command.factor > 1;
  settings.step = settings.step_is_factor ? command.factor : perf_size("-i", command.step).count();
  settings.warmup = command.warmup;
  settings.iterations = command.iterations;
  settings.aggregated = command.aggregated;
  settings.checks = command.checks;
  if (settings.least > settings.most)
    refuse("-b", fmt::format("expected at most the {} bytes of -e, got {}", settings.most.count(),
                             settings.least.count()));
  if (settings.step == 0)
    refuse("-i", "expected more than 0 bytes");
  return settings;
}

/// Returns the entries of nccl-tests' table that `option` names: one, or all.
template <class Named>
std::vector<Named> chosen(std::string_view option, std::span<const Named> table,
                          const std::string& text) {
  if (text == "all")
    return {table.begin(), table.end()};
  std::vector<std::string_view> names;
  for (const Named& entry : table) {
    if (entry.name == text)
      return {entry};
    names.push_back(entry.name);
  }
  refuse(option, fmt::format("expected {} or all, got \"{}\"{}", fmt::join(names, ", "), text,
                             did_you_mean(text, names)));
}

/// The kinds that are run. `left_out` has the other kinds by reason: each is a text such as "prod"
/// or "avg of int8".
struct Kinds {
  std::vector<PerfKind> run;
  std::map<std::string, std::vector<std::string>> left_out;
};

Kinds kinds_of(NcclCollective collective, const std::vector<NcclType>& types,
               const std::vector<NcclRedopName>& redops) {
  Kinds kinds;
  std::map<NcclRedop, std::vector<std::string_view>> without;
  for (const NcclType& type : types) {
    for (const NcclRedopName& redop : redops) {
      if (not_modelled(collective, type.dtype, redop.redop))
        without[redop.redop].push_back(type.name);
      else
        kinds.run.push_back({type, redop});
    }
  }
  for (const NcclRedopName& redop : redops) {
    const std::vector<std::string_view>& of = without[redop.redop];
    if (of.empty())
      continue;
    const std::string why = *not_modelled(collective, *nccl_type_named(of.front()), redop.redop);
    kinds.left_out[why].push_back(of.size() == types.size()
                                      ? std::string(redop.name)
                                      : fmt::format("{} of {}", redop.name, fmt::join(of, ", ")));
  }
  return kinds;
}

/// Returns the kinds that were asked for and are modelled. Says which are left out if all were
/// asked for. Throws if none is modelled.
std::vector<PerfKind> kinds_given(NcclCollective collective, const PerfCommand& command,
                                  std::ostream& err) {
  const std::vector<NcclType> types = chosen("-d", nccl_types(), command.type);
  std::vector<NcclRedopName> redops = chosen("-o", nccl_redops(), command.op);
  if (redop_column(collective) != RedopColumn::Operation)
    redops.resize(1);
  Kinds kinds = kinds_of(collective, types, redops);
  if (!kinds.run.empty()) {
    for (const auto& [why, which] : kinds.left_out)
      err << fmt::format("orrery: left out, since {}: {}\n", why, fmt::join(which, ", "));
    return std::move(kinds.run);
  }
  const std::string& why = kinds.left_out.begin()->first;
  const std::span<const NcclRedopName> all = nccl_redops();
  std::vector<std::string_view> others;
  for (const PerfKind& kind : kinds_of(collective, {types.front()}, {all.begin(), all.end()}).run)
    others.push_back(kind.redop.name);
  if (!others.empty())
    refuse("-o", fmt::format("expected {} for {} of {}, got {}: {}", fmt::join(others, ", "),
                             program_name(collective), types.front().name, command.op, why));
  for (const NcclCollective each : nccl_collectives())
    if (!not_modelled(each, Dtype::F32, NcclRedop::Sum))
      others.push_back(name(each));
  refuse("COLLECTIVE", fmt::format("expected one of {}, got {}: {}", fmt::join(others, ", "),
                                   name(collective), why));
}

std::vector<uint32_t> roots_given(const std::string& text, uint32_t ranks) {
  std::vector<uint32_t> roots(ranks);
  std::iota(roots.begin(), roots.end(), 0U);
  if (text == "all")
    return roots;
  const auto root = read_decimal(text, 0);
  if (!root || root->value >= int64_t{ranks})
    refuse("-r", fmt::format("expected a rank from 0 to {}, or all, got \"{}\"", ranks - 1, text));
  return {static_cast<uint32_t>(root->value)};
}

uint32_t ranks_given(const PerfCommand& command) {
  const Int128 ranks = Int128{command.processes} * command.threads * command.gpus;
  if (ranks > kMostPerfNumber)
    refuse("-g",
           fmt::format("expected at most {} ranks (-t times -g times --np)", kMostPerfNumber));
  return static_cast<uint32_t>(ranks);
}

/// Returns the name of a file that does not exist. Like nccl-tests it overwrites no file, but
/// counts until a name is free.
std::string json_file(const std::string& path) {
  if (std::filesystem::path(path).extension() != ".json")
    refuse("-J", fmt::format("expected a file *.json, got \"{}\"", path));
  std::string free = path;
  std::error_code error;
  for (int number = 0; std::filesystem::exists(free, error); ++number)
    free = fmt::format("{}.{}", path, number);
  return free;
}

/// Returns the arguments as a program of nccl-tests would have them, without "perf COLLECTIVE".
std::vector<std::string> program_arguments(const PerfCommand& command, NcclCollective collective) {
  std::vector<std::string> arguments = {program_name(collective)};
  for (size_t a = 1; a < command.arguments.size(); ++a)
    if (command.arguments[a] != command.collective)
      arguments.push_back(command.arguments[a]);
  return arguments;
}

}  // namespace

Outcome execute(const PerfCommand& command, const Terminal& terminal) {
  const NcclCollective collective = collective_given(command.collective);
  PerfRequest request;
  request.collective = collective;
  request.settings = settings_given(command);
  request.processes = command.processes;
  request.kinds = kinds_given(collective, command, terminal.err);
  const uint32_t ranks = ranks_given(command);
  if (has_root(collective))
    request.roots = roots_given(command.root, ranks);
  if (command.data_budget)
    request.data_budget = size_named("--data-budget", *command.data_budget);
  request.seed = command.seed;
  if (command.backend == Backend::Cuda) {
    request.gpus_library = terminal.library_of_cuda();
    loaded_driver(*request.gpus_library);  // what is missing is said before anything else
  }
  request.limits = command.limits;
  const Cluster cluster = with_figures(cluster_given("--cluster", command.cluster, command.limits),
                                       command.figures, command.limits);
  if (!command.unread.empty())
    terminal.err << fmt::format("orrery: not read, since a simulation has no such thing: {}\n",
                                fmt::join(command.unread, ", "));

  PerfTable made = perf_table(request, cluster);
  const NcclOrigin origin{
      fmt::format("{}, {}", made.measured_on.value_or("modelled on " + cluster.name),
                  version_text()),
      std::move(made.assumed), std::move(made.bound), made.reduced_most,
      program_arguments(command, collective)};
  if (command.output) {
    const std::string file = json_file(*command.output);
    write_file(file, nccl_json(made.table, origin));
    terminal.out << "# Writing JSON output to " << file << "\n";
  }
  terminal.out << nccl_text(made.table, origin);
  for (const std::string& wrong : made.wrong)
    terminal.err << terminal.err_style.bad("orrery") << ": " << wrong << "\n";
  return wrong_placements(made.table) == 0 ? Outcome::Holds : Outcome::Fails;
}

}  // namespace orrery
