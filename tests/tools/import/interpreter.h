#pragma once

// Does slowly what RCCL does with a file, for comparison: it follows RCCL's parser and interpreter
// (msccl_parser.cc, msccl_kernel_impl.h), with sums of input chunks as values.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace orrery::test {

struct FileStep {
  std::string type;
  char source = 'i';
  int source_chunk = 0;
  char target = 'o';
  int target_chunk = 0;
  int count = 1;
  int on_block = -1;
  int on_step = -1;
  bool sets_flag = false;
};

struct FileBlock {
  int send = -1;
  int receive = -1;
  std::vector<FileStep> steps;
};

/// A `File` has blocks per gpu. All buffers have `chunks` chunks.
struct File {
  int chunks = 1;
  std::vector<std::vector<FileBlock>> gpus;

  /// Returns the text of a custom collective, out of place.
  std::string text() const;
};

/// A `Sum` says how often each (gpu, chunk) of the inputs is in it.
using Sum = std::map<std::pair<int, int>, int>;

struct Interpreted {
  bool ends = false;
  bool reads_unwritten = false;
  /// These are the sums per gpu and chunk of the output; empty where nothing was written.
  std::vector<std::vector<std::optional<Sum>>> outputs;
};

/// Runs the file with messages that are not cut. `choose(n)` chooses one of n thread blocks that
/// can go on. The result is empty if the parser refuses the file.
template <class Choose>
std::optional<Interpreted> interpret(const File& file, uint32_t slots, Choose&& choose);

/// A `FileTransfer` is a step of a thread block as the parser makes it, with the steps joined to
/// it.
struct FileTransfer {
  FileStep last;
  std::vector<int> sources;  // of a re: the chunks that it adds
  std::vector<std::pair<int, int>> waits;
};
std::optional<std::vector<FileTransfer>> parse(const FileBlock& block);

/// The interpreter holds the state of all gpus.
class Interpreter {
 public:
  /// Requires a file that the parser accepts.
  Interpreter(const File& file, uint32_t slots);

  struct Block {
    int gpu;
    int block;
  };
  std::vector<Block> ready() const;
  void advance(Block block);
  Interpreted result() const;

 private:
  struct State {
    std::vector<FileTransfer> transfers;
    size_t next = 0;
    int step = 0;
    int flag = -1;
  };
  using Chunks = std::vector<std::optional<Sum>>;

  bool can_advance(int gpu, int block) const;
  Chunks read(int gpu, char buffer, int first, int count);
  void write(int gpu, char buffer, int first, const Chunks& chunks);

  const File& file_;
  uint32_t slots_;
  std::vector<std::vector<State>> states_;
  std::vector<std::map<char, Chunks>> memory_;
  std::map<std::pair<int, int>, std::vector<Chunks>> sent_;  // per connection: not yet taken
  bool reads_unwritten_ = false;
};

template <class Choose>
std::optional<Interpreted> interpret(const File& file, uint32_t slots, Choose&& choose) {
  for (const auto& gpu : file.gpus)
    for (const FileBlock& block : gpu)
      if (!parse(block))
        return std::nullopt;
  Interpreter interpreter(file, slots);
  while (true) {
    const std::vector<Interpreter::Block> ready = interpreter.ready();
    if (ready.empty())
      return interpreter.result();
    interpreter.advance(ready[choose(ready.size())]);
  }
}

}  // namespace orrery::test
