// The C interface: converts arguments and exceptions, and finds predictors by handle.
#include "experiments/predict/predictor.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/output/version.hpp"
#include "tools/capi/equarx.h"

namespace {

using namespace equarx;

/// Text of the last error on a thread; allocates nothing.
class LastError {
 public:
  void clear() { text_[0] = '\0'; }
  void set(std::string_view text) {
    const std::size_t length = std::min(text.size(), sizeof text_ - 1);
    std::memcpy(text_, text.data(), length);
    text_[length] = '\0';
  }
  const char* text() const { return text_; }

 private:
  char text_[1024] = "";
};

thread_local LastError last_error;

/// A handle that names no predictor.
class HandleError : public std::exception {};

/// All predictors, by handle: numbers from 1 on that are never reused, as pointers that are never
/// followed.
class Registry {
 public:
  equarx_predictor* add(std::shared_ptr<const predict::Predictor> predictor) {
    const std::unique_lock lock(mutex_);
    predictors_.emplace(++last_, std::move(predictor));
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a handle
    return reinterpret_cast<equarx_predictor*>(last_);
  }

  std::shared_ptr<const predict::Predictor> find(const equarx_predictor* handle) const {
    const std::shared_lock lock(mutex_);
    const auto at = predictors_.find(reinterpret_cast<std::uintptr_t>(handle));
    if (at == predictors_.end()) throw HandleError();
    return at->second;
  }

  void remove(equarx_predictor* handle) {
    const std::unique_lock lock(mutex_);
    if (predictors_.erase(reinterpret_cast<std::uintptr_t>(handle)) == 0) throw HandleError();
  }

