// What kind of work a task asks for, read word by word over a compiled lexicon.
//
// kernels/formats/intent_table.py writes the lexicon.
// Linear in the text; nothing is allocated.
#ifndef TIPSTAFF_TASKS_INTENTS_HPP
#define TIPSTAFF_TASKS_INTENTS_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "tipstaff/text/text.hpp"

namespace tipstaff {

constexpr std::uint32_t kIntents = 10;  // without the general one, which is what is left
constexpr std::uint32_t kGeneralIntent = kIntents;

enum class IntentKind : std::uint8_t { silent, finite, control, sign, noun, verb, both, none };
enum : std::uint8_t {
  kIntentLeader = 1,      // may be before what opens a task
  kIntentDeterminer = 2,
  kIntentAnd = 4,
  kIntentColon = 8,
  kIntentInside = 16,     // a stem of a script without blanks, known inside of a run of letters
  kIntentOpening = 32,    // a stem that the endings of a word follow
};

// What a word or phrase says; weights are positions in the table of weights.
struct IntentEntry {
  std::uint8_t kind, intent, verb_intent, weight, verb_weight, lead_weight;
  std::uint16_t ident;
};
struct IntentWord {
  IntentEntry entry;
  std::uint32_t text;
  std::uint8_t size, flags, phrase_count, reserved;
  std::uint16_t phrases, reserved2;
};
struct IntentPhrase {
  IntentEntry entry;
  std::uint8_t size, reserved;
  std::uint16_t words[3];
};
static_assert(sizeof(IntentWord) == 20 && sizeof(IntentPhrase) == 16, "as tipstaff.kernels.formats.intent_table writes them");

// A lexicon in memory that the caller owns.
class IntentLexicon {
 public:
  static constexpr std::size_t kHeadBytes = 32;
  static constexpr std::size_t kLongestWord = 32;
  static constexpr std::uint32_t kMostIdents = 4096;
  static constexpr std::uint16_t kUnknown = 0xffff, kEnd = 0xfffe;

  // Whether these bytes are a lexicon, by their sizes; check() looks at all of it.
  bool open(ByteView bytes) noexcept {
    if (bytes.size < static_cast<std::int64_t>(kHeadBytes) || std::memcmp(bytes.data, "TIN1\r\n\x1a\n", 8) != 0) return false;
    std::uint32_t counts[6];
    std::memcpy(counts, bytes.data + 8, sizeof counts);
    slots_ = counts[0];
    words_ = counts[1];
    phrases_ = counts[2];
    weights_ = counts[3];
    letters_ = counts[4];
    if (slots_ == 0 || slots_ > 65536 || (slots_ & (slots_ - 1)) != 0 || words_ >= slots_ || words_ >= kEnd ||
        phrases_ > 65536 || weights_ == 0 || weights_ > 256 || letters_ > (1u << 24) || counts[5] > kMostIdents)
      return false;
    const std::size_t weights = kHeadBytes, slots = weights + std::size_t{weights_} * 8, words = slots + std::size_t{slots_} * 2,
                      phrases = words + std::size_t{words_} * sizeof(IntentWord),
                      letters = phrases + std::size_t{phrases_} * sizeof(IntentPhrase);
    if (bytes.size != static_cast<std::int64_t>(letters + letters_)) return false;
    weight_at_ = bytes.data + weights;
    slot_at_ = bytes.data + slots;
    word_at_ = bytes.data + words;
    phrase_at_ = bytes.data + phrases;
    letter_at_ = bytes.data + letters;
    return true;
  }

