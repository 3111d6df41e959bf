#include "simulator/time/loop_watch.h"

#include <algorithm>
#include <utility>

#include "models/base/hash.h"

namespace orrery {

namespace {

constexpr size_t kLongestPeriod = 64;  // ends of iterations

uint64_t hash_of(const RelativeState& state) {
  Hasher hash;
  for (const uint64_t word : state.words())
    hash.add(word);
  return hash.word();
}

}  // namespace

LoopWatch::LoopWatch(LoopIterations iterations, uint64_t window)
    : iterations_(std::move(iterations)), window_(window), over_(iterations_.count() <= window) {}

bool LoopWatch::due(const ListProgress& progress) {
  const LoopIterations::ThreadPart& first = iterations_.parts().front();
  const ProgramLists& lists = progress.lists();
  const uint32_t next = progress.next(lists.lists_of(first.thread).front());
  if (over_ || next < first.begin + (iteration_ + 1) * first.length)
    return false;
  for (const LoopIterations::ThreadPart& part : iterations_.parts())
    for (const ListId list : lists.lists_of(part.thread))
      over_ = over_ || progress.next(list) >= part.begin + (part.count - window_) * part.length;
  iteration_ = (next - first.begin) / first.length;
  return !over_;
}

void LoopWatch::add(RelativeState state) {
  const Seen now{iteration_, state.now(), hash_of(state)};
  if (candidate_ && now.iteration >= candidate_->seen.iteration + candidate_->every) {
    if (now.iteration == candidate_->seen.iteration + candidate_->every &&
        state.words() == candidate_->words) {
      period_ = {candidate_->every, now.at - candidate_->seen.at};
      over_ = true;
      return;
    }
    candidate_.reset();
  }
  const auto same = std::find_if(seen_.begin(), seen_.end(),
                                 [&](const Seen& before) { return before.hash == now.hash; });
  if (!candidate_ && same != seen_.end())
    candidate_ = {now, std::move(state).take_words(), now.iteration - same->iteration};
  seen_.push_front(now);
  if (seen_.size() > kLongestPeriod)
    seen_.pop_back();
}

}  // namespace orrery
