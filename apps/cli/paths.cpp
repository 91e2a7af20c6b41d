#include "knurl/apps/cli/paths.h"

#include <algorithm>
#include <cstdlib>

#include "knurl/core/base/text.h"

namespace knurl::cli {
namespace {

std::string& started_as() {
  static std::string command = "knurl";
  return command;
}

}  // namespace

std::string expanded(const std::string& path) {
  const char* home = std::getenv("HOME");
  if (!home || !path.starts_with('~') || (path.size() > 1 && path[1] != '/')) return path;
  return home + path.substr(1);
}

std::filesystem::path near_path(const std::filesystem::path& absolute) {
  const auto relative = absolute.lexically_proximate(std::filesystem::current_path());
  return *relative.begin() == ".." ? absolute : relative;
}

std::string safe_name(const std::string& name) {
  constexpr std::size_t kMostBytes = 120;
  std::string out = cut_to_bytes(name, kMostBytes);
  std::ranges::replace_if(
      out, [](char c) { return c == '/' || c == '\0'; }, '_');
  if (out.starts_with('.')) out.front() = '_';
  return out.empty() ? "experiment" : out;
}

std::string shell_quoted(const std::string& path) {
  const bool plain =
      path.find_first_not_of(
          "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/+:=@") ==
      std::string::npos;
  if (plain && !path.empty()) return path;
  std::string out = "'";
  for (const char c : path) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string plugin_flags(std::span<const std::filesystem::path> plugins) {
  std::string out;
  for (const auto& plugin : plugins) {
    out += " --plugin " + shell_quoted(near_path(plugin).string());
  }
  return out;
}

std::string own_command() {
  const char* command = std::getenv("KNURL_COMMAND");
  return command && *command ? command : started_as();
}

void set_own_command(const std::string& argv0) {
  started_as() = shell_quoted(argv0);
}

std::string in_own_words(std::string text) {
  constexpr std::string_view kNamed = "`knurl ";
  const std::string said = "`" + own_command() + " ";
  std::size_t at = 0;
  while ((at = text.find(kNamed, at)) != std::string::npos) {
    text.replace(at, kNamed.size(), said);
    at += said.size();
  }
  return text;
}

}  // namespace knurl::cli
