#include "models/scenario/fault.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/scenario/cluster_json.h"
#include "models/scenario/fields.h"
#include "models/scenario/quantity_text.h"

namespace orrery {

namespace {

class FaultText {
 public:
  FaultText(const Fabric& fabric, uint64_t seed) : fabric_(fabric), seed_(seed) {}

  std::string operator()(const SlowDevice& fault) const {
    return fmt::format("Device {} is slow: its local ops take {} times as long.",
                       fault.device.index(), factor_text(fault.factor));
  }
  std::string operator()(const SlowLink& fault) const {
    std::string changes;
    if (fault.factor)
      changes = fmt::format("its bandwidth is divided by {}", factor_text(*fault.factor));
    if (fault.bandwidth)
      changes = fmt::format("its bandwidth is {}", quantity_text(*fault.bandwidth));
    if (fault.latency)
      changes += fmt::format("{}its latency is {}", changes.empty() ? "" : ", ",
                             quantity_text(*fault.latency));
    return fmt::format("The link {} is slow: {}.", ends(fault), changes);
  }
  std::string operator()(const CutLink& fault) const {
    return fmt::format("The link {} is cut.", ends(fault));
  }
  std::string operator()(const LateStart& fault) const {
    return fmt::format("Device {} starts late, at {}.", fault.device.index(),
                       quantity_text(fault.by));
  }
  std::string operator()(const Jitter& fault) const {
    std::string longer;
    if (fault.ops > Duration())
      longer = fmt::format("local ops take up to {} longer", quantity_text(fault.ops));
    if (fault.links > Duration())
      longer += fmt::format("{}latencies of links are up to {} longer", longer.empty() ? "" : ", ",
                            quantity_text(fault.links));
    return fmt::format("Jitter of seed {}: {}.", seed_, longer.empty() ? "none" : longer);
  }

 private:
  template <class OfLink>
  std::string ends(const OfLink& fault) const {
    return fmt::format("{} -> {}", fabric_.vertex_text(fault.from), fabric_.vertex_text(fault.to));
  }

  const Fabric& fabric_;
  uint64_t seed_;
};

constexpr size_t kMostNamed = 4;  // places that links lead to, in a message

class FaultReader {
 public:
  FaultReader(const Fabric& fabric, const Mesh& mesh, Diagnostics& diagnostics)
      : fabric_(fabric), mesh_(mesh), diagnostics_(diagnostics) {}

  std::vector<Fault> read(DocumentNode list) {
    if (!is_list(list, "a list of faults", diagnostics_))
      return {};
    for (const DocumentNode node : list) {
      if (is_object(node, "a fault such as {\"slow_device\": 0, \"factor\": 1.5}", diagnostics_))
        read_one(node);
    }
    return std::move(read_);
  }

 private:
  struct Ends {
    VertexId from, to;
    std::vector<LinkId> links;
    std::string text;  // "device 0 -> device 1"
  };

  void read_one(DocumentNode node) {
    Fields fields(node, diagnostics_);
    const std::optional<DocumentNode> slow_device = fields.optional("slow_device");
    const std::optional<DocumentNode> slow_link = fields.optional("slow_link");
    const std::optional<DocumentNode> cut_link = fields.optional("cut_link");
    const std::optional<DocumentNode> late_start = fields.optional("late_start");
    const std::optional<DocumentNode> jitter = fields.optional("jitter");
    size_t kinds = 0;
    for (const auto& kind : {slow_device, slow_link, cut_link, late_start, jitter})
      kinds += kind.has_value() ? 1 : 0;
    if (kinds > 1 || node.size() == 0) {
      diagnostics_.add(node.origin(),
                       fmt::format("expected one of \"slow_device\", \"slow_link\", \"cut_link\", "
                                   "\"late_start\", \"jitter\", got {}",
                                   kinds == 0 ? "none" : "several"));
      return;
    }
    if (slow_device)
      read_slow_device(*slow_device, fields);
    if (slow_link)
      read_slow_link(*slow_link, fields);
    if (cut_link)
      read_cut_link(*cut_link);
    if (late_start)
      read_late_start(*late_start, fields);
    if (jitter)
      read_jitter(*jitter);
    fields.finish();
  }

  void read_slow_device(DocumentNode node, Fields& fields) {
    const std::optional<LogicalId> device = read_device(node);
    const std::optional<DocumentNode> given = fields.required("factor");
    const std::optional<Factor> factor = given ? read_factor(*given) : std::nullopt;
    if (device && first(node, fmt::format("device {} is slow", device->index())) && factor)
      read_.emplace_back(SlowDevice{*device, *factor});
  }

