#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/tools/nccl_tests/tables.h"
#include "tools/nccl_tests/draft.h"

namespace orrery::test {
namespace {

/// A `RunText` is a file of nccl-tests' -J. Tests change its parts.
struct RunText {
  std::string args = R"(["mpirun", "/opt/all_reduce_perf", "-g", "4"])";
  std::string env = R"(["PATH=\/bin"])";
  std::string config = R"({"nthreads":2,"ngpus":4,"step_factor":2,"devices":[
{"rank":0,"group":0,"hostname":"a","device_info":"A100"},
{"rank":8,"group":0,"hostname":"b","device_info":"A100"}]})";
  std::string row = R"({"size":1048576,"count":262144,"type":"float","redop":"sum","root":"    -1",
"out_of_place":{"time":100.000001,"alg_bw":10.485760,"bus_bw":19.660800,"nwrong":0.000000},
"in_place":{"time":100.5,"alg_bw":10.433592,"bus_bw":19.562985,"nwrong":null},"experiment_name":""})";

  std::string text() const {
    return R"({"version":3,"args":)" + args + R"(,"env":)" + env +
           R"(,"nccl_version":22606,"config":)" + config + R"(,"results":[)" + row + "]}";
  }
};

/// A `PublishedText` is a file of published tables.
struct PublishedText {
  std::string facts =
      R"("collective": "all_reduce", "nranks": 8, "dtype": "float", "redop": "sum")";
  std::string columns =
      R"(["size_B", "oop_time_us", "oop_algbw_GBps", "oop_busbw_GBps", "ip_time_us"])";
  std::string rows = "[[1048576, 100.0, 10.49, 18.35, 99.5]]";

  std::string text() const {
    return R"({"id": "x", "measured": [{)" + facts + R"(, "columns": )" + columns +
           R"(, "rows": )" + rows + "}]}";
  }
};

TEST_CASE("json reader: a run with times to the picosecond") {
  const NcclTable table = read_nccl_tables(RunText().text(), "r").front();
  CHECK(table.collective == NcclCollective::AllReduce);
  CHECK(table.ranks == 16);  // two processes of two threads with four GPUs
  CHECK(table.hosts == 2U);
  CHECK(table.nccl_version == "2.26.6");
  CHECK(table.device_names == std::vector<std::string>{"A100"});
  CHECK(table.notes == std::vector<std::string>{});
  REQUIRE(table.rows.size() == 1);
  const NcclRow& row = table.rows.front();
  CHECK(row.out_of_place->time == Duration(100'000'001));
  CHECK(row.out_of_place->wrong == 0);
  CHECK(row.in_place->time == Duration(100'500'000));
  CHECK(!row.in_place->wrong);
  CHECK(!row.root);
}

TEST_CASE("json reader: what nccl-tests' own code wrote is what it printed") {
  const NcclTable json = read_nccl_tables(nccl_fixture("all_reduce_2.19.6.json"), "j").front();
  const NcclTable text = read_nccl_tables(nccl_fixture("all_reduce_2.19.6.txt"), "t").front();
  CHECK(json.collective == text.collective);
  CHECK(json.ranks == text.ranks);
  CHECK(json.settings == text.settings);
  CHECK(json.device_names == text.device_names);
  REQUIRE(json.rows.size() == text.rows.size());
  for (size_t r = 0; r < json.rows.size(); ++r) {
    CHECK(json.rows[r].size == text.rows[r].size);
    CHECK(json.rows[r].count == text.rows[r].count);
    CHECK(json.rows[r].redop == text.rows[r].redop);
  }
  CHECK(json.rows[1].out_of_place->time == Duration(9'045'999));
  CHECK(json.rows[4].out_of_place->wrong == 12'345'678);
  CHECK(!json.rows[5].out_of_place->wrong);
}

TEST_CASE("json reader: an environment with anything in it") {
  RunText run;
  run.env = R"(["BASH_FUNC=() {\n\techo\n}", ")" + std::string(2040, 'x') + R"("])";
  CHECK(refusal_of(run.text()) == "");
}

TEST_CASE("json reader: a row in place only, of the processor's time, with no bandwidth") {
  RunText run;
  run.row = R"({"size":8,"root":3,"redop":"sum","type":"float","out_of_place":null,
"in_place":{"cpu_time":5.0,"alg_bw":"nan","nwrong":2.000000}})";
  run.args = R"(["reduce_perf"])";
  const NcclTable table = read_nccl_tables(run.text(), "r").front();
  CHECK(!table.rows.front().out_of_place);
  CHECK(!table.rows.front().in_place->algbw);
  CHECK(table.rows.front().in_place->wrong == 2);
  CHECK(table.rows.front().root == 3U);
  CHECK(table.notes ==
        std::vector<std::string>{"/results: times are those of the processor (-C 1)"});
}

TEST_CASE("json reader: devices of other groups are not the run's") {
  RunText run;
  run.config = R"({"nthreads":1,"ngpus":8,"devices":[{"group":1},{"group":0},{"group":1}]})";
  CHECK(read_nccl_tables(run.text(), "r").front().ranks == 16);
}

