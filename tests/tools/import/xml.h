#pragma once

// These are short ways to write small MSCCL files.

#include <optional>
#include <string>
#include <vector>

namespace orrery::test {

/// An `AlgoText` is an <algo> for `gpus` with `chunks` chunks. `gpus` has the <tb> elements of each
/// gpu.
struct AlgoText {
  std::string coll = "allgather";
  int chunks = 2;
  bool in_place = true;
  std::optional<bool> out_of_place = {};  // empty: the opposite of in_place
  std::string sizes = R"( minBytes="0" maxBytes="0")";
  int input = 0;  // declared chunks
  int output = 2;
  int scratch = 0;
  std::vector<std::string> gpus;
  std::string protocol = "LL";
  std::string more;  // attributes
  int channels = 1;

  std::string text() const {
    std::string xml = "<algo name=\"small\" proto=\"" + protocol + "\" nchannels=\"" +
                      std::to_string(channels) + "\" nchunksperloop=\"" + std::to_string(chunks) +
                      "\" ngpus=\"" + std::to_string(gpus.size()) + "\" coll=\"" + coll +
                      "\" inplace=\"" + (in_place ? "1" : "0") + "\" outofplace=\"" +
                      (out_of_place.value_or(!in_place) ? "1" : "0") + "\"" + sizes + more + ">\n";
    for (size_t g = 0; g < gpus.size(); ++g)
      xml += "<gpu id=\"" + std::to_string(g) + "\" i_chunks=\"" + std::to_string(input) +
             "\" o_chunks=\"" + std::to_string(output) + "\" s_chunks=\"" +
             std::to_string(scratch) + "\">\n" + gpus[g] + "</gpu>\n";
    return xml + "</algo>\n";
  }
};

struct BlockText {
  int id = 0;
  int send = -1;
  int recv = -1;
  std::vector<std::string> steps;
  int channel = 0;

  std::string text() const {
    std::string xml = "<tb id=\"" + std::to_string(id) + "\" send=\"" + std::to_string(send) +
                      "\" recv=\"" + std::to_string(recv) + "\" chan=\"" + std::to_string(channel) +
                      "\">\n";
    for (const std::string& step : steps)
      xml += step + "\n";
    return xml + "</tb>\n";
  }
};

/// A `StepText` is one step, with MSCCL's defaults.
struct StepText {
  int number = 0;
  std::string type = "s";
  std::string source = "o0";  // buffer and offset
  std::string target = "o0";
  int count = 1;
  int on_block = -1;
  int on_step = -1;
  bool sets_flag = true;