  void read_slow_link(DocumentNode node, Fields& fields) {
    const std::optional<Ends> ends = read_ends(node);
    const std::optional<DocumentNode> factor = fields.optional("factor");
    // A fault makes nothing faster.
    QuantityRange rates = {.least = 1};
    QuantityRange times;
    if (ends) {
      const auto [slowest, fastest] =
          std::minmax_element(ends->links.begin(), ends->links.end(), [&](LinkId a, LinkId b) {
            return fabric_.link(a).bandwidth < fabric_.link(b).bandwidth;
          });
      rates.most = fabric_.link(*fastest).bandwidth.count();
      const auto nearest = std::min_element(
          ends->links.begin(), ends->links.end(),
          [&](LinkId a, LinkId b) { return fabric_.link(a).latency < fabric_.link(b).latency; });
      times.least = fabric_.link(*nearest).latency.count();
    }
    const bool has_rate = fields.has_quantity("bandwidth", Dimension::Rate);
    const bool has_time = fields.has_quantity("latency", Dimension::Time);
    const auto rate = fields.optional_quantity("bandwidth", Dimension::Rate, rates);
    const auto time = fields.optional_quantity("latency", Dimension::Time, times);
    if (factor && has_rate)
      diagnostics_.add(factor->key_origin(), "expected \"factor\" or \"bandwidth\", got both");
    if (!factor && !has_rate && !has_time)
      diagnostics_.add(
          node.origin(),
          "expected \"factor\", \"bandwidth\" or \"latency\" beside the link, got none");
    SlowLink fault;
    if (factor)
      fault.factor = read_factor(*factor);
    if (!ends || !first(node, fmt::format("the link {} is slow or cut", ends->text)))
      return;
    fault.from = ends->from;
    fault.to = ends->to;
    if (rate)
      fault.bandwidth = BytesPerSecond(*rate);
    if (time)
      fault.latency = Duration(*time);
    read_.emplace_back(fault);
  }

  void read_cut_link(DocumentNode node) {
    const std::optional<Ends> ends = read_ends(node);
    if (ends && first(node, fmt::format("the link {} is slow or cut", ends->text)))
      read_.emplace_back(CutLink{ends->from, ends->to});
  }

  void read_late_start(DocumentNode node, Fields& fields) {
    const std::optional<LogicalId> device = read_device(node);
    const auto by = fields.required_quantity("by", Dimension::Time);
    if (device && first(node, fmt::format("device {} starts late", device->index())) && by)
      read_.emplace_back(LateStart{*device, Duration(*by)});
  }

  void read_jitter(DocumentNode node) {
    if (!is_object(node, "an object with \"ops\", \"links\" or both", diagnostics_))
      return;
    Fields fields(node, diagnostics_);
    const auto ops = fields.optional_quantity("ops", Dimension::Time);
    const auto links = fields.optional_quantity("links", Dimension::Time);
    fields.finish();
    if (node.size() == 0)
      diagnostics_.add(node.origin(), "expected \"ops\", \"links\" or both, got neither");
    if (first(node, "there is jitter"))
      read_.emplace_back(Jitter{Duration(ops.value_or(0)), Duration(links.value_or(0))});
  }

  /// Returns whether no earlier fault changes the same thing. Adds an error if one does.
  bool first(DocumentNode node, const std::string& says) {
    const auto [at, is_new] = said_.emplace(says, node.origin().pointer);
    if (!is_new)
      diagnostics_.add(node.origin(),
                       fmt::format("expected another fault: {} already by {}", says, at->second));
    return is_new;
  }

  std::optional<LogicalId> read_device(DocumentNode node) {
    const auto device =
        read_integer(node, "a device of the mesh", {0, int64_t{mesh_.devices()} - 1}, diagnostics_);
    return device ? std::optional(LogicalId(static_cast<size_t>(*device))) : std::nullopt;
  }

  std::optional<Factor> read_factor(DocumentNode node) {
    if (node.kind() == DocumentNode::Kind::Number) {
      const std::optional<int64_t> millionths = read_millionths(node.number());
      if (millionths && Factor(*millionths) >= kOnce && Factor(*millionths) <= kMostFactor)
        return Factor(*millionths);
    }
    expected(node,
             fmt::format("a factor from 1 to {} with at most 6 decimals, such as 1.5",
                         factor_text(kMostFactor)),
             diagnostics_);
    return std::nullopt;
  }

  std::optional<VertexId> read_vertex(DocumentNode node) {
    if (node.kind() != DocumentNode::Kind::Text) {
      const auto device = read_integer(node, "a switch's name or a device",
                                       {0, int64_t{fabric_.devices()} - 1}, diagnostics_);
      return device ? std::optional(VertexId(static_cast<size_t>(*device))) : std::nullopt;
    }
    const std::vector<std::string> switches = fabric_.switch_names();
    const auto found = std::find(switches.begin(), switches.end(), node.text());
    if (found != switches.end())
      return VertexId(fabric_.devices() + static_cast<size_t>(found - switches.begin()));
    diagnostics_.add(node.origin(),
                     fmt::format("expected a switch of the cluster or a device, got {}{}",
                                 in_quotes(node.text()),
                                 did_you_mean(node.text(), {switches.begin(), switches.end()})));
    return std::nullopt;
  }

