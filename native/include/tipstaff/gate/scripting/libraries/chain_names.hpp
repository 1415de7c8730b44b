// Variables of code, each as the chain of calls that its value came from: with users = User.objects.all(), users is
// user.objects.all(); in for u in users, u is user.objects.all().@each.
#pragma once

#include <cstring>

#include "tipstaff/gate/scripting/lexer.hpp"

namespace tipstaff::gate::program {

class ChainNames {
 public:
  struct Bound {
    std::string_view name;
    std::string_view from;  // the module that its root was imported from
    bool each = false;      // an item of a list, or made from one
    std::uint32_t size = 0;
    char text[120];
    std::string_view chain() const noexcept { return {text, size}; }
    std::string_view ending(std::uint32_t most) const noexcept { return size > most ? std::string_view(text + size - most, most) : chain(); }
  };

  const Bound* find(std::string_view name) const noexcept {
    if (!signs_.may_have(name)) return nullptr;
    for (std::uint32_t i = 0; i < count_; ++i)
      if (bounds_[i].name == name) return &bounds_[i];
    return nullptr;
  }
  // The item that a text of arguments names.
  const Bound* item_in(std::string_view text) const noexcept {
    if (!any_each_ || text.size() > kLongest) return nullptr;
    for (std::uint32_t i = 0; i < count_; ++i) {
      const std::string_view name = bounds_[i].name;
      if (!bounds_[i].each) continue;
      for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
        const std::size_t stop = at + name.size();
        if ((at == 0 || !ascii::is_name(text[at - 1])) && (stop == text.size() || !ascii::is_name(text[stop]))) return &bounds_[i];
      }
    }
    return nullptr;
  }
  // Of long chains the end counts.
  void bind(std::string_view name, std::string_view chain, bool each, std::string_view from) noexcept {
    if (name.empty() || chain.empty() || chain == "''") return;
    Bound* slot = nullptr;
    for (std::uint32_t i = 0; i < count_ && slot == nullptr; ++i)
      if (bounds_[i].name == name) slot = &bounds_[i];
    if (slot == nullptr) slot = count_ < kMost ? &bounds_[count_++] : &bounds_[oldest_++ % kMost];
    const std::size_t room = sizeof slot->text - kEach.size();
    if (chain.size() > room) chain.remove_prefix(chain.size() - room);
    signs_.add(name);
    slot->name = name;
    slot->from = from;
    each = each || ascii::ends_with(chain, ".next()");  // of a cursor
    slot->each = each || chain.find(kEach) != std::string_view::npos;
    any_each_ = any_each_ || slot->each;
    std::memmove(slot->text, chain.data(), chain.size());
    slot->size = static_cast<std::uint32_t>(chain.size());
    if (!each) return;
    std::memcpy(slot->text + slot->size, kEach.data(), kEach.size());
    slot->size += static_cast<std::uint32_t>(kEach.size());
  }

 private:
  static constexpr std::uint32_t kMost = 24, kLongest = 400;
  static constexpr std::string_view kEach = ".@each";
  Bound bounds_[kMost];
  NameSigns signs_;
  std::uint32_t count_ = 0, oldest_ = 0;
  bool any_each_ = false;
};

// What says which variable gets which chain, met token by token: x = CHAIN, for x in CHAIN, for (const x of CHAIN),
// foreach (CHAIN as $x), with CHAIN as x, CHAIN.forEach(x => ...), CHAIN.each { |x| ... }, map(lambda x: ..., CHAIN).
class ChainVariables {
 public:
  static constexpr std::uint32_t kLevels = 24;

  explicit ChainVariables(Language language) noexcept : language_(language) {}

  const ChainNames& names() const noexcept { return names_; }
  // Whether the next name may be the variable of a block or a callback.
  bool accepts() const noexcept { return accepts_; }
  void refuse() noexcept { accepts_ = false; }
  // For another pass over the same code.
  void again() noexcept {
    looping_ = accepts_ = lambda_follows_ = false;
    lambda_ = {};
    for (Target& one : targets_) one = {};
  }

