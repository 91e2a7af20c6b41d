#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "command.h"

namespace knurl::e2e {

/// An experiment "maze" of five iterations of 1,000 env steps: a file's text.
extern const char* const kMaze;

/// A maze trained in a scratch directory, quietly; the trial's directory.
std::filesystem::path train_maze(const Scratch& scratch, std::vector<std::string> more = {});

/// How often a part occurs in a text.
int count(const std::string& text, const std::string& part);

/// Each line as JSON.
std::vector<nlohmann::json> json_lines(const std::string& text);

}  // namespace knurl::e2e
