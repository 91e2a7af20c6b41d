#include "knurl/models/tabular/tabular_policy.h"

#include <algorithm>

#include "knurl/core/base/error.h"
#include "knurl/models/columns.h"

namespace knurl {
namespace {

Categorical table_distribution(const SpaceLayout& actions) {
  const auto* discrete = actions.space().as<Discrete>();
  if (!discrete) {
    fail(ErrorKind::config, "action space {}: a table needs a Discrete one",
         actions.space().text());
  }
  return std::get<Categorical>(distribution_for(actions.space()));
}

}  // namespace

Weights fresh_table(const StateIndex& states, const SpaceLayout& actions, QTables tables) {
  const std::int64_t n = table_distribution(actions).n;
  constexpr std::int64_t kMostValues = 100'000'000;
  if (n > kMostValues / states.size()) {
    fail(ErrorKind::config, "a table of {} states and {} actions is too large: at most {} values",
         states.size(), n, kMostValues);
  }
  std::vector<ColumnSpec> columns{{kQTable, DType::float32, {states.size(), n}}};
  if (tables == QTables::two)
    columns.push_back({kSecondQTable, DType::float32, {states.size(), n}});
  return {.tensors = RecordBatch(std::move(columns), 1)};
}

void acting_values(const RecordBatch& tables, std::int64_t first, std::span<float> out) {
  const auto part = [&](const char* name) {
    return tables.column<float>(name).span().subspan(static_cast<std::size_t>(first), out.size());
  };
  std::ranges::copy(part(kQTable), out.begin());
  if (!tables.has(kSecondQTable)) return;
  const auto second = part(kSecondQTable);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = 0.5F * out[i] + 0.5F * second[i];
}

TabularPolicy::TabularPolicy(const SpaceLayout& observations, const SpaceLayout& actions,
                             std::unique_ptr<Exploration> exploration, QTables tables)
    : states_(observations),
      actions_(actions),
      distribution_(table_distribution(actions)),
      adapter_(actions, {}),
      exploration_(std::move(exploration)),
      table_(fresh_table(states_, actions, tables)) {}

PolicyOutput TabularPolicy::act(const PolicyInput& input) {
  const std::int64_t n = distribution_.n;
  if (rows_.columns().empty() || rows_.rows() < input.rows) {
    rows_ =
        RecordBatch({{column::kActions, DType::int64, {}}, {"q", DType::float32, {n}}}, input.rows);
    env_action_columns_ = RecordBatch(actions_.columns(column::kActions), input.rows);
    env_actions_ = Rows(actions_, env_action_columns_, column::kActions);
  }
  const auto q = rows_.column<float>("q");
  for (std::int64_t row = 0; row < input.rows; ++row) {
    acting_values(table_.tensors, n * states_.of(ConstRow(input.observations, row)), q.row(row));
  }
  exploration_->choose(distribution_, {.data = q.data(), .rows = input.rows, .stride = n},
                       input.rngs, rows_);
  adapter_.to_env(rows_, input.rows, env_actions_);
  return {.columns = &rows_, .env_actions = env_actions_};
}

void TabularPolicy::set_weights(const Weights& weights) {
  require_same_tensors(weights.tensors, table_.tensors);
  table_ = weights;
}

std::string TabularPolicy::summary(const std::string& part) const {
  if (!part.empty()) fail(ErrorKind::config, "the model has no part {}: it is one table", part);
  return fmt::format("{} of action values: {} states x {} actions\n",
                     table_.tensors.has(kSecondQTable) ? "two tables" : "table", states_.size(),
                     distribution_.n);
}

}  // namespace knurl
