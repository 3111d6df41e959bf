#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/program/rules.h"
#include "models/scenario/fields.h"
#include "models/scenario/figure_reader.h"
#include "models/scenario/scenario.h"

namespace orrery {
namespace {

/// Returns whether the text is one of timed_ops(). Adds an error if it is not.
bool is_timed_op(std::string_view text, const Origin& origin, std::string_view as,
                 Diagnostics& diagnostics) {
  const std::vector<std::string_view> ops = timed_ops();
  if (std::find(ops.begin(), ops.end(), text) != ops.end())
    return true;
  diagnostics.add(origin, fmt::format("expected one of {}{}, got {}{}", fmt::join(ops, ", "), as,
                                      in_quotes(text), did_you_mean(text, ops)));
  return false;
}
bool is_timed_op(DocumentNode member, Diagnostics& diagnostics) {
  return is_timed_op(member.key(), member.key_origin(), " as key", diagnostics);
}

/// Reads at least one name. A protocol that serves all leaves the key out.
std::vector<std::string> read_some_names(DocumentNode node, std::string_view what,
                                         Diagnostics& diagnostics) {
  const auto names = read_names(node, what, diagnostics);
  if (names && names->empty())
    diagnostics.add(node.origin(),
                    fmt::format("expected {} or several, or no such key, got an empty list", what));
  return names.value_or(std::vector<std::string>());
}

std::vector<std::string> read_ops(DocumentNode node, Diagnostics& diagnostics) {
  std::vector<std::string> ops = read_some_names(node, "an op", diagnostics);
  for (const std::string& op : ops)
    is_timed_op(op, node.origin(), "", diagnostics);
  return ops;
}

class ProtocolReader {
 public:
  ProtocolReader(std::string name, DocumentNode node, FigureReader& figures,
                 Diagnostics& diagnostics)
      : fields_(node, diagnostics), figures_(figures), diagnostics_(diagnostics) {
    protocol_.name = std::move(name);
  }

  ProtocolFigures read() {
    if (const auto known = protocol_of_key(protocol_.name))
      protocol_.share = data_share(*known);
    if (const auto algorithms = fields_.optional("algorithms")) {
      protocol_.algorithms = read_some_names(*algorithms, "an algorithm", diagnostics_);
      protocol_.algorithms_origin = algorithms->origin();
    }
    if (const auto ops = fields_.optional("ops"))
      protocol_.ops = read_ops(*ops, diagnostics_);
    if (const auto nodes = fields_.optional("nodes"))
      if (const auto word = read_word(*nodes, {"one", "several"}, diagnostics_))
        protocol_.spans_nodes = *word == "several";
    if (const auto share = figures_.share(fields_, "efficiency", called("efficiency")))
      protocol_.share = *share;
    quantity("slot", Dimension::Size, {.least = kSmallestSlot.count()}, protocol_.slot);
    if (protocol_.slot)
      protocol_.slot_origin = fields_.find_quantity("slot", Dimension::Size)->origin();
    protocol_.slots =
        figures_.integer(fields_, "slots", "a number of slots", {1, kMostSlots}, called("slots"));
    protocol_.channels = figures_.integer(fields_, "channels", "a number of channels",
                                          {1, kMostChannels}, called("channels"));
    quantity("channel_bytes", Dimension::Size, {.least = 1}, protocol_.channel_bytes);
    protocol_.pieces = figures_.integer(fields_, "pieces", "a number of pieces", {1, kMostSlots},
                                        called("pieces"));
    quantity("launch", Dimension::Time, {}, protocol_.launch);
    quantity("channel_launch", Dimension::Time, {}, protocol_.channel_launch);
    quantity("peer_launch", Dimension::Time, {}, protocol_.peer_launch);
    quantity("overhead", Dimension::Time, {}, protocol_.overhead);
    quantity("latency", Dimension::Time, {}, protocol_.latency);
    quantity("channel_rate", Dimension::Rate, kRates, protocol_.channel_rate);
    quantity("reduce_rate", Dimension::Rate, {.least = 1}, protocol_.reduce_rate);
    quantity("store_rate", Dimension::Rate, {.least = 1}, protocol_.store_rate);
    quantity("forward_rate", Dimension::Rate, {.least = 1}, protocol_.forward_rate);
    quantity("forward_reduce_rate", Dimension::Rate, {.least = 1}, protocol_.forward_reduce_rate);
    quantity("copy_rate", Dimension::Rate, {.least = 1}, protocol_.copy_rate);
    if (const auto network = fields_.optional("network"))
      read_network(*network);
    fields_.finish();
    return std::move(protocol_);
  }

