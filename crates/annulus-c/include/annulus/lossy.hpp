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
};

// A receiving end. Move it into the function that receives.
template <class T>
class subscriber
    : detail::message_type<T>,
      public detail::viewed<annulus_subscriber, annulus_lossy_subscriber, annulus_lossy_subscriber_open, annulus_lossy_subscriber_end> {
    using viewed = typename subscriber::viewed;

  public:
    using viewed::viewed;
    ANNULUS_MOVES_(subscriber);

    [[nodiscard]] ANNULUS_ALWAYS_ result<T> try_recv() noexcept {
        return result<T>::from([&](void *into) { return annulus_lossy_try_recv(&this->view_, into, sizeof(T)); });
    }
    [[nodiscard]] ANNULUS_ALWAYS_ result<T> recv() noexcept {
        return result<T>::from([&](void *into) { return annulus_lossy_recv(&this->view_, into, sizeof(T)); });
    }
    [[nodiscard]] ANNULUS_ALWAYS_ result<T> recv_for(timeout time) noexcept {
        return result<T>::from([&](void *into) {
            const status received = annulus_lossy_recv_timeout(&this->view_, into, sizeof(T), detail::ns(time));
            return received == ANNULUS_EMPTY ? ANNULUS_TIMEOUT : received;
        });
    }
    // How many messages it has lost, exactly.
    [[nodiscard]] ANNULUS_ALWAYS_ std::uint64_t lagged() const noexcept { return annulus_subscriber_lagged(this->get()); }
};

template <class T> using subscribable = detail::subscribable<subscriber<T>>;

template <class T> [[nodiscard]] result<std::pair<publisher<T>, subscribable<T>>> channel(const options &options) noexcept {
    return detail::broadcast_channel<T, publisher<T>, subscriber<T>>(ANNULUS_LOSSY, options);
}

} // namespace lossy

} // namespace annulus

#endif // ANNULUS_LOSSY_HPP
