// The compiled rules of a repository, and the choice of those that matter for a prompt.
//
// They lie in STATE/guidance/<16 hex>.guidance, written by tipstaff.guidance.hook.image; the word pieces are those of the
// package's own table, mapped from where it is installed. The choice is that of ShardRetriever with the static embedding:
// the same boosts, floors and contradictions, for the beginning of a prompt.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "tipstaff/tasks/scopes.hpp"
#include "tipstaff/hook/guidance_image.hpp"
#include "tipstaff/hook/state.hpp"
#include "tipstaff/tasks/intents.hpp"
#include "tipstaff/tasks/paths.hpp"
#include "tipstaff/tasks/letters.hpp"
#include "tipstaff/tasks/words.hpp"
#include "tipstaff/tokens/wordpiece.hpp"
#include "tipstaff/text/words.hpp"

namespace tipstaff::hook {

class Guidance {
 public:
  static constexpr std::uint32_t kMost = 5;           // rules that are wanted
  static constexpr std::uint32_t kHits = 16;          // that may come, where one lost that had kept others out
  static constexpr std::uint32_t kFirstLook = 13;     // candidates; four times as many where too few of them stay
  static constexpr std::uint32_t kCandidates = 832;
  static constexpr std::size_t kLongestPrompt = 32 * 1024;
  static constexpr std::size_t kTopicChars = TaskWords::kTopicChars;