  std::optional<Ends> read_ends(DocumentNode node) {
    if (!is_object(node, "a link such as {\"from\": 0, \"to\": 1}", diagnostics_))
      return std::nullopt;
    Fields fields(node, diagnostics_);
    const auto end = [&](std::string_view key) -> std::optional<VertexId> {
      const std::optional<DocumentNode> found = fields.required(key);
      return found ? read_vertex(*found) : std::nullopt;
    };
    const std::optional<VertexId> from = end("from");
    const std::optional<VertexId> to = end("to");
    fields.finish();
    if (!from || !to)
      return std::nullopt;
    Ends ends{*from, *to, fabric_.links_between(*from, *to),
              fmt::format("{} -> {}", fabric_.vertex_text(*from), fabric_.vertex_text(*to))};
    if (!ends.links.empty())
      return ends;
    diagnostics_.add(node.origin(), fmt::format("expected a link of the cluster, got {}; {}",
                                                ends.text, neighbours_text(*from)));
    return std::nullopt;
  }

  std::string neighbours_text(VertexId from) const {
    const std::vector<VertexId> neighbours = fabric_.neighbours(from);
    if (neighbours.empty())
      return fmt::format("no link leads from {}", fabric_.vertex_text(from));
    std::vector<std::string> names;
    for (size_t i = 0; i < std::min(neighbours.size(), kMostNamed); ++i)
      names.push_back(fabric_.vertex_text(neighbours[i]));
    if (neighbours.size() > kMostNamed)
      names.push_back(fmt::format("{} more", neighbours.size() - kMostNamed));
    return fmt::format("from {}, links lead to {}", fabric_.vertex_text(from),
                       fmt::join(names, ", "));
  }

  const Fabric& fabric_;
  const Mesh& mesh_;
  Diagnostics& diagnostics_;
  std::vector<Fault> read_;
  std::map<std::string, std::string> said_;  // what a fault says -> where
};

using Members = std::vector<std::pair<std::string, JsonText>>;

class FaultWriter {
 public:
  explicit FaultWriter(const Fabric& fabric) : fabric_(fabric) {}

  JsonText operator()(const SlowDevice& fault) const {
    return JsonText::object(
        {{"slow_device", device(fault.device)}, {"factor", factor(fault.factor)}});
  }
  JsonText operator()(const SlowLink& fault) const {
    Members members;
    members.emplace_back("slow_link", ends(fault));
    if (fault.factor)
      members.emplace_back("factor", factor(*fault.factor));
    if (fault.bandwidth)
      members.emplace_back("bandwidth", JsonText::text(quantity_text(*fault.bandwidth)));
    if (fault.latency)
      members.emplace_back("latency", JsonText::text(quantity_text(*fault.latency)));
    return JsonText::object(std::move(members));
  }
  JsonText operator()(const CutLink& fault) const {
    return JsonText::object({{"cut_link", ends(fault)}});
  }
  JsonText operator()(const LateStart& fault) const {
    return JsonText::object(
        {{"late_start", device(fault.device)}, {"by", JsonText::text(quantity_text(fault.by))}});
  }
  JsonText operator()(const Jitter& fault) const {
    return JsonText::object(
        {{"jitter", JsonText::object({{"ops", JsonText::text(quantity_text(fault.ops))},
                                      {"links", JsonText::text(quantity_text(fault.links))}})}});
  }

 private:
  static JsonText device(LogicalId id) { return JsonText::raw(fmt::format("{}", id.index())); }
  static JsonText factor(Factor factor) { return JsonText::raw(factor_text(factor)); }

  template <class OfLink>
  JsonText ends(const OfLink& fault) const {
    return JsonText::object(
        {{"from", vertex_text(fabric_, fault.from)}, {"to", vertex_text(fabric_, fault.to)}});
  }

  const Fabric& fabric_;
};

}  // namespace

std::string factor_text(Factor factor) {
  std::string text =
      fmt::format("{}.{:06}", factor.count() / kOnce.count(), factor.count() % kOnce.count());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.')
    text.pop_back();
  return text;
}

std::string fault_text(const Fault& fault, const Fabric& fabric, uint64_t seed) {
  return std::visit(FaultText(fabric, seed), fault);
}

std::vector<Fault> read_faults(DocumentNode node, const Fabric& fabric, const Mesh& mesh,
                               Diagnostics& diagnostics) {
  return FaultReader(fabric, mesh, diagnostics).read(node);
}

JsonText faults_json(std::span<const Fault> faults, const Fabric& fabric) {
  std::vector<JsonText> texts;
  for (const Fault& fault : faults)
    texts.push_back(std::visit(FaultWriter(fabric), fault));
  return JsonText::list(std::move(texts));
}

}  // namespace orrery