 private:
  static constexpr QuantityRange kRates = {.least = 1, .most = kMostBandwidth};

  std::string called(std::string_view key) const {
    return fmt::format("transport/{}/{}", protocol_.name, key);
  }

  template <class Amount>
  void quantity(std::string_view key, Dimension dimension, QuantityRange range,
                std::optional<Amount>& figure) {
    quantity(fields_, key, called(key), dimension, range, figure);
  }

  template <class Amount>
  void quantity(Fields& fields, std::string_view key, std::string name, Dimension dimension,
                QuantityRange range, std::optional<Amount>& figure) {
    if (const auto amount = figures_.quantity(fields, key, dimension, range, std::move(name)))
      figure = Amount(*amount);
  }

  void read_network(DocumentNode node) {
    if (!is_object(node, "an object with \"overhead\", \"latency\" and \"channel_rate\"",
                   diagnostics_))
      return;
    Fields fields(node, diagnostics_);
    NetworkFigures& network = protocol_.network;
    quantity(fields, "overhead", called("network/overhead"), Dimension::Time, {}, network.overhead);
    quantity(fields, "latency", called("network/latency"), Dimension::Time, {}, network.latency);
    quantity(fields, "channel_rate", called("network/channel_rate"), Dimension::Rate, kRates,
             network.channel_rate);
    fields.finish();
  }

