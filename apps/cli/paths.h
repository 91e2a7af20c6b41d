#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace knurl::cli {

/// A path with a leading "~" replaced by the home directory.
std::string expanded(const std::string& path);

/// A path as people want to read it: from the working directory on where it lies below that.
std::filesystem::path near_path(const std::filesystem::path& absolute);

/// An experiment's name as a directory: no slashes, not hidden, and not too long for one.
std::string safe_name(const std::string& name);

/// A path as a shell takes it.
std::string shell_quoted(const std::string& path);

/// Plug-ins as they are given to a command: " --plugin /home/me/libmy_env.so", each after a space.
std::string plugin_flags(std::span<const std::filesystem::path> plugins);

/// How people call this program: what KNURL_COMMAND says, else as it was started.
std::string own_command();
void set_own_command(const std::string& argv0);

/// A text in which "`knurl list envs`" is said as people call this program.
std::string in_own_words(std::string text);

}  // namespace knurl::cli
