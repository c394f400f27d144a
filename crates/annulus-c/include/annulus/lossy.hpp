// One publisher, which waits for nobody: publishes and receives by annulus_inline.h, without a call.
#ifndef ANNULUS_LOSSY_HPP
#define ANNULUS_LOSSY_HPP

#include <annulus/broadcast.hpp>
#include <annulus_inline.h>

namespace annulus {

// A subscriber that falls behind loses the oldest messages.
namespace lossy {

// The sending end. Move it into the function that publishes.
template <class T>
class publisher
    : detail::message_type<T>,
      public detail::viewed<annulus_publisher, annulus_lossy_publisher, annulus_lossy_publisher_open, annulus_lossy_publisher_end> {
    using viewed = typename publisher::viewed;

  public:
    using viewed::viewed;
    ANNULUS_MOVES_(publisher);

    [[nodiscard]] ANNULUS_ALWAYS_ status publish(const T &message) noexcept {
        return annulus_lossy_publish(&this->view_, std::addressof(message), sizeof(T));
    }
    // As `publish`, which never waits: the verbs of all publishers.
    [[nodiscard]] ANNULUS_ALWAYS_ status try_publish(const T &message) noexcept { return publish(message); }
    [[nodiscard]] ANNULUS_ALWAYS_ status publish_for(const T &message, timeout) noexcept { return publish(message); }
};

// A receiving end. Move it into the function that receives.
template <class T>
class subscriber
    : detail::message_type<T>,
      public detail::viewed_receiving<annulus_subscriber, annulus_lossy_subscriber, annulus_lossy_subscriber_open, annulus_lossy_subscriber_end> {
    using viewed_receiving = typename subscriber::viewed_receiving;

  public:
    using viewed_receiving::viewed_receiving;
    ANNULUS_MOVES_(subscriber);

    [[nodiscard]] ANNULUS_ALWAYS_ result<T> try_recv() noexcept { return received_in(0); }
    [[nodiscard]] ANNULUS_ALWAYS_ result<T> recv() noexcept { return received_in(ANNULUS_FOREVER); }
    [[nodiscard]] ANNULUS_ALWAYS_ result<T> recv_for(timeout time) noexcept {
        return result<T>::from([&](void *into) ANNULUS_ALWAYS_ {
            const status code = into_place(into, detail::ns(time));
            return code == ANNULUS_EMPTY ? ANNULUS_TIMEOUT : code;
        });
    }
    // How many messages it has lost, exactly.
    [[nodiscard]] ANNULUS_ALWAYS_ std::uint64_t lagged() const noexcept { return annulus_subscriber_lagged(this->get()); }
    // How many it has received, how many are there, and the number of the next one. By calls, before which the view ends; the next receive
    // begins another one.
    [[nodiscard]] std::uint64_t received() noexcept { return annulus_subscriber_received(this->rested()); }
    [[nodiscard]] std::size_t size() noexcept { return annulus_subscriber_len(this->rested()); }
    [[nodiscard]] std::uint64_t cursor() noexcept { return annulus_subscriber_cursor(this->rested()); }
    // As of `annulus::subscriber`.
    [[nodiscard]] result<std::size_t> begin_with_last(std::size_t count) noexcept {
        std::size_t there = 0;
        const status code = annulus_subscriber_begin_with_last(this->rested(), count, &there);
        if (code != ANNULUS_OK) return code;
        return there;
    }

  private:
    ANNULUS_ALWAYS_ result<T> received_in(std::uint64_t ns) noexcept {
        return result<T>::from([&](void *into) ANNULUS_ALWAYS_ { return into_place(into, ns); });
    }
    ANNULUS_ALWAYS_ status into_place(void *into, std::uint64_t ns) noexcept {
        return this->by_view([&]() ANNULUS_ALWAYS_ { return annulus_lossy_recv_timeout(&this->view_, into, sizeof(T), ns); });
    }
};

template <class T> using subscribable = detail::subscribable<subscriber<T>>;

template <class T> [[nodiscard]] result<std::pair<publisher<T>, subscribable<T>>> channel(const options &options) noexcept {
    return detail::broadcast_channel<T, publisher<T>, subscriber<T>>(ANNULUS_LOSSY, options);
}

} // namespace lossy

} // namespace annulus

#endif // ANNULUS_LOSSY_HPP
