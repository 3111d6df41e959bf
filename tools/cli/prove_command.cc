// orrery prove takes an imported algorithm from its file to a verdict.

#include <ostream>

#include <fmt/format.h>

#include "models/scenario/document.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"
#include "tools/cli/overrides.h"
#include "tools/import/msccl.h"
#include "tools/import/prove.h"
#include "tools/report/checks_text.h"
#include "tools/report/figures.h"
#include "tools/report/names.h"
#include "tools/report/text.h"

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

}  // namespace

Outcome execute(const ProveCommand& command, const Terminal& terminal) {
  const MscclAlgorithm algorithm =
      read_msccl(load_text(command.file, command.limits), command.file, command.limits);
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
  return proof.holds ? Outcome::Holds : Outcome::Fails;
}

}  // namespace orrery