 private:
  mutable std::shared_mutex mutex_;
  std::uintptr_t last_ = 0;
  std::unordered_map<std::uintptr_t, std::shared_ptr<const predict::Predictor>> predictors_;
};

/// Never destroyed, for calls during the exit of the process.
Registry& registry() {
  static auto* const all = new Registry;
  return *all;
}

/// Calls `act` and converts its exceptions to a status.
template <typename Act>
equarx_status guarded(Act&& act) noexcept {
  last_error.clear();
  try {
    act();
    return EQUARX_OK;
  } catch (const HandleError&) {
    last_error.set("predictor: was never created or has been destroyed");
    return EQUARX_INVALID_HANDLE;
  } catch (const input::UserError& error) {
    last_error.set(error.what());
    return EQUARX_INVALID_INPUT;
  } catch (const std::bad_alloc&) {
    last_error.set("out of memory");
    return EQUARX_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    last_error.set(error.what());
    return EQUARX_DEFECT;
  } catch (...) {
    last_error.set("unknown exception");
    return EQUARX_DEFECT;
  }
}

/// Size of the first version of a structure; `last` is its last member then.
#define EQUARX_FIRST_SIZE(type, last) (offsetof(type, last) + sizeof(type::last))
constexpr std::size_t kFirstOptions = EQUARX_FIRST_SIZE(equarx_options, reserved);
constexpr std::size_t kFirstQuery = EQUARX_FIRST_SIZE(equarx_query, options);
constexpr std::size_t kFirstAnswer = EQUARX_FIRST_SIZE(equarx_answer, protocol);
#undef EQUARX_FIRST_SIZE

void check_size(const char* name, std::size_t size, std::size_t first) {
  constexpr std::size_t kMost = 1 << 16;  // larger ones are uninitialized
  if (size < first || size > kMost)
    throw input::InputError(
        "", fmt::format("{}: size is {}; set it to sizeof(equarx_{})", name, size, name));
}

/// A caller's structure, whose later members are zero if it is older, and ignored if it is newer.
template <typename Struct>
Struct copy_of(const Struct* given, const char* name, std::size_t first) {
  if (given == nullptr) throw input::InputError("", fmt::format("{}: is null", name));
  check_size(name, given->size, first);
  Struct copy{};
  std::memcpy(&copy, given, std::min(given->size, sizeof copy));
  return copy;
}

void check_reserved(const char* name, std::uint32_t value) {
  if (value != 0)
    throw input::InputError("", fmt::format("{}: reserved is not 0; clear the structure", name));
}

predict::PredictorOptions read(const equarx_options* given) {
  predict::PredictorOptions options;
  if (given == nullptr) return options;
  const equarx_options own = copy_of(given, "options", kFirstOptions);
  check_reserved("options", own.reserved);
  if ((own.skip & ~std::uint32_t{EQUARX_SKIP_ERRORS | EQUARX_SKIP_INTERVALS}) != 0)
    throw input::InputError("", fmt::format("options: skip has unknown bits: {:#x}", own.skip));
  if (own.cache_entries > 0) options.cache_entries = own.cache_entries;
  options.threads = own.threads;
  options.errors = (own.skip & EQUARX_SKIP_ERRORS) == 0;
  options.intervals = (own.skip & EQUARX_SKIP_INTERVALS) == 0;
  return options;
}

/// Assigns a text unless it is null. @throws input::InputError for very long ones
void assign(const char* text, const char* name, std::string& to) {
  constexpr std::size_t kMost = 1 << 16;
  if (text == nullptr) return;
  const std::size_t length = strnlen(text, kMost + 1);
  if (length > kMost)
    throw input::InputError("", fmt::format("{}: has more than {} characters", name, kMost));
  to.assign(text, length);
}

predict::Query read(const equarx_query* given) {
  const equarx_query own = copy_of(given, "query", kFirstQuery);
  check_reserved("query", own.reserved);
  predict::Query query;
  assign(own.collective, "collective", query.collective);
  assign(own.dtype, "dtype", query.dtype);
  assign(own.format, "format", query.format);
  assign(own.algorithm, "algorithm", query.algorithm);
  assign(own.options, "options", query.options);
  query.bytes = own.bytes;
  query.ranks = own.ranks;
  return query;
}

template <std::size_t N>
void store(const std::string& text, char (&to)[N]) {
  const std::size_t length = std::min(text.size(), N - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

equarx_answer answer_of(const predict::Prediction& prediction) {
  equarx_answer answer{};
  answer.time_s = prediction.time_s;
  answer.low_s = prediction.low_s;
  answer.high_s = prediction.high_s;
  answer.nmse = prediction.nmse;
  answer.sqnr_db = prediction.sqnr_db;
  answer.samples = prediction.samples;
  answer.ranks = prediction.ranks;
  answer.conversions = prediction.conversions;
  answer.encodings = prediction.encodings;
  answer.sums_in_fp32 = prediction.sums_in_fp32 ? 1 : 0;
  answer.deterministic = prediction.deterministic ? 1 : 0;
  answer.ranks_identical = prediction.ranks_identical ? 1 : 0;
  answer.calibrated = prediction.calibrated ? 1 : 0;
  store(prediction.algorithm, answer.algorithm);
  store(prediction.protocol, answer.protocol);
  return answer;
}

}  // namespace

extern "C" {

const char* equarx_version(void) {
  static const std::string* const version = new std::string(output::version());
  return version->c_str();
}

const char* equarx_last_error(void) { return last_error.text(); }

equarx_status equarx_predictor_create(const char* machine_json, const equarx_options* options,
                                      equarx_predictor** predictor) {
  return guarded([&] {
    if (machine_json == nullptr) throw input::InputError("", "machine_json: is null");
    if (predictor == nullptr) throw input::InputError("", "predictor: is null");
    *predictor = registry().add(std::make_shared<const predict::Predictor>(
        predict::read_machine(machine_json), read(options)));
  });
}

equarx_status equarx_predict(const equarx_predictor* predictor, const equarx_query* query,
                             equarx_answer* answer) {
  return guarded([&] {
    const auto found = registry().find(predictor);
    if (answer == nullptr) throw input::InputError("", "answer: is null");
    const std::size_t size = answer->size;
    check_size("answer", size, kFirstAnswer);
    equarx_answer own = answer_of(*found->predict(read(query)));
    own.size = size;
    std::memcpy(answer, &own, std::min(size, sizeof own));
  });
}

equarx_status equarx_predictor_destroy(equarx_predictor* predictor) {
  return guarded([&] {
    if (predictor != nullptr) registry().remove(predictor);
  });
}

}  // extern "C"
