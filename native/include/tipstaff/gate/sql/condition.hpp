// Whether a condition is always true, as far as its text alone tells.
#pragma once

#include "tipstaff/gate/sql/cursor.hpp"

namespace tipstaff::gate::sql {

enum class Truth : std::uint8_t { unknown, always, never };

class Condition {
 public:
  // `table`: the one that the condition narrows; `joins_itself`: it is joined to itself.
  // `uses`: DELETE FROM a USING b, whose condition may only say what belongs to what.
  explicit Condition(Cursor& cursor, std::string_view table = {}, bool joins_itself = false, bool uses = false) noexcept
      : at_(cursor), table_(table.substr(table.rfind('.') + 1)), joins_itself_(joins_itself), uses_(uses) {}

  // Reads from after WHERE to what ends the condition, which stays the current token.
  Truth read() noexcept {
    const Truth truth = read(0);
    return too_deep_ ? Truth::always : truth;  // what cannot be told narrows nothing
  }

 private:
  Truth read(std::uint32_t level) noexcept {
    Truth any = conjunction(level);
    const Shape first = shape_;
    while (at_.token().is_one_of("or xor") || is_doubled('|')) {
      skip_connective();
      Truth next = conjunction(level);
      // Something or its opposite: active OR NOT active, a IS NULL OR a IS NOT NULL.
      if (first.hash != 0 && first.hash == shape_.hash && first.negated != shape_.negated) next = Truth::always;
      if (any == Truth::always || next == Truth::always) {
        any = Truth::always;
      } else if (any == Truth::never) {
        any = next;
      } else if (next != Truth::never) {
        any = Truth::unknown;
      }
    }
    shape_ = {};
    return any;
  }
  // What a condition says, apart from whether it is negated; no hash where that is not known.
  struct Shape {
    std::uint64_t hash = 0;
    bool negated = false;
  };
  static constexpr std::uint32_t kDeepest = 32, kParts = 5;
  static constexpr std::string_view kNow = "now getdate sysdate current_timestamp current_date localtimestamp utc_timestamp clock_timestamp getutcdate sysdatetime";
  static constexpr std::string_view kFunctions =
      "now getdate sysdate current_timestamp current_date localtimestamp utc_timestamp clock_timestamp getutcdate sysdatetime length char_length octet_length len";
  static constexpr std::string_view kWritten =
      "created_at updated_at inserted_at modified_at created updated created_on updated_on createdat updatedat date_created creation_date created_date";
  static bool is_key(const Token& token) noexcept { return token.is_one_of("id rowid _id pk uuid ctid oid _rowid_ rownum guid"); }
  // EXISTS (SELECT 1): a query in brackets of no table. At the opening bracket.
  bool selects_all() noexcept {
    const std::uint32_t inside = at_.depth();
    at_.advance();
    bool all = at_.token().is("select");
    bool own = false;  // FROM the table itself
    while (!at_.at_end() && !at_.token().is_mark(';') && !(at_.token().is_mark(')') && at_.depth() == inside)) {
      if (at_.token().is("from") && ascii::equals(at_.peek().text, table_)) own = true;
      all = all && !at_.token().is_one_of("where limit having") && (own || !at_.token().is("from")) && !at_.token().is_mark('.');
      at_.advance();
    }
    if (at_.token().is_mark(')')) at_.advance();
    return all;
  }

