// Which module the names of a program come from: import boto3 as b, from kubernetes import client,
// const { S3Client } = require("@aws-sdk/client-s3"), import Stripe from "stripe".
#pragma once

#include "tipstaff/gate/scripting/lexer.hpp"

namespace tipstaff::gate::program {

class Origins {
 public:
  explicit Origins(Language language) noexcept : language_(language) {}

  // Nothing where the name is not imported.
  std::string_view find(std::string_view name) const noexcept {
    if (!names_.may_have(name)) return {};
    for (std::uint32_t i = 0; i < count_; ++i)
      if (imports_[i].name == name) return imports_[i].module;
    return {};
  }

  // Whether there were more imports than there is room for.
  bool lost() const noexcept { return oldest_ != 0; }

  // A statement that imports, at its first word: binds its names and moves `lexer` past it. False where it is not one.
  bool read(const Token& first, std::string_view text, Lexer* lexer) noexcept {
    if (first.kind != Kind::name || first.sigil != 0) return false;
    if (language_ == Language::python) return first.text == "import" ? modules(text, lexer) : first.text == "from" && members(text, lexer);
    if (language_ != Language::node) return false;
    if (first.text == "import") return import_from(lexer);
    return ascii::one_of(first.text, "const let var") && destructured(lexer);
  }

  // The module that require("x"), import("x") or __import__("x") gives; `inside` is what its brackets hold.
  static std::string_view required(std::string_view function, std::string_view inside) noexcept {
    static constexpr Words kRequires("require import __import__ import_module");
    if (!kRequires.has(function)) return {};
    inside = ascii::trim(inside);
    if (inside.size() < 3 || (inside[0] != '"' && inside[0] != '\'' && inside[0] != '`')) return {};
    return inside.substr(1, inside.find(inside[0], 1) - 1);
  }

 private:
  struct Import {
    std::string_view name, module;
  };
  static constexpr std::uint32_t kMost = 128, kTokens = 512;

  void add(std::string_view name, std::string_view module) noexcept {
    if (name.empty() || module.empty()) return;
    names_.add(name);
    new (&imports_[count_ < kMost ? count_++ : oldest_++ % kMost]) Import{name, module};
  }
  // A dotted name from `token` on; `token` is then what follows it, and `lexer` where that begins.
  static std::string_view dotted(std::string_view text, Token* token, Lexer* lexer) noexcept {
    const std::size_t start = token->start;
    std::size_t stop = token->stop;
    Lexer ahead = *lexer;
    for (*token = ahead.next(); token->is(".") && !token->line; *token = ahead.next()) {
      *token = ahead.next();
      if (token->kind != Kind::name) break;
      stop = token->stop;
      *lexer = ahead;
    }
    return text.substr(start, stop - start);
  }
  // The name that `as` gives, if it is there.
  static std::string_view renamed(std::string_view name, Token* token, Lexer* lexer, bool lines) noexcept {
    if (!token->is_name("as") || (token->line && lines)) return name;
    lexer->next();
    name = lexer->next().text;
    Lexer ahead = *lexer;
    *token = ahead.next();
    return name;
  }
  bool modules(std::string_view text, Lexer* lexer) noexcept {
    Lexer ahead = *lexer;
    Token token = ahead.next();
    for (std::uint32_t i = 0; i < kTokens && token.kind == Kind::name && !token.line; ++i) {
      const std::string_view top = token.text, module = dotted(text, &token, &ahead);
      add(renamed(top, &token, &ahead, true), module);
      *lexer = ahead;
      if (!token.is(",")) break;
      ahead.next();
      token = ahead.next();
    }
    return true;
  }
  bool members(std::string_view text, Lexer* lexer) noexcept {
    Lexer ahead = *lexer;
    Token token = ahead.next();
    if (token.kind != Kind::name || token.line) return false;  // relative: a module of the project
    const std::string_view module = dotted(text, &token, &ahead);
    if (token.line || !token.is_name("import")) return false;
    ahead.next();
    token = ahead.next();
    const bool grouped = token.is("(");
    if (grouped) token = ahead.next();
    for (std::uint32_t i = 0; i < kTokens && token.kind == Kind::name && (grouped || !token.line); ++i) {
      const std::string_view name = token.text;
      Lexer next = ahead;
      token = next.next();
      add(renamed(name, &token, &ahead, !grouped), module);
      *lexer = ahead;
      if (!token.is(",")) break;
      ahead.next();
      token = ahead.next();
    }
    return true;
  }

  // import a, { b as c }, * as d from "module"
  bool import_from(Lexer* lexer) noexcept {
    Lexer ahead = *lexer;
    std::string_view names[kNames];
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < kTokens; ++i) {
      const Token token = ahead.next();
      if (token.kind == Kind::text) {
        for (std::uint32_t k = 0; k < count; ++k) add(names[k], token.text);
        *lexer = ahead;
        return true;
      }
      if (token.kind == Kind::end || token.is("(") || token.is(".") || token.is(";") || token.is("=")) return false;
      if (token.kind != Kind::name || token.is_one_of("from type")) continue;
      if (token.is_name("as")) {
        const Token other = ahead.next();
        if (count > 0 && other.kind == Kind::name) names[count - 1] = other.text;
        else if (count < kNames) names[count++] = other.text;
      } else if (count < kNames) {
        names[count++] = token.text;
      }
    }
    return false;
  }
  // const { a, b: c } = require("module"), = await import("module")
  bool destructured(Lexer* lexer) noexcept {
    Lexer ahead = *lexer;
    if (!ahead.next().is("{")) return false;
    std::string_view names[kNames];
    std::uint32_t count = 0;
    Token token = ahead.next();
    for (std::uint32_t i = 0; i < kTokens && !token.is("}"); ++i, token = ahead.next()) {
      if (token.is(":") && count > 0) names[count - 1] = (token = ahead.next()).text;
      else if (token.kind == Kind::name && count < kNames) names[count++] = token.text;
      else if (!token.is(",")) return false;
    }
    if (!ahead.next().is("=")) return false;
    token = ahead.next();
    if (token.is_name("await")) token = ahead.next();
    if (!token.is_one_of("require import") || !ahead.next().is("(")) return false;
    token = ahead.next();
    if (token.kind != Kind::text) return false;
    for (std::uint32_t k = 0; k < count; ++k) add(names[k], token.text);
    *lexer = ahead;
    return true;
  }

  static constexpr std::uint32_t kNames = 64;
  Raw<Import, kMost> imports_;
  NameSigns names_;
  Language language_;
  std::uint32_t count_ = 0, oldest_ = 0;
};

}  // namespace tipstaff::gate::program