  struct Hit {
    std::uint32_t rule;
    float cosine;
    double score;
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
                               head_.rules, head_.conflicts, head_.words, head_.strings, head_.scopes, head_.intents, head_.stems})
      if (!inside(piece)) return false;
    const std::uint64_t numbers = std::uint64_t{head_.rule_count} * head_.dimensions;
    if (head_.dimensions > max_wordpiece_dimensions || head_.rows.at % 4 != 0 || head_.rows.bytes != numbers * 4 ||
        head_.rules.bytes != std::uint64_t{head_.rule_count} * sizeof(GuidanceRule) || head_.conflicts.bytes % 4 != 0 ||
        head_.words.bytes % 4 != 0 || head_.scopes.bytes % 4 != 0 || !open_words() ||
        text(head_.root) != repository)
      return false;
    if (!known && fast_sum(data_ + sizeof head_, bytes - sizeof head_) != head_.checksum) return false;
    if (!known) seen(path);
    stale_ = !sources_are_current(text(head_.sources));
    return true;
  }

  // Finds the rules for a prompt, the best first; returns how many, kHits at most.
  std::uint32_t find(std::string_view prompt, std::uint32_t today, Hit* hits) const noexcept {
    alignas(64) float query[max_wordpiece_dimensions];
    prompt = prompt.substr(0, kLongestPrompt);
    if (head_.rule_count == 0 || !embed(prompt, query)) return 0;
    const Asked asked = read(prompt);
    static Hit best[kCandidates];
    static Standing standing[kCandidates];
    for (std::uint32_t wanted = kFirstLook;; wanted *= 4) {
      const std::uint32_t room = wanted < head_.rule_count ? wanted : head_.rule_count;
      std::uint32_t count = best_of(query, asked, today, best, room);
      if (!is_relevant(prompt, best, &count)) return 0;
      std::uint32_t taken = 0;
      const bool enough = choose(best, count, standing, hits, &taken);
      if (enough || count < room || room == head_.rule_count || wanted * 4 > kCandidates) return taken;
    }
  }

  // What kind of work a prompt asks for, as a bit.
  std::uint32_t intent_of(std::string_view prompt) const noexcept {
    const Span text = span_of(prompt);
    if (is_ascii(text)) return 1u << read_intent(intents_, text, false).intent;
    static unsigned char letters[2 * kLongestPrompt + 4], words[4 * kLongestPrompt + 12];
    return 1u << read_intent(intents_, stems_apart(intents_, letters_for_intent(text, letters), words), true).intent;
  }

 private:
  struct Plain {};  // the instruction set that every machine has

  // What is asked of the rules beside their meaning.
  struct Asked {
    std::uint32_t intent;
    Places places;
    const globs::PlaceGlob* globs[Places::kMost];
  };

  struct Standing {
    Hit hit;
    std::uint32_t lost_to;  // kStands
  };
  static constexpr std::uint32_t kStands = 0xffff'ffffu;

  static Span span_of(std::string_view text) noexcept {
    return {reinterpret_cast<const unsigned char*>(text.data()), static_cast<std::int64_t>(text.size())};
  }

  bool open_words() noexcept {
    return intents_.open(span_of(text(head_.intents))) && open_lexicon(span_of(text(head_.stems)), &stems_);
  }

  Asked read(std::string_view prompt) const noexcept {
    static char memory[2 * Places::kMostBytes];
    static globs::PlaceGlob room[Places::kMost];
    Asked asked{};
    asked.intent = intent_of(prompt);
    if (head_.in_place == 0.0 || head_.scopes.bytes == 0) return asked;
    find_places(prompt, memory, &asked.places);
    for (std::uint32_t i = 0; i < asked.places.count; ++i)
      asked.globs[i] = room[i].read(asked.places.of[i]) ? &room[i] : nullptr;
    return asked;
  }

  // Remembers for some scopes whether they hold a place: most rules share theirs with others.
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
      for (std::uint32_t i = 0; i < asked_.places.count && !held; ++i)
        held = globs::holds(all, scopes, guidance_.text(guidance_.head_.strings), asked_.places.of[i], asked_.globs[i]);
      keys_[slot] = scopes;
      return values_[slot] = held;
    }

   private:
    const Guidance& guidance_;
    const Asked& asked_;
    std::uint32_t keys_[256];
    bool values_[256];
  };

  // Fills the best rules, ties in their order; returns how many.
  std::uint32_t best_of(const float* query, const Asked& asked, std::uint32_t today, Hit* best, std::uint32_t room) const noexcept {
    std::uint32_t count = 0;
    Held held(*this, asked);
    const auto* rows = reinterpret_cast<const float*>(data_ + head_.rows.at);
    for (std::uint32_t i = 0; i < head_.rule_count; ++i) {
      const float* row = rows + std::size_t{i} * head_.dimensions;
      float lanes[8] = {};
      for (std::uint32_t d = 0; d < head_.dimensions; d += 8)
        for (std::uint32_t lane = 0; lane < 8; ++lane) lanes[lane] += row[d + lane] * query[d + lane];
      const float dot = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
      const float cosine = dot > 0.0f ? dot < 1.0f ? dot : 1.0f : 0.0f;
      const GuidanceRule about = rule(i);
      if ((about.flags & kHiddenRule) != 0 || (about.from != 0 && today < about.from) || (about.until != 0 && today > about.until)) continue;
      const float boosted = cosine + ((about.intents & asked.intent) != 0 ? head_.intent : 0.0f);
      double score = boosted + ((about.flags & kHighRisk) != 0 ? head_.high : (about.flags & kCriticalRisk) != 0 ? head_.critical : 0.0f);
      if (asked.places.count != 0 && about.scopes != kEverywhere && held(about.scopes)) score += head_.in_place;
      if (count == room && score <= best[count - 1].score) continue;
      std::uint32_t place = count < room ? count++ : count - 1;
      while (place > 0 && best[place - 1].score < score) {
        best[place] = best[place - 1];
        --place;
      }
      best[place] = {i, cosine, score};
    }
    return count;
  }

  // Whether the best rules have to do with a prompt; keeps those that are near enough to the nearest.
  bool is_relevant(std::string_view prompt, Hit* best, std::uint32_t* count) const noexcept {
    double nearest = 0.0;
    for (std::uint32_t i = 0; i < *count; ++i) nearest = best[i].cosine > nearest ? best[i].cosine : nearest;
    if (nearest <= 0.0 || nearest < head_.floor || (nearest < head_.wordless_floor && !shares_a_word(prompt, best, *count))) return false;
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < *count; ++i)
      if (best[i].cosine >= nearest * head_.least_share) best[kept++] = best[i];
    *count = kept;
    return true;
  }

  // Takes rules in their order until there are enough, of those that exclude each other the strongest; returns whether
  // there are enough, or none was refused.
  bool choose(const Hit* best, std::uint32_t count, Standing* standing, Hit* hits, std::uint32_t* taken) const noexcept {
    std::uint32_t stand = 0, lost = 0;
    bool refused = false;
    for (std::uint32_t i = 0; i < count && stand - lost < kMost; ++i) {
      if ((rule(best[i].rule).flags & kAgainstLaw) != 0) {
        refused = true;
        continue;
      }
      standing[stand++] = {best[i], kStands};
      if (rule(best[i].rule).conflict_count != 0) settle(standing, stand);
      lost = 0;
      for (std::uint32_t s = 0; s < stand; ++s) lost += standing[s].lost_to != kStands;
    }
    for (std::uint32_t s = 0; s < stand && *taken < kHits; ++s)
      if (standing[s].lost_to == kStands) hits[(*taken)++] = standing[s].hit;
    return *taken >= kMost || !(refused || lost != 0);
  }

  // Settles the rules that hang together with the last one: the strongest stays, and what contradicts none that stays.
  void settle(Standing* standing, std::uint32_t stand) const noexcept {
    static std::uint32_t group[kCandidates];
    static bool inside[kCandidates];
    for (std::uint32_t i = 0; i < stand; ++i) inside[i] = false;
    std::uint32_t members = 1;
    group[0] = stand - 1;
    inside[stand - 1] = true;
    for (std::uint32_t m = 0; m < members; ++m) {
      for (std::uint32_t other = 0; other < stand; ++other) {
        if (inside[other] || !contradict(standing[group[m]].hit.rule, standing[other].hit.rule)) continue;
        inside[other] = true;
        group[members++] = other;
      }
    }
    const auto stronger = [&](std::uint32_t one, std::uint32_t other) noexcept {
      const GuidanceRule left = rule(standing[one].hit.rule), right = rule(standing[other].hit.rule);
      const bool law = (left.flags & kOfConstitution) != 0, other_law = (right.flags & kOfConstitution) != 0;
      if (law != other_law) return law;
      return left.priority != right.priority ? left.priority > right.priority : one < other;
    };
    for (std::uint32_t m = 0; m < members; ++m) {
      standing[group[m]].lost_to = kStands;
      for (std::uint32_t at = m; at > 0 && stronger(group[at], group[at - 1]); --at) {
        const std::uint32_t other = group[at];
        group[at] = group[at - 1];
        group[at - 1] = other;
      }
    }
    for (std::uint32_t m = 0; m < members; ++m) {
      if (standing[group[m]].lost_to != kStands) continue;
      for (std::uint32_t o = m + 1; o < members; ++o) {
        Standing& other = standing[group[o]];
        if (other.lost_to == kStands && contradict(standing[group[m]].hit.rule, other.hit.rule)) other.lost_to = group[m];
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

  // Whether a prompt has a word in common with one of the best rules.
  bool shares_a_word(std::string_view prompt, const Hit* best, std::uint32_t count) const noexcept {
    static unsigned char folded[8 * kTopicChars + 4], lower[8 * kTopicChars + 4 + padding];
    std::size_t end = 0;
    for (std::size_t chars = 0; end < prompt.size(); ++end)
      if (!task_letters::goes_on(static_cast<unsigned char>(prompt[end])) && chars++ == kTopicChars) break;
    const Span beginning = span_of(prompt.substr(0, end < 4 * kTopicChars ? end : 4 * kTopicChars));
    const Span text = lowered(is_ascii(beginning) ? beginning : letters_for_topic(beginning, folded), false, lower);
    TaskWords words;
    words.read(stems_, ~std::uint64_t{0}, text);
    for (std::int64_t word = 0; word < words.count(); ++word) {
      const auto hash = static_cast<std::uint32_t>(words.stem(word));
      for (std::uint32_t i = 0; i < count && i < kMost; ++i) {
        const GuidanceRule about = rule(best[i].rule);
        const std::uint64_t all = head_.words.bytes / 4;
        if (about.words > all || about.word_count > all - about.words) continue;
        const Numbers topic{data_ + head_.words.at, head_.words.bytes / 4};
        for (std::uint32_t w = 0; w < about.word_count; ++w)
          if (topic[about.words + w] == hash) return true;
      }
    }
    return false;
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
    embed_words<Plain>(table, span_of(prompt), query);
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
  Lexicon stems_;
  bool stale_ = false;
};

}  // namespace tipstaff::hook