TEST_CASE("json reader: published tables") {
  PublishedText published;
  published.facts += R"(, "file": "exps/a.txt", "nhosts": 1, "device_names": ["A100"],
"nccl_version": ["2.26.6+cuda12.8"], "nThread_line": "nThread 1 nGpus 8 minBytes 96 maxBytes 128",
"instance": "unknown keys say nothing")";
  const NcclTable table = read_nccl_tables(published.text(), "p").front();
  CHECK(table.ranks == 8);
  CHECK(table.source == "exps/a.txt");
  CHECK(table.nccl_version == "2.26.6");
  CHECK(table.settings->gpus == 8);
  const NcclRow& row = table.rows.front();
  CHECK(row.type == "float");
  CHECK(row.out_of_place == NcclFigures{Duration(100'000'000),
                                        BytesPerSecond(10'490'000'000),
                                        BytesPerSecond(18'350'000'000),
                                        {}});
  CHECK(row.in_place == NcclFigures{Duration(99'500'000), {}, {}, {}});
}

TEST_CASE("json reader: a published table without ranks has those of its bandwidths") {
  PublishedText published;
  published.facts = R"("collective": "all_reduce_perf", "nranks": null)";
  published.rows = "[[1073741824, 4029.4, 266.48, 466.33, 4016.4]]";
  CHECK(read_nccl_tables(published.text(), "p").front().ranks == 8);
}

TEST_CASE("json reader: disagreements are noted by their place") {
  PublishedText published;
  published.rows = "[[1048576, 100.0, 10.49, 18.35, 1], [1048576, 90.0, 10.49, 18.35, 1]]";
  CHECK(read_nccl_tables(published.text(), "p").front().notes ==
        std::vector<std::string>{
            "/measured/0/rows/1: algbw is more than 2 % from what 1 MiB and its time give"});
}

TEST_CASE("json reader: wrong values, each at its place") {
  const auto with_row = [](const std::string& row) {
    RunText run;
    run.row = row;
    return refusal_of(run.text());
  };
  CHECK(with_row("7").find("/results/0: expected a row, got 7") != std::string::npos);
  CHECK(with_row("{}").find("/results/0: expected a row with \"size\", got none") !=
        std::string::npos);
  CHECK(with_row(R"({"size":-8})").find("/results/0/size: expected a size in bytes") !=
        std::string::npos);
  CHECK(with_row(R"({"size":8,"in_place":{}})").find("/in_place: expected \"time\", got none") !=
        std::string::npos);
  CHECK(with_row(R"({"size":8,"root":"x"})").find("/root: expected a root, got \"x\"") !=
        std::string::npos);
  for (const char* const time : {"-1", "1e30", "\"1\"", "0.0000001", "[]"}) {
    CAPTURE(time);
    CHECK(with_row(fmt::format(R"({{"size":8,"in_place":{{"time":{}}}}})", time))
              .find("/in_place/time: expected a time in us, got") != std::string::npos);
  }
  CHECK(with_row(R"({"size":8,"in_place":{"time":1,"bus_bw":-2}})")
            .find("/in_place/bus_bw: expected a bandwidth in GB/s, got -2") != std::string::npos);

  RunText run;
  run.config = R"({"nthreads":0,"ngpus":8})";
  CHECK(refusal_of(run.text()).find("/config/nthreads: expected a whole number from 1") !=
        std::string::npos);
  run = {};
  run.args = R"({"a": 1})";
  CHECK(refusal_of(run.text()).find("/args: expected a list of arguments") != std::string::npos);
  CHECK(refusal_of(R"({"results": []})").find("expected rows below the header") !=
        std::string::npos);
  CHECK(refusal_of(R"({"rows": []})").find("expected \"results\" (nccl-tests with -J) or") !=
        std::string::npos);
  CHECK(refusal_of("{").find("r") != std::string::npos);
}

TEST_CASE("json reader: wrong columns and rows of published tables") {
  const auto with = [](const std::string& columns, const std::string& rows) {
    PublishedText published;
    published.columns = columns;
    published.rows = rows;
    return refusal_of(published.text());
  };
  CHECK(with(R"(["size_B", "time"])", "[]").find("/columns/1: expected size_B, or oop_ or ip_") !=
        std::string::npos);
  CHECK(with(R"(["size_B", "size_B"])", "[]")
            .find("expected each column once, got \"size_B\" again") != std::string::npos);
  CHECK(with(R"(["size_B"])", "[]").find("expected size_B, and oop_time_us or ip_time_us") !=
        std::string::npos);
  CHECK(with(R"(["size_B", "oop_time_us", "ip_busbw_GBps"])", "[]")
            .find("expected ip_time_us beside its bandwidths") != std::string::npos);
  CHECK(with(R"(["size_B", "oop_time_us"])", "[[8]]")
            .find("/rows/0: expected a row of 2 numbers, got 1") != std::string::npos);
  CHECK(with(R"(["size_B", "oop_time_us"])", "[[8, -1]]")
            .find("/rows/0/1: expected a time in us, got -1") != std::string::npos);
  CHECK(refusal_of(R"({"measured": [{"collective": "all"}]})")
            .find("/collective: expected a collective of nccl-tests, got \"all\"") !=
        std::string::npos);
  CHECK(
      refusal_of(R"({"measured": [{"nranks": 0}]})").find("/nranks: expected a number of ranks") !=
      std::string::npos);
}

}  // namespace
}  // namespace orrery::test
