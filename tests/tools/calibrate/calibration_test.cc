// Tests calibration on times that a known cluster of ours has: it must find the cluster again.

#include "tools/calibrate/calibration.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/scenario/cluster_json.h"
#include "models/scenario/document.h"
#include "tests/support/units.h"
#include "tools/nccl_tests/perf.h"

namespace orrery::test {
namespace {

/// Returns four devices behind a switch, with one protocol for rings.
Cluster ring_machine(int64_t launch, int64_t latency, int64_t channel_rate) {
  ProtocolFigures protocol;
  protocol.name = "mine";
  protocol.algorithms = {"ring"};
  protocol.slot = Bytes(256 * 1024);
  protocol.slots = 4;
  protocol.channels = 2;
  protocol.launch = Duration(launch);
  protocol.latency = Duration(latency);
  protocol.channel_rate = BytesPerSecond(channel_rate);
  Cluster cluster{"machine", switch_fabric(4, {BytesPerSecond(100 * kGBps), Duration()}), {}};
  cluster.transport = TransportFigures{{protocol}};
  return cluster;
}

/// Returns the times of the cluster from 1 KiB to 16 MiB.
NcclTable table_of(const Cluster& cluster, uint32_t ranks, uint32_t gpus_of_process = 1) {
  PerfRequest request;
  request.collective = NcclCollective::AllReduce;
  request.settings.gpus = gpus_of_process;
  request.processes = ranks / gpus_of_process;
  request.settings.least = Bytes(1024);
  request.settings.most = Bytes(16 << 20);
  request.settings.step = 4;
  request.settings.step_is_factor = true;
  request.settings.checks = 0;
  request.kinds = {{{"float", Dtype::F32}, {"sum", NcclRedop::Sum}}};
  NcclTable table = perf_table(request, cluster).table;
  table.file = "made.txt";
  return table;
}

CalibrationOptions quickly() {
  CalibrationOptions options;
  options.evaluations = 300;
  options.date = "2026-01-31";
  return options;
}

struct Made {
  std::vector<NcclTable> tables;
  MeasuredCalls measured;
  Calibration calibration;
};

Made calibrated(const Cluster& base, std::vector<NcclTable> tables,
                const CalibrationOptions& options) {
  MeasuredCalls measured = measured_calls(tables, base);
  Calibration calibration = calibrate(base, tables, measured.calls, options);
  return {std::move(tables), std::move(measured), std::move(calibration)};
}

TEST_CASE("calibration: figures that made the times are found again") {
  const Cluster machine = ring_machine(5 * kUs, kUs, 20 * kGBps);
  const Cluster base = ring_machine(12 * kUs, 3 * kUs, 8 * kGBps);
  const Made made = calibrated(base, {table_of(machine, 2), table_of(machine, 4)}, quickly());
  const Calibration& found = made.calibration;
  // The fit ends where steps change the mean error by less than 0.001 %, and rounds to three
  // digits, which is up to 0.5 %.
  CHECK(summary(found.residuals).mean < 0.01);
  // There are eight sizes, out of place and in place.
  REQUIRE(found.left_out.size() == 2);
  for (const LeftOutRanks& fold : found.left_out) {
    CHECK(fold.residuals.size() == 2 * 8);
    for (const Residual& residual : fold.residuals)
      CHECK(residual.call->call.ranks == fold.ranks);
  }
  // With 2 ranks a call has 2 steps in a row, with 4 it has 6, so launch and latency can be told
  // apart.
  const ProtocolFigures& protocol = found.cluster.transport->protocols.front();
  const auto near = [](double value, double exact) { return std::abs(value / exact - 1) < 0.1; };
  CHECK(near(static_cast<double>(protocol.launch->count()), 5 * kUs));
  CHECK(near(static_cast<double>(protocol.latency->count()), kUs));
  CHECK(near(static_cast<double>(protocol.channel_rate->count()), 20 * kGBps));
}

/// Returns two nodes of two devices. Inside a node messages have the figures of ring_machine().
Cluster two_nodes(int64_t latency, int64_t channel_rate) {
  Cluster cluster = ring_machine(5 * kUs, kUs, 20 * kGBps);
  const LinkFigures link{BytesPerSecond(100 * kGBps), Duration()};
  const auto inside = switch_fabric(2, link).shared_topology();
  const auto outside = switch_fabric(4, link).shared_topology();
  cluster.fabric =
      Fabric(std::make_shared<const Nodes>(NodesForm{2, inside, 2, outside, false, false, {}}));
  cluster.transport->protocols.front().network = {
      {}, Duration(latency), BytesPerSecond(channel_rate)};
  return cluster;
}

TEST_CASE("calibration: over nodes the network's figures are found, and those of a node stay") {
  const Cluster machine = two_nodes(14 * kUs, 6 * kGBps);
  const Cluster base = two_nodes(5 * kUs, 10 * kGBps);
  const Calibration found = calibrated(base, {table_of(machine, 4)}, quickly()).calibration;
  CHECK(summary(found.residuals).mean < 0.01);
  std::vector<std::string> fitted;
  for (const FittedFigure& figure : found.figures)
    fitted.push_back(figure.name);
  CHECK(fitted == std::vector<std::string>{"transport/mine/network/latency",
                                           "transport/mine/network/channel_rate"});
  ProtocolFigures protocol = found.cluster.transport->protocols.front();
  // The mean error is below 1 %. About half of the sizes depend on the latency alone, and the
  // others on the rate alone. So neither is off by more than 2 %.
  const auto near = [](int64_t value, int64_t exact) {
    return std::abs(static_cast<double>(value) / static_cast<double>(exact) - 1) < 0.02;
  };
  CHECK(near(protocol.network.latency->count(), 14 * kUs));
  CHECK(near(protocol.network.channel_rate->count(), 6 * kGBps));
  protocol.network = base.transport->protocols.front().network;
  CHECK(protocol == base.transport->protocols.front());
  CHECK(found.cluster.fabric.links() == base.fabric.links());
}

TEST_CASE(
    "calibration: over nodes of a calibrated node, the start has its figures and NCCL's network") {
  const auto read = [](const char* text) {
    Diagnostics diagnostics("made");
    const Document document(text, diagnostics);
    const std::optional<ClusterReading> made =
        read_cluster(*document.root(), Limits(), diagnostics);
    diagnostics.throw_if_any();
    return made->cluster;
  };
  const Cluster base = read(R"({"catalog": "h100-sxm-8", "nodes": 2})");
  const Cluster start = calibration_start(base, {});
  const auto named = [](const Cluster& cluster, std::string_view name) {
    const std::vector<ProtocolFigures>& all = cluster.transport->protocols;
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const ProtocolFigures& each) { return each.name == name; });
    return found == all.end() ? ProtocolFigures() : *found;
  };
  REQUIRE(named(start, "ll").launch.has_value());
  REQUIRE(named(start, "nvls").launch.has_value());
  CHECK(named(start, "ll").launch == named(base, "ll").launch);
  CHECK(named(start, "nvls") == named(base, "nvls"));
  // Those of tools/calibrate/start.json.
  CHECK(named(start, "ll").network.latency == Duration(2'700'000));
  CHECK(named(start, "tree_ll").network.latency == Duration(5'000'000));
  CHECK(named(start, "p2p").network.latency == Duration(14'000'000));
  // No table says how many ranks the new figures are for; a range of one node would stay.
  CHECK(start.transport->calibrated.empty());
  REQUIRE(!free_figures(start).empty());
  for (const FreeFigure& figure : free_figures(start)) {
    CAPTURE(figure.name);
    CHECK((figure.name.find("/network/") != std::string::npos ||
           figure.name.starts_with("transport/tree") ||
           figure.name.starts_with("transport/nvls_tree/")));
  }
}

