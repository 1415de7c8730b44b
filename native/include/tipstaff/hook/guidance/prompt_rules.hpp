// The compiled rules of a repository, and the choice of those that matter for a prompt.
//
// They are in STATE/guidance/<16 hex>.guidance, written by tipstaff.guidance.hook.image; the word pieces are those of the
// package's own table, mapped from where it is installed. The choice is that of ShardRetriever with the static embedding:
// the same scores, floor and contradictions, for the beginning of a prompt.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "tipstaff/tasks/scopes.hpp"
#include "tipstaff/hook/guidance/image.hpp"
#include "tipstaff/hook/policy.hpp"
#include "tipstaff/scoring/fused_find.hpp"
#include "tipstaff/tasks/intents.hpp"
#include "tipstaff/tasks/paths.hpp"
#include "tipstaff/tasks/letters.hpp"
#include "tipstaff/tokens/wordpiece.hpp"
#include "tipstaff/text/words.hpp"

namespace tipstaff::hook {

class Guidance {
 public:
  static constexpr std::uint32_t kMost = 40;          // rules that are wanted
  static constexpr std::uint32_t kFirstLook = 48;     // candidates; four times as many where too few of them stay
  static constexpr std::uint32_t kCandidates = 832;
  static constexpr std::size_t kLongestPrompt = 32 * 1024;
  static constexpr std::uint32_t kMostRules = 100'000;
  static constexpr float kMostMeaning = 1.8f;         // of a rule's row, which holds its section too

  struct Hit {
    std::uint32_t rule;
    float cosine;
    double score;
  };

  bool stale() const noexcept { return stale_; }
  bool outdated() const noexcept { return outdated_; }  // another version compiled them, usable or not
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
  bool open(const Path& state, std::string_view repository, std::uint64_t edition) noexcept {
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
    if (std::memcmp(head_.magic, kGuidanceMagic, 8) != 0) return false;
    outdated_ = head_.version != kGuidanceVersion || head_.edition != edition;
    if (head_.version != kGuidanceVersion ||
        head_.head_bytes != sizeof head_ || head_.file_bytes != bytes)
      return false;
    for (const Piece& piece : {head_.root, head_.constitution, head_.hash, head_.table, head_.sources,
                               head_.rules, head_.conflicts, head_.strings, head_.scopes, head_.intents, head_.index, head_.words})
      if (!inside(piece)) return false;
    if (head_.rule_count > kMostRules || !open_fused(span_of(text(head_.index)), &index_) ||
        index_.head.n != head_.rule_count || index_.head.dimensions != head_.dimensions || head_.rules.bytes != std::uint64_t{head_.rule_count} * sizeof(GuidanceRule) || head_.conflicts.bytes % 4 != 0 ||
        head_.scopes.bytes % 4 != 0 || !open_words() ||
        text(head_.root) != repository)
      return false;
    if (!known && fast_sum(data_ + sizeof head_, bytes - sizeof head_) != head_.checksum) return false;
    if (!known) seen(path);
    stale_ = !sources_are_current(text(head_.sources));
    return true;
  }

  // Finds the rules for a prompt, the best first; returns how many, kMost at most.
  std::uint32_t find(std::string_view prompt, std::uint32_t today, Hit* hits) const noexcept {
    prompt = prompt.substr(0, kLongestPrompt);
    WordPieces table;
    if (head_.rule_count == 0 || !open_table(&table)) return 0;
    const Asked asked = read(prompt);
    static unsigned char mask[kMostRules];
    static float bonus[kMostRules];
    static FusedScratch scratch;
    static FusedQuery query;
    static std::int32_t rows[kCandidates];
    static float scores[kCandidates], meanings[kCandidates];
    static Hit best[kCandidates];
    static Contender contenders[kCandidates];
    prepare(asked, today, mask, bonus);
    read_query(index_, query_words_, span_of(prompt), {nullptr, 0}, {nullptr, 0},
               [&](ByteView text, float* out) noexcept { embed_words<Plain>(table, text, out); }, &query);
    const FusedExtras extras{mask, nullptr, reinterpret_cast<const unsigned char*>(bonus), asked.intent, head_.intent};
    for (std::uint32_t wanted = kFirstLook;; wanted *= 4) {
      const std::uint32_t room = wanted < head_.rule_count ? wanted : head_.rule_count;
      const FusedAnswer answer = find_fused<Plain>(index_, query, extras, &scratch, {room, rows, scores, meanings});
      if (answer.found == 0 || answer.relevance < index_.head.floor[7]) return 0;
      const double least = head_.least_share * scores[0];
      std::uint32_t count = 0;
      for (std::int64_t i = 0; i < answer.found && scores[i] >= least; ++i) {
        const float meaning = meanings[i] / kMostMeaning;
        best[count++] = {static_cast<std::uint32_t>(rows[i]), meaning > 0.0f ? meaning < 1.0f ? meaning : 1.0f : 0.0f, scores[i]};
      }
      std::uint32_t taken = 0;
      const bool enough = choose(best, count, contenders, hits, &taken);
      if (enough || count < room || room == head_.rule_count || wanted * 4 > kCandidates) return within_budget(hits, taken);
    }
  }

