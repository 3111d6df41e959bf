#include "tests/tools/import/interpreter.h"

#include <algorithm>

#include "tests/tools/import/xml.h"

namespace orrery::test {
namespace {

bool receives(const std::string& type) {
  return type[0] == 'r' && type != "re";
}
bool sends(const std::string& type) {
  return type.back() == 's';
}
bool reads_source(const std::string& type) {
  return type == "s" || type == "cpy" || type == "re" || type.substr(0, 2) == "rr";
}
bool writes_target(const std::string& type) {
  return type != "s" && type != "rrs" && type != "nop";
}

std::optional<Sum> added(const std::optional<Sum>& a, const std::optional<Sum>& b) {
  if (!a || !b)
    return std::nullopt;
  Sum sum = *a;
  for (const auto& [chunk, times] : *b)
    sum[chunk] += times;
  return sum;
}

}  // namespace

std::string File::text() const {
  AlgoText algo;
  algo.coll = "custom";
  algo.in_place = false;
  algo.chunks = algo.input = algo.output = algo.scratch = chunks;
  for (const auto& blocks : gpus) {
    std::string& gpu = algo.gpus.emplace_back();
    for (size_t b = 0; b < blocks.size(); ++b) {
      BlockText block{static_cast<int>(b), blocks[b].send, blocks[b].receive, {}};
      for (const FileStep& step : blocks[b].steps)
        block.steps.push_back(StepText{static_cast<int>(block.steps.size()), step.type,
                                       step.source + std::to_string(step.source_chunk),
                                       step.target + std::to_string(step.target_chunk), step.count,
                                       step.on_block, step.on_step, step.sets_flag}
                                  .text());
      gpu += block.text();
    }
  }
  return algo.text();
}

std::optional<std::vector<FileTransfer>> parse(const FileBlock& block) {
  std::vector<FileTransfer> transfers;
  std::vector<std::pair<int, int>> dependencies;  // not taken over yet
  const FileStep* chain = nullptr;
  for (const FileStep& step : block.steps) {
    if (step.on_block >= 0)
      dependencies.emplace_back(step.on_block, step.on_step);
    if (step.type == "nop")
      continue;
    const bool continues = step.type == "re" && chain != nullptr && step.on_block < 0 &&
                           chain->target == step.target &&
                           chain->target_chunk == step.target_chunk && chain->source == step.source;
    if (!continues) {
      if (!dependencies.empty() && step.on_block < 0)
        return std::nullopt;
      transfers.push_back({step, {}, std::move(dependencies)});
      dependencies.clear();
    }
    transfers.back().last = step;
    if (step.type == "re")
      transfers.back().sources.push_back(step.source_chunk);
    chain = step.type == "re" && !step.sets_flag ? &step : nullptr;
  }
  return transfers;
}

Interpreter::Interpreter(const File& file, uint32_t slots) : file_(file), slots_(slots) {
  for (size_t g = 0; g < file.gpus.size(); ++g) {
    states_.emplace_back();
    for (const FileBlock& block : file.gpus[g])
      states_.back().push_back({*parse(block)});
    const Chunks unwritten(static_cast<size_t>(file.chunks));
    memory_.push_back({{'i', unwritten}, {'o', unwritten}, {'s', unwritten}});
    for (int c = 0; c < file.chunks; ++c)
      memory_.back()['i'][static_cast<size_t>(c)] = Sum{{{static_cast<int>(g), c}, 1}};
  }
}

bool Interpreter::can_advance(int gpu, int block) const {
  const State& state = states_[static_cast<size_t>(gpu)][static_cast<size_t>(block)];
  if (state.next == state.transfers.size())
    return false;
  const FileTransfer& transfer = state.transfers[state.next];
  const FileBlock& peers = file_.gpus[static_cast<size_t>(gpu)][static_cast<size_t>(block)];
  const auto waiting = [&](int from, int to) {
    const auto found = sent_.find({from, to});
    return found == sent_.end() ? size_t{0} : found->second.size();
  };
  for (const auto& [on, step] : transfer.waits)
    if (states_[static_cast<size_t>(gpu)][static_cast<size_t>(on)].flag < step)
      return false;
  if (receives(transfer.last.type) && waiting(peers.receive, gpu) == 0)
    return false;
  return !sends(transfer.last.type) || waiting(gpu, peers.send) < slots_;
}

std::vector<Interpreter::Block> Interpreter::ready() const {
  std::vector<Block> ready;
  for (size_t g = 0; g < states_.size(); ++g)
    for (size_t b = 0; b < states_[g].size(); ++b)
      if (can_advance(static_cast<int>(g), static_cast<int>(b)))
        ready.push_back({static_cast<int>(g), static_cast<int>(b)});
  return ready;
}

Interpreter::Chunks Interpreter::read(int gpu, char buffer, int first, int count) {
  const Chunks& all = memory_[static_cast<size_t>(gpu)][buffer];
  Chunks chunks(all.begin() + first, all.begin() + first + count);
  for (const auto& chunk : chunks)
    reads_unwritten_ |= !chunk.has_value();
  return chunks;
}

void Interpreter::write(int gpu, char buffer, int first, const Chunks& chunks) {
  std::copy(chunks.begin(), chunks.end(),
            memory_[static_cast<size_t>(gpu)][buffer].begin() + first);
}

void Interpreter::advance(Block block) {
  State& state = states_[static_cast<size_t>(block.gpu)][static_cast<size_t>(block.block)];
  const FileTransfer& transfer = state.transfers[state.next++];
  const FileBlock& peers =
      file_.gpus[static_cast<size_t>(block.gpu)][static_cast<size_t>(block.block)];
  const FileStep& step = transfer.last;
  if (!transfer.waits.empty())
    state.step += static_cast<int>(transfer.waits.size()) - 1;
  Chunks made;
  if (step.type == "re") {
    made = read(block.gpu, step.target, step.target_chunk, step.count);
    for (const int source : transfer.sources) {
      const Chunks more = read(block.gpu, step.source, source, step.count);
      for (size_t c = 0; c < made.size(); ++c)
        made[c] = added(made[c], more[c]);
    }
    state.step += static_cast<int>(transfer.sources.size()) - 1;
  } else {
    if (receives(step.type)) {
      std::vector<Chunks>& queue = sent_[{peers.receive, block.gpu}];
      made = queue.front();
      queue.erase(queue.begin());
    }
    if (reads_source(step.type)) {
      const Chunks own = read(block.gpu, step.source, step.source_chunk, step.count);
      if (made.empty())
        made = own;
      else
        for (size_t c = 0; c < made.size(); ++c)
          made[c] = added(made[c], own[c]);
    }
  }
  if (writes_target(step.type))
    write(block.gpu, step.target, step.target_chunk, made);
  if (sends(step.type))
    sent_[{block.gpu, peers.send}].push_back(made);
  if (step.sets_flag)
    state.flag = state.step;
  ++state.step;
}

Interpreted Interpreter::result() const {
  Interpreted result;
  result.reads_unwritten = reads_unwritten_;
  result.ends = true;
  for (size_t g = 0; g < states_.size(); ++g) {
    result.outputs.push_back(memory_[g].at('o'));
    for (const State& state : states_[g])
      result.ends &= state.next == state.transfers.size();
  }
  for (const auto& [connection, waiting] : sent_)
    result.ends &= waiting.empty();
  return result;
}

}  // namespace orrery::test