TEST_CASE("calibration: of one node, figures of the network stay with their sources") {
  Cluster base = *catalog_cluster("h100-sxm-8");
  const FigureSource source = {"transport/ll/network/latency", std::string(kCalibrated), "a table",
                               "2026"};
  base.transport->protocols.front().network.latency = Duration(kUs);
  base.sources.push_back(source);
  ProtocolFigures over;
  over.name = "over";
  over.algorithms = {"in_switch+tree"};
  over.spans_nodes = true;
  over.launch = Duration(3 * kUs);
  base.transport->protocols.push_back(over);
  base.sources.push_back({"transport/over/launch", std::string(kCalibrated), "a table", "2026"});
  const Cluster start = calibration_start(base, {});
  const std::vector<ProtocolFigures>& all = start.transport->protocols;
  CHECK(std::find(all.begin(), all.end(), over) != all.end());
  const auto ll = std::find_if(all.begin(), all.end(),
                               [](const ProtocolFigures& each) { return each.name == "ll"; });
  REQUIRE(ll != all.end());
  CHECK(ll->network.latency == Duration(kUs));
  CHECK(ll->launch == Duration(6'600'000));  // NCCL's, of tools/calibrate/start.json
  CHECK(std::find(start.sources.begin(), start.sources.end(), source) != start.sources.end());
  CHECK(std::none_of(all.begin(), all.end(),
                     [](const ProtocolFigures& each) { return each.name == "tree_ll"; }));
}