  Fields fields_;
  FigureReader& figures_;
  Diagnostics& diagnostics_;
  ProtocolFigures protocol_;
};

constexpr std::string_view kProtocol = "an object with the figures of a protocol";

/// Returns whether the member's key may name a protocol. Figures are called transport/PROTOCOL/..,
/// transport/host_launch/.. and transport/connections/.., so these must differ.
bool is_protocol_name(DocumentNode member, Diagnostics& diagnostics) {
  const std::string& name = member.key();
  if (!name.empty() && name != "host_launch" && name != "connections" &&
      name.find('/') == std::string::npos)
    return true;
  diagnostics.add(
      member.key_origin(),
      fmt::format("expected a name of one or more characters, without \"/\", other than "
                  "\"host_launch\" and \"connections\", got {}",
                  in_quotes(name)));
  return false;
}

std::vector<ProtocolFigures> read_protocols(DocumentNode node, FigureReader& figures,
                                            Diagnostics& diagnostics) {
  std::vector<ProtocolFigures> protocols;
  if (!is_object(node, "an object with the figures of each protocol", diagnostics))
    return protocols;
  if (node.size() == 0)
    expected(node, "at least one protocol", diagnostics);
  for (const DocumentNode member : node)
    if (is_protocol_name(member, diagnostics) && is_object(member, kProtocol, diagnostics))
      protocols.push_back(
          ProtocolReader(std::string(member.key()), member, figures, diagnostics).read());
  return protocols;
}

std::map<std::string, Duration, std::less<>> read_host_launch(DocumentNode node,
                                                              FigureReader& figures,
                                                              Diagnostics& diagnostics) {
  std::map<std::string, Duration, std::less<>> launch;
  if (!is_object(node, "an object with a time per op", diagnostics))
    return launch;
  Fields fields(node, diagnostics);
  for (const DocumentNode member : node) {
    if (!is_timed_op(member, diagnostics))
      continue;
    const std::string& op = member.key();
    if (const auto time =
            figures.quantity(fields, op, Dimension::Time, {}, "transport/host_launch/" + op))
      launch.emplace(op, *time);
  }
  return launch;
}

std::map<ConnectionKind, ConnectionFigures> read_connections(DocumentNode node,
                                                             FigureReader& figures,
                                                             Diagnostics& diagnostics) {
  std::map<ConnectionKind, ConnectionFigures> connections;
  if (!is_object(node, "an object with \"collectives\", \"sends\", \"in_switch\"", diagnostics))
    return connections;
  Fields kinds(node, diagnostics);
  for (const ConnectionKind kind : kConnectionKinds) {
    const std::optional<DocumentNode> member = kinds.optional(key_of(kind));
    if (!member ||
        !is_object(*member, "an object with \"channels\", \"receiver\", \"sender\"", diagnostics))
      continue;
    Fields fields(*member, diagnostics);
    const auto called = [&](std::string_view key) {
      return fmt::format("transport/connections/{}/{}", key_of(kind), key);
    };
    const auto bytes = [&](std::string_view key) -> std::optional<Bytes> {
      const auto amount = figures.quantity(fields, key, Dimension::Size,
                                           {.most = kMostReserved.count()}, called(key));
      return amount ? std::optional(Bytes(*amount)) : std::nullopt;
    };
    ConnectionFigures& read = connections[kind];
    read.channels = figures.integer(fields, "channels", "a number of channels", {1, kMostChannels},
                                    called("channels"));
    read.receiver = bytes("receiver");
    read.sender = bytes("sender");
    read.origin = member->origin();
    fields.finish();
  }
  kinds.finish();
  return connections;
}

std::optional<CalibratedRange> read_range(DocumentNode node, Diagnostics& diagnostics) {
  if (!is_object(node, "an object with \"least_ranks\", \"most_ranks\", \"least\" and \"most\"",
                 diagnostics))
    return std::nullopt;
  Fields fields(node, diagnostics);
  const auto ranks = [&](std::string_view key) -> std::optional<int64_t> {
    const std::optional<DocumentNode> number = fields.required(key);
    constexpr IntegerRange kRanks = {1, std::numeric_limits<uint32_t>::max()};
    return number ? read_integer(*number, "a number of ranks", kRanks, diagnostics) : std::nullopt;
  };
  const std::optional<int64_t> least_ranks = ranks("least_ranks");
  const std::optional<int64_t> most_ranks = ranks("most_ranks");
  const std::optional<int64_t> least = fields.required_quantity("least", Dimension::Size);
  const std::optional<int64_t> most = fields.required_quantity("most", Dimension::Size);
  fields.finish();
  if (!least_ranks || !most_ranks || !least || !most)
    return std::nullopt;
  if (*least_ranks > *most_ranks || *least > *most) {
    diagnostics.add(node.origin(), "expected the least to be at most the most");
    return std::nullopt;
  }
  return CalibratedRange{static_cast<uint32_t>(*least_ranks), static_cast<uint32_t>(*most_ranks),
                         Bytes(*least), Bytes(*most)};
}

std::map<std::string, CalibratedRange, std::less<>> read_calibrated(DocumentNode node,
                                                                    Diagnostics& diagnostics) {
  std::map<std::string, CalibratedRange, std::less<>> calibrated;
  if (!is_object(node, "an object with a range per op", diagnostics))
    return calibrated;
  for (const DocumentNode member : node) {
    if (!is_timed_op(member, diagnostics))
      continue;
    if (const auto range = read_range(member, diagnostics))
      calibrated.emplace(member.key(), *range);
  }
  return calibrated;
}

}  // namespace

std::optional<TransportFigures> read_transport(DocumentNode node, FigureReader& figures,
                                               Diagnostics& diagnostics) {
  if (!is_object(node, "an object with \"protocols\"", diagnostics))
    return std::nullopt;
  Fields fields(node, diagnostics);
  TransportFigures transport;
  if (const auto protocols = fields.required("protocols"))
    transport.protocols = read_protocols(*protocols, figures, diagnostics);
  if (const auto launch = fields.optional("host_launch"))
    transport.host_launch = read_host_launch(*launch, figures, diagnostics);
  if (const auto calibrated = fields.optional("calibrated"))
    transport.calibrated = read_calibrated(*calibrated, diagnostics);
  if (const auto connections = fields.optional("connections"))
    transport.connections = read_connections(*connections, figures, diagnostics);
  fields.finish();
  return transport;
}

}  // namespace orrery
