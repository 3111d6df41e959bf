#include "simulator/network/demand.h"

#include <algorithm>
#include <tuple>

namespace orrery {
namespace {

/// A device's part in a collective.
struct Part {
  VertexId device;
  ThreadId thread;
  StreamId stream;
  CollectiveId collective;
  Node node;

  bool same_stream(const Part& other) const {
    return device == other.device && thread == other.thread && stream == other.stream;
  }
};

/// In the order of devices, then lists, then streams, then collectives.
std::vector<Part> parts(const Lowered& lowered) {
  std::vector<Part> result;
  for (size_t c = 0; c < lowered.collectives.size(); ++c) {
    const Collective& collective = lowered.collectives[c];
    for (size_t n = 0; n < collective.vertices.size(); ++n)
      result.push_back({collective.vertices[n],
                        collective.threads.empty() ? ThreadId() : collective.threads[n],
                        collective.stream, CollectiveId(c), Node(n)});
  }
  const auto key = [](const Part& part) {
    return std::tuple(part.device, part.thread, part.stream, part.collective, part.node);
  };
  const auto before = [&](const Part& a, const Part& b) { return key(a) < key(b); };
  if (!std::is_sorted(result.begin(), result.end(), before))
    std::sort(result.begin(), result.end(), before);
  return result;
}

/// Takes one chain after the other, so that a link only needs to know its greatest peak so far.
class Chains {
 public:
  Chains(const Lowered& lowered, Paths& paths) : lowered_(lowered), paths_(paths) {
    demands_.links.resize(paths.fabric().links().size());
    demands_.messages.resize(lowered.collectives.size());
    asked_.resize(demands_.links.size());
  }

  Demands add_up() {
    const std::vector<Part> all = parts(lowered_);
    for (size_t first = 0; first < all.size();) {
      size_t end = first;
      uint32_t channels = 0;
      for (; end < all.size() && all[end].same_stream(all[first]); ++end)
        channels = std::max(channels, extent(all[end]).channels);
      for (uint32_t c = 0; c < channels; ++c) {
        ++chain_;
        for (size_t p = first; p < end; ++p)
          if (c < extent(all[p]).channels)
            add(all[p], Channel(c));
      }
      first = end;
    }
    return std::move(demands_);
  }

 private:
  /// The most that a chain asks of a link.
  struct Asked {
    uint64_t chain = 0;  // the last to ask; they are numbered from 1
    BytesPerSecond peak;
  };

  const Collective& collective(const Part& part) const {
    return lowered_.collective(part.collective);
  }
  const Extent& extent(const Part& part) const { return collective(part).schedule->extent(); }

  void add(const Part& part, Channel channel) {
    const Collective& collective = this->collective(part);
    const Bytes item = itemsize(collective.work);
    uint64_t& messages = demands_.messages[part.collective.index()];
    collective.schedule->for_each_receiver(part.node, channel, [&](const Sent& sent) {
      messages += sent.messages * collective.times;
      take_way(part.device, collective.vertices[sent.to.index()]);
      if (path_.links.empty())
        return;
      const BytesPerSecond peak = path_.peak(extent(part).peak_rate);
      const Int128 bytes =
          Int128{item.count()} * sent.elements * static_cast<int64_t>(collective.times);
      for (const LinkId link : path_.links)
        ask(link, peak, bytes);
    });
  }

  void take_way(VertexId from, VertexId to) {
    if (from == from_ && to == to_)
      return;
    path_ = paths_.between(from, to);
    from_ = from;
    to_ = to;
  }

  void ask(LinkId link, BytesPerSecond peak, Int128 bytes) {
    Demand& demand = demands_.links[link.index()];
    Asked& asked = asked_[link.index()];
    demand.bytes += bytes;
    if (asked.chain != chain_) {
      asked = {chain_, BytesPerSecond()};
      ++demand.chains;
    }
    if (peak > asked.peak) {
      demand.peak += (peak - asked.peak).count();
      asked.peak = peak;
    }
  }

  const Lowered& lowered_;
  Paths& paths_;
  Demands demands_;
  std::vector<Asked> asked_;  // per link
  uint64_t chain_ = 0;
  // The way of the last pair: collectives on one stream often send to the same receiver.
  VertexId from_;
  VertexId to_;
  Path path_;
};

}  // namespace

Demands demands(const Lowered& lowered, Paths& paths) {
  return Chains(lowered, paths).add_up();
}

}  // namespace orrery