  std::string text() const {
    return "<step s=\"" + std::to_string(number) + "\" type=\"" + type + "\" srcbuf=\"" +
           source.substr(0, 1) + "\" srcoff=\"" + source.substr(1) + "\" dstbuf=\"" +
           target.substr(0, 1) + "\" dstoff=\"" + target.substr(1) + "\" cnt=\"" +
           std::to_string(count) + "\" depid=\"" + std::to_string(on_block) + "\" deps=\"" +
           std::to_string(on_step) + "\" hasdep=\"" + (sets_flag ? "1" : "0") + "\"/>";
  }
};

/// Returns an in-place all-gather: each of two gpus sends its half to the other.
inline AlgoText two_gather() {
  AlgoText algo;
  algo.gpus = {
      BlockText{0, 1, 1, {StepText{0, "s", "o0"}.text(), StepText{1, "r", "o1", "o1"}.text()}}
          .text(),
      BlockText{0, 0, 0, {StepText{0, "s", "o1"}.text(), StepText{1, "r", "o0", "o0"}.text()}}
          .text()};
  return algo;
}

/// Returns an in-place all-reduce around a ring. Each chunk goes round twice; in the first round it
/// is added up without being stored on the way.
inline AlgoText ring_all_reduce(int gpus) {
  AlgoText algo;
  algo.coll = "allreduce";
  algo.chunks = gpus;
  algo.input = gpus;
  algo.output = 0;
  for (int g = 0; g < gpus; ++g) {
    std::vector<std::string> steps;
    const auto add = [&](const char* type, int back) {
      const std::string chunk = "i" + std::to_string((g - back + 2 * gpus) % gpus);
      steps.push_back(StepText{static_cast<int>(steps.size()), type, chunk, chunk}.text());
    };
    add("s", 0);
    for (int back = 1; back + 1 < gpus; ++back)
      add("rrs", back);
    add("rrcs", gpus - 1);
    for (int back = gpus; back + 2 < 2 * gpus; ++back)
      add("rcs", back);
    add("r", 2 * gpus - 2);
    algo.gpus.push_back(BlockText{0, (g + 1) % gpus, (g + gpus - 1) % gpus, steps}.text());
  }
  return algo;
}

inline AlgoText three_ring() {
  return ring_all_reduce(3);
}

/// Returns an in-place all-reduce in which each gpu adds one chunk up and sends it to all others,
/// with a thread block for each peer. The first thread block adds, after the waits of nops for the
/// messages of the others.
inline AlgoText nop_all_reduce(int gpus) {
  AlgoText algo;
  algo.coll = "allreduce";
  algo.chunks = algo.input = algo.output = algo.scratch = gpus;
  const int peers = gpus - 1;
  // The first thread block sends, receives, waits for the others but the last by nops, and adds.
  const int sum = 2 + (peers - 2) + peers - 1;
  for (int g = 0; g < gpus; ++g) {
    std::string& gpu = algo.gpus.emplace_back();
    for (int b = 0; b < peers; ++b) {
      const int peer = (g + 1 + b) % gpus;
      BlockText block{b, peer, peer, {}};
      const auto add = [&](StepText step) {
        step.number = static_cast<int>(block.steps.size());
        block.steps.push_back(step.text());
      };
      const std::string own = "i" + std::to_string(g);
      const std::string theirs = "i" + std::to_string(peer);
      const std::string arrives = "s" + std::to_string(b);
      add({0, "s", theirs, "s0", 1, -1, -1, false});
      add({0, "r", arrives, arrives, 1, -1, -1, b > 0});
      for (int other = 1; b == 0 && other + 1 < peers; ++other)
        add({0, "nop", "i0", "i0", 0, other, 1, false});
      for (int from = 0; b == 0 && from < peers; ++from)
        add({0, "re", "s" + std::to_string(from), own, 1, from == 0 ? peers - 1 : -1,
             from == 0 ? 1 : -1, from + 1 == peers});
      add({0, "s", own, own, 1, b == 0 ? -1 : 0, b == 0 ? -1 : sum, false});
      add({0, "r", theirs, theirs, 1, -1, -1, false});
      gpu += block.text();
    }
  }
  return algo;
}

/// Returns a file in which two gpus exchange `count` chunks each, in one message.
inline AlgoText exchange_at_once(int count) {
  AlgoText algo;
  algo.chunks = 2 * count;
  algo.output = 2 * count;
  const std::string second = "o" + std::to_string(count);
  const auto block = [&](int peer, const std::string& own, const std::string& other) {
    return BlockText{
        0,
        peer,
        peer,
        {StepText{0, "s", own, own, count}.text(), StepText{1, "r", other, other, count}.text()}}
        .text();
  };
  algo.gpus = {block(1, "o0", second), block(0, second, "o0")};
  return algo;
}

/// Returns a reduce-scatter of two gpus. Each sends one chunk of its input and reduces the other in
/// place.
inline AlgoText two_reduce_scatter() {
  AlgoText algo;
  algo.coll = "reduce_scatter";
  algo.input = 2;
  algo.output = 0;
  algo.gpus = {
      BlockText{0, 1, 1, {StepText{0, "s", "i1"}.text(), StepText{1, "rrc", "i0", "i0"}.text()}}
          .text(),
      BlockText{0, 0, 0, {StepText{0, "s", "i0"}.text(), StepText{1, "rrc", "i1", "i1"}.text()}}
          .text()};
  return algo;
}

/// Returns an out-of-place all-gather around a ring. Each gpu sends its `own` chunks, passes on
/// those of the gpus in between, and keeps the last ones.
inline AlgoText ring_gather(int gpus, int own) {
  AlgoText algo;
  algo.in_place = false;
  algo.chunks = gpus * own;
  algo.input = own;
  algo.output = gpus * own;
  for (int g = 0; g < gpus; ++g) {
    std::vector<std::string> steps;
    const auto chunk = [&](int back, int c) {
      return "o" + std::to_string((g - back + gpus) % gpus * own + c);
    };
    const auto add = [&](const char* type, const std::string& from, const std::string& to) {
      steps.push_back(StepText{static_cast<int>(steps.size()), type, from, to}.text());
    };
    for (int c = 0; c < own; ++c)
      add("s", "i" + std::to_string(c), chunk(0, c));
    for (int back = 1; back < gpus; ++back)
      for (int c = 0; c < own; ++c)
        add(back + 1 < gpus ? "rcs" : "r", chunk(back, c), chunk(back, c));
    std::string copies;
    for (int c = 0; c < own; ++c)
      copies += StepText{c, "cpy", "i" + std::to_string(c), chunk(0, c)}.text() + "\n";
    algo.gpus.push_back(BlockText{0, (g + 1) % gpus, (g + gpus - 1) % gpus, steps}.text() +
                        BlockText{1, -1, -1, {copies}}.text());
  }
  return algo;
}

/// Returns an all-reduce among all pairs, like RCCL's allreduce-allpairs files. Each gpu sums a
/// part in chains of re, after waits of nops, and sends it to all others. A part has a chunk for
/// each thread block of a channel. Out of place, the file begins with copies.
inline AlgoText pairs_all_reduce(int gpus, int channels, bool in_place) {
  AlgoText algo;
  algo.coll = "allreduce";
  algo.in_place = in_place;
  algo.channels = channels;
  algo.chunks = algo.input = gpus * gpus * channels;
  algo.output = in_place ? 0 : algo.chunks;
  algo.scratch = (gpus - 1) * gpus * channels;
  const std::string sums = in_place ? "i" : "o";
  const int peers = gpus - 1;
  // These are the numbers of the steps at which the sums of a peer's thread block and of the local
  // one end. The last re of each sets a flag.
  const int peer_sums = 2 + (peers - 2) + peers - 1;
  const int local_sums = (in_place ? 0 : 1) + (peers - 1) + peers - 1;
  for (int g = 0; g < gpus; ++g) {
    std::string& gpu = algo.gpus.emplace_back();
    const auto block_of = [&](int peer, int channel) { return channels * (1 + peer) + channel; };
    const auto part = [&](int of, int channel) { return (channel * gpus + of) * gpus; };
    const auto received = [&](int peer, int channel) { return (channel * peers + peer) * gpus; };
    std::vector<std::string>* steps = nullptr;
    const auto add = [&](StepText step) {
      step.number = static_cast<int>(steps->size());
      steps->push_back(step.text());
    };
    // Sums chunk `chunk` of the part, once the messages of all peers except `but` have arrived.
    const auto sum = [&](int chunk, int channel, int but) {
      const int first = but == 0 ? 1 : 0;
      for (int peer = 0; peer < peers; ++peer)
        if (peer != first && peer != but)
          add({0, "nop", "i0", "o0", 0, block_of(peer, channel), 1, false});
      for (int peer = 0; peer < peers; ++peer)
        add({0, "re", "s" + std::to_string(received(peer, channel) + chunk),
             sums + std::to_string(part(g, channel) + chunk), 1,
             peer == 0 ? block_of(first, channel) : -1, peer == 0 ? 1 : -1, peer + 1 == peers});
    };
    for (int channel = 0; channel < channels; ++channel) {
      BlockText local{channel, -1, -1, {}, channel};
      steps = &local.steps;
      const std::string own = std::to_string(part(g, channel));
      if (!in_place)
        add({0, "cpy", "i" + own, "o" + own, gpus, -1, -1, true});
      sum(0, channel, -1);
      gpu += local.text();
    }
    for (int peer = 0; peer < peers; ++peer) {
      const int there = peer < g ? peer : peer + 1;
      for (int channel = 0; channel < channels; ++channel) {
        BlockText block{block_of(peer, channel), there, there, {}, channel};
        steps = &block.steps;
        const std::string theirs = std::to_string(part(there, channel));
        const std::string own = sums + std::to_string(part(g, channel));
        const std::string at = "s" + std::to_string(received(peer, channel));
        add({0, "s", "i" + theirs, at, gpus, -1, -1, false});
        add({0, "r", at, at, gpus, -1, -1, true});
        // Out of place, the copies come first.
        if (!in_place)
          add({0, "nop", "i0", "o0", 0, channel, 0, false});
        sum(peer + 1, channel, peer);
        for (int other = 0; other < peers; ++other)
          if (other != peer)
            add({0, "nop", "i0", "o0", 0, block_of(other, channel), peer_sums + (in_place ? 0 : 1),
                 false});
        add({0, "s", own, own, gpus, channel, local_sums, false});
        add({0, "r", sums + theirs, sums + theirs, gpus, -1, -1, false});
        gpu += block.text();
      }
    }
  }
  return algo;
}

}  // namespace orrery::test
