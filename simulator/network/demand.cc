#include "simulator/network/demand.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

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
  // A counting sort by devices; the parts of one are mostly in order already.
  std::vector<size_t> first;  // per device, of its parts; and one before
  for (const Collective& collective : lowered.collectives)
    for (const VertexId device : collective.places) {
      if (first.size() < device.index() + size_t{2})
        first.resize(device.index() + size_t{2});
      ++first[device.index() + 1];
    }
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<Part> result(first.empty() ? 0 : first.back());
  std::vector<size_t> next = first;
  for (size_t c = 0; c < lowered.collectives.size(); ++c) {
    const Collective& collective = lowered.collectives[c];
    for (size_t n = 0; n < collective.places.size(); ++n)
      result[next[collective.places[n].index()]++] = {
          collective.places[n], collective.threads.empty() ? ThreadId() : collective.threads[n],
          collective.stream, CollectiveId(c), Node(n)};
  }
  const auto before = [](const Part& a, const Part& b) {
    return std::tie(a.thread, a.stream) < std::tie(b.thread, b.stream);
  };
  for (size_t d = 0; d + 1 < first.size(); ++d) {
    const auto begin = result.begin() + static_cast<std::ptrdiff_t>(first[d]);
    const auto end = result.begin() + static_cast<std::ptrdiff_t>(first[d + 1]);
    if (!std::is_sorted(begin, end, before))
      std::stable_sort(begin, end, before);
  }
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
        for (size_t p = first; p < end;) {
          const size_t same = alike(all, p, end);
          if (c < extent(all[p]).channels)
            add(std::span(all).subspan(p, same - p), Channel(c));
          p = same;
        }
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

  /// Behind the parts from `first` on, before `end`, that send the same as the first: layer by
  /// layer, most programs do the same again.
  size_t alike(const std::vector<Part>& all, size_t first, size_t end) const {
    const Collective& one = collective(all[first]);
    size_t next = first + 1;
    for (; next < end; ++next) {
      const Collective& other = collective(all[next]);
      if (other.schedule != one.schedule || other.places.begin() != one.places.begin() ||
          other.work != one.work || all[next].node != all[first].node)
        break;
    }
    return next;
  }

  /// Parts that are alike.
  void add(std::span<const Part> parts, Channel channel) {
    const Part& part = parts.front();
    const Collective& collective = this->collective(part);
    uint64_t times = 0;
    for (const Part& same : parts)
      times += this->collective(same).times;
    const Int128 item = Int128{itemsize(collective.work).count()} * times;
    uint64_t messages = 0;
    collective.schedule->for_each_receiver(part.node, channel, [&](const Sent& sent) {
      messages += sent.messages;
      const Path& path = paths_.between(part.device, collective.places[sent.to.index()]);
      if (path.links.empty())
        return;
      const BytesPerSecond peak = path.peak(extent(part).peak_rate);
      const Int128 bytes = item * sent.elements;
      for (const LinkId link : path.links)
        ask(link, peak, bytes);
    });
    for (const Part& same : parts)
      demands_.messages[same.collective.index()] += messages * this->collective(same).times;
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
};

}  // namespace

Demands demands(const Lowered& lowered, Paths& paths) {
  return Chains(lowered, paths).add_up();
}

}  // namespace orrery