  // IN (SELECT id FROM the same table), >= (SELECT min(id) FROM it), NOT IN (0), IN (true, false). At the opening bracket.
  bool holds_all(const Token* part, std::uint32_t n) noexcept {
    const bool at_in = at_.previous().is("in");
    constexpr std::uint32_t kTokens = 12;
    Token seen[kTokens];
    std::uint32_t count = 0, from = 0, last = 0;
    bool plain = true, yes = false, no = false, low = true;
    const std::uint32_t inside = at_.depth();
    at_.advance();
    for (; !at_.at_end() && !at_.token().is_mark(';') && !(at_.token().is_mark(')') && at_.depth() == inside); at_.advance()) {
      const Token& now = at_.token();
      plain = plain && !now.is_one_of("where limit having group join union intersect except offset fetch tablesample with");
      yes = yes || now.is("true");
      no = no || now.is("false");
      low = low && (now.is_mark(',') || now.is_mark('-') || (now.kind == Kind::number && (number(now) == 0 || at_.previous().is_mark('-'))));
      if (now.is("from")) last = count;
      if (now.is("from") && from == 0) from = count;
      if (count < kTokens) seen[count] = now;
      ++count;
    }
    if (at_.token().is_mark(')')) at_.advance();
    if (!plain || count >= kTokens) return false;
    if (n == 3 && part[1].is("not") && part[2].is("in")) return is_key(part[0]) && low;
    if (at_in && yes && no) return true;
    std::uint32_t select = 0;  // = ANY(ARRAY(SELECT ...))
    while (select + 1 < count && (seen[select].is("array") || seen[select].is_mark('('))) ++select;
    if (!seen[select].is("select") || from < select + 2 || from + 1 >= count) return false;
    const Token& table = last + 3 < count && seen[last + 2].is_mark('.') ? seen[last + 3] : seen[last + 1];
    if (!ascii::equals(table.text, table_)) return false;
    if ((n == 2 && part[1].is("in")) || (n == 3 && part[1].is_mark('=') && part[2].is_one_of("any some"))) return same(part[0], seen[from - 1]);
    return n == 3 && part[2].is_mark('=') && ((part[1].is_mark('>') && seen[1].is("min")) || (part[1].is_mark('<') && seen[1].is("max")));
  }
  // datetime('now') alone is now. At the bracket, which is left where it says more.
  bool is_now() noexcept {
    if (at_.peek().kind != Kind::text || !ascii::equals(at_.peek().text, "now")) return false;
    at_.advance();
    if (!at_.peek().is_mark(')')) return false;
    at_.advance();
    at_.advance();
    return true;
  }
  static Shape shape_of(const Token* part, std::uint32_t n) noexcept {
    Shape shape;
    if (n == 0 || n > kParts) return shape;
    shape.hash = 14695981039346656037u;
    const auto take = [&shape](char c) noexcept { shape.hash = (shape.hash ^ static_cast<unsigned char>(ascii::lower(c))) * 1099511628211u; };
    for (std::uint32_t i = 0; i < n; ++i) {
      const bool pair = i + 1 < n && part[i].kind == Kind::mark && part[i + 1].kind == Kind::mark;
      if (part[i].is("not")) {
        shape.negated = !shape.negated;
        continue;
      } else if (pair && ((part[i].is_mark('<') && part[i + 1].is_mark('>')) || (part[i].is_mark('!') && part[i + 1].is_mark('=')))) {
        shape.negated = !shape.negated;
        take('=');
        ++i;
      } else if (pair && part[i + 1].is_mark('=')) {  // a >= b: not a < b
        shape.negated = !shape.negated;
        take(part[i].is_mark('>') ? '<' : '>');
        ++i;
      } else {
        for (const char c : part[i].text) take(c);
      }
      take(' ');
    }
    return shape;
  }

  bool is_doubled(char c) const noexcept { return at_.token().is_mark(c) && at_.peek().is_mark(c); }
  void skip_connective() noexcept {
    const bool mark = at_.token().kind == Kind::mark;
    at_.advance();
    if (mark) at_.advance();
  }
  bool ends() const noexcept {
    const Token& token = at_.token();
    return token.kind == Kind::end || token.kind == Kind::meta || token.is_mark(';') || token.is_mark(')') ||
           token.is_one_of("returning order limit group having offset fetch option union allow delete drop truncate update "
                           "insert select exec execute go end if");
  }

  Truth conjunction(std::uint32_t level) noexcept {
    Truth all = term(level);
    while (at_.token().is("and") || is_doubled('&')) {
      shape_ = {};
      skip_connective();
      const Truth next = term(level);
      shape_ = {};
      if (all == Truth::never || next == Truth::never) {
        all = Truth::never;
      } else if (all == Truth::always) {
        all = next;
      }
    }
    return all;
  }