  // What kind of work a prompt asks for, as a bit.
  std::uint32_t intent_of(std::string_view prompt) const noexcept {
    const ByteView text = span_of(prompt);
    if (is_ascii(text)) return 1u << read_intent(intents_, text, false).intent;
    static unsigned char letters[2 * kLongestPrompt + 4], words[4 * kLongestPrompt + 12];
    return 1u << read_intent(intents_, stems_apart(intents_, letters_for_intent(text, letters), words), true).intent;
  }

 private:
  struct Plain {};  // the instruction set that every machine has

  // What is asked of the rules beside their meaning.
  struct Asked {
    std::uint32_t intent;
    TaskPaths paths;
    const globs::PathGlob* globs[TaskPaths::kMost];
  };

  struct Contender {
    Hit hit;
    std::uint32_t lost_to;  // kUndefeated
  };
  static constexpr std::uint32_t kUndefeated = 0xffff'ffffu;

  static ByteView span_of(std::string_view text) noexcept {
    return {reinterpret_cast<const unsigned char*>(text.data()), static_cast<std::int64_t>(text.size())};
  }

  bool open_words() noexcept {
    return intents_.open(span_of(text(head_.intents))) && open_lexicon(span_of(text(head_.words)), &query_words_);
  }

  Asked read(std::string_view prompt) const noexcept {
    static char memory[2 * TaskPaths::kMostBytes];
    static globs::PathGlob room[TaskPaths::kMost];
    Asked asked{};
    asked.intent = intent_of(prompt);
    if (head_.in_scope == 0.0 || head_.scopes.bytes == 0) return asked;
    find_paths(prompt, memory, &asked.paths);
    for (std::uint32_t i = 0; i < asked.paths.count; ++i)
      asked.globs[i] = room[i].read(asked.paths.of[i]) ? &room[i] : nullptr;
    return asked;
  }

  // Remembers for some scopes whether they hold a path: most rules share theirs with others.
  class Held {
   public:
    Held(const Guidance& guidance, const Asked& asked) noexcept : guidance_(guidance), asked_(asked) {
      for (std::uint32_t& key : keys_) key = kEverywhere;
    }
    bool operator()(std::uint32_t scopes) noexcept {
      const std::uint32_t slot = scopes * 2654435761u >> 24;
      if (keys_[slot] == scopes) return values_[slot];
      const Piece piece = guidance_.head_.scopes;
      const Numbers all{guidance_.data_ + piece.at, piece.bytes / 4};
      bool held = false;
      for (std::uint32_t i = 0; i < asked_.paths.count && !held; ++i)
        held = globs::holds(all, scopes, guidance_.text(guidance_.head_.strings), asked_.paths.of[i], asked_.globs[i]);
      keys_[slot] = scopes;
      return values_[slot] = held;
    }

   private:
    const Guidance& guidance_;
    const Asked& asked_;
    std::uint32_t keys_[256];
    bool values_[256];
  };

  // Which rules may be given on a day, and what is added to their scores.
  void prepare(const Asked& asked, std::uint32_t today, unsigned char* mask, float* bonus) const noexcept {
    Held held(*this, asked);
    for (std::uint32_t i = 0; i < head_.rule_count; ++i) {
      const GuidanceRule about = rule(i);
      mask[i] = (about.from == 0 || today >= about.from) && (about.until == 0 || today <= about.until);
      double more = (about.flags & kHighRisk) != 0 ? head_.high : (about.flags & kCriticalRisk) != 0 ? head_.critical : 0.0f;
      if (asked.paths.count != 0 && about.scopes != kEverywhere && held(about.scopes)) more += head_.in_scope;
      bonus[i] = static_cast<float>(more);
    }
  }

  // Keeps the rules whose lines fit into the tokens there are, passing over those that do not.
  std::uint32_t within_budget(Hit* hits, std::uint32_t count) const noexcept {
    std::uint32_t left = head_.tokens, kept = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t cost = rule(hits[i].rule).tokens;
      if (cost > left) continue;
      left -= cost;
      hits[kept++] = hits[i];
    }
    return kept;
  }

