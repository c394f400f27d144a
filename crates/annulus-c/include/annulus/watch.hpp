// Newest values between processes: a configuration, a state, prices by key. A reader that comes has the newest value at once. (Linux.)
//
//     auto made = annulus::shm::watch::sends<quote>({.capacity = 1000});       // so many cells
//     auto &[sender, invitation] = *made;
//     sender.send(*sender.cell("EURUSD"), {1.0921, 1.0922});
//
//     auto reader = annulus::shm::watch::reads<quote>(invitation);            // usually another process
//     auto price = reader->get(*reader->cell("EURUSD"));
//     auto changes = reader->changes();                                       // of all cells
//     while (auto change = changes->recv()) use(change->cell, change->value);
#ifndef ANNULUS_WATCH_HPP
#define ANNULUS_WATCH_HPP

#include <annulus/shm.hpp>

#include <array>
#include <string_view>

namespace annulus {

template <> struct detail::functions<annulus_watch_sender> {
    static constexpr auto free = annulus_watch_sender_free;
};

template <> struct detail::functions<annulus_watch_reader> {
    static constexpr auto free = annulus_watch_reader_free;
};

template <> struct detail::functions<annulus_watch_changes> {
    static constexpr auto free = annulus_watch_changes_free;
};

namespace shm::watch {

// The key of a cell: up to 64 bytes.
class key {
  public:
    [[nodiscard]] std::string_view view() const noexcept { return text_.data(); }
    [[nodiscard]] char *data() noexcept { return text_.data(); }

  private:
    std::array<char, ANNULUS_WATCH_KEY_SIZE> text_{};
};

// What has changed: a cell, and its newest value.
template <class T> struct change {
    std::size_t cell;
    T value;
};

// Writes the values of a table. It never waits.
template <class T> class sender : public annulus::detail::owned<annulus_watch_sender> {
  public:
    using owned::owned;
    ANNULUS_MOVES_(sender);

    // Replaces the value of a cell, or of the first one.
    status send(std::size_t cell, const T &value) noexcept {
        return annulus_watch_sender_send(get(), cell, std::addressof(value), sizeof(T));
    }
    status send(const T &value) noexcept { return send(0, value); }
    // The newest value of a cell. ANNULUS_EMPTY: nothing was sent to it yet.
    [[nodiscard]] result<T> newest(std::size_t cell = 0) noexcept {
        return result<T>::from([&](void *to) { return annulus_watch_sender_get(get(), cell, to, sizeof(T)); });
    }
    // The cell of this key, which gets one if it has none yet. ANNULUS_OCCUPIED: all cells have other keys.
    [[nodiscard]] result<std::size_t> cell(const char *key) noexcept {
        return annulus::detail::asked<std::size_t>([&](std::size_t *to) { return annulus_watch_sender_cell(get(), key, to); });
    }
    [[nodiscard]] std::size_t cells() const noexcept { return annulus_watch_sender_cells(get()); }
};

// Receives changes: no cell is forgotten, and each comes once, with the value that is newest then.
template <class T> class changes : public annulus::detail::owned<annulus_watch_changes> {
  public:
    using owned::owned;
    ANNULUS_MOVES_(changes);

    // The next change. Waits for it.
    [[nodiscard]] result<change<T>> recv(timeout time = forever) noexcept {
        std::size_t cell = 0;
        const std::uint64_t ns = time == forever ? ANNULUS_FOREVER : annulus::detail::ns(time);
        auto value = result<T>::from([&](void *to) { return annulus_watch_changes_recv(get(), ns, to, sizeof(T), &cell); });
        if (!value) return value.error();
        return change<T>{cell, *value};
    }
    [[nodiscard]] result<change<T>> try_recv() noexcept { return recv(timeout::zero()); }
    // How many values it has passed over that were none.
    [[nodiscard]] std::uint64_t corrupt() const noexcept { return annulus_watch_changes_corrupt(get()); }
    // For poll and epoll, with `arm` before each wait, which says whether something is there already.
    [[nodiscard]] result<int> fd() noexcept {
        return annulus::detail::asked<int>([&](int *to) { return annulus_watch_changes_fd(get(), to); });
    }
    [[nodiscard]] result<bool> arm() noexcept {
        return annulus::detail::asked<bool>([&](bool *to) { return annulus_watch_changes_arm(get(), to); });
    }
};

// Reads the values of a table. The values stay when the sender is gone.
template <class T> class reader : public annulus::detail::owned<annulus_watch_reader> {
  public:
    using owned::owned;
    ANNULUS_MOVES_(reader);

    // The newest value of a cell, without a wait. ANNULUS_EMPTY: nothing was sent to it yet.
    [[nodiscard]] result<T> newest(std::size_t cell = 0) noexcept {
        return result<T>::from([&](void *to) { return annulus_watch_reader_get(get(), cell, to, sizeof(T)); });
    }
    // The cell of a key. It looks at all cells, so keep what it finds. ANNULUS_NOT_FOUND: no cell has this key yet.
    [[nodiscard]] result<std::size_t> cell(const char *key) const noexcept {
        return annulus::detail::asked<std::size_t>([&](std::size_t *to) { return annulus_watch_reader_cell(get(), key, to); });
    }
    // ANNULUS_NOT_FOUND: the cell has no key yet.
    [[nodiscard]] result<watch::key> key_of(std::size_t cell) const noexcept {
        watch::key found;
        const status code = annulus_watch_reader_key(get(), cell, found.data());
        if (code != ANNULUS_OK) return code;
        return found;
    }
    [[nodiscard]] std::size_t cells() const noexcept { return annulus_watch_reader_cells(get()); }
    // Whether the sender's process is there.
    [[nodiscard]] result<annulus_peer> peer() const noexcept {
        return annulus::detail::asked<annulus_peer>([&](annulus_peer *to) { return annulus_watch_reader_peer(get(), to); });
    }
    // Changes of a cell, or of all: it begins with the values that are there.
    [[nodiscard]] result<watch::changes<T>> changes(std::size_t cell = ANNULUS_WATCH_ALL_CELLS) const noexcept {
        return annulus::detail::made<watch::changes<T>>(
            [&](annulus_watch_changes **to) { return annulus_watch_reader_changes(get(), cell, to); });
    }
};

// Makes a table of as many cells as the capacity says: this process writes.
template <class T>
[[nodiscard]] result<std::pair<sender<T>, invitation>> sends(const options &options, error *why = nullptr) noexcept {
    return shm::detail::made<T, sender<T>>(annulus_shared_watch_new, options, why);
}

// Opens it: this process reads.
template <class T>
[[nodiscard]] result<reader<T>> reads(const invitation &by, const options &options = {}, error *why = nullptr) noexcept {
    return shm::detail::joined<T, reader<T>>(annulus_invitation_watch, by, options, why);
}

} // namespace shm::watch

} // namespace annulus

#endif // ANNULUS_WATCH_HPP
