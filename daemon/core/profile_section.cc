#include "core/profile_section.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/json.h"

namespace sockhop::core {
namespace json = boost::json;

namespace {

constexpr const char* kWhat = "seccomp profile";
constexpr unsigned kArguments = 6;

constexpr std::array<std::pair<std::string_view, Op>, 7> kOps{{
    {"SCMP_CMP_NE", Op::ne},
    {"SCMP_CMP_LT", Op::lt},
    {"SCMP_CMP_LE", Op::le},
    {"SCMP_CMP_EQ", Op::eq},
    {"SCMP_CMP_GE", Op::ge},
    {"SCMP_CMP_GT", Op::gt},
    {"SCMP_CMP_MASKED_EQ", Op::masked_eq},
}};

Error wrong(std::size_t entry, std::string_view what) {
  return input_error(kWhat, "syscalls[" + std::to_string(entry) + "] " + std::string(what));
}

std::optional<std::uint64_t> as_unsigned(const json::value* value) {
  if (value == nullptr) return std::nullopt;
  boost::system::error_code error;
  const auto number = value->to_number<std::uint64_t>(error);
  if (error) return std::nullopt;
  return number;
}

std::optional<Op> as_op(const json::value* value) {
  if (value == nullptr || !value->is_string()) return std::nullopt;
  const std::string_view name = value->get_string();
  for (const auto& [known, op] : kOps) {
    if (known == name) return op;
  }
  return std::nullopt;
}

std::string_view op_name(Op op) {
  for (const auto& [name, known] : kOps) {
    if (known == op) return name;
  }
  return {};
}

struct Argument {
  unsigned index;
  Comparison comparison;
};

std::optional<Argument> read_argument(const json::value& value) {
  const json::object* object = value.if_object();
  if (object == nullptr) return std::nullopt;
  const auto index = as_unsigned(find_member(*object, "index"));
  const auto op = as_op(find_member(*object, "op"));
  const auto first = as_unsigned(find_member(*object, "value"));
  // The writers leave out what is zero.
  const json::value* second = find_member(*object, "valueTwo");
  const auto value_two = second != nullptr ? as_unsigned(second) : std::uint64_t{0};
  if (!index || *index >= kArguments || !op || !first || !value_two) return std::nullopt;
  const std::uint64_t used_two = *op == Op::masked_eq ? *value_two : 0;
  return Argument{static_cast<unsigned>(*index), Comparison{*op, *first, used_two}};
}

/// Both runtimes read several comparisons of one argument as alternatives, each a rule of its own.
Terms terms_of(const std::vector<Argument>& arguments) {
  std::set<unsigned> indices;
  for (const Argument& argument : arguments) indices.insert(argument.index);
  Term all;
  Terms alternatives;
  for (const auto& [index, comparison] : arguments) {
    all.emplace(index, comparison);
    alternatives = unite(alternatives, {Term{{index, comparison}}});
  }
  return indices.size() == arguments.size() ? Terms{all} : alternatives;
}

std::optional<Terms> read_terms(const json::object& entry) {
  const json::value* args = find_member(entry, "args");
  if (args == nullptr) return every_call();
  const json::array* array = args->if_array();
  if (array == nullptr) return std::nullopt;
  std::vector<Argument> arguments;
  for (const json::value& value : *array) {
    const std::optional<Argument> argument = read_argument(value);
    if (!argument) return std::nullopt;
    arguments.push_back(*argument);
  }
  return terms_of(arguments);
}

std::optional<std::vector<std::string>> read_names(const json::object& entry) {
  const json::value* names = find_member(entry, "names");
  const json::array* array = names != nullptr ? names->if_array() : nullptr;
  if (array == nullptr) return std::nullopt;
  std::vector<std::string> out;
  for (const json::value& name : *array) {
    if (!name.is_string()) return std::nullopt;
    out.emplace_back(name.get_string());
  }
  return out;
}

Result<SeccompRule> read_rule(const json::value& value, std::size_t position) {
  const json::object* entry = value.if_object();
  if (entry == nullptr) return wrong(position, "is not an object");
  SeccompRule rule;
  auto names = read_names(*entry);
  if (!names) return wrong(position, "has no array of names");
  rule.names = std::move(*names);
  const json::value* action = find_member(*entry, "action");
  if (action == nullptr || !action->is_string()) return wrong(position, "has no action");
  rule.action = std::string(action->get_string());
  auto when = read_terms(*entry);
  if (!when) return wrong(position, "has args that are not of the OCI form");
  rule.when = std::move(*when);
  if (const json::value* error = find_member(*entry, "errnoRet")) {
    const auto number = as_unsigned(error);
    if (!number || *number > 4095) return wrong(position, "has an errnoRet that is no errno");
    rule.error = static_cast<unsigned>(*number);
  }
  return rule;
}

json::array write_term(const Term& term) {
  json::array out;
  for (const auto& [index, comparison] : term) {
    json::object argument{
        {"index", index}, {"value", comparison.value}, {"op", op_name(comparison.op)}};
    if (comparison.op == Op::masked_eq) argument["valueTwo"] = comparison.value_two;
    out.push_back(std::move(argument));
  }
  return out;
}

}  // namespace

bool is_permitting(std::string_view action) {
  return action == kActionAllow || action == kActionLog;
}

Result<std::vector<SeccompRule>> read_rules(const json::object& section) {
  std::vector<SeccompRule> out;
  const json::value* syscalls = find_member(section, "syscalls");
  if (syscalls == nullptr) return out;
  const json::array* array = syscalls->if_array();
  if (array == nullptr) return input_error(kWhat, "syscalls is not an array");
  for (std::size_t position = 0; position < array->size(); ++position) {
    Result<SeccompRule> rule = read_rule((*array)[position], position);
    if (!rule) return rule.error();
    out.push_back(std::move(*rule));
  }
  return out;
}

json::array write_rule(const SeccompRule& rule) {
  json::array out;
  for (const Term& term : rule.when) {
    json::object entry{{"names", json::array(rule.names.begin(), rule.names.end())},
                       {"action", rule.action}};
    if (rule.error) entry["errnoRet"] = *rule.error;
    if (!term.empty()) entry["args"] = write_term(term);
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace sockhop::core
