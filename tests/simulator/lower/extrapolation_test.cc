// Tests the labels of collectives that lie outside the ranges for which a transport was calibrated.

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "simulator/lower/assumptions.h"
#include "tests/simulator/lower/lower_rig.h"

namespace orrery {
namespace {

using test::LowerRig;
using test::Names;
using test::Parameters;
using Groups = std::vector<std::vector<int64_t>>;
using Labels = std::vector<std::string>;

const Parameters kAll = {{"axis_name", Names{"x"}}};

Parameters in_groups(Groups groups) {
  return {{"axis_name", Names{"x"}}, {"axis_index_groups", std::move(groups)}};
}

/// Returns a transport calibrated for sums of 3 to 4 ranks and 96 to 100 B.
TransportFigures calibrated() {
  TransportFigures transport;
  transport.calibrated = {{"psum", {3, 4, Bytes(96), Bytes(100)}}};
  return transport;
}

/// Returns the labels of one op with an operand of `bytes` s8 on each of `devices` devices.
Labels labels_of(const std::string& op, uint32_t devices, int64_t bytes,
                 const Parameters& parameters = kAll) {
  LowerRig rig(devices);
  rig.argument("a", Dtype::S8, Shape{bytes}).op(op, "r", {"a"}, parameters);
  return extrapolated_labels(calibrated(), rig.lower().collectives);
}

TEST_CASE("extrapolation: none of what lies inside, ends included") {
  for (const uint32_t ranks : {3U, 4U})
    for (const int64_t bytes : {96, 100})
      CHECK(labels_of("psum", ranks, bytes) == Labels{});
}

TEST_CASE("extrapolation: by size, a byte below and above") {
  CHECK(labels_of("psum", 4, 95) ==
        Labels{"transport: extrapolated to psum of 4 ranks, 95 B (calibrated for 3 to 4 ranks, "
               "96 B to 100 B)"});
  CHECK(labels_of("psum", 4, 101) ==
        Labels{"transport: extrapolated to psum of 4 ranks, 101 B (calibrated for 3 to 4 ranks, "
               "96 B to 100 B)"});
}

TEST_CASE("extrapolation: by ranks, one below and above") {
  CHECK(labels_of("psum", 2, 96) ==
        Labels{"transport: extrapolated to psum of 2 ranks, 96 B (calibrated for 3 to 4 ranks, "
               "96 B to 100 B)"});
  CHECK(labels_of("psum", 5, 96) ==
        Labels{"transport: extrapolated to psum of 5 ranks, 96 B (calibrated for 3 to 4 ranks, "
               "96 B to 100 B)"});
}

TEST_CASE("extrapolation: by op") {
  CHECK(labels_of("ppermute", 4, 96, {{"axis_name", Names{"x"}}, {"perm", Groups{{0, 1}}}}) ==
        Labels{"transport: extrapolated to ppermute of 4 ranks, 96 B (not calibrated for this "
               "op)"});
}

TEST_CASE("extrapolation: a pmax is one of psum, inside and outside") {
  CHECK(labels_of("pmax", 4, 96) == Labels{});
  CHECK(labels_of("pmax", 4, 95) == labels_of("psum", 4, 95));
}

TEST_CASE("extrapolation: the ranks are those of each group") {
  CHECK(labels_of("psum", 8, 96, in_groups({{0, 1, 2}, {3, 4, 5, 6, 7}})) ==
        Labels{"transport: extrapolated to psum of 5 ranks, 96 B (calibrated for 3 to 4 ranks, "
               "96 B to 100 B)"});
  CHECK(labels_of("psum", 8, 96, in_groups({{0, 1, 2}, {4, 5, 6, 7}, {3}})) == Labels{});
}

TEST_CASE("extrapolation: several of an op are one label, from the least to the most") {
  LowerRig rig(8);
  rig.argument("small", Dtype::S8, Shape{7})
      .argument("inside", Dtype::S8, Shape{96})
      .argument("large", Dtype::S8, Shape{2048})
      .op("psum", "a", {"large"}, in_groups({{0, 1, 2, 3}, {4, 5, 6, 7}}))
      .op("psum", "b", {"small"}, kAll)
      .op("pmin", "c", {"large"}, in_groups({{0, 1, 2}, {3, 4, 5, 6, 7}}))
      .op("psum", "d", {"inside"}, in_groups({{0, 1, 2}, {4, 5, 6, 7}, {3}}));
  CHECK(extrapolated_labels(calibrated(), rig.lower().collectives) ==
        Labels{"transport: extrapolated to psum of 3 to 8 ranks, 7 B to 2 KiB (calibrated for 3 to "
               "4 ranks, 96 B to 100 B)"});
}

TEST_CASE("extrapolation: those inside do not extend a label") {
  LowerRig rig(4);
  rig.argument("small", Dtype::S8, Shape{7})
      .argument("inside", Dtype::S8, Shape{96})
      .op("psum", "a", {"small"}, kAll)
      .op("psum", "b", {"inside"}, kAll);
  CHECK(extrapolated_labels(calibrated(), rig.lower().collectives) == labels_of("psum", 4, 7));
}

TEST_CASE("extrapolation: a label for each op, by their names") {
  LowerRig rig(4);
  rig.argument("a", Dtype::S8, Shape{8})
      .op("psum", "sum", {"a"}, kAll)
      .op("all_gather", "gathered", {"a"}, kAll);
  CHECK(extrapolated_labels(calibrated(), rig.lower().collectives) ==
        Labels{"transport: extrapolated to all_gather of 4 ranks, 32 B (not calibrated for this "
               "op)",
               "transport: extrapolated to psum of 4 ranks, 8 B (calibrated for 3 to 4 ranks, 96 B "
               "to 100 B)"});
}

TEST_CASE("extrapolation: none where the transport does not say what it was calibrated for") {
  LowerRig rig(5);
  rig.argument("a", Dtype::S8, Shape{1}).op("psum", "sum", {"a"}, kAll);
  TransportFigures transport;
  transport.host_launch = {{"psum", Duration(1)}};
  CHECK(extrapolated_labels(transport, rig.lower().collectives) == Labels{});
}

TEST_CASE("extrapolation: groups of one, and collectives without elements, are none") {
  CHECK(labels_of("psum", 1, 7) == Labels{});
  CHECK(labels_of("ppermute", 2, 7, {{"axis_name", Names{}}, {"perm", Groups{{0, 0}}}}) ==
        Labels{});
  CHECK(labels_of("psum", 2, 0) == Labels{});
  CHECK(labels_of("all_gather", 2, 0) == Labels{});
}

/// Returns the size of the largest tensor of the only collective of a program on four devices, with
/// an operand of 8 elements.
Bytes largest_of(const std::string& op, Dtype dtype, Parameters parameters) {
  LowerRig rig(4);
  parameters.emplace_back("axis_name", Names{"x"});
  rig.argument("a", dtype, Shape{8}).op(op, "r", {"a"}, parameters);
  return largest_tensor(rig.lower().collectives.front());
}

TEST_CASE("extrapolation: the size is that of the larger of operand and result, as it moves") {
  CHECK(largest_of("psum", Dtype::F32, {}) == Bytes(32));
  // The result has the operands of four ranks.
  CHECK(largest_of("all_gather", Dtype::F32, {}) == Bytes(4 * 32));
  CHECK(largest_of("psum_scatter", Dtype::F32, {{"tiled", true}}) == Bytes(32));
  // The sum of preds moves s32.
  CHECK(largest_of("psum", Dtype::Pred, {}) == Bytes(32));
}

TEST_CASE("extrapolation: a lowered program has the labels of its cluster's transport") {
  LowerRig rig(4);
  rig.cluster.transport = calibrated();
  rig.cluster.transport->protocols.emplace_back().name = "whole";
  rig.argument("a", Dtype::S8, Shape{95}).op("psum", "sum", {"a"}, kAll);
  const Labels& labels = rig.lower().labels;
  const Labels expected = labels_of("psum", 4, 95);
  CHECK(std::count(labels.begin(), labels.end(), expected.at(0)) == 1);
}

}  // namespace
}  // namespace orrery