  // Takes rules in their order until there are enough, of those that exclude each other the strongest; returns whether
  // there are enough, or none was refused.
  bool choose(const Hit* best, std::uint32_t count, Contender* contenders, Hit* hits, std::uint32_t* taken) const noexcept {
    std::uint32_t contender_count = 0, lost = 0;
    bool refused = false;
    for (std::uint32_t i = 0; i < count && contender_count - lost < kMost; ++i) {
      if ((rule(best[i].rule).flags & kAgainstLaw) != 0) {
        refused = true;
        continue;
      }
      contenders[contender_count++] = {best[i], kUndefeated};
      if (rule(best[i].rule).conflict_count != 0) settle(contenders, contender_count);
      lost = 0;
      for (std::uint32_t s = 0; s < contender_count; ++s) lost += contenders[s].lost_to != kUndefeated;
    }
    // One that came last may have won over one that had kept others out: those that won are given before others.
    static bool won[kCandidates];
    std::uint32_t winners = 0;
    for (std::uint32_t s = 0; s < contender_count; ++s) won[s] = false;
    for (std::uint32_t s = 0; s < contender_count; ++s) {
      const std::uint32_t by = contenders[s].lost_to;
      if (by == kUndefeated || won[by]) continue;
      won[by] = true;
      ++winners;
    }
    winners = winners < kMost ? winners : kMost;
    std::uint32_t others = kMost - winners;
    for (std::uint32_t s = 0; s < contender_count; ++s) {
      std::uint32_t& room = won[s] ? winners : others;
      if (contenders[s].lost_to != kUndefeated || room == 0) continue;
      --room;
      hits[(*taken)++] = contenders[s].hit;
    }
    return *taken >= kMost || !(refused || lost != 0);
  }

  // Settles the rules that hang together with the last one: the strongest stays, and what contradicts none that stays.
  void settle(Contender* contenders, std::uint32_t contender_count) const noexcept {
    static std::uint32_t group[kCandidates];
    static bool inside[kCandidates];
    for (std::uint32_t i = 0; i < contender_count; ++i) inside[i] = false;
    std::uint32_t members = 1;
    group[0] = contender_count - 1;
    inside[contender_count - 1] = true;
    for (std::uint32_t m = 0; m < members; ++m) {
      for (std::uint32_t other = 0; other < contender_count; ++other) {
        if (inside[other] || !contradict(contenders[group[m]].hit.rule, contenders[other].hit.rule)) continue;
        inside[other] = true;
        group[members++] = other;
      }
    }
    const auto stronger = [&](std::uint32_t one, std::uint32_t other) noexcept {
      const GuidanceRule left = rule(contenders[one].hit.rule), right = rule(contenders[other].hit.rule);
      const bool law = (left.flags & kOfConstitution) != 0, other_law = (right.flags & kOfConstitution) != 0;
      if (law != other_law) return law;
      return left.priority != right.priority ? left.priority > right.priority : one < other;
    };
    for (std::uint32_t m = 0; m < members; ++m) {
      contenders[group[m]].lost_to = kUndefeated;
      for (std::uint32_t at = m; at > 0 && stronger(group[at], group[at - 1]); --at) {
        const std::uint32_t other = group[at];
        group[at] = group[at - 1];
        group[at - 1] = other;
      }
    }
    for (std::uint32_t m = 0; m < members; ++m) {
      if (contenders[group[m]].lost_to != kUndefeated) continue;
      for (std::uint32_t o = m + 1; o < members; ++o) {
        Contender& other = contenders[group[o]];
        if (other.lost_to == kUndefeated && contradict(contenders[group[m]].hit.rule, other.hit.rule)) other.lost_to = group[m];
      }
    }
  }

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

  // Maps the package's table of word pieces.
  bool open_table(WordPieces* opened) const noexcept {
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
    WordPieces& table = *opened;
    if (table_bytes == nullptr ||
        open_wordpieces(ByteView{table_bytes, static_cast<std::int64_t>(about.st_size)}, &table) != WordPieceFault::none ||
        table.dimensions != static_cast<std::int64_t>(head_.dimensions) ||
        load_field<std::uint64_t>(table_bytes + 88) != head_.table_digest)
      return false;
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
  IntentLexicon intents_;
  Lexicon query_words_;
  FusedIndex index_;
  bool stale_ = false, outdated_ = false;
};

}  // namespace tipstaff::hook
