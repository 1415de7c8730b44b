// git as a program, by plumbing that compares no contents, with every program that a repository configures switched off.
#pragma once

#include <initializer_list>
#include <string_view>

#include "tipstaff/undo/memory.hpp"

extern "C" {
// Starts a program with these as its standard input and output, and nothing as its error output; its process, or -1.
long tipstaff_spawn(const char* path, const char* const* arguments, const char* const* environment, int input, int output) noexcept;
const char* const* tipstaff_environment() noexcept;
}

namespace tipstaff::undo {

// Runs `git -C ROOT ARGUMENTS...`; false where it is not there, fails, or takes longer than `milliseconds`.
// `index`: the index file that it takes in place of the repository's; null: the repository's own.
bool run_git(Arena& arena, std::string_view root, std::initializer_list<const char*> arguments, std::string_view* output,
             const char* index = nullptr, std::string_view input = {}, int milliseconds = 1500) noexcept;

}  // namespace tipstaff::undo
