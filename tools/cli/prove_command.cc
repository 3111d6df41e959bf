// orrery prove takes an imported algorithm from its file to a verdict.

#include <charconv>
#include <ostream>

#include <fmt/format.h>

#include "models/base/diagnostics.h"
#include "models/scenario/document.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"
#include "tools/cli/overrides.h"
#include "tools/import/msccl.h"
#include "tools/import/prove.h"
#include "tools/report/figures.h"
#include "tools/report/text.h"
#include "tools/report/text_parts.h"

namespace orrery {
namespace {

std::string assumed_text(const AlgorithmTime& time) {
  std::string text;
  for (const std::string& label : time.labels)
    text += "    assumed: " + label + "\n";
  return text;
}

std::string called_text(const AlgorithmProof& proof) {
  if (proof.in_place && proof.out_of_place)
    return "in place and out of place, ";
  return proof.in_place ? "in place, " : "";
}

std::string header_text(const MscclAlgorithm& algorithm, const AlgorithmProof& proof) {
  const auto many = [](uint64_t count, const char* noun) {
    return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
  };
  return fmt::format("  {} over {}, {}{} protocol; {} of {} ({} in all), {}, {}",
                     name(algorithm.collective), counted(algorithm.gpus, "gpu"), called_text(proof),
                     name(algorithm.protocol), counted(algorithm.whole(), "chunk"),
                     size_text(proof.chunk), size_text(proof.size), many(proof.steps, "step"),
                     many(algorithm.messages.size(), "message"));
}

std::string notes_text(const AlgorithmProof& proof) {
  std::string text;
  for (const std::string& note : proof.notes)
    text += fmt::format("    note: {}\n", wrapped_words(words_of(note), kReportColumns - 10, 10));
  return text;
}

std::string time_line(const AlgorithmProof& proof, const Cluster& cluster, const Style& style) {
  const AlgorithmTime& time = *proof.time;
  std::string line = fmt::format("  {} on {} ({}): {} in {}", style.bold("TIME"), cluster.name,
                                 time.protocol, size_text(proof.size),
                                 time_text(time.completion.makespan - Instant(), style.ascii()));
  if (time.bandwidths)
    line += fmt::format(", algbw {:.2f} GB/s, busbw {:.2f} GB/s", time.bandwidths->algbw_GBps,
                        time.bandwidths->busbw_GBps);
  return line + "\n    " +
         style.dim(fmt::format("by {}: {}", name(time.completion.by), time.completion.because)) +
         "\n";
}

std::string replay_of(const ProveCommand& command) {
  Replay replay({"orrery", "prove"}, command.file);
  replay.option("--cluster", command.cluster);
  replay.options("--cluster-figure", command.figures);
  replay.option("--slots", command.slots);
  replay.option("--size", command.size);
  replay.option("--runtime", command.runtime);
  replay.option("--root", command.root);
  replay.option("--definition", command.definition);
  replay.limits(command.limits);
  return replay.text();
}

/// Returns the first line of the file that the check names. Checks are in the words of the file
/// (msccl_words.h), which names steps by their lines: "gpu 0 tb 1 step 3 (rrs, line 12)".
std::optional<TextPosition> line_named(const Check& check) {
  std::string said = check.message;
  for (const auto& [key, text] : check.witness)
    said += fmt::format(" {}: {}", key, text);
  std::vector<std::string> words = words_of(said);
  std::erase(words, "");  // columns of a witness are aligned by spaces
  for (size_t w = 0; w + 1 < words.size(); ++w) {
    uint32_t line = 0;
    const std::string& number = words[w + 1];
    if ((words[w] == "line" || words[w] == "lines") &&
        std::from_chars(number.data(), number.data() + number.size(), line).ec == std::errc())
      return TextPosition{line, 1};
  }
  return std::nullopt;
}

Outcome prove(const ProveCommand& command, const Terminal& terminal, CiResults& ci) {
  const std::string file_text = load_text(command.file, command.limits);
  refuse_template(command.file, file_text, command.limits);
  const MscclAlgorithm algorithm = read_msccl(file_text, command.file, command.limits);
  ProofRequest request;
  request.slots = command.slots;
  request.root = command.root;
  if (command.runtime)
    request.runtime = runtime_named(*command.runtime);
  request.limits = command.limits;
  if (command.size)
    request.size = size_named("--size", *command.size);
  std::optional<Cluster> cluster;
  if (command.cluster) {
    cluster = with_figures(cluster_given("--cluster", *command.cluster, command.limits),
                           command.figures, command.limits);
    request.cluster = &*cluster;
  } else if (!command.figures.empty()) {
    refuse("--cluster-figure", "expected --cluster too, which names the cluster of the figure");
  }
  std::optional<ChunkDefinition> definition;
  if (command.definition) {
    definition = read_definition(load_text(*command.definition, command.limits),
                                 *command.definition, algorithm, command.limits);
    request.definition = &*definition;
  }
  const AlgorithmProof proof = prove_algorithm(algorithm, request);

  const Style& style = terminal.style;
  const Verdict verdict = proof.holds ? Verdict::Holds : Verdict::Fails;
  std::string text =
      fmt::format("{} {}  {}\n{}\n{}\n", style.mark(verdict), style.bold(algorithm.name),
                  headline(verdict, style), style.dim(header_text(algorithm, proof)),
                  style.dim(notes_text(proof))) +
      checks_text(proof.checks, style);
  if (proof.time)
    text += "\n" + time_line(proof, *cluster, style) + style.dim(assumed_text(*proof.time));
  else if (!cluster)
    text += "\n  " + style.dim("give --cluster NAME or FILE for its time") + "\n";
  terminal.out << with_units(std::move(text), style);
  ci.add(command.file, proof.checks, replay_of(command), OnUndecided::Fail,
         [](const Check& check) { return line_named(check); });
  return proof.holds ? Outcome::Holds : Outcome::Fails;
}

}  // namespace

Outcome execute(const ProveCommand& command, const Terminal& terminal) {
  CiResults ci(command.ci);
  try {
    if (command.ci.junit)
      keep_inputs("--junit", *command.ci.junit, {command.file});
    const Outcome outcome = prove(command, terminal, ci);
    ci.write_junit();
    ci.write_annotations(terminal.out);
    return outcome;
  } catch (const InputError& error) {
    const bool of_algorithm = is_of(error, command.file);
    if (of_algorithm)
      ci.add(command.file, error, replay_of(command));
    else
      ci.add(error, {command.cluster, command.definition});
    ci.write_annotations(terminal.out);
    if (of_algorithm)
      ci.write_junit();
    throw;
  }
}

}  // namespace orrery
