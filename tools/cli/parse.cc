// Declares the options of the commands, and finds the command that was asked for.

#include <algorithm>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tools/cli/command_tree.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"

namespace orrery {
namespace {

const char* const kAbout =
    "Simulates and verifies programs that run on many devices at once: what the values are,\n"
    "whether the communication is right for every input, whether it can hang, how long it takes,\n"
    "and whether it fits.";

const char* const kExitCodes =
    "Exit codes: 0 all holds, 1 a verdict fails or is undecided, 2 the input is wrong, 3 a bug in "
    "orrery.\n";

/// Adds --part. `units` says what there are parts of.
void add_part(CLI::App& command, std::optional<std::string>& part, std::string_view units) {
  command
      .add_option("--part", part,
                  fmt::format("Only work out the I-th of N parts of the {}, into the folder of "
                              "--output; what is there is not worked out again. `orrery merge` "
                              "writes the answer",
                              units))
      ->type_name("I/N");
}

void add_run(CLI::App& app, RunCommand& run) {
  CLI::App& command = *app.add_subcommand("run", "Run scenarios: values, time, memory, verdicts");
  command.add_option("FILE", run.paths, "Scenario files, or folders of them; - is standard input")
      ->required();
  add_choice<Format>(command, "--format", run.format,
                     {{"text", Format::Text}, {"json", Format::Json}}, "The form of the report");
  add_choice<ShownOps>(
      command, "--ops", run.text.ops, {{"grouped", ShownOps::Grouped}, {"all", ShownOps::All}},
      "In text: ops of loops and of layers that repeat once, or one by one and sections whole");
  command.add_flag_function(
      "--verbose", [&run](int64_t) { run.text.checks = ShownChecks::All; },
      "In text: checks that hold one by one, and sections whole, however long");
  command.add_option("-o,--output", run.output, "Write the report to this file")->type_name("FILE");
  add_part(command, run.part, "files");
  command
      .add_option_function<std::string>(
          "--values",
          [&run](const std::string& list) { run.values = CLI::detail::split(list, ','); },
          "Values to put into the JSON report: all, or ids")
      ->type_name("all|ID,...");
  add_choice<Encoding>(command, "--encoding", run.encoding,
                       {{"values", Encoding::Values}, {"bits", Encoding::Bits}},
                       "How elements are written");
  command.add_option("--seed", run.options.seed, "Of random initial data and jitter")
      ->type_name("N");
  add_choice<Data>(command, "--data", run.options.data,
                   {{"auto", Data::Auto}, {"on", Data::On}, {"off", Data::Off}},
                   "Whether to move data; auto: when it is small");
  command.add_flag_function(
      "--allow-undecided", [&run](int64_t) { run.undecided = OnUndecided::Allow; },
      "Exit with 0 where verdicts are undecided and none fails");
  command.add_flag("--pass-over", run.pass_over,
                   "Pass over laws that are named, as those in folders");
  add_ci(command, run.ci);
  command
      .add_option("--explain", run.explain,
                  "Add why this op ran when it did, and why this value lives from when to when")
      ->type_name("ID");
  command
      .add_option(
          "--let", run.let,
          "Run one case of a law: values of its names, as in n=4,dtype=bf16,p=[1,0]; others "
          "have their least")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("NAME=VALUE,...");
  command
      .add_option("--trace", run.trace,
                  "Write a Chrome trace to this file; it opens in Perfetto (ui.perfetto.dev)")
      ->type_name("FILE");
  command
      .add_option("--html", run.html,
                  "Write a page to this file: when what ran, what was held, why; it loads nothing")
      ->type_name("FILE");
  command
      .add_option("--trace-messages", run.trace_options.most_messages,
                  "The most messages in a trace, all by default; collectives beyond are written "
                  "without theirs")
      ->needs("--trace")
      ->type_name("N");
  command
      .add_option("--algorithm", run.algorithms,
                  "How the collectives of this op are scheduled where they do not say it, as in "
                  "psum=one_shot; `orrery show algorithms` lists the names")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("OP=ALGORITHM");
  add_choice<Backend>(
      command, "--backend", run.backend, {{"host", Backend::Host}, {"cuda", Backend::Cuda}},
      "Where data is moved; cuda: on the GPUs that are there too, whose values must "
      "be the host's, and whose times are shown beside the modelled ones");
  command
      .add_option("--measured-runs", run.measured_runs,
                  "With --backend cuda: runs that are timed as a whole (default: 5)")
      ->check(whole_number(1, 1'000'000))
      ->type_name("N");
  add_choice<std::optional<Measure>>(
      command, "--measure", run.measure, {{"ops", Measure::Ops}, {"steps", Measure::Steps}},
      "With --backend cuda: of what begin and end are taken in one more run (default: ops)");
  command.add_flag("--fast-dot", run.fast_dot,
                   "With --backend cuda: dot_general by cuBLASLt, in tensor cores, where it is a "
                   "product of matrices; what depends on it is compared within error bounds");
  command
      .add_option(
          "--cluster", run.cluster,
          "In place of the scenario's: a cluster of the catalog, a file with one, or an object")
      ->type_name("NAME|FILE");
  add_figures(command, run.figures);
  add_limits(command, run.options.limits);
  command.footer(
      "Examples:\n"
      "  orrery run scenarios/quickstart.json\n"
      "  orrery run scenarios/two-programs.json --algorithm psum=one_shot\n"
      "  orrery run scenarios/quickstart.json --cluster-figure latency=\"2 us\"\n"
      "  orrery run scenarios/quickstart.json --format json --values g,r -o report.json\n"
      "  orrery run scenarios/quickstart.json --trace trace.json\n"
      "  orrery run scenarios/quickstart.json --html report.html\n"
      "  orrery run scenarios/quickstart.json --explain r\n"
      "  orrery run scenarios/quickstart.json --backend cuda\n"
      "  orrery run scenarios/quickstart.json --cluster h100-sxm-8\n"
      "  orrery run scenarios            all scenarios below the folder, with a summary\n"
      "  orrery run scenarios --part 2/8 -o parts\n"
      "  orrery run scenarios --junit verdicts.xml --annotate github\n"
      "  orrery run huge.json --limit devices=2000000 --limit \"data=16 GiB\"\n" +
      std::string(kExitCodes));
}

void add_verify(CLI::App& app, VerifyCommand& verify) {
  CLI::App& command = *app.add_subcommand(
      "verify", "Verify laws: scenarios with holes, whose expectations must hold in every case");
  command.add_option("FILE", verify.paths, "Laws, or folders of them");
  command
      .add_option_function<std::string>(
          "--laws",
          [&verify](const std::string& list) { verify.laws = CLI::detail::split(list, ','); },
          "Laws that are built in: all, or ids; `orrery show law` lists them")
      ->type_name("all|ID,...");
  command.add_option("--cases", verify.cases, "Cases that are drawn of each law (default: 100)")
      ->check(whole_number(1, 10'000'000))
      ->type_name("N");
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  command.add_option("--seed", verify.seed, "Of all that is drawn (default: 0)")
      ->check(whole_number(0, kMost))
      ->type_name("N");
  command.add_option("--case", verify.only, "Run the case with this number alone")
      ->check(whole_number(0, kMost))
      ->type_name("K");
  command
      .add_option("--jobs", verify.jobs,
                  "Threads; what is printed does not depend on it (default: 1)")
      ->check(whole_number(1, 1024))
      ->type_name("J");
  add_choice<Format>(command, "--format", verify.format,
                     {{"text", Format::Text}, {"json", Format::Json}}, "The form of the answer");
  command.add_option("-o,--output", verify.output, "Write the answer to this file")
      ->type_name("FILE");
  add_part(command, verify.part, "cases");
  command
      .add_option("--out", verify.folder,
                  "Write counterexamples into this folder (default: beside their laws)")
      ->type_name("FOLDER");
  command.add_flag_function(
      "--allow-undecided", [&verify](int64_t) { verify.undecided = OnUndecided::Allow; },
      "Exit with 0 where cases are undecided and none fails");
  command.add_flag("--pass-over", verify.pass_over,
                   "Pass over scenarios that are named, as those in folders");
  add_ci(command, verify.ci);
  add_limits(command, verify.limits);
  command.footer(
      "Examples:\n"
      "  orrery verify scenarios/laws/L01.json\n"
      "  orrery verify --laws all --cases 1000 --jobs 2\n"
      "  orrery verify mine.json --seed 7 --case 12    one case again\n"
      "  orrery verify --laws all --cases 100000 --part 2/8 -o parts\n" +
      std::string(kExitCodes));
}

constexpr std::string_view kPlanExitCodes =
    "Exit codes: 0 a point fits, 1 none does, 2 the input is wrong, 3 a bug in orrery.\n";

/// Adds the options that say how the answer of a plan is made and written.
template <class PlanAnswer>
void add_plan_answer(CLI::App& command, PlanAnswer& answer, const std::string& of_plans) {
  command.add_flag("--all", answer.all_points, of_plans + "In text: a row for each point");
  add_choice<PlanFormat>(command, "--format", answer.format,
                         {{"text", PlanFormat::Text},
                          {"json", PlanFormat::Json},
                          {"csv", PlanFormat::Csv},
                          {"html", PlanFormat::Html}},
                         "The form of the answer; html: a page with charts, which loads nothing");
  command.add_option("-o,--output", answer.output, "Write the answer to this file")
      ->type_name("FILE");
  command
      .add_option("--jobs", answer.jobs,
                  "Threads; what is printed does not depend on it (default: 1)")
      ->check(whole_number(1, 1024))
      ->type_name("J");
}

void add_plan(CLI::App& app, PlanCommand& plan) {
  CLI::App& command = *app.add_subcommand(
      "plan", "Time the points of a plan: what fits, what is fastest, what to change");
  command.add_option("FILE", plan.file, "A plan: a scenario with holes, and a \"sweep\"")
      ->required();
  command
      .add_option("--let", plan.let,
                  "Values of names in the place of their sweep, as in tp=4,recompute=none")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("NAME=VALUE,...");
  command
      .add_option("--find", plan.find,
                  "Say only which is the largest value of a name with which something fits, by "
                  "bisection where memory, time and devices grow with it")
      ->type_name("largest:NAME");
  command
      .add_option("--scenario", plan.scenario,
                  "Write the scenario of this point or case, which `orrery run` runs")
      ->type_name("ID");
  add_part(command, plan.part, "points");
  add_plan_answer(command, plan, "");
  command.add_option("--seed", plan.seed, "Of jitter (default: 0)")
      ->check(whole_number(0, std::numeric_limits<int64_t>::max()))
      ->type_name("N");
  add_limits(command, plan.limits);
  command.footer(
      "Examples:\n"
      "  orrery plan scenarios/plan/all-reduce-cluster.json\n"
      "  orrery plan scenarios/plan/does-it-fit.json --all\n"
      "  orrery plan scenarios/plan/moe-all-to-all.json --format html -o plan.html\n"
      "  orrery plan scenarios/plan/llama3-8b-layer.json --let gpus=8,tp=8 --find "
      "largest:sequences\n"
      "  orrery plan scenarios/plan/llama3-8b.json --part 2/8 -o parts\n" +
      std::string(kPlanExitCodes));
}

void add_merge(CLI::App& app, MergeCommand& merge) {
  CLI::App& command = *app.add_subcommand(
      "merge", "Write what a command would whose parts are there: plan, verify, run with --part");
  command.add_option("FOLDER", merge.folder, "The folder of the parts")->required();
  add_plan_answer(command, merge, "Of a plan: ");
  command
      .add_option("--out", merge.counterexamples,
                  "Of verify: write counterexamples into this folder (default: beside their laws)")
      ->type_name("FOLDER");
  command.add_flag_function(
      "--allow-undecided", [&merge](int64_t) { merge.undecided = OnUndecided::Allow; },
      "Of verify and run: exit with 0 where something is undecided and nothing fails");
  command.footer(
      "Examples:\n  orrery merge parts --format json\n"
      "Exit codes: those of the command, 2 also if a part is missing.\n");
}

void add_diff(CLI::App& app, DiffCommand& diff) {
  CLI::App& command = *app.add_subcommand("diff", "Where two runs first differ, and in what");
  command.add_option("A", diff.a, "A scenario, or a JSON report of one run")
      ->required()
      ->type_name("FILE");
  command.add_option("B", diff.b, "What it is compared with")->required()->type_name("FILE");
  add_choice<Format>(command, "--format", diff.format,
                     {{"text", Format::Text}, {"json", Format::Json}}, "The form of the answer");
  command.add_option("-o,--output", diff.output, "Write the answer to this file")
      ->type_name("FILE");
  command.add_option("--seed", diff.options.seed, "Of random initial data and jitter")
      ->type_name("N");
  add_choice<Data>(command, "--data", diff.options.data,
                   {{"auto", Data::Auto}, {"on", Data::On}, {"off", Data::Off}},
                   "Whether scenarios move data; auto: when it is small");
  add_limits(command, diff.options.limits);
  command.footer(
      "Examples:\n"
      "  orrery diff scenarios/quickstart.json scenarios/slow-device.json\n"
      "  orrery run scenarios/quickstart.json --format json --values all -o before.json\n"
      "  orrery diff before.json scenarios/quickstart.json\n"
      "Exit codes: 0 the same, 1 they differ, 2 the input is wrong, 3 a bug in orrery.\n");
}

void add_prove(CLI::App& app, ProveCommand& prove) {
  CLI::App* const command = app.add_subcommand(
      "prove", "Prove an MSCCL algorithm: right for all values, hang-free, timed");
  command->add_option("FILE", prove.file, "The algorithm, MSCCL XML")->required();
  command
      ->add_option("--cluster", prove.cluster,
                   "To time it on: a cluster of the catalog, a file with one, or an object")
      ->type_name("NAME|FILE");
  add_figures(*command, prove.figures);
  command
      ->add_option("--slots", prove.slots,
                   "Messages that a connection holds (default: the runtime's; Simple 2, LL and "
                   "LL128 8)")
      ->check(whole_number(1, 1 << 20))
      ->type_name("N");
  command
      ->add_option("--size", prove.size,
                   "Bytes of the whole buffer, as \"4 MiB\" (default: every size that the file is "
                   "for; times are then of 1 MiB, or of the nearest of them)")
      ->type_name("BYTES");
  add_choice<std::optional<std::string>>(
      *command, "--runtime", prove.runtime,
      {{"rccl", "rccl"}, {"msccl", "msccl"}, {"none", "none"}},
      "Whose parser, limits and slots; none has no limits and does not cut messages (default: "
      "rccl, or msccl for files that only it reads or runs)");
  command
      ->add_option("--root", prove.root,
                   "The root of a broadcast, reduce, gather or scatter (default: 0)")
      ->check(whole_number(0, (1 << 16) - 1))
      ->type_name("GPU");
  command
      ->add_option("--definition", prove.definition,
                   "What the outputs must be, JSON: {\"outputs\": [[gpu, chunk, [[gpu, chunk], "
                   "..]], ..]}, each the sum of input chunks; a custom collective needs it")
      ->type_name("FILE");
  add_ci(*command, prove.ci);
  add_limits(*command, prove.limits);
  command->footer(
      "Examples:\n"
      "  orrery prove algorithm.xml\n"
      "  orrery prove algorithm.xml --slots 1 --cluster a100-sxm-8 --size \"16 MiB\"\n"
      "  orrery prove algorithm.xml --cluster cluster.json --cluster-figure latency=\"2 us\"\n"
      "  orrery prove algorithm.xml --junit verdicts.xml\n"
      "  orrery prove custom.xml --definition outputs.json --runtime msccl\n" +
      std::string(kExitCodes));
}

void add_show_sharding(CLI::App& show, ShowShardingCommand& sharding) {
  CLI::App& command = *show.add_subcommand(
      "sharding", "Which device holds which part of an array, and how XLA writes it");
  CLI::Option* const file = command.add_option("FILE", sharding.file, "A scenario with the array");
  command.add_option("ARRAY", sharding.array, "The array's name");
  CLI::Option* const described[] = {
      command
          .add_option("--mesh", sharding.mesh, "In place of a scenario: the axes, as in x=4,y=2")
          ->type_name("NAME=SIZE,..."),
      command.add_option("--shape", sharding.shape, "The shape of the whole array")
          ->type_name("N,..."),
      command
          .add_option("--spec", sharding.spec,
                      "An entry per dimension: null, an axis, or a list of axes major to minor")
          ->type_name("JSON"),
      command.add_option("--dtype", sharding.dtype, "The dtype of the array (default: f32)")
          ->type_name("DTYPE")};
  CLI::Option* const queries =
      command
          .add_option("--queries", sharding.queries,
                      "Answer queries instead, a line of JSON each; - is standard input")
          ->type_name("FILE")
          ->excludes(file);
  for (CLI::Option* const option : described)
    option->excludes(file)->excludes(queries);
  command.add_option("--svg", sharding.svg, "Draw the parts as an SVG image too")
      ->type_name("FILE")
      ->excludes(queries);
  add_limits(command, sharding.limits);
  command.footer(
      "Examples:\n"
      "  orrery show sharding --mesh x=4,y=2 --shape 16,8 --spec '[\"x\", [\"y\"]]'\n"
      "  orrery show sharding scenarios/quickstart.json a\n"
      "  orrery show sharding --queries queries.jsonl\n"
      "Exit codes: 0 shown, 2 the input or a line of the queries is wrong, 3 a bug in orrery.\n");
}

void add_show_mpmd(CLI::App& show, ShowMpmdCommand& mpmd) {
  CLI::App& command = *show.add_subcommand(
      "mpmd", "Groups of an MPMD mesh, its arrays, and the transfer groups in which they move");
  CLI::Option* const file =
      command.add_option("FILE", mpmd.file, "A scenario with a reshard to or from groups");
  command.add_option("ID", mpmd.reshard,
                     "The reshard, by one of its ids: what it takes with other thresholds");
  CLI::Option* const queries =
      command
          .add_option("--queries", mpmd.queries,
                      "Answer queries instead, a line of JSON each; - is standard input")
          ->type_name("FILE")
          ->excludes(file);
  command.add_option("--svg", mpmd.svg, "Draw time against peak as an SVG image too")
      ->type_name("FILE")
      ->excludes(queries);
  add_limits(command, mpmd.limits);
  command.footer(
      "Examples:\n"
      "  orrery show mpmd scenarios/mpmd-weights.json q0.stage\n"
      "  orrery show mpmd --queries queries.jsonl\n"
      "Exit codes: 0 shown, 2 the input or a line of the queries is wrong, 3 a bug in orrery.\n");
}

void add_show(CLI::App& app, ShowCommand& show, ShowShardingCommand& sharding,
              ShowMpmdCommand& mpmd) {
  CLI::App* const command = app.add_subcommand(
      "show",
      "Show a program, a schedule, the critical path, shardings, MPMD meshes, a topology, the "
      "catalog, the ops, the algorithms, the laws, the schemas");
  command->require_subcommand(1);
  CLI::App* const program = command->add_subcommand("program", "The ops of a scenario, typed");
  program->add_option("FILE", show.file, "A scenario")->required();
  add_limits(*program, show.limits);
  program->callback([&show] { show.what = ShowCommand::What::Program; });
  program->footer("Example:\n  orrery show program scenarios/quickstart.json\n");

  CLI::App* const schedule =
      command->add_subcommand("schedule", "The steps that a collective is lowered to");
  schedule->add_option("FILE", show.file, "A scenario")->required();
  schedule->add_option("OP", show.op, "The id of one of its collectives")->required();
  schedule->add_option("--node", show.node, "Whose steps: a rank of the first group")
      ->type_name("N");
  add_limits(*schedule, show.limits);
  schedule->callback([&show] { show.what = ShowCommand::What::Schedule; });
  schedule->footer("Example:\n  orrery show schedule scenarios/quickstart.json r --node 1\n");

  CLI::App* const path = command->add_subcommand(
      "critical-path", "The ops that the makespan is made of, and the slack of the others");
  path->add_option("FILE", show.file, "A scenario")->required();
  add_limits(*path, show.limits);
  path->callback([&show] { show.what = ShowCommand::What::CriticalPath; });
  path->footer("Example:\n  orrery show critical-path scenarios/quickstart.json\n");

  add_show_sharding(*command, sharding);
  add_show_mpmd(*command, mpmd);

  CLI::App* const topology =
      command->add_subcommand("topology", "How a cluster is wired: levels, figures, links");
  topology
      ->add_option("CLUSTER", show.file,
                   "A scenario, a cluster of the catalog, a file with one, or an object")
      ->required();
  add_choice<Format>(*topology, "--format", show.format,
                     {{"text", Format::Text}, {"json", Format::Json}},
                     "json: the cluster for a scenario, with a list of all links");
  add_limits(*topology, show.limits);
  topology->callback([&show] { show.what = ShowCommand::What::Topology; });
  topology->footer(
      "Examples:\n  orrery show topology scenarios/quickstart.json\n"
      "  orrery show topology '{\"catalog\": \"h100-sxm-8\", \"nodes\": 64}'\n");

  CLI::App* const catalog = command->add_subcommand("catalog", "The clusters that are built in");
  catalog->add_option("NAME", show.entry, "One of them, with its figures and their sources");
  catalog->callback([&show] { show.what = ShowCommand::What::Catalog; });
  catalog->footer("Example:\n  orrery show catalog h100-sxm-8\n");

  CLI::App* const law = command->add_subcommand("law", "The laws that are built in");
  law->add_option("ID", show.entry, "One of them, to copy from");
  law->callback([&show] { show.what = ShowCommand::What::Law; });
  law->footer("Example:\n  orrery show law L01 >mine.json\n");

  CLI::App* const ops = command->add_subcommand("ops", "The ops a program can have");
  add_choice<OpsFormat>(*ops, "--format", show.ops_format,
                        {{"text", OpsFormat::Text}, {"markdown", OpsFormat::Markdown}},
                        "markdown: with what each parameter means");
  ops->callback([&show] { show.what = ShowCommand::What::Ops; });
  ops->footer("Examples:\n  orrery show ops\n  orrery show ops --format markdown\n");

  CLI::App* const schema =
      command->add_subcommand("schema", "The JSON Schema of a scenario, a law, a plan or a report");
  add_choice<std::string>(*schema, "WHICH", show.entry,
                          {{"scenario", "scenario"},
                           {"law", "law"},
                           {"plan", "plan"},
                           {"report", "report"},
                           {"plan-report", "plan-report"}},
                          "Which of them")
      ->required();
  schema->callback([&show] { show.what = ShowCommand::What::Schema; });
  schema->footer("Example:\n  orrery show schema scenario >scenario.schema.json\n");
  command->add_subcommand("algorithms", "The algorithms a collective can have")
      ->callback([&show] { show.what = ShowCommand::What::Algorithms; })
      ->footer("Example:\n  orrery show algorithms\n");
  command->footer(
      "Examples:\n  orrery show program scenarios/quickstart.json\n"
      "  orrery show catalog h100-sxm-8\n");
}

void add_completion(CLI::App& app, std::string& shell) {
  CLI::App* const command = app.add_subcommand("completion", "Print completion for a shell");
  add_choice<std::string>(*command, "SHELL", shell, {{"bash", "bash"}, {"zsh", "zsh"}}, "Which one")
      ->required();
  command->footer(
      "Examples:\n  source <(orrery completion bash)\n"
      "  orrery completion zsh >~/.zfunc/_orrery\n");
}

void add_manual(CLI::App& app) {
  app.add_subcommand("manual", "Print the manual page")
      ->footer("Example:\n  orrery manual | man -l -\n");
}

/// Returns the words of "text|json". The result is empty if one stands for a text of the user, as
/// FILE does.
std::vector<std::string> choices_in(const std::string& type_name) {
  std::vector<std::string> words = CLI::detail::split(type_name, '|');
  const bool fixed =
      !type_name.empty() &&
      type_name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-|") == std::string::npos;
  return fixed ? words : std::vector<std::string>();
}

OptionHelp option_help(const CLI::Option& option) {
  OptionHelp help;
  for (const std::string& name : option.get_snames())
    help.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames())
    help.names.push_back("--" + name);
  const bool placed = help.names.empty();
  const std::string type = option.get_type_name();
  help.choices = choices_in(type);
  // CLI11 names a type TEXT by default.
  help.takes = placed && help.choices.empty() ? option.get_name(true) : type;
  if (option.get_items_expected_max() == 0)
    help.takes.clear();
  help.takes_file = help.takes == "FILE" || type == "FILE";
  help.required = option.get_required();
  help.repeats = option.get_items_expected_max() > 1;
  help.about = option.get_description();
  return help;
}

CommandHelp command_help(const CLI::App& app) {
  CommandHelp help{app.get_name(), app.get_description(), {}, {}, app.get_footer()};
  for (const CLI::Option* option : app.get_options())
    help.options.push_back(option_help(*option));
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    help.commands.push_back(command_help(*command));
  // The help has headings and exit codes, since some users have nothing else.
  for (const std::string& heading :
       {std::string("Example:\n"), std::string("Examples:\n"), std::string(kExitCodes)})
    if (const size_t at = help.examples.find(heading); at != std::string::npos)
      help.examples.erase(at, heading.size());
  return help;
}

}  // namespace

