// What evidence makes of the verdict by words.
#include "tipstaff/gate/evidence.hpp"

#include "tipstaff/gate/tool_fields.hpp"
#include "tipstaff/gate/tree/ascii.hpp"

namespace tipstaff::gate {

namespace {

// Packs whose rules are about files and git alone, and rules about code that could not be read.
constexpr std::string_view kAboutFiles = "filesystem git written-over contents archives libraries scripts";
constexpr std::string_view kAboutUnread[] = {"uncertain.script", "uncertain.unreadable", "uncertain.limits"};

// Where what is lost is nobody's work: words decide there.
bool is_passing(std::string_view path, const Surroundings& around) noexcept {
  for (const std::string_view folder : {std::string_view("/tmp"), std::string_view("/var/tmp"), std::string_view("/dev"), std::string_view("/proc"), around.temporary})
    if (!folder.empty() && undo::is_below(path, folder)) return true;
  return !around.home.empty() && undo::is_below(path, around.home) && path.find("/.cache/") != std::string_view::npos;
}

void number(std::uint64_t value, std::string_view one, std::string_view more, hook::Writer& out) noexcept {
  out.number(value).raw(" ").raw(value == 1 ? one : more);
}

void size(std::uint64_t bytes, hook::Writer& out) noexcept {
  if (bytes < 1000) return number(bytes, "byte", "bytes", out);
  if (bytes < 1000000) out.number((bytes + 500) / 1000).raw(" KB");
  else out.number((bytes + 500000) / 1000000).raw(" MB");
}

}  // namespace

void Evidence::judge(const Image& image, const Settings& settings, const Surroundings& around, Verdict* verdict) noexcept {
  using undo::Outcome;
  bool outside = false, refused = effects_.full(), changed = false;
  std::uint32_t last = 0;  // the last command that changes anything
  for (std::uint32_t i = 0; i < effects_.source_count(); ++i)
    if (!effects_.source(i).reads) last = i;
  for (std::uint32_t i = 0; i < effects_.source_count(); ++i) {
    undo::Effects::Source& source = effects_.source(i);
    for (std::uint32_t k = 0; k < source.count; ++k) {
      const undo::Effect& effect = effects_.effect(source.first + k);
      Outcome outcome = keep_.look(effect);
      // What is moved and then deleted under its other name is lost as well.
      if (effect.kind == undo::Effect::Kind::move && i < last && outcome <= Outcome::kept) {
        undo::Effect deleted = effect;
        deleted.kind = undo::Effect::Kind::remove;
        if (const Outcome moved = keep_.look(deleted); moved > outcome) outcome = moved;
      }
      // What is not there yet may be made, or be led elsewhere, by what runs first.
      if (outcome == Outcome::absent && !changed) outcome = Outcome::nothing;
      if (outcome > source.outcome) source.outcome = outcome;
      const bool known = effect.kind != undo::Effect::Kind::inside;
      const bool names_file = effect.kind <= undo::Effect::Kind::move;
      if (outcome == Outcome::outside) outside = outside || (names_file && !is_passing(effect.a, around));
      else if (outcome > Outcome::absent) refused = refused || known;
    }
    changed = changed || !source.reads;
  }
  std::uint32_t left = 0;
  verdict->decision = Decision::allow;
  for (std::uint32_t i = 0; i < verdict->count; ++i) {
    Finding finding = verdict->findings[i];
    bool settled = false;
    if (finding.rule != kNothing && finding.gate == Gate::destructive && finding.decision != Decision::block) {
      const record::Rule& rule = image.rules[finding.rule];
      const std::string_view id = image.text(rule.id);
      if (ascii::one_of(image.text(rule.pack), kAboutFiles)) settled = effects_.covers(finding.field, finding.command, Outcome::kept);
      for (const std::string_view unread : kAboutUnread)
        if (id == unread) settled = effects_.keeps_inside(finding.field, finding.command);
    }
    if (settled) continue;
    verdict->findings[left++] = finding;
    if (finding.decision > verdict->decision) verdict->decision = finding.decision;
  }
  verdict->count = left;
  wanted_ = verdict->decision != Decision::block && !refused;
  const bool asks = settings.on(Gate::asks_for_losses) && keep_.loses();
  if (!refused && !outside && !asks) return;
  Finding finding;
  finding.gate = Gate::evidence;
  finding.decision = Decision::confirm;
  finding.uncertain = refused || outside;
  verdict->add(finding);
}

void Evidence::ask_for_proof(const Surroundings& around) noexcept {
  void* const room = arena_.take(sizeof(Proof));
  if (room != nullptr) effects_.proof = new (room) Proof(arena_, facts_, around);
}

bool Evidence::is_proven(const Event& event, const Verdict& verdict) const noexcept {
  if (effects_.proof == nullptr || !effects_.proof->holds() || verdict.decision != Decision::allow || !keep_.is_empty() || effects_.full()) return false;
  if (event.tool.empty()) return event.dialect == Dialect::shell;
  if (tools::classify(event.tool) != ToolClass::shell || event.tool.substr(0, 5) == "mcp__") return false;
  for (std::uint32_t i = 0; i < event.field_count; ++i)
    if (!ascii::one_of(event.fields[i].name, "command cmd description timeout timeout_ms cwd workdir run_in_background")) return false;
  return true;
}

bool Evidence::keep(std::string_view state, std::string_view command, std::string_view session, std::string_view working) noexcept {
  return keep_.finish(state, command, session, working, {}, &folder_);
}

undo::Limits Evidence::limits_of(const record::Config& config) noexcept {
  undo::Limits limits;
  limits.bytes = std::uint64_t{config.undo_mb} << 20;
  limits.free = std::uint64_t{config.undo_free_mb} << 20;
  limits.files = config.undo_files;
  limits.milliseconds = config.undo_wait_ms;
  return limits;
}

void Evidence::say_facts(std::uint64_t now_ns, hook::Writer& out) const noexcept {
  if (keep_.loses()) {
    say_lost(now_ns, out);
    out.raw("\n");
  }
  const auto counted = [&](undo::Class kind, std::string_view what) noexcept {
    if (const std::uint32_t count = keep_.count_of(kind); count != 0) {
      number(count, "file", "files", out);
      out.raw(what).raw("\n");
    }
  };
  counted(undo::Class::unchanged, " of it that git has unchanged");
  counted(undo::Class::regenerated, " of it that a tool makes again");
  if (keep_.why().empty()) return;
  say_why(out);
  out.raw("\n");
}

void Evidence::say_lost(std::uint64_t now_ns, hook::Writer& out) const noexcept {
  bool more = false;
  const bool maybe = keep_.only_inside();
  out.raw(maybe ? "It may change " : "It deletes or overwrites ");
  if (keep_.lost_files() != 0) {
    number(keep_.lost_files(), "file", "files", out);
    out.raw(" that git does not have, ");
    size(keep_.lost_bytes(), out);
    const std::uint64_t age = now_ns > keep_.newest_ns() ? (now_ns - keep_.newest_ns()) / 1000000000u : 0;
    out.raw(keep_.lost_files() == 1 ? ", changed " : ", the newest ");
    if (age < 90) number(age, "second", "seconds", out);
    else if (age < 5400) number((age + 30) / 60, "minute", "minutes", out);
    else if (age < 129600) number((age + 1800) / 3600, "hour", "hours", out);
    else number((age + 43200) / 86400, "day", "days", out);
    out.raw(keep_.lost_files() == 1 ? " ago" : " old");
    more = true;
  }
  if (keep_.lost_stashes() != 0) {
    out.raw(more ? ", and " : "");
    number(keep_.lost_stashes(), "stash", "stashes", out);
    more = true;
  }
  if (keep_.loses_commits()) out.raw(more ? ", and " : "").raw("names of commits");
  if (keep_.left_out() != 0) {
    out.raw("; ");
    number(keep_.left_out(), "file", "files", out);
    out.raw(" of ");
    size(keep_.left_out_bytes(), out);
    out.raw(" together are too large to be kept");
  }
}

void Evidence::say_why(hook::Writer& out) const noexcept {
  out.raw("What this deletes or overwrites cannot be kept");
  if (keep_.why().empty()) return;
  out.raw(": ").raw(keep_.why());
  if (!keep_.why_path().empty()) out.raw(" (").raw(keep_.why_path().substr(0, 512)).raw(")");
}

}  // namespace tipstaff::gate