  // Whether everything that it points at is within it.
  bool check() const noexcept {
    const auto sound = [&](const IntentEntry& entry) noexcept {
      return entry.kind <= static_cast<std::uint8_t>(IntentKind::none) && entry.intent < kIntents && entry.verb_intent < kIntents &&
             entry.weight < weights_ && entry.verb_weight < weights_ && entry.lead_weight < weights_ && entry.ident < kMostIdents;
    };
    for (std::uint32_t i = 0; i < words_; ++i) {
      const IntentWord one = word(i);
      if (!sound(one.entry) || one.size > kLongestWord || one.text > letters_ || one.size > letters_ - one.text ||
          one.phrases > phrases_ || one.phrase_count > phrases_ - one.phrases)
        return false;
    }
    for (std::uint32_t i = 0; i < phrases_; ++i) {
      const IntentPhrase one = phrase(i);
      if (!sound(one.entry) || one.size > 3) return false;
    }
    std::uint32_t empty = 0;
    for (std::uint32_t i = 0; i < slots_; ++i) {
      const std::uint16_t at = slot(i);
      empty += at == kUnknown;
      if (at != kUnknown && at >= words_) return false;
    }
    return empty > 0;
  }

  static constexpr std::uint32_t kHashStart = 0x811c9dc5u;
  static constexpr std::uint32_t hashed(std::uint32_t hash, unsigned char letter) noexcept { return (hash ^ letter) * 0x01000193u; }

  // The number of a word whose hash is known.
  std::uint16_t find(const unsigned char* letters, std::size_t size, std::uint32_t hash) const noexcept {
    if (size > kLongestWord) return kUnknown;
    const std::uint32_t mask = slots_ - 1;
    for (std::uint32_t at = (hash ^ hash >> 15) & mask;; at = (at + 1) & mask) {
      const std::uint16_t number = slot(at);
      if (number == kUnknown) return kUnknown;
      const IntentWord known = word(number);
      if (known.size == size && std::memcmp(letter_at_ + known.text, letters, size) == 0) return number;
    }
  }
  std::uint16_t find(const unsigned char* letters, std::size_t size) const noexcept {
    std::uint32_t hash = kHashStart;
    for (std::size_t i = 0; i < size && i <= kLongestWord; ++i) hash = hashed(hash, letters[i]);
    return find(letters, size, hash);
  }

  IntentWord word(std::uint32_t number) const noexcept { return load<IntentWord>(word_at_, number); }
  IntentPhrase phrase(std::uint32_t number) const noexcept { return load<IntentPhrase>(phrase_at_, number); }
  double weight(std::uint32_t number) const noexcept { return load<double>(weight_at_, number); }
  std::uint8_t flags(std::uint16_t number) const noexcept { return number < words_ ? word(number).flags : std::uint8_t{0}; }

 private:
  template <class T>
  static T load(const unsigned char* at, std::uint32_t number) noexcept {
    T found;
    std::memcpy(&found, at + std::size_t{number} * sizeof found, sizeof found);
    return found;
  }
  std::uint16_t slot(std::uint32_t at) const noexcept { return load<std::uint16_t>(slot_at_, at); }

  const unsigned char *weight_at_ = nullptr, *slot_at_ = nullptr, *word_at_ = nullptr, *phrase_at_ = nullptr, *letter_at_ = nullptr;
  std::uint32_t slots_ = 0, words_ = 0, phrases_ = 0, weights_ = 0, letters_ = 0;
};

namespace intents {

enum class Mark : unsigned char { blank, letter, comma, colon, stop, capital };

struct Marks {
  Mark of[256];
};
constexpr Marks make_marks() noexcept {
  Marks marks{};
  for (int c = 0; c < 256; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c >= 0x80;
    marks.of[c] = letter ? Mark::letter : c >= 'A' && c <= 'Z' ? Mark::capital : Mark::blank;
  }
  for (const char c : {',', ';', '!', '?', '\n', '\r'}) marks.of[static_cast<unsigned char>(c)] = Mark::comma;
  marks.of[static_cast<unsigned char>(':')] = Mark::colon;
  marks.of[static_cast<unsigned char>('.')] = Mark::stop;
  return marks;
}
inline constexpr Marks kMarks = make_marks();

constexpr bool is_space(unsigned char c) noexcept { return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31); }

// The words of a task by their numbers, read as they are asked for, forwards.
class Words {
 public:
  // `ready`: words set apart by blanks and lowered by whoever asks, in UTF-8.
  Words(const IntentLexicon& lexicon, ByteView text, bool ready) noexcept : lexicon_(lexicon), ready_(ready) {
    while (text.size > 0 && is_space(text.data[0])) ++text.data, --text.size;
    while (text.size > 0 && is_space(text.data[text.size - 1])) --text.size;
    text_ = text;
    comma_ = lexicon.find(reinterpret_cast<const unsigned char*>(","), 1);
    colon_ = lexicon.find(reinterpret_cast<const unsigned char*>(":"), 1);
  }

