// Compares verdicts on small files with a slow copy of RCCL's parser and interpreter.

#include "tests/tools/import/interpreter.h"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "tests/support/property.h"
#include "tools/import/prove.h"

namespace orrery::test {
namespace {

/// Returns a whole number in [0, count), as random in small tests as in large ones.
int below(int count) {
  return static_cast<int>(evenly_below(count));
}
bool one_in(int count) {
  return below(count) == 0;
}

FileStep random_step(const std::string& type, int count) {
  FileStep step{type};
  const std::string buffers = "iios";
  step.source = buffers[static_cast<size_t>(below(4))];
  step.target = one_in(3) ? 's' : 'o';
  step.count = count;
  step.source_chunk = below(5 - count);
  step.target_chunk = below(5 - count);
  step.sets_flag = one_in(2);
  return step;
}

/// Returns a file with steps around a ring in thread block 0 of each gpu, and local steps in other
/// blocks, which wait for each other at random. Each connection has the same number of messages, of
/// one chunk. With `filled`, all buffers are written before any other step, and waits are rare.
File random_file(bool filled) {
  File file;
  file.chunks = 4;
  const int gpus = 1 + below(3);
  const int messages = gpus > 1 ? 1 + below(3) : 0;
  for (int g = 0; g < gpus; ++g) {
    std::vector<FileBlock>& blocks = file.gpus.emplace_back(static_cast<size_t>(1 + below(3)));
    for (size_t b = 0; b < blocks.size(); ++b) {
      int to_send = b == 0 ? messages : 0;
      int to_take = to_send;
      if (to_send > 0) {
        blocks[b].send = (g + 1) % gpus;
        blocks[b].receive = (g + gpus - 1) % gpus;
      }
      if (filled && b == 0)
        for (const char buffer : {'o', 's'})
          blocks[b].steps.push_back({"cpy", 'i', 0, buffer, 0, 4, -1, -1, true});
      if (filled && b > 0)
        blocks[b].steps.push_back({"cpy", 'i', 0, 'o', static_cast<int>(b), 1, 0, 1, true});
      for (int local = 1 + below(4); local > 0 || to_send > 0 || to_take > 0;) {
        const int choice = below(4);
        std::string type;
        if (choice == 0 && to_send > 0 && to_take > 0) {
          const char* const fused[] = {"rcs", "rrs", "rrcs"};
          type = fused[below(3)];
          --to_send;
          --to_take;
        } else if (choice == 1 && to_send > 0) {
          type = "s";
          --to_send;
        } else if (choice == 2 && to_take > 0) {
          type = one_in(2) ? "r" : "rrc";
          --to_take;
        } else if (local > 0) {
          const char* const locals[] = {"cpy", "re", "re", "re", "nop"};
          type = locals[below(5)];
          --local;
        } else if (to_send > 0) {
          type = "s";
          --to_send;
        } else {
          type = "r";
          --to_take;
        }
        FileStep step = random_step(type, type == "cpy" && one_in(2) ? 2 : 1);
        // Chains of re are rare unless they are made on purpose.
        if (type == "re" && !blocks[b].steps.empty() && !one_in(3)) {
          const FileStep& before = blocks[b].steps.back();
          step.target = before.target;
          step.target_chunk = before.target_chunk;
          step.source = before.source;
        }
        blocks[b].steps.push_back(step);
      }
    }
    for (FileBlock& block : blocks) {
      for (FileStep& step : block.steps) {
        if (!one_in(filled ? 8 : 5) || step.on_block >= 0)
          continue;
        step.on_block = below(static_cast<int>(blocks.size()));
        step.on_step =
            below(static_cast<int>(blocks[static_cast<size_t>(step.on_block)].steps.size()));
      }
    }
  }
  return file;
}

/// Returns each output chunk whose summands each occur once; "" if there is none.
std::string definition_text(const Interpreted& run) {
  std::string outputs;
  for (size_t g = 0; g < run.outputs.size(); ++g) {
    for (size_t c = 0; c < run.outputs[g].size(); ++c) {
      const std::optional<Sum>& sum = run.outputs[g][c];
      if (!sum || std::any_of(sum->begin(), sum->end(), [](const auto& s) { return s.second > 1; }))
        continue;
      std::string sources;
      for (const auto& [chunk, times] : *sum)
        sources += (sources.empty() ? "[" : ", [") + std::to_string(chunk.first) + ", " +
                   std::to_string(chunk.second) + "]";
      outputs += (outputs.empty() ? "[" : ", [") + std::to_string(g) + ", " + std::to_string(c) +
                 ", [" + sources + "]]";
    }
  }
  return outputs.empty() ? "" : "{\"outputs\": [" + outputs + "]}";
}

Verdict verdict(const AlgorithmProof& proof, const std::string& name) {
  for (const Check& each : proof.checks)
    if (each.name == name)
      return each.verdict;
  return Verdict::Undecided;
}

/// Returns whether a runtime's parser refuses the waits of the algorithm's nops.
bool nops_refused(const MscclAlgorithm& algorithm) {
  return std::any_of(algorithm.refused.begin(), algorithm.refused.end(),
                     [](const auto& refusal) { return refusal.first == "depid"; });
}

/// Returns a runtime with uncut messages that otherwise does what real runtimes do.
Runtime uncut() {
  Runtime runtime = *runtime_named("none");
  runtime.limits = runtime_named("rccl")->limits;
  return runtime;
}

const std::string kAnything = R"({"outputs": [[0, 0, [[0, 0]]]]})";

TEST_CASE("interpreter: files hang, and are refused, as in RCCL") {
  const Runtime runtime = uncut();
  int hang = 0;
  int end = 0;
  holds_for_all("random files and slots", [&] {
    const File file = random_file(false);
    const auto slots = static_cast<uint32_t>(1 + below(3));
    const auto run = interpret(file, slots, [](size_t /*ready*/) { return size_t{0}; });
    const MscclAlgorithm algorithm = read_msccl(file.text(), "a.xml");
    RC_ASSERT(run.has_value() == !nops_refused(algorithm));
    if (!run)
      return;
    const ChunkDefinition definition = read_definition(kAnything, "d.json", algorithm);
    ProofRequest request;
    request.slots = slots;
    request.runtime = &runtime;
    request.definition = &definition;
    const Verdict ends = verdict(prove_algorithm(algorithm, request), "DEADLOCK.FREE");
    RC_ASSERT(ends == (run->ends ? Verdict::Holds : Verdict::Fails));
    ++(run->ends ? end : hang);
  });
  CHECK(end > 0);
  CHECK(hang > 0);
}

TEST_CASE("interpreter: what is proved is what RCCL computes, in any order") {
  const Runtime runtime = uncut();
  int proved = 0;
  holds_for_all("random files that end", [&] {
    const File file = random_file(true);
    const auto random = [](size_t ready) {
      return static_cast<size_t>(below(static_cast<int>(ready)));
    };
    const uint32_t slots = 64;
    const auto run = interpret(file, slots, random);
    if (!run || !run->ends || run->reads_unwritten)
      return;
    const std::string outputs = definition_text(*run);
    if (outputs.empty())
      return;
    const MscclAlgorithm algorithm = read_msccl(file.text(), "a.xml");
    const ChunkDefinition definition = read_definition(outputs, "d.json", algorithm);
    ProofRequest request;
    request.slots = slots;
    request.runtime = &runtime;
    request.definition = &definition;
    const AlgorithmProof proof = prove_algorithm(algorithm, request);
    if (verdict(proof, "RACE.FREE") != Verdict::Holds) {
      RC_ASSERT(verdict(proof, "SCHEDULE.PROVED") == Verdict::Fails);
      return;
    }
    const auto other = interpret(file, slots, random);
    RC_ASSERT(other->outputs == run->outputs);
    for (const Check& check : proof.checks)
      if (check.name == "SCHEDULE.PROVED" && !check.holds()) {
        // These are chains of re that RCCL runs differently from what the file says.
        RC_ASSERT(check.message.find("run as one step") != std::string::npos);
        return;
      }
    ++proved;
  });
  CHECK(proved > 0);
}

}  // namespace
}  // namespace orrery::test
