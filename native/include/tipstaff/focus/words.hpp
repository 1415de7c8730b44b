// The words by which the focus of a request is recognised: signals, endings of files, names that are not symbols.
#ifndef TIPSTAFF_FOCUS_WORDS_HPP
#define TIPSTAFF_FOCUS_WORDS_HPP

#include <cstdint>
#include <cstring>

#include "tipstaff/text/text.hpp"

namespace tipstaff {
namespace focus {

enum Kind : std::uint8_t {
  plain = 0,
  continues = 1,
  plans = 2,
  changes = 4,
  verifies = 8,
  next_word = 16,
  step_word,
  steps_word,
  to_word,
  defines,
};

struct KindWord {
  const char* word;
  std::uint8_t size;
  Kind kind;
};

#define TIPSTAFF_WORD(text, kind) {text, sizeof(text) - 1, kind}
inline constexpr KindWord kind_words[] = {
    TIPSTAFF_WORD("continue", continues),    TIPSTAFF_WORD("continues", continues),
    TIPSTAFF_WORD("continuing", continues),  TIPSTAFF_WORD("resume", continues),
    TIPSTAFF_WORD("resumes", continues),     TIPSTAFF_WORD("resuming", continues),
    TIPSTAFF_WORD("plan", plans),            TIPSTAFF_WORD("plans", plans),
    TIPSTAFF_WORD("planning", plans),        TIPSTAFF_WORD("fix", changes),
    TIPSTAFF_WORD("fixes", changes),         TIPSTAFF_WORD("fixing", changes),
    TIPSTAFF_WORD("implement", changes),     TIPSTAFF_WORD("implements", changes),
    TIPSTAFF_WORD("implementing", changes),  TIPSTAFF_WORD("edit", changes),
    TIPSTAFF_WORD("edits", changes),         TIPSTAFF_WORD("editing", changes),
    TIPSTAFF_WORD("update", changes),        TIPSTAFF_WORD("updates", changes),
    TIPSTAFF_WORD("updating", changes),      TIPSTAFF_WORD("refactor", changes),
    TIPSTAFF_WORD("refactors", changes),     TIPSTAFF_WORD("refactoring", changes),
    TIPSTAFF_WORD("test", verifies),         TIPSTAFF_WORD("tests", verifies),
    TIPSTAFF_WORD("testing", verifies),      TIPSTAFF_WORD("verify", verifies),
    TIPSTAFF_WORD("verifies", verifies),     TIPSTAFF_WORD("verifying", verifies),
    TIPSTAFF_WORD("review", verifies),       TIPSTAFF_WORD("reviews", verifies),
    TIPSTAFF_WORD("reviewing", verifies),    TIPSTAFF_WORD("next", next_word),
    TIPSTAFF_WORD("step", step_word),        TIPSTAFF_WORD("steps", steps_word),
    TIPSTAFF_WORD("to", to_word),            TIPSTAFF_WORD("class", defines),
    TIPSTAFF_WORD("struct", defines),        TIPSTAFF_WORD("interface", defines),
    TIPSTAFF_WORD("enum", defines),          TIPSTAFF_WORD("trait", defines),
    TIPSTAFF_WORD("def", defines),           TIPSTAFF_WORD("fn", defines),
    TIPSTAFF_WORD("func", defines),          TIPSTAFF_WORD("function", defines),
};
#undef TIPSTAFF_WORD

inline constexpr int longest_kind_word = 12;

inline constexpr int n_kind_words = sizeof kind_words / sizeof kind_words[0];

// For each first letter, the lengths and the second letters of the words that begin with it, as bits,
// and where they are in `words`, which is ordered by first letters.
struct KindIndex {
  std::uint16_t sizes[26];
  std::uint32_t seconds[26];
  std::uint8_t begins[27];
  KindWord words[n_kind_words];
};

static constexpr KindIndex make_kind_index() noexcept {
  KindIndex index = {};
  int slot = 0;
  for (int letter = 0; letter < 26; ++letter) {
    index.begins[letter] = static_cast<std::uint8_t>(slot);
    for (const KindWord& word : kind_words) {
      if (word.word[0] - 'a' != letter) continue;
      index.sizes[letter] = static_cast<std::uint16_t>(index.sizes[letter] | (1u << word.size));
      index.seconds[letter] |= 1u << (word.word[1] - 'a');
      index.words[slot++] = word;
    }
  }
  index.begins[26] = static_cast<std::uint8_t>(slot);
  return index;
}

inline constexpr KindIndex kind_index = make_kind_index();

// The lists below are words with a space on each side.
inline constexpr char endings[] =
    " py pyi pyx pxd ipynb js jsx mjs cjs ts tsx mts cts vue svelte go rs c h cc cpp cxx hpp hxx hh java kt kts "
    "scala groovy rb php cs fs swift mm pl lua r jl ex exs erl hs ml clj dart zig nim sql sh bash zsh fish ps1 bat "
    "html htm css scss sass less json jsonl json5 jsonc yaml yml toml ini cfg conf xml svg md mdx mdc rst txt csv tsv "
    "proto graphql gql tf tfvars hcl lock log env diff patch ipynb parquet arrow png jpg jpeg gif pdf zip gz tar whl "
    "cmake mk gradle properties bazel bzl dockerfile ";
inline constexpr char file_names[] =
    " Makefile makefile Dockerfile Rakefile Gemfile Jenkinsfile Procfile Vagrantfile Justfile justfile Brewfile "
    "Pipfile Containerfile CODEOWNERS .env .gitignore .gitattributes .gitmodules .dockerignore .editorconfig "
    ".bashrc .zshrc .profile .npmrc .nvmrc .eslintrc .prettierrc .babelrc .clang-format .clang-tidy .flake8 "
    ".pylintrc .coveragerc .tool-versions .python-version .cursorrules .mailmap ";
inline constexpr char products[] =
    " node.js next.js vue.js nuxt.js react.js express.js angular.js ember.js backbone.js three.js chart.js d3.js "
    "alpine.js socket.io nest.js discord.js moment.js p5.js ";
inline constexpr char domains[] = " com org net io dev ai co edu gov info me uk de ";
inline constexpr char folders[] =
    " src lib libs pkg cmd tests packages crates node_modules __tests__ benchmarks usr var opt ";
inline constexpr char brands[] =
    " macOS MacOS iOS iPadOS iPhone iPad GitHub GitLab JavaScript TypeScript PostgreSQL MySQL NoSQL SQLite YouTube "
    "OpenAI LinkedIn PyTorch TensorFlow NumPy SciPy PyPI VSCode IntelliJ PyCharm WebStorm LaTeX DevOps GraphQL MongoDB "
    "DynamoDB FastAPI WordPress PowerShell OAuth eBay PayPal DeepMind ChatGPT WiFi PhD kHz MHz GHz CircleCI OpenAPI "
    "CoffeeScript BitBucket StackOverflow ClickHouse CloudFlare ";
inline constexpr char keywords[] =
    " True False None true false null undefined nil self this super if else elif for while do switch case return "
    "break continue pass try except catch finally with as import from in is not and or new delete def fn func function "
    "class struct enum trait interface impl let const var void int str bool float async await yield lambda public "
    "private protected static ";
inline constexpr char openers[] =
    " a an the in of at to from and or see open read run fix edit update check review test move copy delete remove add "
    "create rename look use import include load save write print show find grep sed awk cat less more head tail cd ls "
    "rm mv cp mkdir touch chmod git npm npx yarn pnpm node deno bun python python3 pip pytest ruff mypy cargo rustc go "
    "gcc g++ clang make cmake docker kubectl bash sh zsh sudo vim vi nano code emacs java javac mvn gradle tsc eslint "
    "prettier jest please then on with for not is ";

static constexpr unsigned char lower_ascii(unsigned char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<unsigned char>(c + 32) : c;
}

static constexpr std::uint32_t hash_step(std::uint32_t hash, unsigned char c) noexcept {
  return (hash ^ c) * 16777619u;
}

// Words of a list by their hash, made when this is compiled; free slots are 0.
struct WordSet {
  static constexpr unsigned n_slots = 512;
  static constexpr int longest = 15;
  const char* list;
  std::uint16_t slots[n_slots];
};

static constexpr WordSet make_set(const char* list) noexcept {
  WordSet set = {};
  set.list = list;
  for (int at = 1; list[at] != 0;) {
    std::uint32_t hash = 2166136261u;
    int end = at;
    for (; list[end] != ' '; ++end) hash = hash_step(hash, static_cast<unsigned char>(list[end]));
    unsigned slot = (hash ^ hash >> 15) % WordSet::n_slots;
    while (set.slots[slot] != 0) slot = (slot + 1) % WordSet::n_slots;
    set.slots[slot] = static_cast<std::uint16_t>(at);
    at = end + 1;
  }
  return set;
}

// For each first letter, the lengths of the endings that begin with it, as bits.
struct EndingSizes {
  std::uint16_t of[26];
};

static constexpr EndingSizes make_ending_sizes() noexcept {
  EndingSizes sizes = {};
  for (int at = 1; endings[at] != 0;) {
    int end = at;
    while (endings[end] != ' ') ++end;
    sizes.of[endings[at] - 'a'] = static_cast<std::uint16_t>(sizes.of[endings[at] - 'a'] | (1u << (end - at)));
    at = end + 1;
  }
  return sizes;
}

inline constexpr EndingSizes ending_sizes = make_ending_sizes();

inline constexpr WordSet ending_set = make_set(endings);
inline constexpr WordSet file_name_set = make_set(file_names);
inline constexpr WordSet product_set = make_set(products);
inline constexpr WordSet domain_set = make_set(domains);
inline constexpr WordSet folder_set = make_set(folders);
inline constexpr WordSet brand_set = make_set(brands);
inline constexpr WordSet keyword_set = make_set(keywords);
inline constexpr WordSet opener_set = make_set(openers);

// Whether a list has a word of at most 15 bytes; `folded` compares in lower case.
static inline bool listed(const WordSet& set, const unsigned char* word, std::int64_t size, bool folded) noexcept {
  unsigned char needle[WordSet::longest + 1];
  if (size < 1 || size > WordSet::longest) return false;
  std::uint32_t hash = 2166136261u;
  for (std::int64_t i = 0; i < size; ++i) {
    needle[i] = folded ? lower_ascii(word[i]) : word[i];
    hash = hash_step(hash, needle[i]);
  }
  needle[size] = ' ';
  for (unsigned slot = (hash ^ hash >> 15) % WordSet::n_slots; set.slots[slot] != 0;
       slot = (slot + 1) % WordSet::n_slots) {
    const char* known = set.list + set.slots[slot];
    std::int64_t i = 0;
    while (i <= size && static_cast<unsigned char>(known[i]) == needle[i]) ++i;
    if (i > size) return true;
  }
  return false;
}

static inline Kind kind_of(const unsigned char* word, std::int64_t size) noexcept {
  if (size > longest_kind_word || size < 2) return plain;
  const unsigned first = (word[0] | 32u) - 'a';
  const unsigned second = (word[1] | 32u) - 'a';
  if (first >= 26 || second >= 26) return plain;
  // Both at once, as either alone is hard to foretell.
  if ((kind_index.sizes[first] >> size & kind_index.seconds[first] >> second & 1u) == 0) return plain;
  for (int slot = kind_index.begins[first]; slot < kind_index.begins[first + 1]; ++slot) {
    const KindWord& known = kind_index.words[slot];
    if (known.size != size) continue;
    std::int64_t i = 1;
    while (i < size && lower_ascii(word[i]) == static_cast<unsigned char>(known.word[i])) ++i;
    if (i == size) return known.kind;
  }
  return plain;
}

}  // namespace focus
}  // namespace tipstaff

#endif
