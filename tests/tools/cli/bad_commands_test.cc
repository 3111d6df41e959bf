// Tests bad MSCCL algorithms and bad commands as a user meets them, except those that
// tests/tools/import/msccl_test.cc has with the whole message.

#include <doctest/doctest.h>

#include "tests/tools/cli/bad_inputs.h"

namespace orrery::test {
namespace {

/// Returns the small algorithm with the first `from` replaced by `to`.
std::string gather_with(const std::string& from, const std::string& to) {
  std::string text = two_gather().text();
  return text.replace(text.find(from), from.size(), to);
}

TEST_CASE("bad input: MSCCL algorithms") {
  const Wrong wrong[] = {
      {"an element that is not closed", "<algo><gpu></algo>",
       "bad.xml:1:14: this is no XML: Start-end tags mismatch"},
      {"bytes that are not UTF-8", "<algo name=\"\xff\"/>",
       "bad.xml:1:13: expected UTF-8, got a byte that is not"},
      {"an attribute twice", gather_with("inplace=\"1\"", "inplace=\"1\" inplace=\"0\""),
       "bad.xml:1:1: /algo/inplace: expected the attribute once, got it again"},
      {"a protocol that there is not", gather_with("proto=\"LL\"", "proto=\"LL256\""),
       "bad.xml:1:1: /algo/proto: expected Simple, LL or LL128, got \"LL256\""},
      {"a channel that there is not", gather_with("chan=\"0\"", "chan=\"3\""),
       "bad.xml:3:1: /algo/gpu/0/tb/0/chan: expected a channel below nchannels (1), got 3"},
      {"an attribute with a slip", gather_with("inplace", "inplce"),
       "bad.xml:1:1: /algo/inplce: unknown attribute; did you mean \"inplace\"?\n"
       "bad.xml:1:1: /algo: attribute \"inplace\" is missing"},
      {"a number that is none", gather_with("nchunksperloop=\"2\"", "nchunksperloop=\"two\""),
       "bad.xml:1:1: /algo/nchunksperloop: expected a whole number from 1 to 2147483647, "
       "got \"two\""},
      {"an element that there is not", gather_with("<tb id=\"0\"", "<bt/><tb id=\"0\""),
       "bad.xml:3:1: /algo/gpu/0/bt/0: expected <tb>, got <bt>"},
  };
  refuse_all(wrong, "prove", "bad.xml");
}

TEST_CASE("bad input: the command line") {
  // small.json and small.xml are valid; empty is a folder.
  const WrongCommand wrong[] = {
      {"no command",
       {},
       "A subcommand is required\n"
       "Run with --help for more information."},
      {"a command that there is not",
       {"fly"},
       "A subcommand is required\n"
       "Run with --help for more information."},
      {"an option that there is not",
       {"run", "small.json", "--sped"},
       "The following argument was not expected: --sped\n"
       "Run with --help for more information."},
      {"a file left out",
       {"run"},
       "FILE is required\n"
       "Run with --help for more information."},
      {"a word that the option has not",
       {"run", "small.json", "--format", "xml"},
       "--format: expected text|json, got xml\n"
       "Run with --help for more information."},
      {"a file that is not there",
       {"run", "none.json"},
       "none.json: cannot be read: No such file or directory"},
      {"a folder without scenarios",
       {"run", "empty"},
       "empty: no scenario (*.json) lies below this folder"},
      {"values without the report that has them",
       {"run", "small.json", "--values", "r"},
       "--values: values go into the JSON report: add --format json"},
      {"an op that the program has not",
       {"run", "small.json", "--explain", "rr"},
       "--explain: small.json has no op or value \"rr\""},
      {"a report written over its scenario",
       {"run", "small.json", "-o", "small.json"},
       "--output: would overwrite the input small.json"},
      {"a report where there is no folder",
       {"run", "small.json", "-o", "none/report.txt"},
       "none/report.txt: cannot be written: No such file or directory"},
      {"a trace of two runs",
       {"run", "small.json", "small.json", "--trace", "t.json"},
       "--trace: expected one scenario, got 2"},
      {"a limit that there is not",
       {"run", "small.json", "--limit", "device=3"},
       "--limit: expected one of file, nesting, values, text, devices, links, ops, device_ops, "
       "steps, state, runs, data, blocks, clocks, points, got \"device\"; did you mean "
       "\"devices\"?"},
      {"a limit without a value",
       {"run", "small.json", "--limit", "devices"},
       "--limit: expected devices=VALUE, got \"devices\""},
      {"a limit that is no number",
       {"run", "small.json", "--limit", "devices=many"},
       "--limit: expected devices from 1 to 1073741824, got \"many\""},
      {"a limit that is no size",
       {"run", "small.json", "--limit", "file=3 m"},
       "--limit file: expected a size such as \"80 GiB\", got \"3 m\""},
      {"a limit of nothing",
       {"run", "small.json", "--limit", "steps=0"},
       "--limit: expected steps from 1 to 1152921504606846976, got \"0\""},
      {"a file larger than its limit",
       {"run", "small.json", "--limit", "file=16 B"},
       "small.json: expected at most 16 B in a file, got more (--limit file=SIZE allows "
       "more)"},
      {"nesting deeper than its limit",
       {"run", "small.json", "--limit", "nesting=2"},
       "small.json:4:17: /arrays: expected at most 2 levels of nesting, got more (--limit "
       "nesting=N allows more)"},
      {"more steps than their limit",
       {"run", "small.json", "--limit", "steps=4"},
       "small.json:5:13: /program/0: psum \"r\": expected at most 4 steps of collectives, got "
       "more (--limit steps=N allows more)"},
      {"more values than their limit",
       {"run", "small.json", "--data", "on", "--limit", "data=63"},
       "small.json: expected at most 63 B of values in all when data is moved, got 64 B "
       "(--limit data=SIZE allows more)"},
      {"an algorithm larger than its limit",
       {"prove", "small.xml", "--limit", "values=4"},
       "small.xml: expected at most 4 values in a file, got more (--limit values=N allows "
       "more)"},
      {"a cluster that the catalog has not",
       {"prove", "small.xml", "--cluster", "h100"},
       "--cluster: the catalog has no \"h100\"; `orrery show catalog` lists what it has"},
      {"a slice that there is not",
       {"prove", "small.xml", "--cluster", "tpu-v5e 4x32"},
       "--cluster: expected a slice of 2 sizes from 1 to 16, got \"4x32\""},
      {"a wrong object for a cluster",
       {"prove", "small.xml", "--cluster", R"({"catalog": "h100-sxm-8", "nodes": 0})"},
       "--cluster:1:36: /nodes: expected a number of nodes of at least 1, got 0"},
      {"a size of another unit",
       {"prove", "small.xml", "--size", "4 ms"},
       "--size: expected a size such as \"80 GiB\", got \"4 ms\""},
      {"a scenario that is diffed and is none",
       {"diff", "small.json", "small.xml"},
       "small.xml:1:1: expected a value, got \"<algo\""},
      {"a schedule of no collective",
       {"show", "schedule", "small.json", "a"},
       "small.json: no collective is called \"a\""},
      {"a schedule of no rank",
       {"show", "schedule", "small.json", "r", "--node", "4"},
       "--node: expected 0 to 3, got 4"},
      {"a cluster to show that there is not",
       {"show", "catalog", "h100"},
       "NAME: the catalog has no \"h100\"; `orrery show catalog` lists what it has"},
  };
  refuse_all(wrong);
}
}  // namespace
}  // namespace orrery::test
