// What the evaluator calls becomes commands of the tree.
#pragma once

#include "tipstaff/gate/paths/names.hpp"
#include "tipstaff/gate/paths/parts.hpp"
#include "tipstaff/gate/shell/language/foreign.hpp"
#include "tipstaff/gate/shell/language/nested.hpp"
#include "tipstaff/gate/shell/redirections/emptied_files.hpp"

namespace tipstaff::gate::shell {

// Whether a variable is named as people name those that hold a credential: GITHUB_TOKEN, DB_PASSWORD, apiKey.
inline bool names_credential(string_view name) noexcept {
  constexpr string_view kEndings[] = {"token", "secret", "password", "passwd", "passphrase", "api_key", "apikey", "secret_key", "access_key",
                                      "private_key", "auth_key", "encryption_key", "signing_key", "credentials", "_pat", "_pass", "_pwd"};
  for (const string_view ending : kEndings)
    if (ascii::ends_with(name, ending)) return name != "_PWD" && name != "OLD_PWD";
  return false;
}

inline const eval::Judge ShellReader::kJudge = {
    [](void* self, string_view name, eval::Value* value) noexcept { return static_cast<ShellReader*>(self)->sets_from_surroundings(name, value); },
    [](void* self, std::uint32_t node, string_view before, bool program, eval::Value* value) noexcept { static_cast<ShellReader*>(self)->read_foreign(node, before, program, value); },
    [](void* self, eval::State& state, eval::TextId name, std::uint32_t node, bool alone) noexcept { static_cast<ShellReader*>(self)->note_assigned(state, name, node, alone); },
    [](void* self, eval::Unresolved reason, syntax::Span span) noexcept {
      auto& reader = *static_cast<ShellReader*>(self);
      const Span at = reader.span_at(span);
      const std::uint32_t carrier = reader.run().carrier();
      switch (reason) {
        case eval::Unresolved::code: return reader.uncertain(Unresolved::code, at, carrier);
        case eval::Unresolved::limit: return reader.uncertain(Unresolved::limit, at, carrier);
        case eval::Unresolved::syntax: return reader.uncertain(Unresolved::syntax, at, carrier);
        case eval::Unresolved::depth: return reader.uncertain(Unresolved::depth, at, carrier);
        case eval::Unresolved::program:
        case eval::Unresolved::script: return;
      }
    },
    [](void* self, std::uint32_t from, std::uint32_t to) noexcept {
      Tree& tree = static_cast<ShellReader*>(self)->tree_;
      if (from < tree.command_count() && to < tree.command_count()) tree.command(from).pipe_to = to;
    },
    [](void* self, eval::State& state, eval::Value file) noexcept {
      auto& reader = *static_cast<ShellReader*>(self);
      reader.set_place(state, reader.run().via());
      return reader.load_value(file);
    },
    [](void* self, std::uint32_t node, eval::Value printed, std::uint32_t head, eval::Value* path) noexcept {
      static_cast<ShellReader*>(self)->take_substituted(node, printed, head, path);
    },
    [](void* self, bool begins, syntax::Span span) noexcept {
      auto& reader = *static_cast<ShellReader*>(self);
      if (begins) {
        if (reader.loops_++ == 0) reader.target_count_ = 0;
      } else if (--reader.loops_ == 0 && reader.target_count_ != 0) {
        reader.emit_collisions(reader.run().tree().text(span));
      }
    },
    [](void* self, string_view folder) noexcept { return static_cast<ShellReader*>(self)->is_certain(folder); },
    [](void*, string_view name) noexcept {
      return one_of(name, "command_not_found_handle command_not_found_handler precmd preexec chpwd periodic zshexit zshaddhistory TRAPEXIT "
                          "TRAPINT TRAPTERM TRAPDEBUG TRAPZERR TRAPHUP fish_prompt fish_command_not_found");
    },
    [](void* self, string_view text, syntax::Span span) noexcept {
      auto& reader = *static_cast<ShellReader*>(self);
      const std::size_t at = reader.code_.verbatim && text.size() > 2 ? reader.code_.text.find(text) : string_view::npos;
      if (at == string_view::npos) return eval::Origin{span, false};
      const auto from = static_cast<std::uint32_t>(reader.code_.origin.start + at);
      return eval::Origin{{from, static_cast<std::uint32_t>(from + text.size())}, true};
    },
};

inline std::uint32_t ShellReader::gate_via(std::uint16_t via) const noexcept {
  std::uint32_t out = base_via_;
  if ((via & eval::via::kSubstitution) != 0) out |= via::kSubstitution;
  if ((via & eval::via::kFunction) != 0) out |= via::kFunction;
  if ((via & eval::via::kTrap) != 0) out |= via::kScheduled | via::kEvaluated;
  if ((via & eval::via::kEval) != 0) out |= via::kEvaluated;
  if ((via & eval::via::kBackground) != 0) out |= via::kBackground;
  if ((via & eval::via::kConditional) != 0) out |= via::kConditional;
  if ((via & eval::via::kUncalled) != 0) out |= via::kDefinition;
  return out;
}

// The folder and the carrier of what is read where the evaluator is.
inline void ShellReader::set_place(const eval::State& state, std::uint16_t via) noexcept {
  session_.now = const_cast<eval::State*>(&state);
  const eval::Store& store = run().store();
  const eval::Set folders = store.get(state, eval::key_of(eval::Key::folder));
  session_.cwd = folders.count != 0 && store.values(folders)->text > eval::kOther ? store.text(store.values(folders)->text) : string_view();
  if (holds(session_.cwd, kUnknownPart)) session_.cwd = {};
  frame_.carrier = run().carrier();
  frame_.via = gate_via(via);
  frame_.cwd = session_.cwd;
}

inline bool ShellReader::was_seen(std::uint64_t hash) noexcept {
  std::uint64_t& seen = seen_[hash % kSeen];
  if (seen == hash) return true;
  seen = hash;
  return false;
}

inline Stream ShellReader::stream_of(const eval::Value& value) noexcept {
  Stream stream;
  const string_view text = value.text == eval::kUnset ? string_view() : run().store().text(value.text);
  stream.flags = value.origin & kPublicFlags;
  stream.decoded = (value.origin & word_flag::kDecoded) != 0;
  stream.span = span_at(run().spot());
  if (value.text == eval::kUnset || value.kind == eval::kNothing) return stream;
  stream.kind = Stream::known;
  stream.text = text;
  if (value.kind == 1) stream.kind = Stream::file;
  if (value.kind == 2) stream.kind = Stream::paths;
  if (value.kind == 0 && text == kUnknown)
    stream.kind = (value.origin & word_flag::kNetwork) != 0 ? Stream::remote : (value.origin & word_flag::kTrusted) != 0 ? Stream::trusted : Stream::unknown;
  if (holds(text, kUnknownPart)) stream.flags |= word_flag::kUnknown;
  return stream;
}

inline Stream ShellReader::stream_of(const eval::Set& set, bool piped) noexcept {
  const eval::Store& store = run().store();
  Stream stream;
  if (set.count == 0) return stream;
  stream = stream_of(*store.values(set));
  for (std::uint32_t i = 1; i < set.count; ++i) {
    const Stream other = stream_of(store.values(set)[i]);
    if (other.kind == Stream::none || (other.kind == Stream::known && other.text.empty())) continue;  // or nothing
    if (stream.kind == Stream::none || (stream.kind == Stream::known && stream.text.empty())) stream = other;
    else append(stream, other);
  }
  if (piped && stream.kind == Stream::none) stream.kind = Stream::unknown;
  return stream;
}

inline eval::Value ShellReader::value_of(const Stream& stream) noexcept {
  eval::Store& store = run().store();
  eval::Value value;
  value.origin = static_cast<std::uint16_t>(stream.flags & kPublicFlags) | (stream.decoded ? word_flag::kDecoded : 0);
  switch (stream.kind) {
    case Stream::none: value.text = eval::kEmpty; value.kind = eval::kNothing; return value;
    case Stream::known: value.text = store.intern(stream.text); return value;
    case Stream::file: value.text = store.intern(stream.text); value.kind = 1; return value;
    case Stream::paths: value.text = store.intern(stream.text); value.kind = 2; return value;
    case Stream::remote: value.origin |= word_flag::kNetwork; break;
    case Stream::trusted: value.origin |= word_flag::kTrusted; break;
    case Stream::unknown: break;
  }
  value.text = eval::kOther;
  value.origin |= word_flag::kMayBeEmpty;
  return value;
}

// What $(cat FILE) is; of a key or a credential it is marked as one, whatever it is.
inline Stream ShellReader::load_secretly(const Stream& file) noexcept {
  PathParts path;
  take_path_apart(file.text, session_.cwd, reader_.surroundings->home, false, false, &path);
  Stream content = load(file, session_.cwd);
  if (!path.too_long && is_secret(path)) {
    content.flags |= word_flag::kCredential;
    session_.secret_file.text = file.text;
    session_.secret_file.span = file.span;
  }
  return content;
}

// A value that is a file or a list of paths, as a text that is put in.
inline eval::Value ShellReader::load_value(const eval::Value& file) noexcept {
  Stream stream = stream_of(file);
  if (stream.kind == Stream::file) {
    stream = load_secretly(stream);
    while (!stream.text.empty() && stream.text.back() == '\n') stream.text.remove_suffix(1);
  }
  eval::Value value = value_of(stream);
  if (value.kind == eval::kNothing) value.text = eval::kEmpty;
  if (value.kind == 2) value.origin |= word_flag::kGlob | word_flag::kAppended;
  if (value.kind == 1) value.text = eval::kOther;
  value.kind = 0;
  return value;
}

inline Word ShellReader::word_of(const eval::Word& word, Span otherwise) noexcept {
  Word out;
  const syntax::Tree& tree = run().tree();
  out.text = run().store().text(word.text);
  out.flags = word.origin & kPublicFlags & ~(word_flag::kUnknown | word_flag::kQuoted);
  if (holds(out.text, eval::kBetween)) {  // x=(a b), as it is declared
    out.text = tree_.copy(out.text.substr(0, out.text.size() - (out.text.back() == eval::kBetween ? 1 : 0)));
    for (std::size_t i = 0; i < out.text.size(); ++i)
      if (out.text[i] == eval::kBetween) const_cast<char*>(out.text.data())[i] = ' ';
  }
  if (holds(out.text, kUnknownPart)) out.flags |= word_flag::kUnknown;
  else out.flags &= static_cast<std::uint16_t>(~(word_flag::kMayBeEmpty | word_flag::kEnvironment));
  if (out.has(word_flag::kInstalled) && out.has(word_flag::kEnvironment))  // ${DESTDIR}${bindir}/x: where things are installed, as makefiles write it
    out.flags &= static_cast<std::uint16_t>(starts_with(out.text, "\x01\x01") ? ~word_flag::kMayBeEmpty : ~word_flag::kInstalled);
  if (word.glob) out.flags |= word_flag::kGlob;
  if (word.quoted) out.flags |= word_flag::kQuoted;
  out.span = otherwise;
  if (word.node == syntax::kNone) return out;
  out.span = span_at(tree[word.node].span);
  const std::uint32_t first = tree[word.node].first_child;
  if (word.quoted && first != syntax::kNone && starts_with(out.text, "~") && (out.text.size() == 1 || out.text[1] == '/')) {
    const syntax::Kind kind = tree[first].kind;
    // A quoted tilde is a name like any other.
    if (kind == syntax::Kind::single_quoted || kind == syntax::Kind::double_quoted) out.text = tree_.join(tree_.copy("./"), out.text);
  }
  return out;
}

inline void ShellReader::take_redirections(const eval::Call& call, bool says, Redirections* out) noexcept {
  const syntax::Tree& tree = run().tree();
  for (std::uint32_t i = 0; i < call.target_count; ++i) {
    const eval::Target& target = call.targets[i];
    if (target.node == syntax::kNone) continue;
    if (target.kind == syntax::Redirect::here_document && says) {
      std::uint32_t body = tree[target.node].first_child;
      if (body != syntax::kNone && tree[body].kind == syntax::Kind::name) body = tree[body].next;
      if (body != syntax::kNone && tree[body].next != syntax::kNone) add_node(NodeKind::here_document, span_at(tree[tree[body].next].span), frame_.node, false);
    }
    const syntax::Node& node = tree[target.node];
    std::uint32_t child = node.first_child;
    int descriptor = -1;
    if (child != syntax::kNone && tree[child].kind == syntax::Kind::name) {
      const string_view digits = tree.text(child);
      descriptor = !digits.empty() && is_digit(digits.back()) ? digits.back() - '0' : -1;
      child = tree[child].next;
    }
    const Span span = child != syntax::kNone ? span_at(tree[child].span) : span_at(node.span);
    eval::Word written{target.text, target.origin, false, target.glob, target.quoted, child};
    Redirection made{Redirection::write, false, word_of(written, span), descriptor};
    bool output = descriptor < 0 || descriptor == 1;
    const bool reads = descriptor <= 0;
    switch (target.kind) {
      case syntax::Redirect::here_document:
      case syntax::Redirect::here_string: {
        if (!reads) continue;
        out->has_input = true;
        out->input = stream_of(target.input, false);
        if (target.kind == syntax::Redirect::here_document && child != syntax::kNone && tree[child].next != syntax::kNone) out->input.span = span_at(tree[tree[child].next].span);
        else out->input.span = span;
        continue;
      }
      case syntax::Redirect::from_descriptor: continue;
      case syntax::Redirect::to_descriptor: {
        const string_view text = made.target.text;
        if (run().tree().text(tree[target.node].span).find("COPROC") != string_view::npos) {
          out->feeds = true;
          continue;
        }
        if (text == "-" || to_number(text) >= 0 || (ends_with(text, "-") && text.size() < 4) || text.empty()) continue;
        output = true;
        break;
      }
      case syntax::Redirect::input:
      case syntax::Redirect::both:
        made.kind = Redirection::read;
        output = false;
        // A device that is opened so is written to; an address is both, and judged by what uses it.
        if (target.kind == syntax::Redirect::both && starts_with(made.target.text, "/dev/") && !starts_with(made.target.text, "/dev/tcp/") && !starts_with(made.target.text, "/dev/udp/")) made.kind = Redirection::write;
        break;
      case syntax::Redirect::append:
      case syntax::Redirect::all_append: made.kind = Redirection::append; break;
      case syntax::Redirect::all_output: output = true; break;
      case syntax::Redirect::output:
      case syntax::Redirect::clobber: break;
    }
    if (child == syntax::kNone || (made.target.text.empty() && made.target.flags == 0)) continue;
    // ls <owner>/<name>: a placeholder of a text. No shell takes the line, or finds the file.
    if (made.kind != Redirection::read && made.target.text == "/" && out->count != 0 && out->items[out->count - 1].kind == Redirection::read) continue;
    if (verbatim_ && one_of(tree.text(child), ". ..")) continue;  // nobody writes into a folder
    made.output = output;
    if (made.kind == Redirection::read && reads) {
      out->has_input = true;
      out->input = Stream{};
      out->input.kind = made.target.has(word_flag::kUnknown) ? Stream::unknown : Stream::file;
      out->input.text = made.target.text;
      out->input.flags = made.target.flags;
      out->input.span = made.target.span;
    }
    if (out->count < Redirections::kMost) out->items[out->count++] = made;
    else uncertain(Unresolved::limit, made.target.span, frame_.carrier);
  }
}

// The status of a command by its nature: what fails on no account that the text has a say in succeeds.
inline ShellReader::Status ShellReader::expected_status(const Invocation& in) noexcept {
  const string_view name = text_of(in, 0);
  if (name == "false") return Status::failure;
  if (one_of(name, ": true echo")) return Status::success;
  if (!one_of(name, "rm mkdir")) return Status::unknown;
  const string_view last = text_of(in, in.count - 1);
  const bool forced = in.count > 2 && starts_with(text_of(in, 1), "-") && holds(text_of(in, 1), name == "rm" ? 'f' : 'p');
  const bool again = name == "mkdir" && last == removed_;  // rm -rf x && mkdir x
  removed_ = name == "rm" && forced ? last : string_view();
  return forced || again ? Status::success : Status::unknown;
}

inline eval::Answer ShellReader::on_call(void* self, eval::Store&, const eval::Call& call) noexcept { return static_cast<ShellReader*>(self)->take_call(call); }

inline eval::Answer ShellReader::take_call(const eval::Call& call) noexcept {
  eval::Answer answer;
  eval::Store& store = run().store();
  set_place(*call.state, call.via);
  session_.cwd = call.folder > eval::kOther ? store.text(call.folder) : string_view();
  if (holds(session_.cwd, kUnknownPart)) session_.cwd = {};
  frame_.cwd = session_.cwd;
  const eval::Origin place = run().origin_of(call.span);
  const Span span{place.span.start, place.span.end};
  verbatim_ = place.verbatim;
  // The same call once.
  std::uint64_t hash = 1469598103934665603ull;
  const auto mix = [&](std::uint64_t part) noexcept { hash = (hash ^ part) * 1099511628211ull; };
  mix(call.span.start);
  mix(call.span.end);
  mix(call.folder);
  mix(frame_.carrier);
  mix(frame_.via);
  mix(run().pipe_from());
  mix(call.count * 2 + (call.captured ? 1 : 0));
  for (std::uint32_t i = 0; i < call.count; ++i) mix(call.words[i].text * 4ull + (call.words[i].many ? 1 : 0) + (call.words[i].glob ? 2 : 0));
  for (std::uint32_t i = 0; i < call.target_count; ++i) mix(call.targets[i].text);
  for (std::uint32_t i = 0; i < call.input.count; ++i) mix(store.values(call.input)[i].text + 7ull * store.values(call.input)[i].kind);
  const eval::Set written = run().written();
  for (std::uint32_t i = 0; i < written.count && call.count == 0; ++i) mix(store.values(written)[i].text);
  hash |= 1;
  const bool again = was_seen(hash);
  if (again && !answers_[hash % kSeen].done) return answers_[hash % kSeen];

  Redirections redirections;
  take_redirections(call, !again, &redirections);
  redirected_ = false;
  for (std::uint32_t i = 0; i < redirections.count; ++i) redirected_ = redirected_ || redirections.items[i].output;
  if (call.count == 0) {
    if (again) return answer;
    const std::uint32_t made = tree_.command_count();
    const Stream printed = stream_of(written, false);
    redirections.idle = written.count == 0;
    emit_redirections(redirections, written.count != 0 && run().tail() != kNone ? run().tail() : frame_.carrier, frame_.via, printed);
    if (tree_.command_count() != made) answer.mark = answer.tail = made;
    answers_[hash % kSeen] = answer;
    return answer;
  }
  const std::uint32_t first = tree_.word_count();
  // Of very many words the first tell enough, and the commands that follow must be seen too.
  const std::uint32_t most = tree_.word_capacity() / 4, count = call.count < most ? call.count : most;
  if (count < call.count) uncertain(Unresolved::limit, span, frame_.carrier);
  for (std::uint32_t i = 0; i < count; ++i)
    if (tree_.add_word(word_of(call.words[i], span)) == kNone) {
      uncertain(Unresolved::limit, span, frame_.carrier);
      return answer;
    }
  Invocation in;
  in.first = first;
  in.count = count;
  if (call.count > limits::kWords) uncertain(Unresolved::limit, span, frame_.carrier);
  // cat < FILE is cat FILE; so is any program that prints what it reads.
  if (redirections.has_input && redirections.input.kind == Stream::file && count < 16 && prints_its_files(text_of(in, 0))) {
    Word word;
    word.text = redirections.input.text;
    word.span = redirections.input.span;
    word.flags = static_cast<std::uint16_t>(redirections.input.flags & kPublicFlags);
    if (tree_.add_word(word) != kNone) ++in.count;
  }
  in.span = span;
  in.node = frame_.node;
  in.carrier = frame_.carrier;
  in.via = frame_.via;
  in.cwd = session_.cwd;
  in.pipe_from = run().pipe_from();
  in.input = redirections.has_input ? redirections.input : stream_of(call.input, in.pipe_from != kNone);
  in.want_output = call.captured || redirections.count != 0 || redirections.feeds;
  in.direct = true;
  in.calls_function = call.function;
  in.calls_itself = call.recursive;
  const std::uint32_t before = fed_from_;
  eval::State* const now = call.state;
  run(in);
  session_.now = now;
  const Status status = in.command == kNone || in.tail != in.command || redirections.count != 0 ? Status::unknown : expected_status(in);
  if (before != kNone && in.command != kNone) {
    fed_from_ = kNone;
    for (std::uint32_t i = before; i < in.command; ++i)
      if (tree_.command(i).fed && tree_.command(i).pipe_from == kNone) tree_.command(i).pipe_from = in.command;
  }
  // export $(grep -v '^#' .env | xargs): what is printed becomes variables, and is seen by nobody.
  const bool exported = call.count == 2 && text_of(in, 0) == "export" && text_of(in, 1).size() == 1 && text_of(in, 1)[0] == kUnknownPart;
  if (in.command != kNone && (exported || (text_of(in, 0) == "env" && sets_printed_variables(in, 1) && !one_of(program_name(argument(in, 2)), "env printenv echo printf set export declare")))) {
    for (std::uint32_t i = in.command > 8 ? in.command - 8 : 0; i < in.command; ++i) {
      Command& inner = tree_.command(i);
      if (inner.carrier == in.carrier && (inner.via & via::kSubstitution) != 0 && inner.pipe_to == kNone && inner.span.start >= span.start && inner.span.end <= span.end) inner.pipe_to = in.command;
    }
  }
  if (redirections.feeds) {
    Nested options;
    options.via = via::kEvaluated;
    nested_stream(in, in.output, options, Dialect::shell);
    in.output = Stream{};
  }
  if (redirections.count != 0 && !again) {
    // exec 3>FILE opens it for what writes to it further on: exec 3>FILE; echo x >&3
    redirections.shell_itself = text_of(in, 0) == "exec" && call.count == 1;
    const std::size_t from = verbatim_ && code_.verbatim && span.start >= code_.origin.start ? span.start - code_.origin.start : 0;
    const std::size_t to = from + (span.end - span.start);
    bool writes = false;
    if (redirections.shell_itself) {
      std::size_t begin = from;
      while (begin > 0 && begin <= code_.text.size() && is_blank(code_.text[begin - 1])) --begin;
      const string_view rest = to <= code_.text.size() ? code_.text.substr(to) : string_view();
      redirections.passing = (in.carrier != kNone && one_of(tree_.command(in.carrier).program, "bash zsh ksh")) || (begin > 0 && begin <= code_.text.size() && code_.text[begin - 1] == '(') || rest.substr(0, 48).find("&-") != string_view::npos;
      writes = descriptors_until() > to;
    }
    redirections.idle = one_of(text_of(in, 0), ": true false") || (redirections.shell_itself && !writes);
    const bool itself = empties_what_it_reads(in, redirections);
    for (std::uint32_t i = 0; itself && i < redirections.count; ++i)
      if (redirections.items[i].kind == Redirection::write && redirections.items[i].output) emit_file("@onto-itself", redirections.items[i].target, false, in.command, in.via, in.cwd);
    emit_redirections(redirections, in.command, in.via, itself ? Stream{} : in.output);
    for (std::uint32_t i = 0; i < redirections.count; ++i) {
      // What went into a file does not go on.
      if (redirections.items[i].output) in.output = Stream{};
    }
  }
  answer.mark = in.command;
  answer.tail = in.tail != kNone ? in.tail : in.command;
  answer.done = in.reads_names;
  answer.may_fail = status != Status::success;
  answer.may_succeed = status != Status::failure && !(in.reads_names && run().ended() && one_of(text_of(in, 0), ". source"));
  const eval::Value printed = in.output.kind == Stream::none ? eval::Value{eval::kEmpty, 0, eval::kNothing} : value_of(in.output);
  answer.output = store.set_of(&printed, 1);
  seen_[hash % kSeen] = hash;
  answers_[hash % kSeen] = answer;
  return answer;
}

// What a parameter holds that nothing in the text sets.
inline bool ShellReader::sets_from_surroundings(string_view name, eval::Value* value) noexcept {
  const Surroundings& place = *reader_.surroundings;
  const auto is = [&](string_view text, std::uint16_t flags = 0) noexcept {
    value->text = run().store().intern(text);
    value->origin = flags;
    return true;
  };
  if (name == "TMPDIR") return is(place.temporary.empty() ? "/tmp" : place.temporary);
  if (one_of(name, "RUNNER_TEMP AGENT_TEMPDIRECTORY BATS_TEST_TMPDIR BATS_FILE_TMPDIR")) return is("/tmp/job");
  if (one_of(name, "AGENT_TOOLSDIRECTORY RUNNER_TOOL_CACHE")) return is("/opt/hostedtoolcache");
  if (one_of(name, "BUNDLE_PATH GEM_HOME")) return is("/usr/local/bundle");  // as images of Ruby set them
  if (name == "IFS") return is(" ");
  if (name == "SHELL" || name == "BASH") return is("/bin/bash");
  if (one_of(name, "GITHUB_WORKSPACE CI_PROJECT_DIR TRAVIS_BUILD_DIR BITBUCKET_CLONE_DIR CIRCLE_WORKING_DIRECTORY BUILD_SOURCESDIRECTORY SYSTEM_DEFAULTWORKINGDIRECTORY APPVEYOR_BUILD_FOLDER BUILDKITE_BUILD_CHECKOUT_PATH") &&
      !place.cwd.empty() && run().is_followed_by_path()) {
    return is(place.cwd);
  }
  // These are always something.
  if (one_of(name, "RANDOM SECONDS UID EUID PPID BASHPID LINENO HOSTNAME USER LOGNAME PWD PATH")) {
    value->origin = 0;
    return true;
  }
  if (names_credential(name)) value->origin |= word_flag::kCredential;
  if (name == "DESTDIR") value->origin |= word_flag::kInstalled;
  return true;
}

// Variables and calls of PowerShell that a shell's double quotes hold: powershell -Command "... { $_.Id }". The shell would put in
// nothing or an error for those that it does not know: they are left for the reader of PowerShell.
inline const char* ShellReader::powershell_end(const char* from) const noexcept {
  constexpr std::ptrdiff_t kFar = 4096;
  const char* begin = from;
  while (begin > begin_ && from - begin < kFar && begin[-1] != '\n') --begin;
  const string_view line(begin, static_cast<std::size_t>(from - begin));
  std::size_t started = line.rfind("powershell");
  if (started == string_view::npos) started = line.rfind("pwsh");
  if (started == string_view::npos || line.find('"', started) == string_view::npos) return nullptr;
  std::size_t quotes = 0;
  for (std::size_t i = started; i < line.size(); ++i) quotes += line[i] == '"' && line[i - 1] != '\\';
  if (quotes % 2 == 0) return nullptr;
  const auto name_at = [this](const char* at) noexcept {
    const char* stop = at;
    while (stop < end_ && is_name_byte(*stop)) ++stop;
    return string_view(at, static_cast<std::size_t>(stop - at));
  };
  const char* const p = from + 1;
  const string_view text(begin_, static_cast<std::size_t>(from - begin_));
  const auto is_set = [&](string_view name) noexcept {
    if (one_of(name, "HOME PWD OLDPWD TMPDIR IFS SHELL BASH")) return true;
    for (std::size_t at = text.find(name); at != string_view::npos; at = text.find(name, at + 1))
      if (at + name.size() < text.size() && text[at + name.size()] == '=' && (at == 0 || ends_word(text[at - 1]))) return true;
    return false;
  };
  if (is_name_start(*p)) {
    const string_view name = name_at(p);
    return is_set(name) ? nullptr : p + name.size();
  }
  if (*p != '(') return nullptr;
  const char* q = p + 1;
  while (q < end_ && *q == ' ') ++q;
  if (q >= end_) return nullptr;
  bool theirs = *q == '[';
  if (*q == '$' && q + 1 < end_ && is_name_start(q[1])) {
    const string_view name = name_at(q + 1);
    const char* const after = q + 1 + name.size();
    theirs = after < end_ && (*after == '.' || *after == '[' || *after == ':') && !is_set(name);
  } else if (*q >= 'A' && *q <= 'Z') {  // a cmdlet: verb, hyphen, noun
    const string_view verb = name_at(q);
    const char* const after = q + verb.size();
    theirs = after + 1 < end_ && *after == '-' && after[1] >= 'A' && after[1] <= 'Z';
  }
  if (!theirs) return nullptr;
  int depth = 0;
  for (q = p; q < end_; ++q) {
    if (*q == '(') ++depth;
    if (*q == ')' && --depth == 0) return q + 1;
    if (*q == '"') return nullptr;
  }
  return nullptr;
}

// Where what others put into a shell's text ends.
inline const char* ShellReader::foreign_end(void* self, const char* from, const char* end) noexcept {
  auto& reader = *static_cast<ShellReader*>(self);
  reader.end_ = end;
  reader.begin_ = reader.run().code_begin(from);
  if (end - from < 2) return nullptr;
  if (from[0] == '{') {
    string_view text;
    return reader.template_end(from, &text);
  }
  if (const char* const theirs = reader.powershell_end(from); theirs != nullptr) return theirs;
  switch (from[1]) {
    case '(': {
      if (const char* reference = reader.make_reference_end(from); reference != nullptr) return reference;
      if (const char* function = reader.make_function_end(from); function != nullptr) return function;
      if (!starts_with(string_view(from, static_cast<std::size_t>(end - from)), "$(shell ")) return nullptr;
      int depth = 0;
      for (const char* p = from + 1; p < end; ++p) {
        depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
        if (depth == 0) return p + 1;
      }
      return nullptr;
    }
    case '{': return end - from > 4 && from[2] == '{' ? reader.pipeline_expression_end(from) : nullptr;
    case '$': return end - from > 2 && (is_name_start(from[2]) || from[2] == '{') && reader.in_recipe() ? from + 1 : nullptr;  // $$x of a recipe: make leaves $x
    case '<':
    case '^':
    case '+':
    case '%': return reader.in_recipe() ? from + 2 : nullptr;
    default: return nullptr;
  }
}

// $(Q)-rm x, $(Q)if ...: what makes a recipe silent.
inline const char* ShellReader::prefix_end(void* self, const char* from, const char* end) noexcept {
  auto& reader = *static_cast<ShellReader*>(self);
  if (*from != '$' || end - from < 4) return nullptr;
  reader.end_ = end;
  const char* p = reader.make_reference_end(from);
  if (p == nullptr || p >= end) return nullptr;
  const string_view name(from + 2, static_cast<std::size_t>(p - from - 3));
  if (!known_make_program(name).empty() && ends_word(*p)) return nullptr;
  const char* const behind = p;
  while (p < end && (*p == '-' || *p == '@')) ++p;
  if (p < end && (is_name_start(*p) || *p == '$' || *p == '(' || *p == '[')) return p;
  for (p = behind; p < end && is_blank(*p);) ++p;
  if (p == behind) return nullptr;
  const char* stop = p;
  while (stop < end && !ends_word(*stop)) ++stop;
  return one_of(string_view(p, static_cast<std::size_t>(stop - p)), "if for while until case") ? p : nullptr;
}

inline void ShellReader::read_foreign(std::uint32_t node, string_view before, bool program, eval::Value* value) noexcept {
  const syntax::Tree& tree = run().tree();
  const string_view text = tree.text(node);
  set_place(*run().here(), run().via());
  eval::Store& store = run().store();
  const char* const start = text.data();
  const char* const end = start + text.size();
  end_ = run().code_end();
  begin_ = run().code_begin(start);
  value->text = eval::kUnset;
  value->origin = 0;
  if (text[0] == '{') {
    string_view known;
    template_end(start, &known);
    value->text = store.intern(known);
    return;
  }
  if (text.size() > 1 && powershell_end(start) == end) {
    value->text = store.intern(text);
    return;
  }
  if (text.size() < 3) {
    if (text.size() == 2) value->text = eval::kOther;
    return;
  }
  if (text[1] == '{') return give_pipeline_expression(text, before, value);
  const bool ends = end == end_ || ends_word(*end);
  if (make_reference_end(start) == end) return give_make_reference(text.substr(2, text.size() - 3), before, tree[node].has(syntax::flag::kQuoted), program, ends, value);
  constexpr string_view kShell = "$(shell ";
  if (starts_with(text, kShell)) {
    Invocation in = for_carried_code(span_at(tree[node].span));
    in.want_output = true;
    Nested options;
    options.via = via::kSubstitution;
    nested(in, text.substr(kShell.size(), text.size() - kShell.size() - 1), in.span, options);
    *value = load_value(value_of(in.output));
    return;
  }
  const string_view function = make_function_name(start, end);
  if (program && before.empty()) {
    if (function == "if" && end < end_ && is_blank(*end)) {
      if (const string_view named = named_by_condition(start, end); !named.empty()) {
        read_make_arguments(start, end, true, false);
        value->text = store.intern(named);
        return;
      }
    }
    const bool called = function == "call" && ends;
    if (called) {
      const char* p = start + 2 + function.size() + 1;
      while (p < end && is_blank(*p)) ++p;
      const char* const name = p;
      while (p < end && (is_name_byte(*p) || *p == '-' || *p == '.')) ++p;
      const string_view word(name, static_cast<std::size_t>(p - name));
      // $(call RM,/etc/passwd): its other arguments are words.
      string_view words = tree_.copy(word.empty() ? function : word);
      for (const char* from = p; from < end && *from == ',';) {
        int depth = 0;
        const char* to = from + 1;
        while (to < end && !(depth == 0 && (*to == ',' || *to == ')'))) {
          depth += *to == '(' ? 1 : *to == ')' ? -1 : 0;
          ++to;
        }
        const string_view argument(from + 1, static_cast<std::size_t>(to - from - 1));
        if (argument.find_first_of("'\"$`;|&") == string_view::npos) words = tree_.join(tree_.join(words, " "), argument);
        from = to;
      }
      value->text = store.intern(words);
      value->origin = word_flag::kPseudo;
    }
    return read_make_arguments(start, end, true, called);
  }
  read_make_arguments(start, end, false, false);
  for (const string_view known : {"$(addprefix $(", "$(wildcard $("}) {
    if (!starts_with(text, known)) continue;
    const string_view rest = text.substr(known.size());
    if (names_built(rest.substr(0, rest.find(')'))) && rest.find("..") == string_view::npos) {
      value->text = store.intern("build/*");
      value->origin = word_flag::kGlob;
      return;
    }
  }
  value->text = eval::kOther;
}

inline void ShellReader::note_assigned(eval::State& state, eval::TextId name, std::uint32_t node, bool alone) noexcept {
  eval::Store& store = run().store();
  const string_view written = store.text(name);
  const eval::Set set = store.get(state, Session::key(name));
  if (written == "IFS" || set.count == 0 || stopped_) return;
  const eval::Value held = *store.values(set);
  const string_view text = held.text == eval::kUnset ? string_view() : store.text(held.text);
  if ((held.origin & eval::provenance::kList) != 0 || (written.size() <= 1 && text.find("[$(") == string_view::npos)) return;
  eval::State* const now = session_.now;
  const string_view cwd = session_.cwd;
  const Frame frame = frame_;
  const bool verbatim = verbatim_;
  set_place(state, run().via());
  std::uint64_t hash = 77 + name * 31ull + held.text * 1009ull + (node == syntax::kNone ? 0 : node) * 65537ull + frame_.via * 3ull;
  hash = hash * 1099511628211ull | 1;
  if (!was_seen(hash)) {
    const eval::Origin origin = node == syntax::kNone ? run().origin_of(run().spot()) : run().origin_of(run().tree()[node].span);
    verbatim_ = origin.verbatim;
    std::uint16_t flags = held.origin & kPublicFlags;
    if (holds(text, kUnknownPart)) flags |= word_flag::kUnknown;
    read_code_variable(written, Value{text, flags}, {origin.span.start, origin.span.end});
    if (alone && !session_.exports && session_.names_environment && names_database(written)) session_.unexported = written;
  }
  verbatim_ = verbatim;
  session_.now = now;
  session_.cwd = cwd;
  frame_ = frame;
}

// <(commands): a file whose content is what they write. >(commands): a file that they read.
inline void ShellReader::take_substituted(std::uint32_t node, const eval::Value& printed, std::uint32_t head, eval::Value* path) noexcept {
  set_place(*run().here(), run().via());
  const bool output = run().tree()[node].has(syntax::flag::kOutput);
  if (output && head != kNone && head < tree_.command_count()) {
    tree_.command(head).fed = true;
    if (fed_from_ == kNone) fed_from_ = head;
  }
  const char digits[] = {static_cast<char>('0' + session_.made_files / 10 % 10), static_cast<char>('0' + session_.made_files % 10)};
  ++session_.made_files;
  const string_view name = tree_.join(tree_.copy("/dev/fd/63."), string_view(digits, 2));
  if (!output) {
    Stream stream = stream_of(printed);
    if (stream.kind == Stream::none) stream.kind = Stream::unknown;
    remember_file({}, name, stream, false);
  }
  path->text = run().store().intern(name);
  path->origin = word_flag::kPseudo | word_flag::kTemporary;
}

template <typename Body>
void ShellReader::start(Body&& body) noexcept {
  const auto begin = [&](eval::Evaluator& evaluator) noexcept {
    eval::Start start;
    start.folder = frame_.cwd;
    start.home = reader_.surroundings->home.empty() ? string_view("~") : reader_.surroundings->home;
    eval::State state = evaluator.first_state(start);
    evaluator.store().put(state, eval::key_of(eval::Key::input), evaluator.store().none);
    session_.run = &evaluator;
    session_.now = &state;
    session_.cwd = frame_.cwd;
    base_via_ = frame_.via;
    body();
  };
  const eval::Host host{this, on_call, &kJudge};
  syntax::Options options;
  options.reads_on = true;
  options.extended_globs = true;
  options.foreign = foreign_end;
  options.prefix = prefix_end;
  options.self = this;
  if (reader_.evaluator == nullptr) {
    eval::Machine* const machine = eval::Machine::make(tree_.spare(), tree_.spare_bytes(), options, host);
    if (machine == nullptr) return uncertain(Unresolved::limit, code_.origin, frame_.carrier);
    reader_.evaluator = &machine->evaluator();
  }
  // Texts within code of other dialects are read by the same one.
  eval::Evaluator& evaluator = *reader_.evaluator;
  const eval::Host outer_host = evaluator.exchange(host);
  const syntax::Options outer_options = evaluator.exchange(options);
  begin(evaluator);
  evaluator.exchange(outer_host);
  evaluator.exchange(outer_options);
}

// name(){name|name&}: bash wants blanks inside the braces, other shells do not.
inline void ShellReader::find_tight_bomb() noexcept {
  const string_view text = code_.text;
  for (std::size_t at = text.find("(){"); at != string_view::npos; at = text.find("(){", at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && !ends_word(text[begin - 1])) --begin;
    const string_view name = text.substr(begin, at - begin);
    std::size_t p = at + 3;
    const auto take = [&](string_view part) noexcept {
      if (text.substr(p, part.size()) != part) return false;
      p += part.size();
      return true;
    };
    if (name.empty() || !take(name) || !(take("|") || take("&")) || !take(name) || !take("&")) continue;
    if (p < text.size() && text[p] == ';') ++p;
    if (p >= text.size() || text[p] != '}') continue;
    Word word;
    word.text = name;
    word.span = code_.at(begin, p + 1);
    emit_file("@fork-bomb", word, false, frame_.carrier, frame_.via, frame_.cwd);
  }
}

inline void ShellReader::read() noexcept {
  find_tight_bomb();
  defines_ = code_.text.find("()") != string_view::npos || code_.text.find("alias ") != string_view::npos;
  start([&]() noexcept {
    eval::State state = *session_.now;
    eval::Evaluator::Inner inner;
    inner.text = code_.text;
    inner.origin = {{code_.origin.start, code_.origin.end}, code_.verbatim};
    inner.carrier = frame_.carrier;
    inner.copy = true;
    const Frame frame = frame_;
    run().run_inner(state, inner);
    frame_ = frame;
  });
  // Values beyond the pool are any, bindings beyond it are lost.
  if (tree_.full() || (reader_.evaluator != nullptr && reader_.evaluator->store().full())) uncertain(Unresolved::limit, code_.origin, frame_.carrier);
}

}  // namespace tipstaff::gate::shell
