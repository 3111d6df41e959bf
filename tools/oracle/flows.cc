// Times flow sets in SimGrid: reads what the test in tests/simulator/time/simgrid_test.cc writes,
// and prints a line for each set, with its seed and the end of each flow in picoseconds. Links have
// no latency, and SimGrid's corrections for TCP are off: the model is max-min fairness alone. Only
// tools/run_simgrid compiles this file.

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>
#include <sys/wait.h>
#include <unistd.h>

namespace sg4 = simgrid::s4u;

struct Transfer {
  double bytes = 0;
  std::vector<int> links;
  double end = 0;
};

/// An engine can be made once in a process, so each set has a process of its own.
void run(int seed, const std::vector<double>& bandwidths, std::vector<Transfer>& transfers,
         int argc, char** argv) {
  sg4::Engine engine(&argc, argv);
  for (const char* option :
       {"network/model:CM02", "network/bandwidth-factor:1", "network/latency-factor:1",
        "network/weight-S:0", "network/crosstraffic:0", "surf/precision:1e-12",
        "maxmin/precision:1e-9"})
    sg4::Engine::set_config(option);
  sg4::NetZone* zone = sg4::create_full_zone("all");
  std::vector<sg4::Link*> links;
  for (size_t l = 0; l < bandwidths.size(); ++l)
    links.push_back(
        zone->create_link("l" + std::to_string(l), bandwidths[l])->set_latency(0)->seal());
  std::vector<std::pair<sg4::Host*, sg4::Host*>> ends;
  for (size_t t = 0; t < transfers.size(); ++t) {
    sg4::Host* from = zone->create_host("from" + std::to_string(t), 1e9)->seal();
    sg4::Host* to = zone->create_host("to" + std::to_string(t), 1e9)->seal();
    std::vector<sg4::LinkInRoute> route;
    for (const int link : transfers[t].links)
      route.emplace_back(links[static_cast<size_t>(link)]);
    zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, route, false);
    ends.emplace_back(from, to);
  }
  zone->seal();
  sg4::Actor::create(
      "driver", ends.empty() ? zone->get_all_hosts().front() : ends.front().first, [&] {
        std::vector<sg4::CommPtr> messages;
        for (size_t t = 0; t < transfers.size(); ++t)
          messages.push_back(sg4::Comm::sendto_async(ends[t].first, ends[t].second,
                                                     static_cast<uint64_t>(transfers[t].bytes)));
        for (size_t t = 0; t < transfers.size(); ++t) {
          messages[t]->wait();
          transfers[t].end = messages[t]->get_finish_time();
        }
      });
  engine.run();
  std::printf("%d", seed);
  for (const Transfer& each : transfers)
    std::printf(" %lld", static_cast<long long>(std::llround(each.end * 1e12)));
  std::printf("\n");
}

int main(int argc, char** argv) {
  int seed = 0;
  size_t links = 0;
  size_t flows = 0;
  while (std::scanf("%d %zu %zu", &seed, &links, &flows) == 3) {
    std::vector<double> bandwidths(links);
    for (double& bandwidth : bandwidths)
      if (std::scanf("%lf", &bandwidth) != 1)
        return 2;
    std::vector<Transfer> transfers(flows);
    for (Transfer& each : transfers) {
      size_t hops = 0;
      if (std::scanf("%lf %zu", &each.bytes, &hops) != 2)
        return 2;
      each.links.resize(hops);
      for (int& link : each.links)
        if (std::scanf("%d", &link) != 1)
          return 2;
    }
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      if (!transfers.empty())
        run(seed, bandwidths, transfers, argc, argv);
      else
        std::printf("%d\n", seed);
      std::fflush(stdout);
      _exit(0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) < 0 || status != 0)
      return 1;
  }
  return 0;
}
