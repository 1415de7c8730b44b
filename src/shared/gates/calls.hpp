// Calls of the gate engine from Python: memory for each thread, many events on many threads, spans in code points.
#ifndef TIPSTAFF_GATE_CALLS_HPP
#define TIPSTAFF_GATE_CALLS_HPP

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "gates/real_paths.hpp"
#include "threads.hpp"
#include "tipstaff/gate/engine.hpp"
#include "tipstaff/gate/evidence.hpp"
#include "tipstaff/gate/rules/open_image.hpp"
#include "tipstaff/gate/tree/files.hpp"

namespace tipstaff::gate {

// Where an event happens; texts are borrowed from Python objects that outlive the call.
struct CallSite {
  std::string_view cwd, repository, home, temporary, state, program;
  bool files = false;

  Surroundings surroundings() const noexcept {
    Surroundings around;
    around.cwd = cwd;
    around.repository = repository;
    around.home = home;
    around.temporary = temporary;
    around.state = state;
    around.program = program;
    around.stack_end = own_stack_end();
    if (files) files::open(&around);
    return around;
  }
};

struct Call {
  std::string_view tool;
  std::uint32_t first_field = 0, field_count = 0;
  Dialect dialect = Dialect::shell;
  const CallSite* site = nullptr;
};

// Memory to read one event in: more of it for long texts, and none of that for others, whose limits stay the same.
class Room {
 public:
  static constexpr std::size_t kSmallText = tree_bytes::kSmallText;

  Tree& tree(std::size_t text_bytes) {
    const std::size_t bytes = tree_bytes::for_text(text_bytes);
    Block& block = bytes == tree_bytes::kSmall ? small_ : large_;
    if (!block.tree) {
      block.memory.reset(new unsigned char[bytes]);
      block.tree.reset(new Tree(block.memory.get(), bytes));
    }
    block.tree->clear();
    return *block.tree;
  }
  // Making one again takes as long as judging some commands.
  Verdict& verdict() noexcept { return verdict_; }
  KeptOwnPaths& own_paths() noexcept { return own_paths_; }

 private:
  struct Block {
    std::unique_ptr<unsigned char[]> memory;
    std::unique_ptr<Tree> tree;
  };
  Block small_, large_;
  Verdict verdict_;
  KeptOwnPaths own_paths_;
};

inline Room& own_room() {
  thread_local Room room;
  return room;
}

inline void judge(const Image& image, const Settings& settings, const Call& call, const Field* fields, Room& room,
                  FlowState* flow, Verdict* verdict, const rules::Trace* trace = nullptr, Evidence* evidence = nullptr,
                  bool* proven = nullptr) {
  Event event;
  event.tool = call.tool;
  event.fields = fields + call.first_field;
  event.field_count = call.field_count;
  event.dialect = call.dialect;
  std::size_t longest = 0;
  for (std::uint32_t i = 0; i < event.field_count; ++i)
    if (event.fields[i].text.size() > longest) longest = event.fields[i].text.size();
  Surroundings around = call.site->surroundings();
  RealPaths real_paths(room.own_paths());
  real_paths.serve(&around);
  if (proven != nullptr) evidence->ask_for_proof(around);
  evaluate(image, settings, event, around, room.tree(longest), flow, verdict, trace, evidence != nullptr ? &evidence->effects() : nullptr);
  if (evidence != nullptr) evidence->judge(image, settings, around, verdict);
  if (proven != nullptr) *proven = evidence->is_proven(event, *verdict);
}

// What a call would lose: looked at when it is judged, and kept where that is asked for.
class Losses {
 public:
  Evidence* open(const record::Config& config) {
    evidence_ = std::make_unique<Evidence>(config);
    return evidence_.get();
  }
  bool loses() const noexcept { return evidence_ && evidence_->loses(); }
  bool wants_keeping() const noexcept { return evidence_ && evidence_->keeps(); }
  bool keep(std::string_view state, std::string_view command, std::string_view session, std::string_view working) noexcept {
    return evidence_ && evidence_->keep(state, command, session, working);
  }
  std::string_view id() const noexcept { return evidence_ ? evidence_->id() : std::string_view{}; }
  // 0: the facts, one a line; 1: what is lost; 2: why it cannot be kept.
  std::string_view say(int what, std::uint64_t now_ns) noexcept {
    if (!evidence_) return {};
    hook::Writer out(text_, sizeof text_);
    if (what == 0) evidence_->say_facts(now_ns, out);
    else if (what == 1) evidence_->say_lost(now_ns, out);
    else evidence_->say_why(out);
    return out.view();
  }

 private:
  std::unique_ptr<Evidence> evidence_;
  char text_[4096];
};

// The worst decision of each of many commands from one folder, as numbers.
inline void decide_all(const Image& image, const Settings& settings, const std::vector<std::string_view>& commands,
                       const CallSite& site, Dialect dialect, std::uint32_t threads, unsigned char* decisions) {
  constexpr std::size_t kShare = 64;  // commands that a thread takes at a time
  const std::size_t count = commands.size(), shares = (count + kShare - 1) / kShare;
  std::atomic<std::size_t> next{0};
  const auto work = [&]() {
    Room& room = own_room();
    for (;;) {
      const std::size_t share = next.fetch_add(1);
      if (share >= shares) return;
      Surroundings around = site.surroundings();
      RealPaths real_paths(room.own_paths());  // one for a share: what it keeps gets no older than that takes
      real_paths.serve(&around);
      const std::size_t end = (share + 1) * kShare < count ? (share + 1) * kShare : count;
      for (std::size_t i = share * kShare; i < end;) {
        std::size_t last = i;  // those that are short in one call, a long one in another
        while (last < end && commands[last].size() < Room::kSmallText) ++last;
        if (last == i) ++last;
        decide(image, settings, around, dialect, commands.data() + i, last - i, room.tree(commands[i].size()), decisions + i);
        i = last;
      }
    }
  };
  const std::size_t most = shares < threads ? shares : threads;
  run_on_threads(most, work);
}

// The code point that a byte of UTF-8 belongs to.
inline std::uint32_t code_point_at(std::string_view text, std::uint32_t byte) noexcept {
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < byte && i < text.size(); ++i) count += (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
  return count;
}

// One line of what was tried, for explanations.
struct Tried {
  std::uint32_t command, rule, held, decision;
};
inline void keep_tried(void* self, std::uint32_t command, std::uint32_t rule, bool held, Decision decision) noexcept {
  auto* list = static_cast<std::vector<Tried>*>(self);
  if (list->size() < 20000 && list->size() < list->capacity())
    list->push_back({command, rule, held ? 1u : 0u, static_cast<std::uint32_t>(decision)});
}
inline rules::Trace tracing(std::vector<Tried>* list) {
  list->reserve(20000);
  rules::Trace trace;
  trace.tried = keep_tried;
  trace.self = list;
  return trace;
}

inline bool set_image(std::vector<std::uint64_t>* memory, const unsigned char* data, std::size_t bytes, Image* image,
                      int* fault) {
  memory->assign((bytes + 7) / 8, 0);
  std::memcpy(memory->data(), data, bytes);
  *fault = static_cast<int>(open_image(reinterpret_cast<const unsigned char*>(memory->data()), bytes, image));
  return *fault == 0;
}

}  // namespace tipstaff::gate

#endif
