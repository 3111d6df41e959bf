// Declares the options of the commands about tables of nccl-tests.

#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "models/base/callable.h"
#include "models/base/diagnostics.h"
#include "tools/cli/options.h"
#include "tools/cli/perf_flags.h"

namespace orrery {
namespace {

void add_perf_flag(CLI::App& command, const PerfFlag& flag, PerfCommand& perf) {
  const std::string names = flag.names;
  CLI::Option* const option =
      std::visit(Overloaded{[&](Unread) {
                              return command.add_option_function<std::string>(
                                  names, [&perf, names](const std::string&) {
                                    perf.unread.push_back(names.substr(0, names.find(',')));
                                  });
                            },
                            [&](auto member) { return command.add_option(names, perf.*member); }},
                 flag.target);
  option->description(flag.about)->type_name(flag.takes);
  if (!std::holds_alternative<Unread>(flag.target) &&
      !std::holds_alternative<std::string PerfCommand::*>(flag.target))
    option->check(whole_number(flag.least, kMostPerfNumber));
}

}  // namespace

void add_perf(CLI::App& app, PerfCommand& perf) {
  CLI::App& command = *app.add_subcommand(
      "perf", "What a program of nccl-tests would print on a cluster: its flags, its table");
  command
      .add_option("COLLECTIVE", perf.collective,
                  "all_gather, all_reduce, alltoall, broadcast, gather, hypercube, reduce_scatter, "
                  "scatter or sendrecv, also with _perf")
      ->required();
  command
      .add_option("--cluster", perf.cluster,
                  "A cluster of the catalog, a file with one, or an object")
      ->required()
      ->type_name("NAME|FILE");
  add_figures(command, perf.figures);
  command.add_option("--np", perf.processes, "Processes, as mpirun starts them (default: 1)")
      ->check(whole_number(1, kMostPerfNumber))
      ->type_name("N");
  for (const PerfFlag& flag : perf_flags())
    add_perf_flag(command, flag, perf);
  command
      .add_option("-J,--output_file", perf.output,
                  "Write JSON to this file, *.json; where there is one, to *.json.0 and so on")
      ->type_name("FILE");
  command
      .add_option("--data-budget", perf.data_budget,
                  "Values are checked where all of a call take at most so much (default: 256 MiB)")
      ->type_name("BYTES");
  command.add_option("--seed", perf.seed, "Seed of the values")->type_name("N");
  add_choice<Backend>(command, "--backend", perf.backend,
                      {{"host", Backend::Host}, {"cuda", Backend::Cuda}},
                      "Where times come from; host: our model. cuda: the GPUs that are there, on "
                      "which the cluster's schedules run");
  add_limits(command, perf.limits);
  command.allow_extras();  // so that the nearest flag can be named
  command.callback([&command] {
    if (command.remaining().empty())
      return;
    const std::string wrong = command.remaining().front();
    std::vector<std::string_view> names;
    for (const PerfFlag& flag : perf_flags())
      names.push_back(std::string_view(flag.names).substr(3));
    throw CLI::ValidationError(
        wrong, "expected a flag of nccl-tests or of orrery perf" + did_you_mean(wrong, names));
  });
  command.footer(
      "Examples:\n"
      "  orrery perf all_reduce -b 8 -e 8G -f 2 -g 8 --cluster a100-sxm-8\n"
      "  orrery perf alltoall_perf -b 1M -e 64M -f 4 -g 8 -d bfloat16 --cluster h100-sxm-8\n"
      "  orrery perf all_gather -g 4 -J all_gather.json --cluster my-cluster.json\n"
      "  orrery perf all_reduce -b 1M -e 1G -f 4 -g 8 --cluster my-gpu.json --backend cuda\n"
      "Exit codes: 0 nothing is wrong, 1 some #wrong is not 0, 2 the input is wrong, 3 a bug in "
      "orrery.\n");
}

namespace {

void add_table_facts(CLI::App& command, TableFacts& facts) {
  command.add_option("--collective", facts.collective, "Collective of tables that do not say it")
      ->type_name("NAME");
  command.add_option("--ranks", facts.ranks, "Ranks of tables that do not say them")
      ->check(whole_number(1, kMostPerfNumber))
      ->type_name("N");
}

void add_calibrate_cuda(CLI::App& parent, CalibrateCudaCommand& calibrate) {
  CLI::App& command = *parent.add_subcommand(
      "cuda", "To what is measured on the GPUs that are there, for run --backend cuda");
  command.add_option("-o,--output", calibrate.output, "Write the cluster to this file")
      ->required()
      ->type_name("FILE");
  command.add_option("--devices", calibrate.devices, "Virtual devices, over all GPUs (default: 8)")
      ->check(whole_number(1, 4096))
      ->type_name("N");
  command
      .add_option(
          "--most", calibrate.most,
          "The largest copy that is measured; each virtual device takes three times as much "
          "memory (default: 256 MiB)")
      ->type_name("BYTES");
  command
      .add_option("--date", calibrate.date,
                  "The date of the figures, which the file tells (default: today, in UTC)")
      ->type_name("DATE");
  command.footer(
      "Examples:\n  orrery calibrate cuda -o my-gpu.json\n"
      "  orrery run SCENARIO --cluster my-gpu.json --backend cuda\n");
}

/// Adds the options of a fit to tables, but for its validation.
template <class Calibrate>
void add_fit(CLI::App& command, Calibrate& calibrate, const std::string& evaluations) {
  command
      .add_option("--base", calibrate.base,
                  "The cluster to start from: of the catalog, a file with one, or an object")
      ->required()
      ->type_name("NAME|FILE");
  command.add_option("-o,--output", calibrate.output, "Write the cluster to this file")
      ->required()
      ->type_name("FILE");
  command
      .add_option("--date", calibrate.date,
                  "The date of the figures, which the file tells (default: today, in UTC)")
      ->type_name("DATE");
  command
      .add_option("--source", calibrate.source,
                  "What the file says that the times are from (default: the tables' files)")
      ->type_name("TEXT");
  command.add_option("--evaluations", calibrate.evaluations, evaluations)
      ->check(whole_number(1, kMostPerfNumber))
      ->type_name("N");
  add_limits(command, calibrate.limits);
}

void add_calibrate_ops(CLI::App& parent, CalibrateOpsCommand& calibrate) {
  CLI::App& command = *parent.add_subcommand(
      "ops",
      "To times of single ops: what products of matrices and attention reach of the peak rates");
  command
      .add_option(
          "TABLE", calibrate.tables,
          "JSON files with {\"matmul\": {\"columns\": [\"dtype\", \"m\", \"n\", \"k\", "
          "\"time_us\"], \"rows\": [...]}}, with {\"attention\": {\"columns\": [\"batch\", "
          "\"sequence\", \"heads\", \"kv_heads\", \"head\", \"time_us\"], \"rows\": [...]}}, or "
          "with both")
      ->required()
      ->type_name("FILE");
  add_fit(command, calibrate, "Times of all ops that one fit works out at most (default: 2000)");
  command.add_flag_function(
      "--no-validation", [&calibrate](int64_t) { calibrate.validates = false; },
      "Do not fit again with shapes left out");
  command.footer("Example:\n  orrery calibrate ops matmul.json --base h100-sxm-8 -o mine.json\n");
}

}  // namespace

void add_calibrate(CLI::App& app, CalibrateCommand& calibrate, CalibrateCudaCommand& on_gpus,
                   CalibrateOpsCommand& ops) {
  CLI::App& parent = *app.add_subcommand("calibrate", "Fit a cluster to times that were measured");
  parent.require_subcommand(1);
  add_calibrate_cuda(parent, on_gpus);
  add_calibrate_ops(parent, ops);
  CLI::App& command = *parent.add_subcommand("nccl-tests", "To tables of nccl-tests");
  command
      .add_option("TABLE", calibrate.tables,
                  "Files of what its programs printed or wrote with -J, or JSON with tables")
      ->required()
      ->type_name("FILE");
  add_fit(command, calibrate, "Times of all calls that one fit works out at most (default: 500)");
  add_table_facts(command, calibrate.facts);
  command.add_flag_function(
      "--no-validation", [&calibrate](int64_t) { calibrate.validates = false; },
      "Do not fit again with each number of ranks left out");
  command.footer(
      "Example:\n  orrery calibrate nccl-tests all_reduce_8.txt --base a100-sxm-8 -o mine.json\n");
}

void add_validate(CLI::App& app, ValidateCommand& validate) {
  CLI::App& command = *app.add_subcommand(
      "validate", "How far modelled times are from measured tables, as Markdown");
  command
      .add_option("PATH", validate.paths,
                  "Files with tables of nccl-tests, of single ops (as calibrate ops reads them), "
                  "or of steps of a plan, and folders of such files")
      ->required()
      ->type_name("FILE");
  command
      .add_option("--cluster", validate.cluster,
                  "The cluster they are from: of the catalog, a file with one, or an object")
      ->type_name("NAME|FILE");
  add_table_facts(command, validate.facts);
  command.add_option("--json", validate.output, "Write the mean errors to this file")
      ->type_name("FILE");
  command
      .add_option("--against", validate.against,
                  "Fail where a mean error is more than a tenth above that of this file")
      ->type_name("FILE");
  add_limits(command, validate.limits);
  command.footer(
      "Examples:\n  orrery validate all_reduce_8.txt --cluster mine.json\n"
      "  orrery validate tools/calibrate/measured --against docs/accuracy.json\n");
}

}  // namespace orrery
