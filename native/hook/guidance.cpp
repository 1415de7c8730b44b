// The rules that matter, handed to the model by the hook: the constitution when a session starts, the rules for a prompt
// when it is sent, and both again after the host has compacted the window.
#include "tipstaff/hook/guidance/guidance.hpp"

#include <cstdint>
#include <string_view>

#include "tipstaff/hook/compiling.hpp"
#include "tipstaff/hook/event.hpp"
#include "tipstaff/hook/json.hpp"
#include "tipstaff/hook/guidance/prompt_rules.hpp"
#include "tipstaff/hook/state.hpp"

namespace tipstaff::hook {

namespace guidance {

namespace {

constexpr std::size_t kRememberedBytes = 1024;

// Whether the host hands the model what the hook says at this event.
bool is_heard(const HookEvent& event) noexcept {
  if (event.phase == Phase::session_start) return event.host != Host::unknown;
  return event.phase == Phase::prompt && event.host != Host::cursor && event.host != Host::unknown;
}

std::uint32_t day_of(std::uint64_t now_s) noexcept {  // 20261231, by the civil calendar (H. Hinnant's algorithm)
  const std::int64_t days = static_cast<std::int64_t>(now_s / 86400) + 719468;
  const std::int64_t era = days / 146097;
  const std::int64_t of_era = days - era * 146097;
  const std::int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const std::int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month_index = (5 * of_year + 2) / 153;
  const std::int64_t day = of_year - (153 * month_index + 2) / 5 + 1;
  const std::int64_t month = month_index < 10 ? month_index + 3 : month_index - 9;
  return static_cast<std::uint32_t>((year_of_era + era * 400 + (month <= 2 ? 1 : 0)) * 10000 + month * 100 + day);
}

Path remembered_path(const Path& state, const HookEvent& event) noexcept {
  Path path = state;
  return path.add("/runs/").hex(fnv64(event.session) ^ (fnv64(name_of(event.host)) << 1)).add(".rules");
}

void say_rule(const Guidance& guidance, std::uint32_t index, float cosine, Writer& out) noexcept {
  const GuidanceRule rule = guidance.rule(index);
  out.raw("\n- ").raw(guidance.string(rule.text)).raw(" (");
  if (cosine > 0.0f) {
    const std::uint64_t hundredths = cosine < 0.99f ? static_cast<std::uint64_t>(cosine * 100.0f + 0.5f) : 99;
    out.raw(hundredths < 10 ? "meaning 0.0" : "meaning 0.").number(hundredths).raw("; ");
  }
  out.raw(guidance.string(rule.location)).raw(")");
}

void say_outdated(bool compiles_again, Writer& out) noexcept {
  out.raw(out.size() != 0 ? "\n\n" : "").raw("(The rules of this repository were compiled by another version of tipstaff; ");
  out.raw(compiles_again ? "they are being compiled again.)" : "a person should run `tipstaff compile`.)");
}

}  // namespace

void answer(const HookEvent& event, const Path& state, std::string_view repository, std::string_view version,
            std::uint64_t now_s, Writer& out) noexcept {
  Guidance guidance;
  if (!is_heard(event)) return;
  const bool opened = guidance.open(state, repository, fnv64(version));
  const bool compiles_again = guidance.outdated() && compiling::ask(state, repository, now_s);
  if (!opened && guidance.outdated()) say_outdated(compiles_again, out);
  if (!opened) return;
  const bool starts = event.phase == Phase::session_start;
  if (starts && guidance.constitution().find('\n') != std::string_view::npos) {  // a heading alone is none
    out.raw("These rules are always in force here (constitution ").raw(guidance.hash()).raw("):\n\n");
    out.raw(guidance.constitution());
  }
  Path path = remembered_path(state, event);
  if (starts && events::one_of(event.source, "compact resume")) {
    char ids[kRememberedBytes];
    const long bytes = event.session.empty() ? -1 : read_private(path, ids, sizeof ids);
    std::string_view rest(ids, bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    bool first = true;
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      const std::string_view id = rest.substr(0, end);
      if (id.empty()) break;
      rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
      for (std::uint32_t i = 0; i < guidance.rule_count(); ++i) {
        if (guidance.string(guidance.rule(i).id) != id) continue;
        if (first) out.raw("\n\nRules for the task at hand, still in force:");
        first = false;
        say_rule(guidance, i, 0.0f, out);
        break;
      }
    }
  }
  if (!starts) {
    Guidance::Hit hits[Guidance::kMost];
    const std::uint32_t count = guidance.find(event.prompt, day_of(now_s), hits);
    if (count == 0) return;
    out.raw("Rules of this repository for this task (constitution ").raw(guidance.hash()).raw(" stays in force):");
    char ids[kRememberedBytes];
    Writer kept(ids, sizeof ids);
    for (std::uint32_t i = 0; i < count; ++i) {
      say_rule(guidance, hits[i].rule, hits[i].cosine, out);
      kept.raw(guidance.string(guidance.rule(hits[i].rule).id)).raw("\n");
    }
    // Written over in one piece and padded: cutting a file short makes some file systems wait for the disk.
    while (kept.size() < kRememberedBytes) kept.raw("\n");
    const int file = event.session.empty() || kept.full() ? -1 : open_state(path, O_WRONLY | O_CREAT);
    if (file >= 0) {
      write_whole(file, kept.view());
      ::close(file);
    }
  }
  if (guidance.outdated()) return say_outdated(compiles_again, out);
  if (guidance.stale()) out.raw("\n\n(The rule files have changed since these were compiled; `tipstaff compile` reads them again.)");
}

}  // namespace guidance

}  // namespace tipstaff::hook