  void rewind() noexcept { at_ = read_ = 0; }

  // Word `index`; one that is more than a few words after the last one asked for is gone.
  std::uint16_t operator[](std::int64_t index) noexcept {
    while (read_ <= index) window_[read_++ & 7] = next();
    return window_[index & 7];
  }

 private:
  std::uint16_t next() noexcept {
    const unsigned char* x = text_.data;
    for (; at_ < text_.size; ++at_) {
      const Mark mark = kMarks.of[x[at_]];
      if (mark == Mark::blank) continue;
      if (mark == Mark::letter || mark == Mark::capital) return letters();
      if (mark == Mark::stop && !(at_ + 1 < text_.size && x[at_ + 1] == ' ')) continue;
      ++at_;
      return mark == Mark::colon ? colon_ : comma_;
    }
    return IntentLexicon::kEnd;
  }

  std::uint16_t letters() noexcept {
    const unsigned char* x = text_.data;
    unsigned char lowered[IntentLexicon::kLongestWord];
    std::size_t size = 0;
    std::uint32_t hash = IntentLexicon::kHashStart;
    bool small = false;  // the letter before is a small one
    for (; at_ < text_.size; ++at_) {
      unsigned char c = x[at_];
      const Mark mark = kMarks.of[c];
      if (mark == Mark::capital && !ready_) {
        if (small) break;
        c = static_cast<unsigned char>(c + 32);
      } else if (mark != Mark::letter && mark != Mark::capital) {
        break;
      } else {
        small = c >= 'a' && c <= 'z';
      }
      if (size < sizeof lowered) lowered[size] = c;
      ++size;
      hash = IntentLexicon::hashed(hash, c);
    }
    return lexicon_.find(lowered, size, hash);
  }