Command parse_command_line(std::vector<std::string> arguments) {
  CLI::App app(kAbout, "orrery");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text());
  app.footer("Examples:\n  orrery run scenarios/quickstart.json\n  orrery show catalog\n" +
             std::string(kExitCodes));
  RunCommand run;
  VerifyCommand verify;
  PlanCommand plan;
  MergeCommand merge;
  DiffCommand diff;
  ProveCommand prove;
  PerfCommand perf;
  perf.arguments = arguments;
  CalibrateCommand calibrate;
  CalibrateCudaCommand calibrate_cuda;
  CalibrateOpsCommand calibrate_ops;
  ValidateCommand validate;
  ShowCommand show;
  ShowShardingCommand show_sharding;
  ShowMpmdCommand show_mpmd;
  add_run(app, run);
  add_verify(app, verify);
  add_plan(app, plan);
  add_merge(app, merge);
  add_diff(app, diff);
  add_prove(app, prove);
  add_perf(app, perf);
  add_calibrate(app, calibrate, calibrate_cuda, calibrate_ops);
  add_validate(app, validate);
  std::string shell;
  add_show(app, show, show_sharding, show_mpmd);
  add_completion(app, shell);
  add_manual(app);
  try {
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them in reverse
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const bool asked = app.exit(error, out, err) == 0;
    return Message{asked ? Outcome::Holds : Outcome::WrongInput, asked ? out.str() : err.str()};
  }
  if (app.got_subcommand("completion"))
    return Message{Outcome::Holds, shell == "bash" ? bash_completion(command_help(app))
                                                   : zsh_completion(command_help(app))};
  if (app.got_subcommand("manual"))
    return Message{Outcome::Holds, manual_page(command_help(app), version_text())};
  if (app.got_subcommand("run"))
    return run;
  if (app.got_subcommand("verify"))
    return verify;
  if (app.got_subcommand("plan"))
    return plan;
  if (app.got_subcommand("merge"))
    return merge;
  if (app.got_subcommand("diff"))
    return diff;
  if (app.got_subcommand("prove"))
    return prove;
  if (app.got_subcommand("perf"))
    return perf;
  if (app.got_subcommand("calibrate")) {
    if (app.get_subcommand("calibrate")->got_subcommand("cuda"))
      return calibrate_cuda;
    if (app.get_subcommand("calibrate")->got_subcommand("ops"))
      return calibrate_ops;
    return calibrate;
  }
  if (app.got_subcommand("validate"))
    return validate;
  if (app.get_subcommand("show")->got_subcommand("sharding"))
    return show_sharding;
  if (app.get_subcommand("show")->got_subcommand("mpmd"))
    return show_mpmd;
  return show;
}

}  // namespace orrery