  Truth term(std::uint32_t level) noexcept {
    too_deep_ = too_deep_ || (level >= kDeepest && (at_.token().is("not") || at_.token().is_mark('!') || at_.token().is_mark('(')));
    if (at_.token().is("not") || at_.token().is_mark('!')) {
      at_.advance();
      const Truth inner = level < kDeepest ? term(level + 1) : Truth::unknown;
      shape_.negated = !shape_.negated;
      return inner == Truth::always ? Truth::never : inner == Truth::never ? Truth::always : Truth::unknown;
    }
    Truth truth = Truth::unknown;
    shape_ = {};
    bool grouped = false, more = false;
    if (at_.token().is_mark('(') && level < kDeepest) {
      const std::uint32_t inside = at_.depth();
      at_.advance();
      if (!at_.token().is_one_of("select with values")) truth = read(level + 1);
      while (!at_.at_end() && !at_.token().is_mark(';') && !(at_.token().is_mark(')') && at_.depth() == inside)) at_.advance();
      if (!at_.token().is_mark(')')) return truth;
      at_.advance();
      grouped = true;
    }
    Token part[kParts];
    std::uint32_t n = 0;
    bool qualified = false;  // a.id = b.id joins
    Token owner;             // b of b.id
    while (!ends() && !is_doubled('|') && !is_doubled('&')) {
      const bool range = n == 3 && part[1].is("between") && at_.token().is("and");
      if (!range && at_.token().is_one_of("and or xor")) break;
      more = true;
      if (at_.token().is_mark('(')) {
        if (n > 0 && n <= kParts && part[n - 1].is_one_of(kFunctions)) {  // now(), length(x) count as their names
          at_.skip_parentheses();
          continue;
        }
        if (n > 0 && n <= kParts && part[n - 1].is_one_of("datetime date") && is_now()) {
          part[n - 1].text = "now";
          continue;
        }
        if (at_.previous().is("in") || (n >= 2 && n <= 3 && (part[n - 1].is_one_of("in any some") || part[n - 1].is_mark('=')))) {
          if (holds_all(part, n)) truth = Truth::always;
          grouped = true;
          more = false;
          continue;
        }
        if (n == 1 && part[0].is("exists")) {
          if (selects_all()) truth = Truth::always;
          grouped = true;
          more = false;
          continue;
        }
        at_.skip_parentheses();
        n = 9;
        continue;
      }
      if (at_.token().is_mark(':') && at_.peek().is_mark(':')) {  // id::text is id
        at_.advance();
        at_.advance();
        if (!at_.at_end()) at_.advance();
        continue;
      }
      if (at_.token().is_mark('.') && n > 0 && n <= kParts && part[n - 1].kind != Kind::mark) {  // t.id is id
        --n;
        owner = part[n];
        qualified = true;
        at_.advance();
        continue;
      }
      if (n < kParts) part[n] = at_.token();
      if (n < 9) ++n;
      at_.advance();
    }
    if (grouped) return more ? Truth::unknown : truth;
    if (uses_ && qualified && n == 3 && part[1].is_mark('=') && part[2].is("id") && owns(owner.text, part[0].text)) return Truth::always;
    shape_ = shape_of(part, n);
    return judge(part, n, qualified && !(joins_itself_ && is_key(part[0])));
  }

  // Whether a column is the key of a table's rows in another: customer_id of customers. All that belong to any are met.
  static bool owns(std::string_view table, std::string_view column) noexcept {
    if (column.size() < 5 || !ascii::ends_with(column, "_id")) return false;
    column.remove_suffix(3);
    return table.size() <= column.size() + 2 && ascii::starts_with(table, column);
  }

  static bool same(const Token& a, const Token& b) noexcept {
    if (a.kind != b.kind || a.text.size() != b.text.size()) return false;
    for (std::size_t i = 0; i < a.text.size(); ++i) {
      const bool equal = a.kind == Kind::text ? a.text[i] == b.text[i] : ascii::lower(a.text[i]) == ascii::lower(b.text[i]);
      if (!equal) return false;
    }
    return true;
  }
  static bool is_constant(const Token& token) noexcept { return token.kind == Kind::number || token.kind == Kind::text; }
  static long number(const Token& token) noexcept {
    long value = 0;
    for (const char c : token.text.substr(0, 9)) {
      if (!ascii::is_digit(c)) break;
      value = value * 10 + (c - '0');
    }
    return value;
  }
  static Truth truth_of(bool holds) noexcept { return holds ? Truth::always : Truth::never; }

