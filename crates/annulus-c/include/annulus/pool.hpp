// Buffers of one size, for what is too large to copy.
#ifndef ANNULUS_POOL_HPP
#define ANNULUS_POOL_HPP

#include <annulus/handle.hpp>

namespace annulus {

template <> struct detail::functions<annulus_pool> {
    static constexpr auto free = annulus_pool_free;
};

// Buffers of one size. Several threads may use it at once; it outlives its buffers.
class pool : public detail::owned<annulus_pool> {
  public:
    using owned::owned;
    ANNULUS_MOVES_(pool);

    // A buffer, which goes back with its owner. `pass` gives it away under its number, which fits into a message.
    class buffer {
      public:
        buffer(buffer &&other) noexcept
            : pool_(std::exchange(other.pool_, nullptr)), handle_(other.handle_), bytes_(other.bytes_) {}
        buffer &operator=(buffer &&other) noexcept {
            if (this != &other) {
                std::destroy_at(this);
                std::construct_at(this, std::move(other));
            }
            return *this;
        }
        ~buffer() {
            if (pool_ != nullptr) annulus_pool_release(pool_, handle_);
        }

        [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
        // The number under which `redeem` takes it over. The buffer is no longer this owner's.
        [[nodiscard]] std::uint32_t pass() && noexcept {
            pool_ = nullptr;
            return handle_;
        }

      private:
        friend class pool;
        buffer(annulus_pool *pool, std::uint32_t handle, void *bytes) noexcept
            : pool_(pool), handle_(handle), bytes_(static_cast<std::byte *>(bytes), annulus_pool_buffer_size(pool)) {}

        annulus_pool *pool_;
        std::uint32_t handle_;
        std::span<std::byte> bytes_;
    };

    [[nodiscard]] static result<pool> make(std::size_t buffer_size, std::size_t count) noexcept {
        return detail::made<pool>([&](annulus_pool **to) { return annulus_pool_new(buffer_size, count, to); });
    }
    [[nodiscard]] result<buffer> alloc() const noexcept {
        return taken([&](std::uint32_t *handle, void **bytes) { return annulus_pool_alloc(get(), handle, bytes); });
    }
    [[nodiscard]] result<buffer> redeem(std::uint32_t received) const noexcept {
        return taken([&](std::uint32_t *handle, void **bytes) { return annulus_pool_redeem(get(), received, handle, bytes); });
    }
    [[nodiscard]] std::size_t available() const noexcept { return annulus_pool_available(get()); }

  private:
    template <class Take> result<buffer> taken(Take take) const noexcept {
        std::uint32_t handle = 0;
        void *bytes = nullptr;
        const status code = take(&handle, &bytes);
        if (code != ANNULUS_OK) return code;
        return buffer(get(), handle, bytes);
    }
};

} // namespace annulus

#endif // ANNULUS_POOL_HPP
