#include "models/scenario/transport_reader.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/program/rules.h"
#include "models/scenario/fields.h"
#include "models/scenario/scenario.h"

namespace orrery {
namespace {

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
      protocol_.algorithms = read_names(*algorithms, "an algorithm", diagnostics_)
                                 .value_or(std::vector<std::string>());
      protocol_.algorithms_origin = algorithms->origin();
    }
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
    quantity("launch", Dimension::Time, {}, protocol_.launch);
    quantity("channel_launch", Dimension::Time, {}, protocol_.channel_launch);
    quantity("peer_launch", Dimension::Time, {}, protocol_.peer_launch);
    quantity("overhead", Dimension::Time, {}, protocol_.overhead);
    quantity("latency", Dimension::Time, {}, protocol_.latency);
    quantity("channel_rate", Dimension::Rate, kRates, protocol_.channel_rate);
    quantity("reduce_rate", Dimension::Rate, {.least = 1}, protocol_.reduce_rate);
    quantity("store_rate", Dimension::Rate, {.least = 1}, protocol_.store_rate);
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
    if (const auto amount = figures_.quantity(fields_, key, dimension, range, called(key)))
      figure = Amount(*amount);
  }

  Fields fields_;
  FigureReader& figures_;
  Diagnostics& diagnostics_;
  ProtocolFigures protocol_;
};

constexpr std::string_view kProtocol = "an object with the figures of a protocol";

std::vector<ProtocolFigures> read_protocols(DocumentNode node, FigureReader& figures,
                                            Diagnostics& diagnostics) {
  std::vector<ProtocolFigures> protocols;
  if (!is_object(node, "an object with the figures of each protocol", diagnostics))
    return protocols;
  if (node.size() == 0)
    expected(node, "at least one protocol", diagnostics);
  for (const DocumentNode member : node)
    if (is_object(member, kProtocol, diagnostics))
      protocols.push_back(
          ProtocolReader(std::string(member.key()), member, figures, diagnostics).read());
  return protocols;
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
  fields.finish();
  return transport;
}

}  // namespace orrery
