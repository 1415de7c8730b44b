// The rules that matter, handed to the model by the hook: the constitution when a session starts, the rules for a prompt
// when it is sent, and both again after the host has compacted the window.
//
// The compiled rules lie in STATE/guidance/<16 hex>.guidance, written by tipstaff.guidance.hook_image; the word pieces
// are those of the package's own table, mapped from where it is installed. Ranking is that of ShardRetriever with the
// static embedding, but for the intent boost and the places that a prompt names, which take an interpreter.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "tipstaff/hook/event.hpp"
#include "tipstaff/hook/json.hpp"
#include "tipstaff/hook/state.hpp"
#include "tipstaff/wordpiece.hpp"

namespace tipstaff::hook {

constexpr char kGuidanceMagic[9] = "TIPSGUID";
constexpr std::uint32_t kGuidanceVersion = 1;

struct Piece {
  std::uint32_t at, bytes;
};

struct GuidanceHead {
  char magic[8];
  std::uint32_t version;
  std::uint32_t head_bytes;
  std::uint64_t file_bytes;
  std::uint64_t checksum;       // fast_sum() of what follows this head
  std::uint32_t rule_count;
  std::uint32_t dimensions;
  float floor;                  // cosine below which no rule speaks of a prompt
  float wordless_floor;         // the same where the prompt shares no word with any of the best rules
  float least_share;            // of the best cosine, that a further rule needs
  float critical, high;         // boosts
  std::uint32_t reserved;
  Piece root, constitution, hash, table, sources, rows, rules, conflicts, words, strings;
  std::uint64_t table_digest;   // as the table's own header says it
};
static_assert(sizeof(GuidanceHead) == 152, "guidance files lie on disk as they are");

struct GuidanceRule {
  Piece id, text, place;        // in `strings`
  std::uint32_t flags;          // 1: contradicts the constitution, 2: critical, 4: high
  std::int32_t priority;
  std::uint32_t from, until;    // days as 20261231, 0 for none
  std::uint32_t conflicts, conflict_count;
  std::uint32_t words, word_count;  // hashes of the words that it is about, as word_hash() makes them
};
static_assert(sizeof(GuidanceRule) == 56, "guidance files lie on disk as they are");

// Calls `take` with the hash of each word of a text: small letters and digits of ASCII, without the commonest endings.
template <class Take>
inline void each_word(std::string_view text, Take take) noexcept {
  std::size_t at = 0;
  const auto lower = [](char letter) noexcept { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter; };
  while (at < text.size()) {
    char word[32];
    std::size_t size = 0;
    for (; at < text.size(); ++at) {
      const char letter = lower(text[at]);
      if (!((letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9'))) break;
      if (size < sizeof word) word[size++] = letter;
    }
    if (size == 0) {
      ++at;
      continue;
    }
    std::string_view stem(word, size);
    for (std::string_view ending : {std::string_view("ing"), std::string_view("ed"), std::string_view("es"), std::string_view("s")}) {
      if (stem.size() < ending.size() + 4 || stem.substr(stem.size() - ending.size()) != ending) continue;
      stem.remove_suffix(ending.size());
      break;
    }
    if (stem.size() > 4 && stem.back() == 'e') stem.remove_suffix(1);
    if (stem.size() > 1) take(static_cast<std::uint32_t>(fnv64(stem)));
  }
}

class Guidance {
 public:
  static constexpr std::uint32_t kMost = 5;
  static constexpr std::uint32_t kCandidates = 16;
  static constexpr std::size_t kLongestPrompt = 16 * 1024;

  struct Hit {
    std::uint32_t rule;
    float score, cosine;
  };

  bool stale() const noexcept { return stale_; }
  std::string_view constitution() const noexcept { return text(head_.constitution); }
  std::string_view hash() const noexcept { return text(head_.hash); }
  std::uint32_t rule_count() const noexcept { return head_.rule_count; }
  GuidanceRule rule(std::uint32_t index) const noexcept {
    GuidanceRule found;
    std::memcpy(&found, data_ + head_.rules.at + std::size_t{index} * sizeof found, sizeof found);
    return found;
  }
  std::string_view string(Piece piece) const noexcept {
    if (piece.at > head_.strings.bytes || piece.bytes > head_.strings.bytes - piece.at) return {};
    return text({head_.strings.at + piece.at, piece.bytes});
  }

  // Maps the compiled rules of a repository; returns whether there are any that can be used.
  bool open(const Path& state, std::string_view repository) noexcept {
    if (!state.ok() || repository.empty()) return false;
    Path path = state;
    path.add("/guidance/").hex(fnv64(repository)).add(".guidance");
    std::size_t bytes = 0;
    bool known = false;
    data_ = map_owned(path, &bytes, &known);
    if (data_ == nullptr || bytes < sizeof head_) return false;
    std::memcpy(&head_, data_, sizeof head_);
    const auto inside = [&](Piece piece) noexcept {
      return piece.at >= sizeof head_ && piece.at <= bytes && piece.bytes <= bytes - piece.at;
    };
    if (std::memcmp(head_.magic, kGuidanceMagic, 8) != 0 || head_.version != kGuidanceVersion ||
        head_.head_bytes != sizeof head_ || head_.file_bytes != bytes)
      return false;
    for (const Piece& piece : {head_.root, head_.constitution, head_.hash, head_.table, head_.sources, head_.rows,
                               head_.rules, head_.conflicts, head_.words, head_.strings})
      if (!inside(piece)) return false;
    const std::uint64_t numbers = std::uint64_t{head_.rule_count} * head_.dimensions;
    if (head_.dimensions > max_wordpiece_dimensions || head_.rows.at % 4 != 0 || head_.rows.bytes != numbers * 4 ||
        head_.rules.bytes != std::uint64_t{head_.rule_count} * sizeof(GuidanceRule) || head_.conflicts.bytes % 4 != 0 ||
        head_.words.bytes % 4 != 0 ||
        text(head_.root) != repository)
      return false;
    if (!known && fast_sum(data_ + sizeof head_, bytes - sizeof head_) != head_.checksum) return false;
    if (!known) seen(path);
    stale_ = !sources_are_current(text(head_.sources));
    return true;
  }

  // Finds the rules for a prompt, the best first; returns how many.
  std::uint32_t find(std::string_view prompt, std::uint32_t today, Hit* hits) const noexcept {
    alignas(64) float query[max_wordpiece_dimensions];
    if (head_.rule_count == 0 || !embed(prompt, query)) return 0;
    Hit best[kCandidates];
    std::uint32_t count = 0;
    const auto* rows = reinterpret_cast<const float*>(data_ + head_.rows.at);
    for (std::uint32_t i = 0; i < head_.rule_count; ++i) {
      const float* row = rows + std::size_t{i} * head_.dimensions;
      float lanes[8] = {};
      for (std::uint32_t d = 0; d < head_.dimensions; d += 8)
        for (std::uint32_t lane = 0; lane < 8; ++lane) lanes[lane] += row[d + lane] * query[d + lane];
      const float cosine = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
      if (cosine <= 0.0f) continue;
      const GuidanceRule about = rule(i);
      if ((about.flags & 1) != 0 || (about.from != 0 && today < about.from) || (about.until != 0 && today > about.until)) continue;
      const float score = (cosine < 1.0f ? cosine : 1.0f) + ((about.flags & 2) != 0 ? head_.critical : 0.0f) +
                          ((about.flags & 4) != 0 ? head_.high : 0.0f);
      if (count == kCandidates && score <= best[count - 1].score) continue;
      std::uint32_t place = count < kCandidates ? count++ : count - 1;
      while (place > 0 && best[place - 1].score < score) {
        best[place] = best[place - 1];
        --place;
      }
      best[place] = {i, score, cosine};
    }
    float nearest = 0.0f;
    for (std::uint32_t i = 0; i < count; ++i) nearest = best[i].cosine > nearest ? best[i].cosine : nearest;
    if (nearest < head_.floor || (nearest < head_.wordless_floor && !shares_a_word(prompt, best, count))) return 0;
    std::uint32_t taken = 0;
    for (std::uint32_t i = 0; i < count && taken < kMost; ++i) {
      if (best[i].cosine < nearest * head_.least_share) continue;
      bool stays = true;
      for (std::uint32_t t = 0; t < taken; ++t) {
        if (!contradict(hits[t].rule, best[i].rule)) continue;
        stays = false;
        if (rule(best[i].rule).priority > rule(hits[t].rule).priority) hits[t] = best[i];
        break;
      }
      if (stays) hits[taken++] = best[i];
    }
    return taken;
  }

 private:
  struct Plain {};  // the instruction set that every machine has

  std::string_view text(Piece piece) const noexcept {
    return {reinterpret_cast<const char*>(data_) + piece.at, piece.bytes};
  }

  bool contradict(std::uint32_t one, std::uint32_t other) const noexcept {
    const GuidanceRule about = rule(one);
    for (std::uint32_t i = 0; i < about.conflict_count; ++i) {
      const std::uint64_t at = (std::uint64_t{about.conflicts} + i) * 4;
      if (at + 4 > head_.conflicts.bytes) return false;
      std::uint32_t rival;
      std::memcpy(&rival, data_ + head_.conflicts.at + at, 4);
      if (rival == other) return true;
    }
    return false;
  }

  // Whether a prompt has a word in common with one of the best rules.
  bool shares_a_word(std::string_view prompt, const Hit* best, std::uint32_t count) const noexcept {
    bool shared = false;
    each_word(prompt.substr(0, kLongestPrompt), [&](std::uint32_t hash) noexcept {
      for (std::uint32_t i = 0; i < count && i < kMost && !shared; ++i) {
        const GuidanceRule about = rule(best[i].rule);
        const std::uint64_t all = head_.words.bytes / 4;
        if (about.words > all || about.word_count > all - about.words) continue;
        for (std::uint32_t w = 0; w < about.word_count && !shared; ++w) {
          std::uint32_t word;
          std::memcpy(&word, data_ + head_.words.at + (std::size_t{about.words} + w) * 4, 4);
          shared = word == hash;
        }
      }
    });
    return shared;
  }

  bool embed(std::string_view prompt, float* query) const noexcept {
    Path path;
    if (!path.add(text(head_.table)).ok()) return false;
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return false;
    struct stat about;
    const unsigned char* table_bytes = nullptr;
    if (::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > wordpiece_header_bytes) {
      void* mapped = ::mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (mapped != MAP_FAILED) table_bytes = static_cast<const unsigned char*>(mapped);
    }
    ::close(file);
    WordPieces table;
    if (table_bytes == nullptr ||
        open_wordpieces(Span{table_bytes, static_cast<std::int64_t>(about.st_size)}, &table) != WordPieceFault::none ||
        table.dimensions != static_cast<std::int64_t>(head_.dimensions) ||
        load_field<std::uint64_t>(table_bytes + 88) != head_.table_digest)
      return false;
    const std::string_view beginning = prompt.substr(0, kLongestPrompt);
    embed_words<Plain>(table, Span{reinterpret_cast<const unsigned char*>(beginning.data()),
                                   static_cast<std::int64_t>(beginning.size())}, query);
    return true;
  }

  // As the policy's file: the owner's, writable for nobody else, in such a folder.
  static const unsigned char* map_owned(const Path& path, std::size_t* bytes, bool* known) noexcept {
    if (!path.ok()) return nullptr;
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return nullptr;
    struct stat about;
    void* data = MAP_FAILED;
    if (::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && (about.st_uid == ::geteuid() || about.st_uid == 0) &&
        (about.st_mode & 022) == 0 && about.st_size > 0) {
      *bytes = static_cast<std::size_t>(about.st_size);
      data = ::mmap(nullptr, *bytes, PROT_READ, MAP_PRIVATE, file, 0);
      Path stamp = path;
      *known = Stamp(about).is_in(stamp.add(".checked"));
    }
    ::close(file);
    return data == MAP_FAILED ? nullptr : static_cast<const unsigned char*>(data);
  }

  static void seen(const Path& path) noexcept {
    struct stat about;
    Path stamp = path;
    if (::stat(path.c_str(), &about) == 0) Stamp(about).write_to(stamp.add(".checked"));
  }

  const unsigned char* data_ = nullptr;
  GuidanceHead head_{};
  bool stale_ = false;
};

namespace guidance {

constexpr std::size_t kRememberedBytes = 1024;

// Whether the host hands the model what the hook says at this event.
inline bool is_heard(const HookEvent& event) noexcept {
  if (event.phase == Phase::session_start) return event.host != Host::unknown;
  return event.phase == Phase::prompt &&
         (event.host == Host::claude || event.host == Host::codex || event.host == Host::gemini);
}

inline std::uint32_t day_of(std::uint64_t now_s) noexcept {  // 20261231, by the civil calendar (H. Hinnant's algorithm)
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

inline Path remembered_path(const Path& state, const HookEvent& event) noexcept {
  Path path = state;
  return path.add("/runs/").hex(fnv64(event.session) ^ (fnv64(name_of(event.host)) << 1)).add(".rules");
}

inline void say_rule(const Guidance& guidance, std::uint32_t index, float cosine, Writer& out) noexcept {
  const GuidanceRule rule = guidance.rule(index);
  out.raw("\n- ").raw(guidance.string(rule.text)).raw("  (");
  if (cosine > 0.0f) {
    const std::uint64_t hundredths = cosine < 0.99f ? static_cast<std::uint64_t>(cosine * 100.0f + 0.5f) : 99;
    out.raw(hundredths < 10 ? "meaning 0.0" : "meaning 0.").number(hundredths).raw("; ");
  }
  out.raw(guidance.string(rule.place)).raw(")");
}

// Writes what the model is told at this event; nothing where there is nothing to say.
inline void answer(const HookEvent& event, const Path& state, std::string_view repository, std::uint64_t now_s,
                   Writer& out) noexcept {
  Guidance guidance;
  if (!is_heard(event) || !guidance.open(state, repository)) return;
  const bool starts = event.phase == Phase::session_start;
  if (starts) {
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
  if (guidance.stale()) out.raw("\n\n(The rule files have changed since these were compiled; `tipstaff compile` reads them again.)");
}

}  // namespace guidance

}  // namespace tipstaff::hook