  static Truth judge(const Token* part, std::uint32_t n, bool qualified) noexcept {
    if (n == 1) {
      if (part[0].is("true")) return Truth::always;
      if (part[0].is_one_of("false null")) return Truth::never;
      if (part[0].kind == Kind::number) return truth_of(part[0].text.find_first_not_of("0.") != std::string_view::npos);
      if (part[0].kind == Kind::text && !part[0].text.empty()) return truth_of(ascii::is_digit(part[0].text[0]) && number(part[0]) != 0);
      return Truth::unknown;
    }
    if (n == 5 && part[1].is("between") && is_key(part[0]) && number(part[2]) <= 1 && part[4].kind == Kind::number) {
      return part[4].text.size() > 6 ? Truth::always : Truth::unknown;
    }
    // Before some time from now.
    const std::uint32_t now = part[2].is_mark('=') ? 3 : 2;
    if (n > now + 1 && now + 1 < kParts && part[1].is_mark('<') && part[0].is_one_of(kWritten) && part[now].is_one_of(kNow) && part[now + 1].is_mark('+')) return Truth::always;
    if (n < 3 || n > 4) return Truth::unknown;
    const Token& left = part[0];
    const Token& right = part[n - 1];
    const bool key = is_key(left);
    const char sign = part[1].kind == Kind::mark ? part[1].text[0] : '\0';
    const char second = n == 4 && part[2].kind == Kind::mark ? part[2].text[0] : '\0';
    if (n == 4 && key && part[1].is("is") && part[2].is("not") && right.is("null")) return Truth::always;
    if (n == 4 && key && sign == '>' && second == '-') return Truth::always;
    if (n == 4 && second == '\0') return Truth::unknown;
    if (n == 3 && key && part[1].is("is") && right.is("null")) return Truth::never;
    if (n == 3 && (part[1].is_one_of("like ilike rlike regexp glob") || part[1].is_mark('~'))) {
      const bool everything = right.kind == Kind::text && !right.text.empty() &&
                              right.text.find_first_not_of("%*._@") == std::string_view::npos && right.text.find_first_of("%*") != std::string_view::npos;
      return everything ? Truth::always : Truth::unknown;
    }
    if (n == 3 && part[1].is("is")) return left.is("true") && right.is("true") ? Truth::always : Truth::unknown;
    const bool equal = (sign == '=' && (second == '\0' || second == '=')) || ((sign == '<' || sign == '>') && second == '=');
    const bool differs = (sign == '<' && second == '>') || (sign == '!' && second == '=');
    if (qualified && right.kind != Kind::number && right.kind != Kind::text && !right.is_one_of("null true") && !right.is_one_of(kNow)) return Truth::unknown;
    if (same(left, right)) {
      if (equal) return Truth::always;
      if (is_constant(left) && (differs || sign == '<' || sign == '>')) return Truth::never;
      return Truth::unknown;
    }
    if (is_constant(left) && is_constant(right) && left.kind == right.kind) {
      if (differs) return Truth::always;
      if (sign == '=') return Truth::never;
      if (left.kind == Kind::number && sign == '<') return truth_of(number(left) < number(right));
      if (left.kind == Kind::number && sign == '>') return truth_of(number(left) > number(right));
    }
    // What is there was written before now, after 1971 and not in the far future.
    if (sign == '<' && second != '>' && right.is_one_of(kNow) &&
        left.is_one_of(kWritten)) {
      return Truth::always;
    }
    if (right.kind == Kind::text && right.text.size() >= 8 && right.text[4] == '-' && left.kind != Kind::text && !differs) {
      const long year = number(right);
      if ((sign == '<' && year >= 2060) || (sign == '>' && year > 0 && year <= 1971)) return Truth::always;
    }
    if (left.is_one_of("length char_length octet_length len") && sign == '>' && right.kind == Kind::number && number(right) == 0) {
      return Truth::always;
    }
    // Keys count from one.
    if (key && right.kind == Kind::number && sign == '>' && second == '=' && number(right) == 1) return Truth::always;
    if (key && right.kind == Kind::number && sign == '<' && second != '>' && right.text.size() >= 7) return Truth::always;
    if (key && right.kind == Kind::number && number(right) == 0 && (sign == '>' || differs)) return Truth::always;
    if (key && right.kind == Kind::text && right.text.empty() && differs) return Truth::always;
    return Truth::unknown;
  }

  Cursor& at_;
  std::string_view table_;
  bool joins_itself_, uses_, too_deep_ = false;
  Shape shape_;  // of the last part that was read
};

}  // namespace tipstaff::gate::sql