  // A chain ends at `level`.
  void ended(std::string_view chain, std::string_view from, std::uint32_t level) noexcept {
    Target& target = targets_[level];
    if (target.name.empty() || chain.empty() || ascii::one_of(chain, "await new async yield")) return;
    names_.bind(target.name, chain, target.each, from);
    for (std::uint32_t i = 0; i < target.others; ++i) names_.bind(others_[i], chain, target.each, from);
    target = {};
  }
  // A name that begins no chain, but a variable or a word before one. `before` is the chain that ended there.
  bool takes(const Token& token, std::string_view before, std::string_view from, std::uint32_t level) noexcept {
    static constexpr Words kLoops("for foreach"), kFunctions("async function fn");
    const bool word = token.sigil == 0;
    if (word && kLoops.has(token.text)) {
      looping_ = true;
      loop_ = language_ == Language::perl ? std::string_view("_") : std::string_view();
      return true;
    }
    if (word && token.text == "as" && (language_ == Language::php || language_ == Language::python)) {
      accept(before, looping_, from);
      looping_ = false;
      return true;
    }
    if (word && language_ == Language::ruby && token.text == "do") return begins_block(before, from), true;
    if (word && language_ == Language::python && token.text == "lambda") return lambda_follows_ = true;
    if (lambda_follows_) {
      lambda_follows_ = false;
      lambda_ = token.text;
      lambda_level_ = level;
      return true;
    }
    if (looping_ && language_ != Language::php) {
      if (word && ascii::one_of(token.text, "in of") && !loop_.empty()) {
        looping_ = false;
        wait(loop_, true, level);
      } else if (!word || !ascii::one_of(token.text, "const let var my our await")) {
        loop_ = token.text;
      }
      return true;
    }
    if (!accepts_ || (word && kFunctions.has(token.text))) return false;
    if (token.sigil == ':') return accepts_ = false;  // each(&:destroy)
    accepts_ = false;
    names_.bind(token.text, std::string_view(list_, list_size_), list_each_, list_from_);
    return true;
  }
  // CHAIN.forEach( and the like: `chain` without its last name.
  void begins_callback(std::string_view chain, std::string_view last, std::string_view from) noexcept {
    static constexpr Words kEach("map flatmap flat_map in_batches each_with_index each_entry eachasync eachseries eachlimit every some");
    const bool each = ascii::ends_with(last, "each") || kEach.has(last);
    if (each || last == "then") accept(chain, each, from);
  }
  void begins_block(std::string_view chain, std::string_view from) noexcept {
    const std::size_t dot = chain.rfind('.');
    if (dot != std::string_view::npos) begins_callback(chain.substr(0, dot), chain.substr(dot + 1, chain.find('(', dot) - dot - 1), from);
  }
  // `simple`: the one name before the mark, which it may assign to. At the level of that name.
  void mark(const Token& token, std::string_view simple, std::uint32_t level) noexcept {
    if (token.is("(") && looping_ && language_ == Language::perl) {
      looping_ = false;
      return wait(loop_, true, level + 1);
    }
    const bool opens = token.is("(") || token.is("[") || token.is("{") || token.is("|") || token.is("&") || token.is("*");
    if (!opens) accepts_ = token.is("=>") && language_ == Language::php && list_each_;
    if (looping_ && token.is("<") && !loop_.empty()) {  // for u <- list
      looping_ = false;
      return wait(loop_, true, level);
    }
    if (looping_ && !opens && !token.is(",") && !token.is(")") && !token.is("]") && !token.is("}")) looping_ = false;
    if (token.is(",") && !lambda_.empty() && level == lambda_level_) {
      wait(lambda_, true, level);
      lambda_ = {};
    } else if (token.is("=")) {
      wait(simple, false, level);
    } else if (!token.is("(") && !token.is("-") && !token.is("&")) {
      targets_[level] = {};
    }
  }
  // const [a, b] = CHAIN, const { a, b: c } = CHAIN: all of its names get the chain. `lexer` is after `const`, and is moved
  // to the sign.
  bool take_apart(Lexer* lexer, std::uint32_t level) noexcept {
    Lexer ahead = *lexer;
    Token token = ahead.next();
    if ((!token.is("[") && !token.is("{")) || level >= kLevels) return false;
    const std::string_view close = token.is("[") ? "]" : "}";
    Target target;
    std::uint32_t count = 0;
    for (token = ahead.next(); !token.is(close); token = ahead.next()) {
      if (token.is(":") && count > 0) others_[count - 1] = ahead.next().text;
      else if (token.kind == Kind::name && count < kOthers) others_[count++] = token.text;
      else if (!token.is(",")) return false;
    }
    if (count == 0 || !ahead.next().is("=")) return false;
    target.name = others_[0];
    target.others = count;
    targets_[level] = target;
    *lexer = ahead;
    return true;
  }
  // A text or a number.
  void other(const Token& token, std::uint32_t level) noexcept {
    accepts_ = false;
    if (token.kind != Kind::text) targets_[level] = {};
  }

 private:
  void wait(std::string_view name, bool each, std::uint32_t level) noexcept {
    if (level < kLevels) targets_[level] = {name, each, 0};
  }
  void accept(std::string_view chain, bool each, std::string_view from) noexcept {
    if (chain.size() > sizeof list_) chain.remove_prefix(chain.size() - sizeof list_);
    std::memmove(list_, chain.data(), chain.size());
    list_size_ = static_cast<std::uint32_t>(chain.size());
    list_each_ = each;
    list_from_ = from;
    accepts_ = true;
  }

  ChainNames names_;
  Language language_;
  // Variables that wait for the chain that ends next at their level.
  struct Target {
    std::string_view name;
    bool each = false;
    std::uint32_t others = 0;
  };
  static constexpr std::uint32_t kOthers = 6;
  Target targets_[kLevels];
  std::string_view loop_, lambda_, list_from_, others_[kOthers];
  std::uint32_t lambda_level_ = 0, list_size_ = 0;
  bool looping_ = false, accepts_ = false, list_each_ = false, lambda_follows_ = false;
  char list_[120];
};

}  // namespace tipstaff::gate::program