TEST_CASE("calibration: what was fitted says so, in the file too") {
  const Cluster machine = ring_machine(5 * kUs, kUs, 20 * kGBps);
  CalibrationOptions options = quickly();
  options.leave_out_ranks = false;
  options.source = "our own machine";
  const Made made = calibrated(machine, {table_of(machine, 4)}, options);
  const Cluster& cluster = made.calibration.cluster;
  const auto source =
      std::find_if(cluster.sources.begin(), cluster.sources.end(),
                   [](const FigureSource& each) { return each.figure == "transport/mine/launch"; });
  REQUIRE(source != cluster.sources.end());
  CHECK(source->label == kCalibrated);
  CHECK(source->date == "2026-01-31");
  CHECK(source->source.starts_with(
      "nccl-tests all_reduce on 4 ranks, NCCL of unknown version (our own machine); mean error "));
  // Slots are no time and no rate, so they have no source.
  CHECK(std::none_of(cluster.sources.begin(), cluster.sources.end(), [](const FigureSource& each) {
    return each.figure == "transport/mine/slots";
  }));
  CHECK(cluster.transport->calibrated.size() == 1);
  CHECK(cluster.transport->calibrated.at("psum") ==
        CalibratedRange{4, 4, Bytes(1024), Bytes(16 << 20)});
  CHECK(made.calibration.left_out.empty());

  const std::string text = cluster_text(cluster).lines();
  Diagnostics diagnostics("made");
  const Document document(text, diagnostics);
  const std::optional<ClusterReading> read = read_cluster(*document.root(), Limits(), diagnostics);
  diagnostics.throw_if_any();
  CHECK(read->cluster.transport == cluster.transport);
  CHECK(read->cluster.sources == cluster.sources);
}

TEST_CASE("calibration: a figure at the bound of the search says so") {
  // The machine's links carry 5 GB/s, and those of the data sheet 4 GB/s: this is as near as the
  // fit may go.
  const auto with_links = [](int64_t rate) {
    Cluster cluster = ring_machine(5 * kUs, kUs, 20 * kGBps);
    cluster.fabric = switch_fabric(4, {BytesPerSecond(rate * kGBps), Duration()});
    return cluster;
  };
  Cluster base = with_links(4);
  base.sources = {{"bandwidth", "data sheet", "a sheet", "2026"}};
  CalibrationOptions options = quickly();
  options.leave_out_ranks = false;
  const Made made = calibrated(base, {table_of(with_links(5), 4)}, options);
  REQUIRE(made.calibration.figures.size() == 3);  // no channel is the narrowest
  for (const FittedFigure& figure : made.calibration.figures)
    CHECK(figure.at_bound == (figure.name == "bandwidth"));
  for (const FigureSource& source : made.calibration.cluster.sources)
    CHECK(source.source.ends_with("; at the bound of the search") ==
          (source.figure == "bandwidth"));
  const std::string text = calibration_text(made.calibration, Style());
  CHECK(text.find("at its bound") != std::string::npos);
  // Without ranks that are left out, there are no columns for them.
  const std::string heads = text.substr(text.find("  collective"), 80);
  CHECK(heads.find("worst") == heads.rfind("worst"));
}

