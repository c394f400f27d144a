// A value, or the status that says why there is none; what a message is; the options of a ring.
#ifndef ANNULUS_RESULT_HPP
#define ANNULUS_RESULT_HPP

#include <annulus.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

// What takes the address of a handle is inlined, so that a handle that is a local variable can live in registers.
#define ANNULUS_ALWAYS_ __attribute__((always_inline))

namespace annulus {

// What a function came to: ANNULUS_OK, or why not.
using status = annulus_status;

// Which messages there are: those that are their bytes.
template <class T>
inline constexpr bool is_message = std::is_trivially_copyable_v<T> && !std::is_const_v<T> && !std::is_reference_v<T>;

// What a status means, in English.
[[nodiscard]] inline const char *message_of(status of) noexcept { return annulus_strerror(of); }

// A value, or the status that says why there is none. As std::expected<T, status> of C++23, which ends the program where
// that one would throw.
template <class T> class [[nodiscard]] result {
  public:
    result(status error) noexcept : status_(error) {
        if (error == ANNULUS_OK) std::abort();
    }
    result(T &&value) noexcept : status_(ANNULUS_OK) { ::new (static_cast<void *>(storage_)) T(std::move(value)); }
    result(const T &value) noexcept
        requires std::is_copy_constructible_v<T>
        : status_(ANNULUS_OK) { ::new (static_cast<void *>(storage_)) T(value); }
    result(result &&other) noexcept : status_(other.status_) {
        if (status_ == ANNULUS_OK) ::new (static_cast<void *>(storage_)) T(std::move(*other));
    }
    result &operator=(result &&other) noexcept {
        if (this != &other) {
            std::destroy_at(this);
            std::construct_at(this, std::move(other));
        }
        return *this;
    }
    ~result() {
        if (status_ == ANNULUS_OK) std::destroy_at(pointer());
    }

    [[nodiscard]] bool has_value() const noexcept { return status_ == ANNULUS_OK; }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }
    // ANNULUS_OK where there is a value.
    [[nodiscard]] status error() const noexcept { return status_; }

    // The value. Ends the program where there is none.
    [[nodiscard]] T &operator*() & noexcept { return *checked(); }
    [[nodiscard]] const T &operator*() const & noexcept { return *const_cast<result *>(this)->checked(); }
    [[nodiscard]] T &&operator*() && noexcept { return std::move(*checked()); }
    [[nodiscard]] T *operator->() noexcept { return checked(); }
    [[nodiscard]] const T *operator->() const noexcept { return const_cast<result *>(this)->checked(); }
    [[nodiscard]] T &value() & noexcept { return *checked(); }
    [[nodiscard]] T &&value() && noexcept { return std::move(*checked()); }
    [[nodiscard]] T value_or(T otherwise) && noexcept {
        return has_value() ? std::move(*pointer()) : std::move(otherwise);
    }

  private:
    T *pointer() noexcept { return std::launder(reinterpret_cast<T *>(storage_)); }
    T *checked() noexcept {
        if (status_ != ANNULUS_OK) [[unlikely]] std::abort();
        return pointer();
    }

    alignas(T) std::byte storage_[sizeof(T)];
    status status_;
};

// The same for a message, which is its bytes: a program that receives it has it written where it lies in the end.
template <class T>
    requires is_message<T>
class [[nodiscard]] result<T> {
  public:
    result(status error) noexcept : status_(error) {
        if (error == ANNULUS_OK) std::abort();
    }
    result(const T &value) noexcept : status_(ANNULUS_OK) { std::memcpy(storage_, std::addressof(value), sizeof(T)); }
    // What `receive(void *)` writes, if it returns ANNULUS_OK.
    template <class Receive> [[nodiscard]] ANNULUS_ALWAYS_ static result from(Receive receive) noexcept {
        result into;
        into.status_ = receive(static_cast<void *>(into.storage_));
#if defined(__OPTIMIZE_SIZE__) && !defined(__clang__)
        // Nobody reads it. With -Os, gcc does not see that, and warns of it (-Wmaybe-uninitialized).
        if (into.status_ != ANNULUS_OK) std::memset(into.storage_, 0, sizeof(T));
#endif
        return into;
    }

    [[nodiscard]] bool has_value() const noexcept { return status_ == ANNULUS_OK; }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }
    [[nodiscard]] status error() const noexcept { return status_; }
    [[nodiscard]] T &operator*() noexcept { return *checked(); }
    [[nodiscard]] const T &operator*() const noexcept { return *const_cast<result *>(this)->checked(); }
    [[nodiscard]] T *operator->() noexcept { return checked(); }
    [[nodiscard]] const T *operator->() const noexcept { return const_cast<result *>(this)->checked(); }
    [[nodiscard]] T &value() noexcept { return *checked(); }
    [[nodiscard]] T value_or(T otherwise) const noexcept { return has_value() ? **this : otherwise; }

  private:
    result() noexcept {}
    T *checked() noexcept {
        if (status_ != ANNULUS_OK) [[unlikely]] std::abort();
        return std::launder(reinterpret_cast<T *>(storage_));
    }

    alignas(T) std::byte storage_[sizeof(T)];
    status status_;
};

// Whether it was done.
template <> class [[nodiscard]] result<void> {
  public:
    result() noexcept : status_(ANNULUS_OK) {}
    result(status code) noexcept : status_(code) {}
    [[nodiscard]] bool has_value() const noexcept { return status_ == ANNULUS_OK; }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }
    [[nodiscard]] status error() const noexcept { return status_; }

  private:
    status status_;
};

// How many messages a ring holds, how its threads wait, what is counted: annulus_options without the size of a message.
struct options {
    std::size_t capacity;
    annulus_wait wait = {ANNULUS_WAIT_DEFAULT, 0, 0};
    std::uint32_t flags = 0;

    [[nodiscard]] annulus_options of(std::size_t message_size) const noexcept {
        return {sizeof(annulus_options), capacity, message_size, wait, flags};
    }
};

// How long a call waits, at most.
using timeout = std::chrono::nanoseconds;

namespace detail {

inline std::uint64_t ns(timeout time) noexcept {
    // ANNULUS_FOREVER is longer than any of these.
    return time.count() < 0 ? 0 : static_cast<std::uint64_t>(time.count());
}

// So many nanoseconds, or as many as a timeout can have.
inline timeout time_of(std::uint64_t ns) noexcept {
    constexpr auto most = static_cast<std::uint64_t>(timeout::max().count());
    return timeout(static_cast<timeout::rep>(ns < most ? ns : most));
}

// What `ask(T *)` leaves there, if it returns ANNULUS_OK.
template <class T, class Ask> result<T> asked(Ask ask) noexcept {
    T value{};
    const status code = ask(&value);
    return code == ANNULUS_OK ? result<T>(value) : result<T>(code);
}

} // namespace detail

} // namespace annulus

#endif // ANNULUS_RESULT_HPP
