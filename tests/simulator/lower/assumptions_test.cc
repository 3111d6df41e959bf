#include "simulator/lower/assumptions.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace orrery {
namespace {

std::vector<std::string> labels_of(std::vector<FigureSource> sources) {
  Cluster cluster{"one", ring_fabric(1, {BytesPerSecond(1), Duration()}), {}};
  cluster.sources = std::move(sources);
  return fitted_figures(cluster);
}

using Labels = std::vector<std::string>;

TEST_CASE("fitted figures: those of one label, source and date are one label, in their order") {
  CHECK(
      labels_of({{"z", "calibrated", "a table", "2026"}, {"a", "calibrated", "a table", "2026"}}) ==
      Labels{"z, a: calibrated (a table, 2026)"});
}

TEST_CASE("fitted figures: another label, source or date is another label, by its first figure") {
  CHECK(labels_of({{"a", "calibrated", "s", "d"},
                   {"b", "overridden", "s", "d"},
                   {"c", "calibrated", "t", "d"},
                   {"d", "calibrated", "s", "e"},
                   {"e", "calibrated", "s", "d"},
                   {"f", "overridden", "s", "d"}}) ==
        Labels{"a, e: calibrated (s, d)", "b, f: overridden (s, d)", "c: calibrated (t, d)",
               "d: calibrated (s, e)"});
}

TEST_CASE("fitted figures: calibrated, extrapolated and overridden ones, and no others") {
  CHECK(labels_of({{"a", "data sheet", "s", "d"},
                   {"b", "calibrated", "s", "d"},
                   {"c", "measured", "s", "d"},
                   {"d", "extrapolated", "s", "d"},
                   {"e", "", "s", "d"},
                   {"f", "overridden", "s", "d"},
                   {"g", "Calibrated", "s", "d"}}) ==
        Labels{"b: calibrated (s, d)", "d: extrapolated (s, d)", "f: overridden (s, d)"});
}

TEST_CASE("fitted figures: several of one protocol are counted, one alone is named") {
  CHECK(labels_of({{"latency", "calibrated", "s", "d"},
                   {"transport/ll/latency", "calibrated", "s", "d"},
                   {"transport/ll/launch", "calibrated", "s", "d"},
                   {"transport/simple/launch", "calibrated", "s", "d"}}) ==
        Labels{"latency, transport/ll (2 figures), transport/simple/launch: calibrated (s, d)"});
}

TEST_CASE("fitted figures: none without sources") {
  CHECK(labels_of({}) == Labels{});
}

}  // namespace
}  // namespace orrery
