#pragma once

// Reads a Chrome trace by its format alone (the Trace Event Format document): complete events,
// metadata, counters and flows. It knows nothing about Orrery but the names that the trace shows.

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace orrery::test {

/// A complete event. The format's microseconds, exact to the picosecond in a double up to 2^53 ps.
struct Slice {
  std::string process;
  std::string thread;
  int64_t row = 0;  // which thread, where several have one name
  std::string category;
  std::string name;
  int64_t begin_ps = 0;
  int64_t end_ps = 0;
  nlohmann::json arguments;
};

struct ChromeTrace {
  struct Flow {
    int starts = 0;
    int ends = 0;
    int64_t start_ps = 0;
    int64_t end_ps = 0;
  };

  explicit ChromeTrace(const std::string& text) {
    const nlohmann::json document = nlohmann::json::parse(text);
    const nlohmann::json& events = document.at("traceEvents");
    for (const nlohmann::json& event : events)
      if (event.at("ph") == "M")
        name(event);
    for (const nlohmann::json& event : events)
      add(event);
  }

  std::vector<Slice> slices;
  std::map<std::pair<std::string, std::string>, std::vector<int64_t>> counters;  // process, series
  std::map<int64_t, Flow> flows;                                                 // by id

 private:
  static int64_t picoseconds(const nlohmann::json& microseconds) {
    return std::llround(microseconds.get<double>() * 1e6);
  }

  /// Viewers tell apart processes of one name by their numbers, which they show.
  static std::string numbered(const nlohmann::json& event, const std::string& name) {
    return name + " " + std::to_string(event.at("pid").get<int64_t>());
  }

  void name(const nlohmann::json& event) {
    const int64_t process = event.at("pid");
    if (event.at("name") == "process_name")
      processes_[process] = numbered(event, event.at("args").at("name"));
    if (event.at("name") == "thread_name")
      threads_[{process, event.at("tid")}] = event.at("args").at("name");
  }

  void add(const nlohmann::json& event) {
    const std::string kind = event.at("ph");
    if (kind == "M")
      return;
    const std::string& process = processes_.at(event.at("pid"));
    const int64_t at = picoseconds(event.at("ts"));
    if (kind == "X") {
      const int64_t thread = event.at("tid");
      slices.push_back({process, threads_.at({event.at("pid"), thread}), thread, event.at("cat"),
                        event.at("name"), at, at + picoseconds(event.at("dur")),
                        event.contains("args") ? event.at("args") : nlohmann::json::object()});
    } else if (kind == "C") {
      for (const auto& series : event.at("args").items())
        counters[{process, series.key()}].push_back(series.value());
    } else if (kind == "s" || kind == "f") {
      Flow& flow = flows[event.at("id").get<int64_t>()];
      (kind == "s" ? flow.starts : flow.ends) += 1;
      (kind == "s" ? flow.start_ps : flow.end_ps) = at;
    }
  }

  std::map<int64_t, std::string> processes_;
  std::map<std::pair<int64_t, int64_t>, std::string> threads_;
};

}  // namespace orrery::test
