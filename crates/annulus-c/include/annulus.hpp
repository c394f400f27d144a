// annulus for C++20: handles that free themselves, typed channels, results without exceptions.
//
// Works with -fno-exceptions -fno-rtti: nothing here throws, or asks for a type at run time. A handle is move-only, and one
// thread at a time uses it, as annulus.h says of the handle that it has; `get` returns that one.
//
//     auto channel = annulus::spsc::channel<order>({.capacity = 1024});
//     if (!channel) return channel.error();
//     auto &[sender, receiver] = *channel;
//     sender.send({1, 1.5});
//     while (auto order = receiver.recv()) use(*order);      // until the channel is closed
//
// `spsc`, and `lossy` (broadcast), send and receive by annulus_inline.h, without a call. Keep their handles in local
// variables of the function that has the loop: move them there.
//
// Each kind has a file of its own, which may be included alone.
#ifndef ANNULUS_HPP
#define ANNULUS_HPP

#include <annulus/broadcast.hpp>
#include <annulus/bytes.hpp>
#include <annulus/lossy.hpp>
#include <annulus/frames.hpp>
#include <annulus/pool.hpp>
#include <annulus/queue.hpp>
#include <annulus/service.hpp>
#include <annulus/shm.hpp>
#include <annulus/spsc.hpp>
#include <annulus/watch.hpp>

#endif // ANNULUS_HPP