TEST_CASE("calibration: a protocol that no call is fastest with is left away") {
  const Cluster machine = ring_machine(5 * kUs, kUs, 20 * kGBps);
  Cluster base = machine;
  base.transport->protocols.push_back(base.transport->protocols.front());
  base.transport->protocols.back().name = "slow";
  base.transport->protocols.back().launch = Duration(10'000 * kUs);
  base.sources = {{"transport/slow/slots", "assumed", "by hand", "2026"}};
  CalibrationOptions options = quickly();
  options.leave_out_ranks = false;
  options.evaluations = 20;
  const Made made = calibrated(base, {table_of(machine, 4)}, options);
  CHECK(made.calibration.unused == std::vector<std::string>{"slow"});
  CHECK(made.calibration.cluster.transport->protocols.size() == 1);
  for (const FittedFigure& figure : made.calibration.figures)
    CHECK_FALSE(figure.name.starts_with("transport/slow/"));
  for (const FigureSource& source : made.calibration.cluster.sources)
    CHECK_FALSE(source.figure.starts_with("transport/slow/"));
}

TEST_CASE("calibration: the same tables give the same figures") {
  const Cluster machine = ring_machine(5 * kUs, kUs, 20 * kGBps);
  const Cluster base = ring_machine(12 * kUs, 3 * kUs, 8 * kGBps);
  CalibrationOptions options = quickly();
  options.leave_out_ranks = false;
  options.evaluations = 40;
  const auto text = [&] {
    return cluster_text(calibrated(base, {table_of(machine, 4)}, options).calibration.cluster)
        .lines();
  };
  CHECK(text() == text());
}

FigureSource fitted(const std::string& figure) {
  return {figure, std::string(kCalibrated), "a table", "2026"};
}

TEST_CASE("calibration: figures of the base that were fitted are fitted anew") {
  Cluster base = ring_machine(5 * kUs, kUs, 20 * kGBps);
  base.fabric = switch_fabric(4, {BytesPerSecond(100 * kGBps), Duration(kUs)});
  base.device.launch = Duration(3 * kUs);
  const Cluster kept = calibration_start(base, {});
  CHECK(kept.fabric.links().front().latency == Duration(kUs));
  CHECK(kept.device.launch == Duration(3 * kUs));
  CHECK(kept.transport->protocols.front().name == "mine");

  base.transport->protocols.push_back(base.transport->protocols.front());
  base.transport->protocols.back().name = "p2p";  // as one of start.json
  base.sources = {fitted("latency"),
                  fitted("launch"),
                  fitted("transport/mine/launch"),
                  fitted("transport/p2p/launch"),
                  {"transport/p2p/efficiency", "measured", "a scope", "2026"},
                  {"bandwidth", "data sheet", "a sheet", "2026"}};
  const Cluster anew = calibration_start(base, {});
  CHECK(anew.fabric.links().front().latency == Duration());
  CHECK(anew.fabric.links().front().bandwidth == BytesPerSecond(100 * kGBps));
  CHECK_FALSE(anew.device.launch.has_value());
  std::vector<std::string> names;
  for (const ProtocolFigures& protocol : anew.transport->protocols)
    names.push_back(protocol.name);
  CHECK(names ==
        std::vector<std::string>{"ll", "simple", "broadcast", "p2p", "nvls"});  // start.json
  // Sources are the base's, except those of the protocols, which are start.json's.
  const auto label_of = [&](const std::string& figure) -> std::string {
    std::string labels;
    for (const FigureSource& source : anew.sources)
      if (source.figure == figure)
        labels += source.label;
    return labels;
  };
  CHECK(label_of("bandwidth") == "data sheet");
  CHECK(label_of("latency") == "");
  CHECK(label_of("transport/p2p/efficiency") == kExtrapolated);
  CHECK(label_of("transport/ll/launch") == kExtrapolated);
  CHECK(label_of("transport/p2p/launch") == "");  // start.json has no source
}

TEST_CASE("calibration: of two figures of which times tell the sum, the one with a source stays") {
  // With two ranks every call has two steps in a row: launch + 2 x latency = 7 us. The figures
  // start at 6 and 2 us, and must come down by 3 us together.
  const Cluster machine = ring_machine(5 * kUs, kUs, 20 * kGBps);
  CalibrationOptions options = quickly();
  options.leave_out_ranks = false;
  options.evaluations = 3000;
  const auto fitted_launch = [&](const std::string& with_source) {
    Cluster base = ring_machine(6 * kUs, 2 * kUs, 20 * kGBps);
    base.sources = {{"transport/mine/" + with_source, "estimated", "a colleague", "2026"}};
    const Made made = calibrated(base, {table_of(machine, 2)}, options);
    return made.calibration.cluster.transport->protocols.front().launch->count();
  };
  CHECK(fitted_launch("launch") > fitted_launch("latency") + kUs);
}

TEST_CASE("calibration: what serves other ops stays, and so does what was measured") {
  const Cluster machine = ring_machine(5 * kUs, kUs, 20 * kGBps);
  Cluster base = machine;
  base.transport->protocols.push_back(base.transport->protocols.front());
  base.transport->protocols.back().name = "exchange";
  base.transport->protocols.back().algorithms = {"direct"};  // no algorithm of a psum
  base.transport->protocols.push_back(base.transport->protocols.front());
  base.transport->protocols.back().name = "slow";
  base.transport->protocols.back().launch = Duration(10'000 * kUs);
  base.transport->host_launch = {{"psum", Duration(9 * kUs)}, {"all_to_all", Duration(7 * kUs)}};
  base.sources = {{"transport/host_launch/psum", "measured", "strace", "2026"},
                  {"transport/slow/launch", "measured", "strace", "2026"}};
  CalibrationOptions options = quickly();
  options.leave_out_ranks = false;
  options.evaluations = 5;
  const Made made = calibrated(base, {table_of(machine, 4, 4)}, options);
  const TransportFigures& transport = *made.calibration.cluster.transport;
  CHECK(made.calibration.unused.empty());
  CHECK(transport.protocols.size() == 3);
  CHECK(transport.protocols.back().launch == Duration(10'000 * kUs));
  CHECK(transport.host_launch == base.transport->host_launch);
}

TEST_CASE("calibration: what a fit began with and could not fit is labelled extrapolated") {
  const Cluster machine = ring_machine(5 * kUs, kUs, 20 * kGBps);
  Cluster base = machine;
  base.transport.reset();
  CalibrationOptions options = quickly();
  options.leave_out_ranks = false;
  options.evaluations = 5;
  const Made made = calibrated(base, {table_of(machine, 4)}, options);
  const auto label_of = [&](const std::string& figure) -> std::string {
    for (const FigureSource& source : made.calibration.cluster.sources)
      if (source.figure == figure)
        return source.label;
    return "";
  };
  CHECK(label_of("transport/ll/launch") == kCalibrated);
  // No exchange was measured.
  CHECK(label_of("transport/p2p/launch") == kExtrapolated);
  CHECK(label_of("transport/p2p/channel_bytes") == kExtrapolated);
  CHECK(label_of("transport/p2p/slots") == "");  // no figure that is fitted
}

TEST_CASE("calibration: numbers of ranks that are left out do not set the host's time") {
  const Cluster machine = ring_machine(5 * kUs, kUs, 20 * kGBps);
  // Only the table of 4 ranks has several GPUs in a process. Its calls take 1 s each.
  std::vector<NcclTable> tables = {table_of(machine, 2), table_of(machine, 4, 4)};
  for (NcclRow& row : tables.back().rows)
    row.out_of_place->time = row.in_place->time = Duration(1'000'000 * kUs);
  CalibrationOptions options = quickly();
  options.evaluations = 5;
  const Made made = calibrated(machine, tables, options);
  REQUIRE(made.calibration.left_out.size() == 2);
  CHECK(made.calibration.left_out.back().ranks == 4);
  for (const Residual& residual : made.calibration.left_out.back().residuals)
    CHECK(residual.error() < -0.9);  // no call that the fit saw takes a second
}

TEST_CASE("calibration: the host's time is that of the fastest call, by GPUs of a process") {
  const Cluster machine = ring_machine(5 * kUs, kUs, 20 * kGBps);
  const auto launch_of = [&](uint32_t gpus_of_process) {
    const std::vector<NcclTable> tables = {table_of(machine, 4, gpus_of_process)};
    const MeasuredCalls measured = measured_calls(tables, machine);
    return calibration_start(machine, measured.calls).transport->host_launch;
  };
  CHECK(launch_of(1).empty());
  const Duration fastest = table_of(machine, 4).rows.front().out_of_place->time;
  REQUIRE(launch_of(2).size() == 1);
  CHECK(launch_of(2).at("psum") == Duration(fastest.count() / 2));
}

TEST_CASE("calibration: a data sheet's figures of a protocol are kept") {
  Cluster cluster = ring_machine(5 * kUs, kUs, 20 * kGBps);
  const auto names = [&] {
    std::vector<std::string> all;
    for (const FreeFigure& figure : free_figures(cluster))
      all.push_back(figure.name);
    return all;
  };
  CHECK(names() == std::vector<std::string>{"bandwidth", "transport/mine/launch",
                                            "transport/mine/latency",
                                            "transport/mine/channel_rate"});
  cluster.sources = {{"bandwidth", "data sheet", "a sheet", "2026"},
                     {"transport/mine/latency", "data sheet", "a sheet", "2026"}};
  CHECK(names() == std::vector<std::string>{"bandwidth", "transport/mine/launch",
                                            "transport/mine/channel_rate"});
}

TEST_CASE("calibration: figures are rounded to three digits") {
  CHECK(three_digits(1234.4) == 1230);
  CHECK(three_digits(1235.0) == 1240);
  CHECK(three_digits(999'600) == 1'000'000);
  CHECK(three_digits(123.4) == 123);
  CHECK(three_digits(4.6) == 5);
  CHECK(three_digits(0.2) == 1);  // figures are positive
}

TEST_CASE("calibration: thinned tables keep their ends") {
  std::vector<MeasuredCall> calls;
  for (int64_t r = 0; r < 7; ++r) {
    calls.emplace_back();
    calls.back().size = Bytes(r);
  }
  calls.emplace_back();
  calls.back().table = 1;
  std::vector<int64_t> sizes;
  for (const MeasuredCall& call : thinned(calls, 3))
    sizes.push_back(call.size.count());
  CHECK(sizes == std::vector<int64_t>{0, 3, 6, 0});
}

}  // namespace
}  // namespace orrery::test