  const IntentLexicon& lexicon_;
  ByteView text_{nullptr, 0};
  bool ready_;
  std::uint16_t comma_, colon_;
  std::int64_t at_ = 0, read_ = 0;
  std::uint16_t window_[8] = {};
};

constexpr double kAside = 0.5, kSubject = 1.3, kAgain = 0.7, kModifier = 0.4, kModifierAhead = 0.55, kLabel = 1.3, kLabelLeast = 0.9;
constexpr double kLeast = 0.3, kBias = 0.37, kSlope = 3.9, kWide = 1.5;

// Each intent's sum.
inline void sums(const IntentLexicon& lexicon, Words& words, double* scores) noexcept {
  for (std::uint32_t i = 0; i < kIntents; ++i) scores[i] = 0.0;
  std::int64_t lead = 0;
  while ((lexicon.flags(words[lead]) & kIntentLeader) != 0) ++lead;
  const std::int64_t subject = (lexicon.flags(words[lead]) & kIntentDeterminer) != 0 ? lead + 1 : lead;
  const bool shared = (lexicon.flags(words[lead + 1]) & kIntentAnd) != 0;  // "Investigate and fix ..."
  words.rewind();
  std::uint64_t seen[IntentLexicon::kMostIdents / 64] = {};
  double factor = 1.0, noun_loss = 0.0;
  std::int64_t opening = lead, noun_end = -1, next = 0;
  bool leading = false;
  std::uint32_t noun_intent = 0;
  for (std::int64_t index = 0;; index = next) {
    const std::uint16_t number = words[index];
    if (number == IntentLexicon::kEnd) return;
    next = index + 1;
    if (number == IntentLexicon::kUnknown) continue;
    const IntentWord word = lexicon.word(number);
    IntentEntry entry = word.entry;
    if (entry.kind == static_cast<std::uint8_t>(IntentKind::none)) continue;
    if (entry.kind == static_cast<std::uint8_t>(IntentKind::finite) && factor == kAside) factor = 1.0;
    for (std::uint32_t p = 0; p < word.phrase_count; ++p) {
      const IntentPhrase phrase = lexicon.phrase(std::uint32_t{word.phrases} + p);
      bool same = true;
      for (std::uint32_t w = 0; w < phrase.size && same; ++w) same = words[index + 1 + w] == phrase.words[w];
      if (!same) continue;
      entry = phrase.entry;
      next += phrase.size;
      break;
    }
    const auto kind = static_cast<IntentKind>(entry.kind);
    const double weight = lexicon.weight(entry.weight), verb_weight = lexicon.weight(entry.verb_weight);
    if (kind == IntentKind::control) {
      if (weight != 0.0) factor = weight;
      if (verb_weight != 0.0) opening = next;
      continue;
    }
    std::uint64_t& known = seen[entry.ident / 64];
    const std::uint64_t bit = std::uint64_t{1} << (entry.ident % 64);
    if (kind < IntentKind::control || (known & bit) != 0) continue;
    known |= bit;
    const std::uint8_t follower = lexicon.flags(words[next]);
    const bool bounded = (follower & kIntentDeterminer) != 0;
    if (kind >= IntentKind::verb && index == opening && (kind == IntentKind::verb || index == lead || bounded)) {
      const bool leads = index == lead && (kind == IntentKind::verb || bounded);
      scores[entry.verb_intent] += leads && !shared ? lexicon.weight(entry.lead_weight) : verb_weight;
      factor = 1.0;
      continue;
    }
    double amount = weight * factor;
    if (kind == IntentKind::noun || kind == IntentKind::both) {
      const bool compound = noun_end == index;
      leading = index == lead || index == subject || (compound && leading);
      if (compound) scores[noun_intent] -= noun_loss;
      if (leading) amount = (follower & kIntentColon) != 0 && weight >= kLabelLeast ? amount + kLabel : amount * kSubject;
      noun_end = next;
      noun_intent = entry.intent;
      noun_loss = amount * (leading ? kModifierAhead : kModifier);
    }
    const double before = scores[entry.intent];
    scores[entry.intent] = before != 0.0 ? before + amount * kAgain : amount;
  }
}

}  // namespace intents

struct IntentRead {
  std::uint32_t intent = kGeneralIntent;
  double margin = 0.0;  // over the second best, no more than says something
};

// `ready`: see intents::Words; else ASCII.
inline IntentRead read_intent(const IntentLexicon& lexicon, ByteView text, bool ready) noexcept {
  double scores[kIntents];
  intents::Words words(lexicon, text, ready);
  intents::sums(lexicon, words, scores);
  std::uint32_t winner = 0;
  for (std::uint32_t i = 1; i < kIntents; ++i)
    if (scores[i] > scores[winner]) winner = i;
  if (scores[winner] < intents::kLeast) return {};
  const double best = scores[winner];
  scores[winner] = 0.0;
  double second = scores[0];
  for (std::uint32_t i = 1; i < kIntents; ++i) second = scores[i] > second ? scores[i] : second;
  const double margin = best - second;
  return {winner, margin < intents::kWide ? margin : intents::kWide};
}

// An estimate of the chance that the intent is right, 0 without any sign.
inline double confidence_of(const IntentRead& read) noexcept {
  return read.intent == kGeneralIntent ? 0.0 : 1.0 / (1.0 + std::exp(-intents::kBias - intents::kSlope * read.margin));
}

}  // namespace tipstaff

#endif
