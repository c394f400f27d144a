/* The C interface of annulus: rings and queues between threads, and between processes. Written by a test
   of crates/annulus-c from the functions; see the README there. */

#ifndef ANNULUS_H
#define ANNULUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * The version of the interface that this header describes. It grows when a program that was compiled with
 * an older header would no longer work.
 */
#define ANNULUS_ABI_VERSION 1

/**
 * The version of this header: the package's version. ANNULUS_VERSION is the same as text.
 */
#define ANNULUS_VERSION_MAJOR 0

/**
 * See ANNULUS_VERSION_MAJOR.
 */
#define ANNULUS_VERSION_MINOR 1

/**
 * See ANNULUS_VERSION_MAJOR.
 */
#define ANNULUS_VERSION_PATCH 0

/**
 * Polls, then sleeps until it is woken: ANNULUS_WAIT_BLOCK.
 */
#define ANNULUS_WAIT_DEFAULT 0

/**
 * Polls without a pause. For threads that have a core of their own.
 */
#define ANNULUS_WAIT_BUSY_SPIN 1

/**
 * Polls with the processor's pause instruction between polls. Never gives up the core.
 */
#define ANNULUS_WAIT_PAUSE_SPIN 2

/**
 * The processor waits until the word changes, where it can; else as ANNULUS_WAIT_PAUSE_SPIN.
 */
#define ANNULUS_WAIT_MONITOR 3

/**
 * Polls with pauses that become longer.
 */
#define ANNULUS_WAIT_BACKOFF_SPIN 4

/**
 * Polls, and then gives up its time slice between polls.
 */
#define ANNULUS_WAIT_ADAPTIVE 5

/**
 * Polls, and then sleeps until it is woken.
 */
#define ANNULUS_WAIT_BLOCK 6

/**
 * A bit of flags: the ring counts what annulus_stats says of waits.
 */
#define ANNULUS_STATISTICS 1

/**
 * No timeout: it waits for as long as it takes.
 */
#define ANNULUS_FOREVER UINT64_MAX

/**
 * A queue of one producer and one consumer. Both can use messages where they lie in the ring.
 */
#define ANNULUS_SPSC 1

/**
 * A queue of many producers and one consumer. Each producer has a ring of its own, of the capacity that was
 * asked for, and its messages arrive in the order in which they were sent. Both sides can use messages where
 * they lie in the ring.
 */
#define ANNULUS_MPSC 2

/**
 * A queue of one producer and many consumers.
 */
#define ANNULUS_SPMC 3

/**
 * A queue of many producers, each with a ring of its own, and many consumers.
 */
#define ANNULUS_MPMC 4

/**
 * A queue of many producers and many consumers with one ring for all, one order, and one capacity.
 */
#define ANNULUS_ORDERED 5

/**
 * A ring of one publisher, which never waits: a subscriber that falls behind loses the oldest messages, and
 * is told how many.
 */
#define ANNULUS_LOSSY 11

/**
 * A ring of one publisher, which waits for the slowest subscriber: nobody loses a message.
 */
#define ANNULUS_LOSSLESS 12

/**
 * As ANNULUS_LOSSY, with many publishers and one order for all of them.
 */
#define ANNULUS_MP_LOSSY 13

/**
 * As ANNULUS_LOSSLESS, with many publishers and one order for all of them.
 */
#define ANNULUS_MP_LOSSLESS 14

/**
 * The version of the views and of the rules of annulus_inline.h. A library takes no other.
 */
#define ANNULUS_VIEW_VERSION 2

/**
 * In the words wakes: the other side may sleep, or a fence is needed to tell.
 */
#define ANNULUS_WAKES 83

/**
 * In the words closes: the queue is closed.
 */
#define ANNULUS_CLOSES 4

/**
 * Messages of up to so many bytes are always copied by annulus_inline.h; larger ones by the library, where
 * that has vectors for it.
 */
#define ANNULUS_INLINE_MAX 128

/**
 * A bit of flags, of queues between processes: when the process of the consumer has ended without a close,
 * the queue stays open for a next one, and producers that find no room wait for that one. Without it, the
 * queue is closed then.
 */
#define ANNULUS_WAIT_FOR_NEXT_CONSUMER 2

/**
 * A bit of flags, of rings with several producers or publishers between processes: the ring ends when all
 * of them are gone, after one at least was there. Without it, it waits for the next ones.
 */
#define ANNULUS_CLOSE_WITH_LAST_PRODUCER 4

/**
 * A bit of flags, of queues that several consumers share: the queue is closed when all consumers are gone,
 * after one at least was there. Without it, producers fill their rings, and wait for the next ones.
 */
#define ANNULUS_CLOSE_WITH_LAST_CONSUMER 8

/**
 * A bit of flags, of queues that several consumers share: what a consumer had claimed when its process
 * died is dropped, and counted. Without it, another consumer has it.
 */
#define ANNULUS_DROP_UNRECEIVED 16

/**
 * A queue of records of any length, as annulus_shared_error says which kind a ring is. It has a function
 * of its own that makes one.
 */
#define ANNULUS_BYTES 6

/**
 * A key of a cell, and the 0 behind it, have up to so many bytes.
 */
#define ANNULUS_WATCH_KEY_SIZE 65

/**
 * The size of the largest class, in bytes.
 */
#define ANNULUS_MESSAGE_MAX 4096

/**
 * What a function returns. Only ANNULUS_OK means that it did what it was asked for; with every other one
 * nothing was sent, received, made or freed. (With ANNULUS_CORRUPT a message is gone.)
 */
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
enum annulus_status : int32_t
#else
enum
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Done.
     */
    ANNULUS_OK = 0,
    /**
     * No message is there now. Of a pool: no buffer is free now.
     */
    ANNULUS_EMPTY = 1,
    /**
     * The ring has no room now.
     */
    ANNULUS_FULL = 2,
    /**
     * No message, or no room, came in time.
     */
    ANNULUS_TIMEOUT = 3,
    /**
     * A send: no receiver is left, or the ring was closed. A receive: no sender is left, or the ring was
     * closed, and every message was received. It stays so.
     */
    ANNULUS_CLOSED = 4,
    /**
     * An argument can't be: a null pointer, a number that is no kind of ring or of waiting, a capacity of 0,
     * more messages committed than reserved, or advanced than readable.
     */
    ANNULUS_INVALID = 5,
    /**
     * The size of the message is not the ring's; or such a ring takes no messages of that size, or no
     * records of that length.
     */
    ANNULUS_WRONG_SIZE = 6,
    /**
     * The pointer is no handle of that type: it was freed, or it is a handle of another type.
     */
    ANNULUS_NOT_A_HANDLE = 7,
    /**
     * Handles of this kind of ring can't do that, or this system can't.
     */
    ANNULUS_UNSUPPORTED = 8,
    /**
     * There is no memory for it.
     */
    ANNULUS_NO_MEMORY = 9,
    /**
     * The producer has a reservation: commit it first (0 messages, if need be).
     */
    ANNULUS_RESERVED = 10,
    /**
     * The system refused it, for example because the process has too many descriptors.
     */
    ANNULUS_SYSTEM = 11,
    /**
     * A fault in the library: it panicked, and wrote why to the standard error output. The handle may be
     * freed; nothing else is promised of it.
     */
    ANNULUS_PANICKED = 12,
    /**
     * The handle has a view, which has to be ended first.
     */
    ANNULUS_VIEWED = 13,
    /**
     * As ANNULUS_CLOSED, of a ring between processes: the process on the other side has ended, and nobody
     * had closed the ring before. All that it had sent or published completely was received. It stays so.
     */
    ANNULUS_PEER_DIED = 14,
    /**
     * The ring between processes is another one than was asked for: of another kind, or for messages of
     * another size, alignment or type, or of another version. annulus_shared_error has both sides' values.
     */
    ANNULUS_MISMATCH = 15,
    /**
     * Somebody has it already: the consumer of a queue is there, all places for producers are taken, all
     * seats for subscribers, or the name.
     */
    ANNULUS_OCCUPIED = 16,
    /**
     * No ring has that name, or the process that had it has ended.
     */
    ANNULUS_NOT_FOUND = 17,
    /**
     * What lies behind the descriptor is no ring, or a damaged one.
     */
    ANNULUS_NO_RING = 18,
    /**
     * Another process has written what is no message of the schema: a bool of 2, a number that no variant
     * of an enum has, a text that is none. It was passed over and counted; the next receive continues behind
     * it. What lies where the message was to go means nothing.
     */
    ANNULUS_CORRUPT = 19,
    /**
     * The buffer is smaller than the next record. The function says how long that one is, and the record
     * stays: the next receive has it.
     */
    ANNULUS_TOO_SMALL = 20,
    /**
     * The server has refused the question, or has closed the service before it received it.
     */
    ANNULUS_REFUSED = 21,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum annulus_status annulus_status;
#else
typedef int32_t annulus_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Whether the process on the other side of a ring is there, or one of several. The kernel tells it, by a
 * lock that ends with the process, however that ends. A process that is stopped is alive.
 */
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
enum annulus_peer : int32_t
#else
enum
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Nobody has come yet.
     */
    ANNULUS_PEER_NONE = 0,
    /**
     * It is there.
     */
    ANNULUS_PEER_ALIVE = 1,
    /**
     * The ring was closed, by either side.
     */
    ANNULUS_PEER_CLOSED = 2,
    /**
     * Its process has ended without that.
     */
    ANNULUS_PEER_DEAD = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum annulus_peer annulus_peer;
#else
typedef int32_t annulus_peer;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The receiving end of a queue of records. One thread at a time uses it; it may move to another thread.
 */
typedef struct annulus_bytes_consumer annulus_bytes_consumer;

/**
 * The sending end of a queue of records. One thread at a time uses it; it may move to another thread.
 */
typedef struct annulus_bytes_producer annulus_bytes_producer;

/**
 * The sending end of a broadcast ring of records. One thread at a time uses it; it may move to another
 * thread.
 */
typedef struct annulus_bytes_publisher annulus_bytes_publisher;

/**
 * What makes subscribers of a broadcast ring of records. Any thread may use it, several at once, too.
 */
typedef struct annulus_bytes_subscribable annulus_bytes_subscribable;

/**
 * A receiving end of a broadcast ring of records. One thread at a time uses it; it may move to another
 * thread.
 */
typedef struct annulus_bytes_subscriber annulus_bytes_subscriber;

/**
 * A message that a consumer has claimed, and that no other one has. It may be done on any thread.
 */
typedef struct annulus_claimed annulus_claimed;

/**
 * An end of a service that asks. One thread at a time uses it; it may move to another thread.
 */
typedef struct annulus_client annulus_client;

/**
 * What closes a ring from any thread, at any time. It does not keep the ring, nor its memory.
 */
typedef struct annulus_closer annulus_closer;

/**
 * The receiving end of a queue. One thread at a time uses it; it may move to another thread.
 */
typedef struct annulus_consumer annulus_consumer;

/**
 * The writing end of a ring of frames. One thread at a time uses it; it may move to another thread.
 */
typedef struct annulus_frame_publisher annulus_frame_publisher;

/**
 * A reading end of a ring of frames. One thread at a time uses it; it may move to another thread.
 */
typedef struct annulus_frame_subscriber annulus_frame_subscriber;

/**
 * A frame that is held.
 */
typedef struct annulus_held_frame annulus_held_frame;

/**
 * What another process needs to join a ring: two descriptors. The function that makes a ring makes one, for
 * any number of other processes. Threads may use it at once.
 */
typedef struct annulus_invitation annulus_invitation;

/**
 * The name of a ring in a directory, as long as it has that. Threads may use it at once.
 */
typedef struct annulus_name annulus_name;

/**
 * The answer to a question, which is to come. One thread at a time uses it; it may move to another thread.
 */
typedef struct annulus_pending_answer annulus_pending_answer;

/**
 * Buffers of one size. Any thread may use it, several at once, too.
 */
typedef struct annulus_pool annulus_pool;

/**
 * The sending end of a queue. One thread at a time uses it; it may move to another thread.
 */
typedef struct annulus_producer annulus_producer;

/**
 * The sending end of a broadcast ring. One thread at a time uses it; it may move to another thread.
 */
typedef struct annulus_publisher annulus_publisher;

/**
 * A question that a server has received, to be answered once. It may be answered on any thread.
 */
typedef struct annulus_request annulus_request;

/**
 * The end of a service that receives questions. One thread at a time uses it; it may move to another thread.
 */
typedef struct annulus_server annulus_server;

/**
 * A queue that several consumers share, as a whole: how many are there, and what was given again. It neither
 * sends nor receives. Threads may use it at once.
 */
typedef struct annulus_shared_queue annulus_shared_queue;

/**
 * What makes subscribers of a broadcast ring. Any thread may use it, several at once, too. While there is
 * one, somebody may still join, so a publisher that nobody listens to does not fail.
 */
typedef struct annulus_subscribable annulus_subscribable;

/**
 * A receiving end of a broadcast ring. One thread at a time uses it; it may move to another thread.
 */
typedef struct annulus_subscriber annulus_subscriber;

/**
 * What waits for changes of newest values. One thread at a time uses it; it may move to another thread.
 */
typedef struct annulus_watch_changes annulus_watch_changes;

/**
 * A reading end of newest values. One thread at a time uses it; it may move to another thread.
 */
typedef struct annulus_watch_reader annulus_watch_reader;

/**
 * The writing end of newest values. One thread at a time uses it; it may move to another thread.
 */
typedef struct annulus_watch_sender annulus_watch_sender;

/**
 * How a thread waits: its kind is one of the ANNULUS_WAIT_…. All zero is the default: it polls a little,
 * and then sleeps until it is woken.
 */
typedef struct annulus_wait {
    /**
     * One of the ANNULUS_WAIT_….
     */
    uint32_t kind;
    /**
     * Of ANNULUS_WAIT_ADAPTIVE and ANNULUS_WAIT_BLOCK: so many polls without a pause. Where this and
     * pause_polls are 0, the default's numbers hold.
     */
    uint32_t spin_polls;
    /**
     * Of these two: so many polls then with a pause, before it gives up the time slice, or sleeps.
     */
    uint32_t pause_polls;
} annulus_wait;

/**
 * What a ring is made of: annulus_options options = ANNULUS_OPTIONS(1024, sizeof(struct order));, and then
 * what is to be other than the default. What is not set has to be 0.
 */
typedef struct annulus_options {
    /**
     * sizeof(annulus_options): it tells the library which version of this the program was compiled with.
     */
    size_t size;
    /**
     * How many messages the ring holds, exactly; any number above 0. Of a ring of records: how many bytes.
     */
    size_t capacity;
    /**
     * The size of a message, in bytes; above 0. Of a ring of records: 1 (ANNULUS_BYTES_OPTIONS).
     */
    size_t message_size;
    /**
     * How threads wait that have to.
     */
    struct annulus_wait wait;
    /**
     * ANNULUS_STATISTICS, or 0.
     */
    uint32_t flags;
} annulus_options;

/**
 * The numbers of a ring at one moment, in messages; of a queue of records, in words of 8 bytes. Set size
 * to sizeof(annulus_stats) before the call.
 */
typedef struct annulus_stats {
    /**
     * sizeof(annulus_stats): it tells the library which version of this the program was compiled with.
     */
    size_t size;
    /**
     * How many messages were sent since the ring was made.
     */
    uint64_t published;
    /**
     * How many messages nobody needs any more: in a queue, those that were received. 0 on a lossy ring,
     * where only a subscriber knows how far it is.
     */
    uint64_t received;
    /**
     * How many messages wait, of a lossy ring how many a reader may find.
     */
    uint64_t pending;
    /**
     * How many messages the ring holds; of a queue with a ring for each producer, how many each of them
     * holds.
     */
    uint64_t capacity;
    /**
     * How many producers or publishers there are.
     */
    uint64_t writers;
    /**
     * How many consumers or subscribers there are.
     */
    uint64_t readers;
    /**
     * With ANNULUS_STATISTICS: how many messages subscribers of a lossy ring lost, all together.
     */
    uint64_t lagged;
    /**
     * With ANNULUS_STATISTICS: how often a thread went to sleep.
     */
    uint64_t sleeps;
    /**
     * With ANNULUS_STATISTICS: how often a thread woke threads that slept.
     */
    uint64_t wake_ups;
    /**
     * With ANNULUS_STATISTICS: the largest number of messages that a thread saw waiting.
     */
    uint64_t high_water;
    /**
     * Whether the ring is closed.
     */
    bool closed;
} annulus_stats;

/**
 * A view of the producer of an ANNULUS_SPSC queue: what annulus_inline.h needs to send without a call.
 * The library fills it, and the functions of annulus_inline.h change it; a program does neither. It lies
 * where the program wants it, and may be copied; the copy that was used last is the view.
 *
 * Message numbers count words of 8 bytes, and wrap.
 */
typedef struct annulus_spsc_producer {
    /**
     * The number of the next word.
     */
    uint64_t tail;
    /**
     * Words before this number are free and contiguous.
     */
    uint64_t stop;
    /**
     * Where word 0 would lie: word n lies at this address + 8 n, modulo 2^64 (2^32).
     */
    size_t origin;
    /**
     * Where tail is stored (release) when messages are written.
     */
    uint64_t *own;
    /**
     * ANNULUS_WAKES of this tell, after that store, whether to call the library.
     */
    const uint32_t *wakes;
    /**
     * ANNULUS_CLOSES of this tells whether the queue is closed.
     */
    const uint32_t *closes;
    /**
     * From one message to the next, in words.
     */
    size_t stride;
    /**
     * The size of a message.
     */
    size_t message_size;
    /**
     * Whose view it is.
     */
    struct annulus_producer *producer;
} annulus_spsc_producer;

/**
 * A view of the consumer of an ANNULUS_SPSC queue, as annulus_spsc_producer.
 */
typedef struct annulus_spsc_consumer {
    /**
     * The number of the next word.
     */
    uint64_t head;
    /**
     * Words before this number are there and contiguous.
     */
    uint64_t stop;
    /**
     * Where word 0 would lie.
     */
    size_t origin;
    /**
     * Where head is stored (release) when messages are read.
     */
    uint64_t *own;
    /**
     * Where the producer stores how far it is.
     */
    const uint64_t *other;
    /**
     * ANNULUS_WAKES of this tell, after the store to own, whether to call the library.
     */
    const uint32_t *wakes;
    /**
     * ANNULUS_CLOSES of this tells whether the queue is closed.
     */
    const uint32_t *closes;
    /**
     * From one message to the next, in words.
     */
    size_t stride;
    /**
     * The size of a message.
     */
    size_t message_size;
    /**
     * Up to this number, words that are sent from now on are contiguous with the words before stop.
     */
    uint64_t lap_end;
    /**
     * Whose view it is.
     */
    struct annulus_consumer *consumer;
} annulus_spsc_consumer;

/**
 * A view of the publisher of an ANNULUS_LOSSY ring: what annulus_inline.h needs to publish without a
 * call. The library fills it, and the functions of annulus_inline.h change it; a program does neither. It
 * lies where the program wants it, and may be copied; the copy that was used last is the view.
 */
typedef struct annulus_lossy_publisher {
    /**
     * The number of the next message.
     */
    uint64_t next;
    /**
     * Its slot: the stamp, and payload_at words behind it the message.
     */
    uint64_t *slot;
    /**
     * The first slot.
     */
    uint64_t *begin;
    /**
     * Behind the last slot, where the first one comes again.
     */
    uint64_t *stop;
    /**
     * A message whose number has none of these bits is noted in bound, or, where they are 0, published by
     * the library.
     */
    const uint64_t *slow_mask;
    /**
     * How far the publisher says it is.
     */
    uint64_t *bound;
    /**
     * ANNULUS_WAKES of this tell, after each message, whether to call the library.
     */
    const uint32_t *wakes;
    /**
     * From one slot to the next, in words.
     */
    size_t stride;
    /**
     * Where a message lies in its slot, in words. Other than 1: the library copies it.
     */
    size_t payload_at;
    /**
     * The size of a message.
     */
    size_t message_size;
    /**
     * Whose view it is.
     */
    struct annulus_publisher *publisher;
} annulus_lossy_publisher;

/**
 * A view of a subscriber of an ANNULUS_LOSSY ring, as annulus_lossy_publisher.
 */
typedef struct annulus_lossy_subscriber {
    /**
     * The number of the next message.
     */
    uint64_t next;
    /**
     * Its slot: the stamp, and payload_at words behind it the message.
     */
    const uint64_t *slot;
    /**
     * The first slot.
     */
    const uint64_t *begin;
    /**
     * Behind the last slot, where the first one comes again.
     */
    const uint64_t *stop;
    /**
     * Not 0 once nothing comes any more.
     */
    const uint8_t *over;
    /**
     * From one slot to the next, in words.
     */
    size_t stride;
    /**
     * Where a message lies in its slot, in words. Other than 1: the library copies it.
     */
    size_t payload_at;
    /**
     * The size of a message.
     */
    size_t message_size;
    /**
     * Whose view it is.
     */
    struct annulus_subscriber *subscriber;
} annulus_lossy_subscriber;

/**
 * Why a ring between processes was not made, or could not be joined or found. Set size to
 * sizeof(annulus_shared_error) before the call. A function that returns ANNULUS_OK stores no text and
 * zeros.
 */
typedef struct annulus_shared_error {
    /**
     * sizeof(annulus_shared_error): it tells the library which version of this the program was compiled
     * with.
     */
    size_t size;
    /**
     * Where two values differ (ANNULUS_MISMATCH): the ring's. Otherwise what is wrong, or 0.
     */
    uint64_t found;
    /**
     * And the one that this process asked for.
     */
    uint64_t wanted;
    /**
     * The errno of the call that failed (ANNULUS_SYSTEM), or 0.
     */
    int32_t system_error;
    /**
     * All of that in English. It ends with a 0, and is cut off where it is longer.
     */
    char text[228];
} annulus_shared_error;

/**
 * What a ring between processes is made of, and what a process that joins asks for:
 * annulus_shared_options options = ANNULUS_SHARED_OPTIONS(1024, struct quote, "quote{bid:f64,ask:f64}");,
 * and then what is to be other than the default. What is not set has to be 0.
 *
 * Both sides say what a message is made of, by a schema (docs/SCHEMA.md). A program in Rust has it from
 * #[derive(Message)]. The names, kinds and places of the fields have to be equal.
 */
typedef struct annulus_shared_options {
    /**
     * sizeof(annulus_shared_options): it tells the library which version of this the program was compiled
     * with.
     */
    size_t size;
    /**
     * How many messages the ring holds, exactly; of a queue of records, how many bytes. Those that join have
     * the ring's; it is not looked at then.
     */
    size_t capacity;
    /**
     * The size of a message, in bytes: above 0, and a multiple of its alignment.
     */
    size_t message_size;
    /**
     * The alignment of a message, in bytes: a power of two, at most 4096.
     */
    size_t message_alignment;
    /**
     * What a message is made of, as text: quote{bid:f64,ask:f64}. It has to have message_size bytes.
     * Null: only the size is known. A ring that is made so has no schema, and only those that have none join
     * it. A process that joins so takes any ring with messages of that size.
     */
    const char *schema;
    /**
     * How threads of this process wait that have to.
     */
    struct annulus_wait wait;
    /**
     * Of a ring with several producers or publishers: how many there can be at one time. Of a lossless ring
     * of one publisher: for how many subscribers it waits. At most 1024; 0 is 16. Those that join have the
     * ring's.
     */
    uint32_t places;
    /**
     * Of several of these bits, together: ANNULUS_STATISTICS, ANNULUS_WAIT_FOR_NEXT_CONSUMER,
     * ANNULUS_CLOSE_WITH_LAST_PRODUCER, ANNULUS_CLOSE_WITH_LAST_CONSUMER, ANNULUS_DROP_UNRECEIVED.
     */
    uint32_t flags;
    /**
     * Of a queue that several consumers share: how many there can be at one time. Of a lossless ring of
     * several publishers: for how many subscribers they wait. At most 1024; 0 is 16. Those that join have
     * the ring's.
     */
    uint32_t receivers;
    /**
     * Of a broadcast ring, of frames and of newest values: a promise that something is published at least
     * once in so many nanoseconds. Of a process that subscribes to a broadcast ring: after how long a
     * silence it calls the publisher overdue, whatever that has promised. 0: nothing is promised, or the
     * promise holds. See annulus_subscriber_overdue.
     */
    uint64_t deadline_ns;
    /**
     * Of a broadcast ring of one publisher: a name, whose numbers the ring goes on with; null: it begins
     * with 0. The numbers of a name are kept in its directory. One publisher at a time has them, or it is
     * ANNULUS_OCCUPIED. Of those that join it is not looked at.
     */
    const char *numbering;
    /**
     * The path of that directory, of any bytes; null is the directory of the user.
     */
    const char *numbering_directory;
} annulus_shared_options;

/**
 * What a ring of frames is made of: annulus_frame_options frames = ANNULUS_FRAME_OPTIONS(1 << 20);, and
 * then what is to be other than the default. What is not set has to be 0.
 */
typedef struct annulus_frame_options {
    /**
     * sizeof(annulus_frame_options).
     */
    size_t size;
    /**
     * How many bytes a frame may have.
     */
    size_t frame_bytes;
    /**
     * At multiples of how many bytes frames begin: a power of two, 64 to 2 MiB; 0 is 64.
     */
    size_t alignment;
    /**
     * How many frames a subscriber may hold at one time, at most 512; 0 is 2.
     */
    uint32_t held;
    /**
     * Whether the publisher waits for the slowest subscriber. Otherwise it never waits, and a subscriber
     * that falls behind loses the oldest frames, and counts them.
     */
    bool lossless;
} annulus_frame_options;

/**
 * A frame that was received. It stays as it is until annulus_held_frame_free gives held back.
 */
typedef struct annulus_frame {
    /**
     * The first byte, in place. Another process wrote it, and could do so again: unless you trust it not to,
     * copy what you need, then check the copy, and use the copy.
     */
    const void *bytes;
    /**
     * How many there are.
     */
    size_t length;
    /**
     * The number of the message, from 0 on: a gap is what was lost.
     */
    uint64_t sequence;
    /**
     * Which of the ring's frames it is, from 0 on. What goes with each frame, a buffer of a GPU for example,
     * has the same number, and nobody writes to it while this frame is held.
     */
    size_t index;
    /**
     * What holds it.
     */
    struct annulus_held_frame *held;
} annulus_frame;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the interface that the library has. It is ANNULUS_ABI_VERSION, or header and library do
 * not belong together. Any thread may call it.
 */
uint32_t annulus_abi_version(void);

/**
 * The version of the library, as ANNULUS_VERSION is the header's version. The text is constant. Any thread
 * may call it.
 */
const char *annulus_version(void);

/**
 * What a status means, in English. The text is constant, and never null; for a number that is no status it
 * says so. Any thread may call it.
 */
const char *annulus_strerror(int32_t status);

/**
 * Makes a queue, and its first producer and consumer.
 *
 * kind is ANNULUS_SPSC, ANNULUS_MPSC, ANNULUS_SPMC, ANNULUS_MPMC or ANNULUS_ORDERED. Messages of
 * the last three have at most ANNULUS_MESSAGE_MAX bytes; for larger ones, send the 4 bytes of a handle of
 * a pool. All memory of the ring is allocated here, and freed with the last handle of the queue.
 *
 * The caller owns both handles, and frees each with annulus_producer_free or annulus_consumer_free. A
 * handle may move to another thread; one thread at a time uses it. Any thread may call this.
 *
 * Returns ANNULUS_INVALID (a null pointer, another size of the options, a kind or a way to wait that is
 * none, a capacity of 0), ANNULUS_WRONG_SIZE (messages of 0 bytes, or of too many), ANNULUS_NO_MEMORY.
 * Then both handles are null.
 */
annulus_status annulus_queue_new(uint32_t kind,
                                 const struct annulus_options *options,
                                 struct annulus_producer **producer,
                                 struct annulus_consumer **consumer);

/**
 * Sends a copy of the message at message, if there is room. Never waits.
 *
 * size is the size of the message, and has to be the one of the queue. The queue has a copy afterwards;
 * the caller keeps its own. The thread that uses the producer may call this.
 *
 * Returns ANNULUS_FULL; ANNULUS_CLOSED; ANNULUS_RESERVED while a reservation is open; ANNULUS_VIEWED
 * while it has a view; or ANNULUS_INVALID, ANNULUS_WRONG_SIZE, ANNULUS_NOT_A_HANDLE. Between processes
 * also ANNULUS_PEER_DIED.
 */
annulus_status annulus_producer_try_send(struct annulus_producer *producer, const void *message, size_t size);

/**
 * As annulus_producer_try_send, but waits while there is no room, in the way of the options.
 *
 * Returns ANNULUS_CLOSED if the queue is closed, or was closed while this waited; or as
 * annulus_producer_try_send.
 */
annulus_status annulus_producer_send(struct annulus_producer *producer, const void *message, size_t size);

/**
 * As annulus_producer_send, but gives up after timeout_ns nanoseconds on the monotonic clock. With 0 it
 * still sends if there is room.
 *
 * Returns ANNULUS_TIMEOUT if no room came in time; or as annulus_producer_send.
 */
annulus_status annulus_producer_send_timeout(struct annulus_producer *producer,
                                             const void *message,
                                             size_t size,
                                             uint64_t timeout_ns);

/**
 * Sends copies of as many of the count messages at messages as there is room for, from the first on.
 * They lie as in an array, each size bytes behind the one before. Never waits. *sent says how many were
 * sent.
 *
 * The thread that uses the producer may call this. Returns ANNULUS_OK if at least one was sent, else as
 * annulus_producer_try_send; ANNULUS_INVALID also if count is 0.
 */
annulus_status annulus_producer_try_send_batch(struct annulus_producer *producer,
                                               const void *messages,
                                               size_t count,
                                               size_t size,
                                               size_t *sent);

/**
 * Reserves up to most messages in the ring, to be written there: *slots is the first one, and *count
 * how many there are, at least 1. There are fewer if fewer are free, or if the end of the ring comes first.
 * Each lies annulus_producer_stride bytes behind the one before, which is the size rounded up to a
 * multiple of 8; the first one is aligned for each type of that size. Never waits. Queues of one consumer
 * only.
 *
 * The slots are the caller's until it commits; nothing is sent before. annulus_producer_commit ends the
 * reservation. Until then, sends fail. The thread that uses the producer may call this.
 *
 * Between processes the other process can write to the slots meanwhile. So unless you trust it not to, write
 * there only, and do not rely on what you read back.
 *
 * Returns ANNULUS_FULL, ANNULUS_CLOSED, ANNULUS_RESERVED (there is one already), ANNULUS_VIEWED,
 * ANNULUS_INVALID (also if most is 0), ANNULUS_UNSUPPORTED (a queue of many consumers),
 * ANNULUS_NOT_A_HANDLE. Between processes also ANNULUS_PEER_DIED. Then *slots is null, and *count is
 * 0.
 */
annulus_status annulus_producer_try_reserve(struct annulus_producer *producer,
                                            size_t most,
                                            void **slots,
                                            size_t *count);

/**
 * As annulus_producer_try_reserve, but waits while no slot is free, for timeout_ns nanoseconds at most;
 * ANNULUS_FOREVER is no limit. It waits for one slot, not for most of them.
 *
 * Returns ANNULUS_TIMEOUT if no slot became free in time; or as annulus_producer_try_reserve.
 */
annulus_status annulus_producer_reserve(struct annulus_producer *producer,
                                        size_t most,
                                        uint64_t timeout_ns,
                                        void **slots,
                                        size_t *count);

/**
 * Sends the first count messages of the reservation, all at once, and ends it. The others are not sent.
 * With 0 it sends nothing. The slots are no longer the caller's.
 *
 * The thread that uses the producer may call this. Returns ANNULUS_INVALID if fewer are reserved (the
 * reservation stays); ANNULUS_CLOSED (between processes also ANNULUS_PEER_DIED), and nothing is sent;
 * ANNULUS_VIEWED, ANNULUS_UNSUPPORTED, ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_producer_commit(struct annulus_producer *producer, size_t count);

/**
 * Makes another producer of the same queue, which the caller owns. In a queue with a ring for each producer
 * it takes over the ring of one that was freed, or has a new one.
 *
 * The thread that uses producer may call this; another thread may use the new one. Returns
 * ANNULUS_UNSUPPORTED (a queue of one producer), ANNULUS_CLOSED, ANNULUS_NO_MEMORY, ANNULUS_INVALID,
 * ANNULUS_NOT_A_HANDLE. Then *another is null.
 */
annulus_status annulus_producer_clone(const struct annulus_producer *producer,
                                      struct annulus_producer **another);

/**
 * How many messages wait: of a queue with a ring for each producer, in this one's ring (in all of them, if
 * there are many consumers). It may have changed when this returns. 0 if producer is no handle.
 *
 * The thread that uses the producer may call this.
 */
size_t annulus_producer_len(const struct annulus_producer *producer);

/**
 * How many messages the queue holds: exactly what was asked for. 0 if producer is no handle.
 *
 * The thread that uses the producer may call this.
 */
size_t annulus_producer_capacity(const struct annulus_producer *producer);

/**
 * From one reserved message to the next, in bytes: the size, rounded up to a multiple of 8; between
 * processes the size itself. 0 if producer is no handle, or its queue has no reservations.
 *
 * The thread that uses the producer may call this.
 */
size_t annulus_producer_stride(const struct annulus_producer *producer);

/**
 * Closes the queue for all its producers, and wakes all threads that wait. Consumers receive what was sent
 * before, and then ANNULUS_CLOSED. No effect on a closed queue. The handle stays, and is to be freed.
 *
 * The thread that uses the producer may call this; other threads use an annulus_closer. Returns
 * ANNULUS_INVALID or ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_producer_close(struct annulus_producer *producer);

/**
 * Whether the queue is closed: every send fails from now on. True if producer is no handle.
 *
 * The thread that uses the producer may call this.
 */
bool annulus_producer_is_closed(const struct annulus_producer *producer);

/**
 * Frees the producer. With the last producer the queue closes; consumers receive what was sent before. A
 * reservation ends, and nothing of it is sent. Null is no error, and has no effect.
 *
 * The thread that uses the producer may call this. Returns ANNULUS_NOT_A_HANDLE if it was freed before, or
 * is a handle of another type, ANNULUS_VIEWED if it has a view: then nothing is freed.
 */
annulus_status annulus_producer_free(struct annulus_producer *producer);

/**
 * Receives the next message to message, if one is there. Never waits.
 *
 * size is how many bytes there are at message, and has to be the size of a message of the queue. The
 * thread that uses the consumer may call this.
 *
 * Returns ANNULUS_EMPTY; ANNULUS_CLOSED if the queue is closed and every message was received;
 * ANNULUS_VIEWED while it has a view; or ANNULUS_INVALID, ANNULUS_WRONG_SIZE, ANNULUS_NOT_A_HANDLE.
 * Then message is as it was. Between processes also ANNULUS_PEER_DIED, and ANNULUS_CORRUPT, if the
 * schema has a bool, an enum, a text or the like; then the bytes of message mean nothing.
 */
annulus_status annulus_consumer_try_recv(struct annulus_consumer *consumer, void *message, size_t size);

/**
 * As annulus_consumer_try_recv, but waits while no message is there, in the way of the options.
 *
 * Returns ANNULUS_CLOSED if the queue is closed and every message was received, also while this waited; or
 * as annulus_consumer_try_recv.
 */
annulus_status annulus_consumer_recv(struct annulus_consumer *consumer, void *message, size_t size);

/**
 * As annulus_consumer_recv, but gives up after timeout_ns nanoseconds on the monotonic clock. With 0 it
 * still receives a message that is there.
 *
 * Returns ANNULUS_TIMEOUT if none came in time; or as annulus_consumer_recv.
 */
annulus_status annulus_consumer_recv_timeout(struct annulus_consumer *consumer,
                                             void *message,
                                             size_t size,
                                             uint64_t timeout_ns);

/**
 * Receives up to count messages to messages, where they lie as in an array, each size bytes behind the
 * one before. Never waits. *received says how many they are.
 *
 * The thread that uses the consumer may call this. Returns ANNULUS_OK if at least one was received, else
 * as annulus_consumer_try_recv; ANNULUS_INVALID also if count is 0. What is corrupt is passed over
 * where something else was received, and counted in any case.
 */
annulus_status annulus_consumer_try_recv_batch(struct annulus_consumer *consumer,
                                               void *messages,
                                               size_t count,
                                               size_t size,
                                               size_t *received);

/**
 * Shows the next messages where they lie in the ring: *messages is the first one, and *count how many
 * are contiguous, at least 1. Each lies annulus_consumer_stride bytes behind the one before. It
 * waits for the first one for timeout_ns nanoseconds at most: with 0 it does not wait, ANNULUS_FOREVER
 * is no limit. Queues of one consumer only.
 *
 * The messages stay in the queue, and may be read, until annulus_consumer_advance gives them back. The
 * pointer is good until then, or until the next receive. The thread that uses the consumer may call this.
 *
 * Between processes the other process can write to the messages while they are read. Unless you trust it not
 * to, copy a message first, then check the copy, and use the copy. Messages with a
 * bool, an enum, a text or the like are not shown.
 *
 * Returns ANNULUS_TIMEOUT (with 0: ANNULUS_EMPTY), ANNULUS_CLOSED, ANNULUS_UNSUPPORTED (a queue of
 * many consumers, or such messages), ANNULUS_VIEWED, ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Between
 * processes also ANNULUS_PEER_DIED. Then *messages is null, and *count is 0.
 */
annulus_status annulus_consumer_readable(struct annulus_consumer *consumer,
                                         uint64_t timeout_ns,
                                         const void **messages,
                                         size_t *count);

/**
 * Takes the first count of the messages that annulus_consumer_readable showed out of the queue. Their
 * slots go back to the producer at once.
 *
 * The thread that uses the consumer may call this. Returns ANNULUS_INVALID if fewer were shown and not
 * taken yet; ANNULUS_VIEWED, ANNULUS_UNSUPPORTED, ANNULUS_NOT_A_HANDLE. Then nothing is taken.
 */
annulus_status annulus_consumer_advance(struct annulus_consumer *consumer, size_t count);

/**
 * Makes another consumer of the same queue, which the caller owns. Each message reaches one of them.
 *
 * The thread that uses consumer may call this; another thread may use the new one. Returns
 * ANNULUS_UNSUPPORTED (a queue of one consumer), ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then
 * *another is null.
 */
annulus_status annulus_consumer_clone(const struct annulus_consumer *consumer,
                                      struct annulus_consumer **another);

/**
 * A file descriptor for poll, epoll or io_uring that becomes readable when a message comes or the
 * queue closes, once annulus_consumer_arm has armed it. (Linux: an eventfd.) It belongs to the consumer,
 * which closes it when it is freed: the program must neither close it nor read from it.
 *
 * The thread that uses the consumer may call this. Returns ANNULUS_SYSTEM, ANNULUS_UNSUPPORTED,
 * ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then *fd is -1.
 */
annulus_status annulus_consumer_fd(struct annulus_consumer *consumer, int *fd);

/**
 * Arms the descriptor of annulus_consumer_fd, before each wait for it. *ready says whether a message, or
 * the end, is there already. If so, the descriptor is not armed: receive first. A receive disarms it.
 *
 * The thread that uses the consumer may call this. Returns ANNULUS_INVALID (there is no descriptor yet),
 * ANNULUS_VIEWED, ANNULUS_NOT_A_HANDLE. Then *ready is true.
 */
annulus_status annulus_consumer_arm(struct annulus_consumer *consumer, bool *ready);

/**
 * How many messages wait, in all rings of the queue. It may have changed when this returns. 0 if consumer
 * is no handle.
 *
 * The thread that uses the consumer may call this.
 */
size_t annulus_consumer_len(const struct annulus_consumer *consumer);

/**
 * How many messages were passed over, because another process had written what is none
 * (ANNULUS_CORRUPT). 0 if consumer is no handle.
 *
 * The thread that uses the consumer may call this.
 */
uint64_t annulus_consumer_corrupt(const struct annulus_consumer *consumer);

/**
 * How many messages the queue holds: exactly what was asked for. 0 if consumer is no handle.
 *
 * The thread that uses the consumer may call this.
 */
size_t annulus_consumer_capacity(const struct annulus_consumer *consumer);

/**
 * From one readable message to the next, in bytes: the size, rounded up to a multiple of 8; between
 * processes the size itself. 0 if consumer is no handle, or its queue shows no messages.
 *
 * The thread that uses the consumer may call this.
 */
size_t annulus_consumer_stride(const struct annulus_consumer *consumer);

/**
 * Closes the queue, and wakes all threads that wait. Sends fail from now on; messages that were sent before
 * can still be received. No effect on a closed queue. The handle stays, and is to be freed.
 *
 * The thread that uses the consumer may call this; other threads use an annulus_closer. Returns
 * ANNULUS_INVALID or ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_consumer_close(struct annulus_consumer *consumer);

/**
 * Whether the queue is closed. There may be messages left. True if consumer is no handle.
 *
 * The thread that uses the consumer may call this.
 */
bool annulus_consumer_is_closed(const struct annulus_consumer *consumer);

/**
 * Frees the consumer. With the last consumer the queue closes, sends fail, and what was not received is
 * gone. Its descriptor is closed. Null is no error, and has no effect.
 *
 * The thread that uses the consumer may call this. Returns ANNULUS_NOT_A_HANDLE if it was freed before, or
 * is a handle of another type, ANNULUS_VIEWED if it has a view: then nothing is freed.
 */
annulus_status annulus_consumer_free(struct annulus_consumer *consumer);

/**
 * Makes a broadcast ring, its publisher, and what makes its subscribers. A subscriber receives what is
 * published after it has joined.
 *
 * kind is ANNULUS_LOSSY, ANNULUS_LOSSLESS, ANNULUS_MP_LOSSY or ANNULUS_MP_LOSSLESS. Messages have
 * at most ANNULUS_MESSAGE_MAX bytes. All memory of the ring is allocated here, and freed with the last
 * handle.
 *
 * The caller owns both, and frees each with annulus_publisher_free or annulus_subscribable_free. Any
 * thread may call this.
 *
 * Returns ANNULUS_INVALID (a null pointer, another size of the options, a kind or a way to wait that is
 * none, a capacity that the ring can't have, such as 0 or 1), ANNULUS_WRONG_SIZE (messages of 0 bytes, or
 * of too many), ANNULUS_NO_MEMORY. Then both are null.
 */
annulus_status annulus_broadcast_new(uint32_t kind,
                                     const struct annulus_options *options,
                                     struct annulus_publisher **publisher,
                                     struct annulus_subscribable **subscribable);

/**
 * Makes a subscriber, which the caller owns. It receives what is published from now on; with from_oldest
 * also what the ring still has, from the oldest message on.
 *
 * Any thread may call this; one thread at a time uses the subscriber. Returns ANNULUS_INVALID,
 * ANNULUS_NOT_A_HANDLE; ANNULUS_OCCUPIED if all seats of a lossless ring between processes are taken.
 * Then *subscriber is null. (A subscriber of a closed ring receives what is there, and then
 * ANNULUS_CLOSED.)
 */
annulus_status annulus_subscribable_subscribe(const struct annulus_subscribable *subscribable,
                                              bool from_oldest,
                                              struct annulus_subscriber **subscriber);

/**
 * Frees it. Nobody joins any more; subscribers stay. Null is no error, and has no effect.
 *
 * One thread may call this, when no other one uses it any more. Returns ANNULUS_NOT_A_HANDLE if it was
 * freed before, or is a handle of another type.
 */
annulus_status annulus_subscribable_free(struct annulus_subscribable *subscribable);

/**
 * Publishes a copy of the message at message. On a lossless ring it waits while the slowest subscriber has
 * not received the message that lies where this one will, in the way of the options. On a lossy ring it
 * waits for nobody.
 *
 * size is the size of the message, and has to be the one of the ring. The ring has a copy afterwards; the
 * caller keeps its own. The thread that uses the publisher may call this.
 *
 * Returns ANNULUS_CLOSED, also if the ring was closed while this waited; ANNULUS_VIEWED
 * while it has a view; ANNULUS_INVALID, ANNULUS_WRONG_SIZE, ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_publisher_publish(struct annulus_publisher *publisher,
                                         const void *message,
                                         size_t size);

/**
 * As annulus_publisher_publish, but never waits for a subscriber.
 *
 * Returns ANNULUS_FULL where it would have to wait; or as annulus_publisher_publish.
 */
annulus_status annulus_publisher_try_publish(struct annulus_publisher *publisher,
                                             const void *message,
                                             size_t size);

/**
 * As annulus_publisher_publish, but gives up after timeout_ns nanoseconds on the monotonic clock.
 *
 * Returns ANNULUS_TIMEOUT if there was no room in time; or as annulus_publisher_publish.
 */
annulus_status annulus_publisher_publish_timeout(struct annulus_publisher *publisher,
                                                 const void *message,
                                                 size_t size,
                                                 uint64_t timeout_ns);

/**
 * Makes another publisher of the same ring, which the caller owns.
 *
 * The thread that uses publisher may call this; another thread may use the new one. Returns
 * ANNULUS_UNSUPPORTED (a ring of one publisher), ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then
 * *another is null.
 */
annulus_status annulus_publisher_clone(const struct annulus_publisher *publisher,
                                       struct annulus_publisher **another);

/**
 * How many messages the ring holds: exactly what was asked for. 0 if publisher is no handle.
 *
 * The thread that uses the publisher may call this.
 */
size_t annulus_publisher_capacity(const struct annulus_publisher *publisher);

/**
 * Closes the ring, and wakes all threads that wait. Subscribers receive what was published before, and then
 * ANNULUS_CLOSED. No effect on a closed ring. The handle stays, and is to be freed.
 *
 * The thread that uses the publisher may call this; other threads use an annulus_closer. Returns
 * ANNULUS_INVALID or ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_publisher_close(struct annulus_publisher *publisher);

/**
 * Whether the ring is closed: publishing fails from now on. True if publisher is no handle.
 *
 * The thread that uses the publisher may call this.
 */
bool annulus_publisher_is_closed(const struct annulus_publisher *publisher);

/**
 * Makes a closer for the ring of this publisher, which the caller owns.
 *
 * The thread that uses the publisher may call this. Returns ANNULUS_INVALID or ANNULUS_NOT_A_HANDLE.
 * Then *closer is null.
 */
annulus_status annulus_publisher_closer(const struct annulus_publisher *publisher,
                                        struct annulus_closer **closer);

/**
 * Frees the publisher. With the last publisher the ring closes; subscribers receive what was published
 * before. Null is no error, and has no effect.
 *
 * The thread that uses the publisher may call this. Returns ANNULUS_NOT_A_HANDLE if it was freed before,
 * or is a handle of another type, ANNULUS_VIEWED if it has a view: then nothing is freed.
 */
annulus_status annulus_publisher_free(struct annulus_publisher *publisher);

/**
 * Receives the next message to message, if one is there. Never waits. A subscriber of a lossy ring that
 * has lost messages continues with one that is there: annulus_subscriber_lagged says how many it lost.
 *
 * size is how many bytes there are at message, and has to be the size of a message of the ring. The
 * thread that uses the subscriber may call this.
 *
 * Returns ANNULUS_EMPTY; ANNULUS_CLOSED if the ring is closed and every message was received;
 * ANNULUS_VIEWED while it has a view; or ANNULUS_INVALID, ANNULUS_WRONG_SIZE, ANNULUS_NOT_A_HANDLE.
 * Then message is as it was. Between processes also ANNULUS_PEER_DIED, and ANNULUS_CORRUPT, if the
 * schema has a bool, an enum, a text or the like; then the bytes of message mean nothing.
 */
annulus_status annulus_subscriber_try_recv(struct annulus_subscriber *subscriber, void *message, size_t size);

/**
 * As annulus_subscriber_try_recv, but waits while no message is there, in the way of the options.
 *
 * Returns ANNULUS_CLOSED if the ring is closed and every message was received, also while this waited; or
 * as annulus_subscriber_try_recv.
 */
annulus_status annulus_subscriber_recv(struct annulus_subscriber *subscriber, void *message, size_t size);

/**
 * As annulus_subscriber_recv, but gives up after timeout_ns nanoseconds on the monotonic clock. With 0
 * it still receives a message that is there.
 *
 * Returns ANNULUS_TIMEOUT if none came in time; or as annulus_subscriber_recv.
 */
annulus_status annulus_subscriber_recv_timeout(struct annulus_subscriber *subscriber,
                                               void *message,
                                               size_t size,
                                               uint64_t timeout_ns);

/**
 * How many messages this subscriber has lost, exactly, since it joined: what it received, what it lost, and
 * what was corrupt are all that was published up to where it is. Always 0 on a lossless ring; 0 if
 * subscriber is no handle.
 *
 * The thread that uses the subscriber may call this.
 */
uint64_t annulus_subscriber_lagged(const struct annulus_subscriber *subscriber);

/**
 * How many times a receive has returned ANNULUS_CORRUPT, since it joined. 0 if subscriber is no handle.
 *
 * The thread that uses the subscriber may call this.
 */
uint64_t annulus_subscriber_corrupt(const struct annulus_subscriber *subscriber);

/**
 * How many messages this subscriber has received since it joined. 0 if subscriber is no handle.
 *
 * The thread that uses the subscriber may call this.
 */
uint64_t annulus_subscriber_received(const struct annulus_subscriber *subscriber);

/**
 * How many messages are there for this subscriber. It may have changed when this returns. 0 if subscriber
 * is no handle.
 *
 * The thread that uses the subscriber may call this.
 */
size_t annulus_subscriber_len(const struct annulus_subscriber *subscriber);

/**
 * History: begins with the last count messages that were published, or with as many as there are: *there
 * says how many. For a subscriber that has just joined with the oldest message (from_oldest). What it
 * leaves out counts neither as received nor as lost. Never waits.
 *
 * The thread that uses the subscriber may call this. Returns ANNULUS_VIEWED while it has a view;
 * ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then *there is 0.
 */
annulus_status annulus_subscriber_begin_with_last(struct annulus_subscriber *subscriber,
                                                  size_t count,
                                                  size_t *there);

/**
 * The number of the next message that this subscriber looks at. A ring begins with 0, or goes on with the
 * numbers of a name (numbering): then a number stands for one message for ever. 0 if subscriber is no
 * handle.
 *
 * The thread that uses the subscriber may call this.
 */
uint64_t annulus_subscriber_cursor(const struct annulus_subscriber *subscriber);

/**
 * After how many nanoseconds of silence the publisher is overdue: what it has promised, or the deadline_ns
 * by which this process has joined. 0 if neither is there, in one process, or if subscriber is no handle.
 *
 * The thread that uses the subscriber may call this.
 */
uint64_t annulus_subscriber_deadline(const struct annulus_subscriber *subscriber);

/**
 * For how many nanoseconds the publisher has been silent, if that is as long as the deadline or longer,
 * nothing waits to be received, and its process is there: so it hangs. Of several, none has published.
 * Otherwise, or if subscriber is no handle, 0.
 *
 * The silence counts from the first wait, or the first call of this, that has found nothing since the last
 * message. So a program that waits by the deadline (annulus_subscriber_recv_timeout, or the descriptor),
 * and asks when that was in vain, is told at once.
 *
 * The thread that uses the subscriber may call this.
 */
uint64_t annulus_subscriber_overdue(struct annulus_subscriber *subscriber);

/**
 * A file descriptor for poll, epoll or io_uring, as annulus_consumer_fd; annulus_subscriber_arm
 * arms it.
 *
 * The thread that uses the subscriber may call this. Returns ANNULUS_SYSTEM, ANNULUS_UNSUPPORTED,
 * ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then *fd is -1.
 */
annulus_status annulus_subscriber_fd(struct annulus_subscriber *subscriber, int *fd);

/**
 * Arms the descriptor of annulus_subscriber_fd, before each wait for it, as annulus_consumer_arm.
 * *ready says whether a message, or the end, is there already. If so, the descriptor is not armed: receive
 * first. A receive disarms it.
 *
 * The thread that uses the subscriber may call this. Returns ANNULUS_INVALID (there is no descriptor yet),
 * ANNULUS_VIEWED, ANNULUS_NOT_A_HANDLE. Then *ready is true.
 */
annulus_status annulus_subscriber_arm(struct annulus_subscriber *subscriber, bool *ready);

/**
 * Whether the ring is closed. There may be messages left. True if subscriber is no handle.
 *
 * The thread that uses the subscriber may call this.
 */
bool annulus_subscriber_is_closed(const struct annulus_subscriber *subscriber);

/**
 * Frees the subscriber: publishers of a lossless ring wait for it no longer. Its descriptor is closed. Null
 * is no error, and has no effect.
 *
 * The thread that uses the subscriber may call this. Returns ANNULUS_NOT_A_HANDLE if it was freed before,
 * or is a handle of another type, ANNULUS_VIEWED if it has a view: then nothing is freed.
 */
annulus_status annulus_subscriber_free(struct annulus_subscriber *subscriber);

/**
 * Makes a queue of records of any length, up to half the capacity, with one producer and one consumer. Both
 * can use records where they lie in the ring.
 *
 * options come from ANNULUS_BYTES_OPTIONS(capacity): the capacity is in bytes, 2 or more, and the
 * size of a message is 1. A record takes 8 bytes for its length, and its own bytes, rounded up to a multiple
 * of 8. It is never split: where it would run over the end of the ring, the rest of that stays empty. So
 * make the ring several times as large as what is to lie in it. All memory of the ring is allocated here,
 * and freed with the last handle of the queue.
 *
 * The caller owns both handles, and frees each with annulus_bytes_producer_free or
 * annulus_bytes_consumer_free. A handle may move to another thread; one thread at a time uses it. Any
 * thread may call this.
 *
 * Returns ANNULUS_INVALID (a null pointer, another size of the options, a way to wait that is none, a
 * capacity below 2), ANNULUS_WRONG_SIZE (messages of another size than 1), ANNULUS_NO_MEMORY. Then both
 * handles are null.
 */
annulus_status annulus_bytes_queue_new(const struct annulus_options *options,
                                       struct annulus_bytes_producer **producer,
                                       struct annulus_bytes_consumer **consumer);

/**
 * Sends a copy of the length bytes at record as one record, if there is room. Never waits. A record may
 * be empty; then record may be null.
 *
 * The queue has a copy afterwards; the caller keeps its own. The thread that uses the producer may call
 * this.
 *
 * Returns ANNULUS_FULL; ANNULUS_CLOSED; ANNULUS_WRONG_SIZE if the record is longer than
 * annulus_bytes_producer_max_len; ANNULUS_RESERVED while a reservation is open; ANNULUS_INVALID,
 * ANNULUS_NOT_A_HANDLE. Between processes also ANNULUS_PEER_DIED. Then nothing is sent.
 */
annulus_status annulus_bytes_producer_try_send(struct annulus_bytes_producer *producer,
                                               const void *record,
                                               size_t length);

/**
 * As annulus_bytes_producer_try_send, but waits while there is no room, in the way of the options. It does
 * not wait for a record that is too long.
 *
 * Returns ANNULUS_CLOSED if the queue is closed, or was closed while this waited; or as
 * annulus_bytes_producer_try_send.
 */
annulus_status annulus_bytes_producer_send(struct annulus_bytes_producer *producer,
                                           const void *record,
                                           size_t length);

/**
 * As annulus_bytes_producer_send, but gives up after timeout_ns nanoseconds on the monotonic clock. With
 * 0 it still sends if there is room.
 *
 * Returns ANNULUS_TIMEOUT if no room came in time; or as annulus_bytes_producer_send.
 */
annulus_status annulus_bytes_producer_send_timeout(struct annulus_bytes_producer *producer,
                                                   const void *record,
                                                   size_t length,
                                                   uint64_t timeout_ns);

/**
 * Reserves room in the ring for a record of up to length bytes, to be written there: *bytes is the first
 * one, at a multiple of 8. Never waits.
 *
 * The bytes are the caller's until it commits or cancels; nothing is sent before. At first they have any
 * values. Until then, sends fail. The thread that uses the producer may call this.
 *
 * Between processes the other process can write to the bytes meanwhile. So unless you trust it not to, write
 * there only, and do not rely on what you read back.
 *
 * Returns ANNULUS_FULL, ANNULUS_CLOSED, ANNULUS_WRONG_SIZE (longer than
 * annulus_bytes_producer_max_len), ANNULUS_RESERVED (there is a reservation already), ANNULUS_INVALID,
 * ANNULUS_NOT_A_HANDLE. Between processes also ANNULUS_PEER_DIED. Then *bytes is null.
 */
annulus_status annulus_bytes_producer_try_reserve(struct annulus_bytes_producer *producer,
                                                  size_t length,
                                                  void **bytes);

/**
 * As annulus_bytes_producer_try_reserve, but waits while there is no room for the whole of it, for
 * timeout_ns nanoseconds at most; ANNULUS_FOREVER is no limit.
 *
 * Returns ANNULUS_TIMEOUT if no room came in time; or as annulus_bytes_producer_try_reserve.
 */
annulus_status annulus_bytes_producer_reserve(struct annulus_bytes_producer *producer,
                                              size_t length,
                                              uint64_t timeout_ns,
                                              void **bytes);

/**
 * Sends the first length bytes of the reservation as one record, and ends the reservation. With 0 the
 * record is empty. The bytes are no longer the caller's.
 *
 * The thread that uses the producer may call this. Returns ANNULUS_INVALID if fewer bytes are reserved, or
 * none (a reservation stays); ANNULUS_CLOSED, and nothing is sent; ANNULUS_NOT_A_HANDLE. Between
 * processes also ANNULUS_PEER_DIED.
 */
annulus_status annulus_bytes_producer_commit(struct annulus_bytes_producer *producer, size_t length);

/**
 * Ends the reservation, and sends nothing. The bytes are no longer the caller's.
 *
 * The thread that uses the producer may call this. Returns ANNULUS_INVALID if nothing is reserved,
 * ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_bytes_producer_cancel(struct annulus_bytes_producer *producer);

/**
 * Whether the consumer has received every record. If so, this stays true until this producer sends. True if
 * producer is no handle.
 *
 * The thread that uses the producer may call this.
 */
bool annulus_bytes_producer_is_empty(const struct annulus_bytes_producer *producer);

/**
 * The length of the longest record that the queue takes, in bytes: half its capacity. 0 if producer is no
 * handle.
 *
 * The thread that uses the producer may call this.
 */
size_t annulus_bytes_producer_max_len(const struct annulus_bytes_producer *producer);

/**
 * The capacity that was asked for, in bytes. 0 if producer is no handle.
 *
 * The thread that uses the producer may call this.
 */
size_t annulus_bytes_producer_capacity(const struct annulus_bytes_producer *producer);

/**
 * Closes the queue, and wakes both sides. The consumer receives what was sent before, and then
 * ANNULUS_CLOSED. No effect on a closed queue. The handle stays, and is to be freed.
 *
 * The thread that uses the producer may call this; other threads use an annulus_closer. Returns
 * ANNULUS_INVALID or ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_bytes_producer_close(struct annulus_bytes_producer *producer);

/**
 * Whether the queue is closed: every send fails from now on. True if producer is no handle.
 *
 * The thread that uses the producer may call this.
 */
bool annulus_bytes_producer_is_closed(const struct annulus_bytes_producer *producer);

/**
 * Makes a closer for the queue of this producer, as annulus_producer_closer.
 *
 * The thread that uses the producer may call this. Returns ANNULUS_INVALID or ANNULUS_NOT_A_HANDLE. Then
 * *closer is null.
 */
annulus_status annulus_bytes_producer_closer(const struct annulus_bytes_producer *producer,
                                             struct annulus_closer **closer);

/**
 * Stores the numbers of the queue of this producer, as annulus_producer_stats. They count words of 8 bytes
 * in place of messages, in capacity, too: a record takes one for its length, and one for each 8 bytes that
 * it begins. What stays empty at the end of the ring counts as well.
 *
 * The thread that uses the producer may call this. Returns ANNULUS_INVALID (a null pointer, another
 * size), ANNULUS_NOT_A_HANDLE. Then *stats is as it was.
 */
annulus_status annulus_bytes_producer_stats(const struct annulus_bytes_producer *producer,
                                            struct annulus_stats *stats);

/**
 * Frees the producer, which closes the queue; the consumer receives what was sent before. A reservation
 * ends, and nothing of it is sent. Null is no error, and has no effect.
 *
 * The thread that uses the producer may call this. Returns ANNULUS_NOT_A_HANDLE if it was freed before, or
 * is a handle of another type.
 */
annulus_status annulus_bytes_producer_free(struct annulus_bytes_producer *producer);

/**
 * Receives the next record to buffer, if one is there, and stores its length at *length. Never waits.
 *
 * size is how many bytes there are at buffer. A buffer of half the queue's capacity takes every record.
 * With a size of 0, buffer may be null: so this says how long the next record is. The thread that uses
 * the consumer may call this.
 *
 * Returns ANNULUS_TOO_SMALL if the record is longer than size: then *length is its length, and it is
 * still the next one. ANNULUS_EMPTY; ANNULUS_CLOSED if the queue is closed and every record was
 * received; ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE; between processes also ANNULUS_PEER_DIED. Then
 * *length is 0. With any but ANNULUS_OK, buffer is as it was.
 */
annulus_status annulus_bytes_consumer_try_recv(struct annulus_bytes_consumer *consumer,
                                               void *buffer,
                                               size_t size,
                                               size_t *length);

/**
 * As annulus_bytes_consumer_try_recv, but waits while no record is there, in the way of the options.
 *
 * Returns ANNULUS_CLOSED if the queue is closed and every record was received, also while this waited; or
 * as annulus_bytes_consumer_try_recv.
 */
annulus_status annulus_bytes_consumer_recv(struct annulus_bytes_consumer *consumer,
                                           void *buffer,
                                           size_t size,
                                           size_t *length);

/**
 * As annulus_bytes_consumer_recv, but gives up after timeout_ns nanoseconds on the monotonic clock. With
 * 0 it still receives a record that is there.
 *
 * Returns ANNULUS_TIMEOUT if none came in time; or as annulus_bytes_consumer_recv.
 */
annulus_status annulus_bytes_consumer_recv_timeout(struct annulus_bytes_consumer *consumer,
                                                   void *buffer,
                                                   size_t size,
                                                   size_t *length,
                                                   uint64_t timeout_ns);

/**
 * Shows the next record where it lies in the ring: *record is its first byte, at a multiple of 8, and
 * *length how long it is. It waits for one for timeout_ns nanoseconds at most: with 0 it does not wait,
 * ANNULUS_FOREVER is no limit.
 *
 * The record stays in the queue, and may be read, until annulus_bytes_consumer_advance gives it back. The
 * pointer is good until then, or until the next receive, which receives the same record. The thread that
 * uses the consumer may call this.
 *
 * Between processes the other process can write to the record while it is read. Unless you trust it not to,
 * copy what you need first, then check the copy, and use the copy; or receive to a buffer.
 *
 * Returns ANNULUS_TIMEOUT (with 0: ANNULUS_EMPTY), ANNULUS_CLOSED, ANNULUS_INVALID,
 * ANNULUS_NOT_A_HANDLE; between processes also ANNULUS_PEER_DIED. Then *record is null, and *length
 * is 0.
 */
annulus_status annulus_bytes_consumer_readable(struct annulus_bytes_consumer *consumer,
                                               uint64_t timeout_ns,
                                               const void **record,
                                               size_t *length);

/**
 * Takes the record that annulus_bytes_consumer_readable showed out of the queue. Its room goes back to the
 * producer at once.
 *
 * The thread that uses the consumer may call this. Returns ANNULUS_INVALID if none was shown, or it was
 * taken or received since; ANNULUS_NOT_A_HANDLE. Then nothing is taken.
 */
annulus_status annulus_bytes_consumer_advance(struct annulus_bytes_consumer *consumer);

/**
 * A file descriptor for poll, epoll or io_uring, as annulus_consumer_fd;
 * annulus_bytes_consumer_arm arms it.
 *
 * The thread that uses the consumer may call this. Returns ANNULUS_SYSTEM, ANNULUS_UNSUPPORTED,
 * ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then *fd is -1.
 */
annulus_status annulus_bytes_consumer_fd(struct annulus_bytes_consumer *consumer, int *fd);

/**
 * Arms the descriptor of annulus_bytes_consumer_fd, before each wait for it, as annulus_consumer_arm.
 * *ready says whether a record, or the end, is there already. If so, the descriptor is not armed: receive
 * first. A receive disarms it.
 *
 * The thread that uses the consumer may call this. Returns ANNULUS_INVALID (there is no descriptor yet),
 * ANNULUS_NOT_A_HANDLE. Then *ready is true.
 */
annulus_status annulus_bytes_consumer_arm(struct annulus_bytes_consumer *consumer, bool *ready);

/**
 * Whether no record is there. It may have changed when this returns. True if consumer is no handle.
 *
 * The thread that uses the consumer may call this.
 */
bool annulus_bytes_consumer_is_empty(const struct annulus_bytes_consumer *consumer);

/**
 * The length of the longest record that the queue takes, in bytes: half its capacity. 0 if consumer is no
 * handle.
 *
 * The thread that uses the consumer may call this.
 */
size_t annulus_bytes_consumer_max_len(const struct annulus_bytes_consumer *consumer);

/**
 * The capacity that was asked for, in bytes. 0 if consumer is no handle.
 *
 * The thread that uses the consumer may call this.
 */
size_t annulus_bytes_consumer_capacity(const struct annulus_bytes_consumer *consumer);

/**
 * Closes the queue, and wakes both sides. Sends fail from now on; records that were sent before can still be
 * received. No effect on a closed queue. The handle stays, and is to be freed.
 *
 * The thread that uses the consumer may call this; other threads use an annulus_closer. Returns
 * ANNULUS_INVALID or ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_bytes_consumer_close(struct annulus_bytes_consumer *consumer);

/**
 * Whether the queue is closed. There may be records left. True if consumer is no handle.
 *
 * The thread that uses the consumer may call this.
 */
bool annulus_bytes_consumer_is_closed(const struct annulus_bytes_consumer *consumer);

/**
 * As annulus_bytes_producer_closer, for the queue of this consumer.
 */
annulus_status annulus_bytes_consumer_closer(const struct annulus_bytes_consumer *consumer,
                                             struct annulus_closer **closer);

/**
 * As annulus_bytes_producer_stats, of the queue of this consumer.
 */
annulus_status annulus_bytes_consumer_stats(const struct annulus_bytes_consumer *consumer,
                                            struct annulus_stats *stats);

/**
 * Frees the consumer, which closes the queue: sends fail, and what was not received is gone. Its descriptor
 * is closed. Null is no error, and has no effect.
 *
 * The thread that uses the consumer may call this. Returns ANNULUS_NOT_A_HANDLE if it was freed before, or
 * is a handle of another type.
 */
annulus_status annulus_bytes_consumer_free(struct annulus_bytes_consumer *consumer);

/**
 * Makes a broadcast ring of records of any length, up to half the capacity, its publisher, and what makes
 * its subscribers. A subscriber receives what is published after it has joined.
 *
 * kind is ANNULUS_LOSSY or ANNULUS_LOSSLESS. The publisher of a lossy ring never waits: a subscriber
 * that falls behind loses the oldest records, and is told how many. The one of a lossless ring waits for the
 * slowest subscriber.
 *
 * options come from ANNULUS_BYTES_OPTIONS(capacity): the capacity is in bytes, and is rounded up to a
 * power of two and to 64; the size of a message is 1. The ring holds the newest records that have together
 * at most 15/16 of the capacity, and are at most a 32nd of it. All memory of the ring, twice the capacity,
 * is allocated here, and freed with the last handle.
 *
 * The caller owns both, and frees each with annulus_bytes_publisher_free or
 * annulus_bytes_subscribable_free. Any thread may call this.
 *
 * Returns ANNULUS_INVALID (a null pointer, another size of the options, a kind or a way to wait that is
 * none, a capacity of 0), ANNULUS_WRONG_SIZE (messages of another size than 1), ANNULUS_NO_MEMORY. Then
 * both are null.
 */
annulus_status annulus_bytes_broadcast_new(uint32_t kind,
                                           const struct annulus_options *options,
                                           struct annulus_bytes_publisher **publisher,
                                           struct annulus_bytes_subscribable **subscribable);

/**
 * Makes a subscriber, which the caller owns. It receives what is published from now on; with from_oldest
 * also what the ring still has, from the oldest record on. It allocates a buffer for the longest record.
 *
 * Any thread may call this; one thread at a time uses the subscriber. Returns ANNULUS_INVALID,
 * ANNULUS_NOT_A_HANDLE. Then *subscriber is null. (A subscriber of a closed ring receives what is there,
 * and then ANNULUS_CLOSED.)
 */
annulus_status annulus_bytes_subscribable_subscribe(const struct annulus_bytes_subscribable *subscribable,
                                                    bool from_oldest,
                                                    struct annulus_bytes_subscriber **subscriber);

/**
 * Frees it. Nobody joins any more; subscribers stay. Null is no error, and has no effect.
 *
 * One thread may call this, when no other one uses it any more. Returns ANNULUS_NOT_A_HANDLE if it was
 * freed before, or is a handle of another type.
 */
annulus_status annulus_bytes_subscribable_free(struct annulus_bytes_subscribable *subscribable);

/**
 * Publishes a copy of the length bytes at record as one record. On a lossless ring it waits while the
 * slowest subscriber has not received the oldest records, in whose place it goes, in the way of the options.
 * On a lossy ring it waits for nobody. A record may be empty; then record may be null.
 *
 * The ring has a copy afterwards; the caller keeps its own. The thread that uses the publisher may call
 * this.
 *
 * Returns ANNULUS_CLOSED, also if the ring was closed while this waited; ANNULUS_WRONG_SIZE if the
 * record is longer than annulus_bytes_publisher_max_len; ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then
 * nothing is published.
 */
annulus_status annulus_bytes_publisher_publish(struct annulus_bytes_publisher *publisher,
                                               const void *record,
                                               size_t length);

/**
 * As annulus_bytes_publisher_publish, but never waits for a subscriber.
 *
 * Returns ANNULUS_FULL where it would have to wait; or as annulus_bytes_publisher_publish.
 */
annulus_status annulus_bytes_publisher_try_publish(struct annulus_bytes_publisher *publisher,
                                                   const void *record,
                                                   size_t length);

/**
 * As annulus_bytes_publisher_publish, but gives up after timeout_ns nanoseconds on the monotonic clock.
 *
 * Returns ANNULUS_TIMEOUT if there was no room in time; or as annulus_bytes_publisher_publish.
 */
annulus_status annulus_bytes_publisher_publish_timeout(struct annulus_bytes_publisher *publisher,
                                                       const void *record,
                                                       size_t length,
                                                       uint64_t timeout_ns);

/**
 * The length of the longest record that the ring takes, in bytes: half its capacity. 0 if publisher is no
 * handle.
 *
 * The thread that uses the publisher may call this.
 */
size_t annulus_bytes_publisher_max_len(const struct annulus_bytes_publisher *publisher);

/**
 * The capacity in bytes: the one that was asked for, rounded up. 0 if publisher is no handle.
 *
 * The thread that uses the publisher may call this.
 */
size_t annulus_bytes_publisher_capacity(const struct annulus_bytes_publisher *publisher);

/**
 * Closes the ring, and wakes all threads that wait. Subscribers receive what was published before, and then
 * ANNULUS_CLOSED. No effect on a closed ring. The handle stays, and is to be freed.
 *
 * The thread that uses the publisher may call this; other threads use an annulus_closer. Returns
 * ANNULUS_INVALID or ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_bytes_publisher_close(struct annulus_bytes_publisher *publisher);

/**
 * Whether the ring is closed: publishing fails from now on. True if publisher is no handle.
 *
 * The thread that uses the publisher may call this.
 */
bool annulus_bytes_publisher_is_closed(const struct annulus_bytes_publisher *publisher);

/**
 * Makes a closer for the ring of this publisher, as annulus_publisher_closer.
 *
 * The thread that uses the publisher may call this. Returns ANNULUS_INVALID or ANNULUS_NOT_A_HANDLE.
 * Then *closer is null.
 */
annulus_status annulus_bytes_publisher_closer(const struct annulus_bytes_publisher *publisher,
                                              struct annulus_closer **closer);

/**
 * Stores the numbers of the ring of this publisher, as annulus_publisher_stats: in records, and capacity
 * is how many of them the ring holds at most.
 *
 * The thread that uses the publisher may call this. Returns ANNULUS_INVALID (a null pointer, another
 * size), ANNULUS_NOT_A_HANDLE. Then *stats is as it was.
 */
annulus_status annulus_bytes_publisher_stats(const struct annulus_bytes_publisher *publisher,
                                             struct annulus_stats *stats);

/**
 * Frees the publisher, which closes the ring; subscribers receive what was published before. Null is no
 * error, and has no effect.
 *
 * The thread that uses the publisher may call this. Returns ANNULUS_NOT_A_HANDLE if it was freed before,
 * or is a handle of another type.
 */
annulus_status annulus_bytes_publisher_free(struct annulus_bytes_publisher *publisher);

/**
 * Receives the next record to buffer, if one is there, and stores its length at *length. Never waits. A
 * subscriber that has lost records continues with one that is there: annulus_bytes_subscriber_lagged says
 * how many it lost.
 *
 * size is how many bytes there are at buffer. A buffer of annulus_bytes_subscriber_max_len bytes takes
 * every record. With a size of 0, buffer may be null: so this says how long the next record is. The
 * thread that uses the subscriber may call this.
 *
 * Returns ANNULUS_TOO_SMALL if the record is longer than size: then *length is its length, and it is
 * the next one still, and can't be lost any more. ANNULUS_EMPTY; ANNULUS_CLOSED if the ring is closed
 * and every record was received; ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then *length is 0. With any
 * but ANNULUS_OK, buffer is as it was.
 */
annulus_status annulus_bytes_subscriber_try_recv(struct annulus_bytes_subscriber *subscriber,
                                                 void *buffer,
                                                 size_t size,
                                                 size_t *length);

/**
 * As annulus_bytes_subscriber_try_recv, but waits while no record is there, in the way of the options.
 *
 * Returns ANNULUS_CLOSED if the ring is closed and every record was received, also while this waited; or
 * as annulus_bytes_subscriber_try_recv.
 */
annulus_status annulus_bytes_subscriber_recv(struct annulus_bytes_subscriber *subscriber,
                                             void *buffer,
                                             size_t size,
                                             size_t *length);

/**
 * As annulus_bytes_subscriber_recv, but gives up after timeout_ns nanoseconds on the monotonic clock.
 * With 0 it still receives a record that is there.
 *
 * Returns ANNULUS_TIMEOUT if none came in time; or as annulus_bytes_subscriber_recv.
 */
annulus_status annulus_bytes_subscriber_recv_timeout(struct annulus_bytes_subscriber *subscriber,
                                                     void *buffer,
                                                     size_t size,
                                                     size_t *length,
                                                     uint64_t timeout_ns);

/**
 * How many records this subscriber has lost, exactly, since it joined: what it received, what it lost, and a
 * record that was too long for the buffer, are all that was published up to where it is. 0 if subscriber
 * is no handle.
 *
 * The thread that uses the subscriber may call this.
 */
uint64_t annulus_bytes_subscriber_lagged(const struct annulus_bytes_subscriber *subscriber);

/**
 * How many records this subscriber has received since it joined. 0 if subscriber is no handle.
 *
 * The thread that uses the subscriber may call this.
 */
uint64_t annulus_bytes_subscriber_received(const struct annulus_bytes_subscriber *subscriber);

/**
 * How many records are there for this subscriber. It may have changed when this returns. 0 if subscriber
 * is no handle.
 *
 * The thread that uses the subscriber may call this.
 */
size_t annulus_bytes_subscriber_len(const struct annulus_bytes_subscriber *subscriber);

/**
 * The length of the longest record that the ring takes, in bytes: half its capacity. 0 if subscriber is no
 * handle.
 *
 * The thread that uses the subscriber may call this.
 */
size_t annulus_bytes_subscriber_max_len(const struct annulus_bytes_subscriber *subscriber);

/**
 * A file descriptor for poll, epoll or io_uring, as annulus_consumer_fd;
 * annulus_bytes_subscriber_arm arms it.
 *
 * The thread that uses the subscriber may call this. Returns ANNULUS_SYSTEM, ANNULUS_UNSUPPORTED,
 * ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then *fd is -1.
 */
annulus_status annulus_bytes_subscriber_fd(struct annulus_bytes_subscriber *subscriber, int *fd);

/**
 * Arms the descriptor of annulus_bytes_subscriber_fd, before each wait for it, as annulus_consumer_arm.
 * *ready says whether a record, or the end, is there already. If so, the descriptor is not armed: receive
 * first. A receive disarms it.
 *
 * The thread that uses the subscriber may call this. Returns ANNULUS_INVALID (there is no descriptor yet),
 * ANNULUS_NOT_A_HANDLE. Then *ready is true.
 */
annulus_status annulus_bytes_subscriber_arm(struct annulus_bytes_subscriber *subscriber, bool *ready);

/**
 * Whether the ring is closed. There may be records left. True if subscriber is no handle.
 *
 * The thread that uses the subscriber may call this.
 */
bool annulus_bytes_subscriber_is_closed(const struct annulus_bytes_subscriber *subscriber);

/**
 * As annulus_bytes_publisher_stats, of the ring of this subscriber.
 */
annulus_status annulus_bytes_subscriber_stats(const struct annulus_bytes_subscriber *subscriber,
                                              struct annulus_stats *stats);

/**
 * Frees the subscriber. Its descriptor is closed. Null is no error, and has no effect.
 *
 * The thread that uses the subscriber may call this. Returns ANNULUS_NOT_A_HANDLE if it was freed before,
 * or is a handle of another type.
 */
annulus_status annulus_bytes_subscriber_free(struct annulus_bytes_subscriber *subscriber);

/**
 * Makes a closer for the queue of this producer, which the caller owns.
 *
 * The thread that uses the producer may call this. Returns ANNULUS_INVALID or ANNULUS_NOT_A_HANDLE. Then
 * *closer is null.
 */
annulus_status annulus_producer_closer(const struct annulus_producer *producer,
                                       struct annulus_closer **closer);

/**
 * As annulus_producer_closer, for the queue of this consumer.
 */
annulus_status annulus_consumer_closer(const struct annulus_consumer *consumer,
                                       struct annulus_closer **closer);

/**
 * Closes the ring, and wakes all threads that wait. No effect on a ring that is closed, or gone.
 *
 * Any thread may call this, several at once, too, until the closer is freed. Returns ANNULUS_INVALID or
 * ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_closer_close(const struct annulus_closer *closer);

/**
 * Frees the closer; the ring stays as it is. Null is no error, and has no effect.
 *
 * One thread may call this, when no other one uses the closer any more. Returns ANNULUS_NOT_A_HANDLE if it
 * was freed before, or is a handle of another type.
 */
annulus_status annulus_closer_free(struct annulus_closer *closer);

/**
 * Makes a pool of count buffers of buffer_size bytes, which the caller owns and frees with
 * annulus_pool_free. All memory is allocated here. Any thread may call this.
 *
 * Returns ANNULUS_INVALID (a null pointer, a number that is 0, more than 2^24 buffers),
 * ANNULUS_NO_MEMORY. Then *pool is null.
 */
annulus_status annulus_pool_new(size_t buffer_size, size_t count, struct annulus_pool **pool);

/**
 * Takes a buffer out of the pool: *bytes is where it lies, and *handle its name in 4 bytes, which a
 * message can have. Its bytes are as their last owner left them. Never waits.
 *
 * The thread that has the handle owns the buffer, and one thread at a time has it. The handle goes to
 * another thread through a queue, where annulus_pool_redeem takes it over; in the end
 * annulus_pool_release puts it back. Any thread may call this.
 *
 * Returns ANNULUS_EMPTY if no buffer is free; ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then *bytes is
 * null.
 */
annulus_status annulus_pool_alloc(const struct annulus_pool *pool, uint32_t *handle, void **bytes);

/**
 * Takes over the buffer with the handle received: *bytes is where it lies, and *handle its new name.
 * The old name is void. Any thread may call this.
 *
 * Returns ANNULUS_NOT_A_HANDLE if received is void: it was redeemed or released before, or is none of
 * this pool (this is told for all but the last of many uses of one buffer); ANNULUS_INVALID. Then *bytes
 * is null.
 */
annulus_status annulus_pool_redeem(const struct annulus_pool *pool,
                                   uint32_t received,
                                   uint32_t *handle,
                                   void **bytes);

/**
 * Puts the buffer with this handle back into the pool. The handle is void, and the bytes are no longer the
 * caller's. Any thread may call this.
 *
 * Returns ANNULUS_NOT_A_HANDLE if the handle is void (as for annulus_pool_redeem), so a second release
 * is told; ANNULUS_INVALID.
 */
annulus_status annulus_pool_release(const struct annulus_pool *pool, uint32_t handle);

/**
 * How many buffers are free. It may have changed when this returns. 0 if pool is no handle. Any thread may
 * call this.
 */
size_t annulus_pool_available(const struct annulus_pool *pool);

/**
 * How many bytes a buffer has: exactly what was asked for. 0 if pool is no handle. Any thread may call
 * this.
 */
size_t annulus_pool_buffer_size(const struct annulus_pool *pool);

/**
 * Frees the pool, and the memory of all of its buffers, whether they were released or not. Null is no error,
 * and has no effect.
 *
 * One thread may call this, when no other one uses the pool or any of its buffers any more. Returns
 * ANNULUS_NOT_A_HANDLE if it was freed before, or is a handle of another type.
 */
annulus_status annulus_pool_free(struct annulus_pool *pool);

/**
 * Stores the numbers of the queue of this producer. It allocates; the queue continues meanwhile.
 *
 * The thread that uses the producer may call this. Returns ANNULUS_INVALID (a null pointer, another
 * size), ANNULUS_NOT_A_HANDLE; ANNULUS_UNSUPPORTED of a queue between processes that several consumers
 * share: annulus_shared_queue has its numbers. Then *stats is as it was.
 */
annulus_status annulus_producer_stats(const struct annulus_producer *producer, struct annulus_stats *stats);

/**
 * As annulus_producer_stats, of the queue of this consumer.
 */
annulus_status annulus_consumer_stats(const struct annulus_consumer *consumer, struct annulus_stats *stats);

/**
 * As annulus_producer_stats, of the ring of this publisher.
 */
annulus_status annulus_publisher_stats(const struct annulus_publisher *publisher,
                                       struct annulus_stats *stats);

/**
 * As annulus_producer_stats, of the ring of this subscriber.
 */
annulus_status annulus_subscriber_stats(const struct annulus_subscriber *subscriber,
                                        struct annulus_stats *stats);

/**
 * Makes a view of a producer, for annulus_inline.h: version is ANNULUS_VIEW_VERSION. Until
 * annulus_producer_view_end the producer is used through the view only: its own functions that send,
 * reserve, commit or free return ANNULUS_VIEWED; the others work.
 *
 * The thread that uses the producer may call this, and uses the view; both may move to another thread.
 * Returns ANNULUS_UNSUPPORTED (another kind of queue, or another version), ANNULUS_VIEWED (it has a view
 * already), ANNULUS_RESERVED, ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then *view is as one that was
 * ended.
 */
annulus_status annulus_producer_view(struct annulus_producer *producer,
                                     uint32_t version,
                                     struct annulus_spsc_producer *view);

/**
 * For annulus_inline.h: looks for free slots, and waits for one for timeout_ns nanoseconds at most; with
 * 0 it does not wait, ANNULUS_FOREVER is no limit.
 *
 * The thread that uses the view may call this. Returns ANNULUS_FULL (with 0), ANNULUS_TIMEOUT,
 * ANNULUS_CLOSED, ANNULUS_INVALID (the view was ended), ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_producer_view_look(struct annulus_spsc_producer *view, uint64_t timeout_ns);

/**
 * For annulus_inline.h: the last words words were sent, and a look at wakes has found that there is
 * more to do.
 *
 * The thread that uses the view may call this. Returns ANNULUS_CLOSED if the queue was closed meanwhile:
 * then these are not sent. ANNULUS_INVALID (the view was ended), ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_producer_view_settle(struct annulus_spsc_producer *view, size_t words);

/**
 * Ends a view: the producer sends by its own functions again. A view that is null or was ended is no error.
 *
 * The thread that uses the view may call this. Returns ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_producer_view_end(struct annulus_spsc_producer *view);

/**
 * Makes a view of a consumer, for annulus_inline.h, as annulus_producer_view: until
 * annulus_consumer_view_end the consumer's own functions that receive, read, advance, arm or free return
 * ANNULUS_VIEWED. Its descriptor, if it has one, is disarmed.
 *
 * The thread that uses the consumer may call this, and uses the view; both may move to another thread.
 * Returns ANNULUS_UNSUPPORTED (another kind of queue, or another version), ANNULUS_VIEWED (it has a view
 * already), ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then *view is as one that was ended.
 */
annulus_status annulus_consumer_view(struct annulus_consumer *consumer,
                                     uint32_t version,
                                     struct annulus_spsc_consumer *view);

/**
 * For annulus_inline.h: looks for messages, and waits for one for timeout_ns nanoseconds at most; with 0
 * it does not wait, ANNULUS_FOREVER is no limit.
 *
 * The thread that uses the view may call this. Returns ANNULUS_EMPTY (with 0), ANNULUS_TIMEOUT,
 * ANNULUS_CLOSED (every message was received), ANNULUS_INVALID (the view was ended),
 * ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_consumer_view_look(struct annulus_spsc_consumer *view, uint64_t timeout_ns);

/**
 * For annulus_inline.h: messages were taken, and a look at wakes has found that there is more to do.
 *
 * The thread that uses the view may call this. Returns ANNULUS_INVALID (the view was ended),
 * ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_consumer_view_wake(struct annulus_spsc_consumer *view);

/**
 * Ends a view: the consumer receives by its own functions again. A view that is null or was ended is no
 * error.
 *
 * The thread that uses the view may call this. Returns ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_consumer_view_end(struct annulus_spsc_consumer *view);

/**
 * Makes a view of a publisher, for annulus_inline.h: version is ANNULUS_VIEW_VERSION. Until
 * annulus_publisher_view_end the publisher is used through the view only: its own functions that publish
 * or free return ANNULUS_VIEWED; the others work.
 *
 * The thread that uses the publisher may call this, and uses the view; both may move to another thread.
 * Returns ANNULUS_UNSUPPORTED (another kind of ring, or another version), ANNULUS_VIEWED (it has a view
 * already), ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then *view is as one that was ended.
 */
annulus_status annulus_publisher_view(struct annulus_publisher *publisher,
                                      uint32_t version,
                                      struct annulus_lossy_publisher *view);

/**
 * For annulus_inline.h: message next is announced and written, and slow_mask is 0. Publishes it.
 *
 * The thread that uses the view may call this. Returns ANNULUS_CLOSED: then it is not published.
 * ANNULUS_INVALID (the view was ended), ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_publisher_view_settle(struct annulus_lossy_publisher *view);

/**
 * For annulus_inline.h: messages before next were published, and a look at wakes has found that there
 * is more to do.
 *
 * The thread that uses the view may call this. Returns ANNULUS_INVALID (the view was ended),
 * ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_publisher_view_wake(struct annulus_lossy_publisher *view);

/**
 * As annulus_publisher_publish, through a view: for messages that are too large to be copied inline.
 *
 * The thread that uses the view may call this. Returns as annulus_publisher_publish, and ANNULUS_INVALID
 * also if the view was ended.
 */
annulus_status annulus_publisher_view_publish(struct annulus_lossy_publisher *view,
                                              const void *message,
                                              size_t size);

/**
 * Ends a view: the publisher publishes by its own functions again. A view that is null or was ended is no
 * error.
 *
 * The thread that uses the view may call this. Returns ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_publisher_view_end(struct annulus_lossy_publisher *view);

/**
 * Makes a view of a subscriber, for annulus_inline.h, as annulus_publisher_view: until
 * annulus_subscriber_view_end the subscriber's own functions that receive, arm or free return
 * ANNULUS_VIEWED, and those that count its messages know those up to the last call of the library. Its
 * descriptor, if it has one, is disarmed.
 *
 * The thread that uses the subscriber may call this, and uses the view; both may move to another thread.
 * Returns ANNULUS_UNSUPPORTED (another kind of ring, or another version), ANNULUS_VIEWED (it has a view
 * already), ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then *view is as one that was ended.
 */
annulus_status annulus_subscriber_view(struct annulus_subscriber *subscriber,
                                       uint32_t version,
                                       struct annulus_lossy_subscriber *view);

/**
 * For annulus_inline.h: receives the next message by the library, as annulus_subscriber_recv_timeout;
 * with 0 it does not wait, ANNULUS_FOREVER is no limit. After a lag it continues with a message that is
 * there.
 *
 * The thread that uses the view may call this. Returns ANNULUS_EMPTY (with 0), ANNULUS_TIMEOUT,
 * ANNULUS_CLOSED, ANNULUS_WRONG_SIZE, ANNULUS_INVALID (also if the view was ended),
 * ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_subscriber_view_recv(struct annulus_lossy_subscriber *view,
                                            void *message,
                                            size_t size,
                                            uint64_t timeout_ns);

/**
 * Ends a view: the subscriber receives by its own functions again. A view that is null or was ended is no
 * error.
 *
 * The thread that uses the view may call this. Returns ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_subscriber_view_end(struct annulus_lossy_subscriber *view);

/**
 * The number by which two processes tell types of messages apart: the fingerprint of a schema, which
 * docs/SCHEMA.md defines. It is the same on every machine.
 *
 * Any thread may call this. It returns 0 if schema is null or no schema.
 */
uint64_t annulus_fingerprint(const char *schema);

/**
 * Sends the invitation through the Unix socket socket, as two messages of one byte each. The other process
 * receives it by annulus_invitation_receive, or as Invitation in Rust. It can be sent to any number of
 * processes.
 *
 * The caller keeps both. Any thread may call this. It waits where the socket does. Returns
 * ANNULUS_SYSTEM (it is no socket, or the other end is closed), ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE;
 * ANNULUS_UNSUPPORTED where there are no rings between processes.
 */
annulus_status annulus_invitation_send(const struct annulus_invitation *invitation, int socket);

/**
 * Receives an invitation from the Unix socket socket, which the caller then owns, and frees with
 * annulus_invitation_free. What came is looked at where it is used.
 *
 * Any thread may call this. It waits where the socket does. Returns ANNULUS_SYSTEM (it is no socket, the
 * other end is closed, or no descriptor came), ANNULUS_INVALID; ANNULUS_UNSUPPORTED where there are no
 * rings between processes. Then *invitation is null.
 */
annulus_status annulus_invitation_receive(int socket, struct annulus_invitation **invitation);

/**
 * Frees it: its descriptors are closed. Rings that were joined by it stay. Null is no error, and has no
 * effect.
 *
 * One thread may call this, when no other one uses it any more. Returns ANNULUS_NOT_A_HANDLE if it was
 * freed before, or is a handle of another type.
 */
annulus_status annulus_invitation_free(struct annulus_invitation *invitation);

/**
 * Gives the ring a name in a directory, by which other processes of this user find it. The caller owns what
 * this stores at given, and takes the name back by annulus_name_free. The name also ends with this
 * process.
 *
 * directory is the path of a directory, of any bytes, which is made if it is not there; null is the
 * directory of the user. A name is a text of 1 to 200 bytes of UTF-8, without / and control characters,
 * and does not begin with a dot.
 *
 * Any thread may call this. Returns ANNULUS_OCCUPIED (another ring that is there has the name),
 * ANNULUS_SYSTEM (also if the directory can't be used), ANNULUS_INVALID (also for what is no name),
 * ANNULUS_NOT_A_HANDLE, ANNULUS_NO_RING; ANNULUS_UNSUPPORTED where there are no rings between
 * processes. Then *given is null, and error, if it is not null, says why.
 */
annulus_status annulus_invitation_publish(const struct annulus_invitation *invitation,
                                          const char *directory,
                                          const char *name,
                                          struct annulus_name **given,
                                          struct annulus_shared_error *error);

/**
 * The invitation to the ring of a name, which the caller then owns. It waits for timeout_ns nanoseconds
 * until a ring has the name: not at all with 0, and for as long as it takes with ANNULUS_FOREVER. It may
 * have to ask the ring's process for its descriptors: if that one is in another container, or is protected.
 * Then it waits for the answer, within that time, but with 0 for two seconds at most.
 *
 * directory and name are as of annulus_invitation_publish. Any thread may call this. Returns
 * ANNULUS_NOT_FOUND (with 0: no ring has the name, or the process of that which had it has ended),
 * ANNULUS_TIMEOUT, ANNULUS_SYSTEM (also: the process was asked, and has not answered for two seconds),
 * ANNULUS_INVALID, ANNULUS_NO_RING; ANNULUS_UNSUPPORTED where there are no rings between processes.
 * Then *invitation is null, and error, if it is not null, says why.
 */
annulus_status annulus_invitation_find(const char *directory,
                                       const char *name,
                                       uint64_t timeout_ns,
                                       struct annulus_invitation **invitation,
                                       struct annulus_shared_error *error);

/**
 * Takes the name back. The ring stays: end it after this, so that a process which is told of the end does
 * not find it at the name. Null is no error, and has no effect.
 *
 * One thread may call this. Returns ANNULUS_NOT_A_HANDLE if it was freed before, or is a handle of another
 * type.
 */
annulus_status annulus_name_free(struct annulus_name *name);

/**
 * Makes a queue from this process to another one, and its producer. The process of the consumer joins by
 * annulus_invitation_consumer, or by shm::spsc::consumer in Rust.
 *
 * The producer has the verbs of a queue of the kind ANNULUS_SPSC. When the process of the consumer has
 * ended without a close, sends return ANNULUS_PEER_DIED; with ANNULUS_WAIT_FOR_NEXT_CONSUMER, the queue
 * stays open for the next consumer, which continues behind the last message that was received.
 *
 * The caller owns both, and frees each by its function. The ring lives as long as anybody has a handle of
 * it. Any thread may call this.
 *
 * Returns ANNULUS_INVALID (a null pointer, another size of the options or of the error, a way to wait
 * that is none, a capacity of 0, a type without a name), ANNULUS_WRONG_SIZE (messages that can't be),
 * ANNULUS_NO_MEMORY, ANNULUS_SYSTEM; ANNULUS_UNSUPPORTED where there are no rings between processes.
 * Then both are null, and error, if it is not null, says why.
 */
annulus_status annulus_shared_producer_new(const struct annulus_shared_options *options,
                                           struct annulus_producer **producer,
                                           struct annulus_invitation **invitation,
                                           struct annulus_shared_error *error);

/**
 * Makes a queue from several processes to this one, and its consumer. Each producer joins by
 * annulus_invitation_producer, or by shm::mpsc::producer in Rust, and has a ring of capacity messages.
 *
 * The consumer has the verbs of a queue of the kind ANNULUS_MPSC. There are places for producers. The
 * queue waits for the next ones when all are gone; with ANNULUS_CLOSE_WITH_LAST_PRODUCER it then ends.
 *
 * Otherwise as annulus_shared_producer_new.
 */
annulus_status annulus_shared_consumer_new(const struct annulus_shared_options *options,
                                           struct annulus_consumer **consumer,
                                           struct annulus_invitation **invitation,
                                           struct annulus_shared_error *error);

/**
 * Makes a broadcast ring between processes, and its first publisher. Others subscribe by
 * annulus_invitation_subscribable, or by Invitation::accept in Rust, also in this process.
 *
 * kind is ANNULUS_LOSSY; ANNULUS_LOSSLESS, with a seat for each of places subscribers; or
 * ANNULUS_MP_LOSSY, with places for so many publishers, of which the others join by
 * annulus_invitation_publisher; or ANNULUS_MP_LOSSLESS, with such places, and a seat for each of
 * receivers subscribers. Messages have at most ANNULUS_MESSAGE_MAX bytes. Subscribers map the
 * ring of one publisher read-only: none of them can harm the publisher, or another subscriber.
 *
 * Otherwise as annulus_shared_producer_new; a kind that is none is ANNULUS_INVALID.
 */
annulus_status annulus_shared_publisher_new(uint32_t kind,
                                            const struct annulus_shared_options *options,
                                            struct annulus_publisher **publisher,
                                            struct annulus_invitation **invitation,
                                            struct annulus_shared_error *error);

/**
 * Joins a queue as a producer, in the first place that is free: a queue of several producers, which
 * annulus_shared_consumer_new or annulus_shared_queue_new has made, or a program in Rust.
 *
 * The caller owns the producer. It leaves its place when it is freed, or when the process ends. Any thread
 * may call this; the invitation stays the caller's.
 *
 * Returns ANNULUS_MISMATCH (it is another ring than the options say; error has both sides' values),
 * ANNULUS_OCCUPIED (all places are taken), ANNULUS_CLOSED, ANNULUS_NO_RING, ANNULUS_NO_MEMORY,
 * ANNULUS_SYSTEM, ANNULUS_INVALID, ANNULUS_WRONG_SIZE, ANNULUS_NOT_A_HANDLE; ANNULUS_UNSUPPORTED
 * where there are no rings between processes. Then *producer is null, and error, if it is not null, says
 * why.
 */
annulus_status annulus_invitation_producer(const struct annulus_invitation *invitation,
                                           const struct annulus_shared_options *options,
                                           struct annulus_producer **producer,
                                           struct annulus_shared_error *error);

/**
 * Joins a queue as its consumer: one of one producer, or one of several whose consumer before is gone. It
 * continues behind the last message that was received. Or as one of several consumers, in the first place
 * that is free: see annulus_shared_queue_new.
 *
 * The caller owns the consumer. When the process of the producer has ended without a close, receives return
 * what it had sent completely, and then ANNULUS_PEER_DIED.
 *
 * Returns ANNULUS_OCCUPIED if the queue has its consumer; otherwise as annulus_invitation_producer.
 */
annulus_status annulus_invitation_consumer(const struct annulus_invitation *invitation,
                                           const struct annulus_shared_options *options,
                                           struct annulus_consumer **consumer,
                                           struct annulus_shared_error *error);

/**
 * Joins a broadcast ring of several publishers (ANNULUS_MP_LOSSY, ANNULUS_MP_LOSSLESS) as a publisher,
 * in the first place that is free. The caller owns the publisher. Otherwise as
 * annulus_invitation_producer.
 */
annulus_status annulus_invitation_publisher(const struct annulus_invitation *invitation,
                                            const struct annulus_shared_options *options,
                                            struct annulus_publisher **publisher,
                                            struct annulus_shared_error *error);

/**
 * Maps a broadcast ring, and stores what makes subscribers in this process, which the caller owns. The ring
 * may be of any of the kinds of annulus_shared_publisher_new.
 *
 * A ring of one publisher is mapped read-only. A subscriber of a lossless ring has a seat, or
 * annulus_subscribable_subscribe returns ANNULUS_OCCUPIED. When the process of the publisher has ended
 * without a close, receives return what it had published completely, and then ANNULUS_PEER_DIED.
 *
 * Otherwise as annulus_invitation_producer.
 */
annulus_status annulus_invitation_subscribable(const struct annulus_invitation *invitation,
                                               const struct annulus_shared_options *options,
                                               struct annulus_subscribable **subscribable,
                                               struct annulus_shared_error *error);

/**
 * Makes a queue of records from this process to another one, and its producer. The process of the consumer
 * joins by annulus_invitation_bytes_consumer, or by shm::bytes::consumer in Rust.
 *
 * options come from ANNULUS_SHARED_BYTES_OPTIONS(capacity): the capacity is in bytes, as in
 * annulus_bytes_queue_new; the size of a message is 1, and there is no schema, because nothing is known of
 * what a record is made of. So check the copy of a record, not the record in the ring.
 *
 * Otherwise as annulus_shared_producer_new.
 */
annulus_status annulus_shared_bytes_producer_new(const struct annulus_shared_options *options,
                                                 struct annulus_bytes_producer **producer,
                                                 struct annulus_invitation **invitation,
                                                 struct annulus_shared_error *error);

/**
 * Joins a queue of records as its consumer. It continues behind the last record that was received.
 *
 * options come from ANNULUS_SHARED_BYTES_OPTIONS(0). The caller owns the consumer. When the process
 * of the producer has ended without a close, receives return what it had sent completely, and then
 * ANNULUS_PEER_DIED. A length that can't be closes the queue.
 *
 * Returns ANNULUS_OCCUPIED if the queue has its consumer; otherwise as annulus_invitation_producer.
 */
annulus_status annulus_invitation_bytes_consumer(const struct annulus_invitation *invitation,
                                                 const struct annulus_shared_options *options,
                                                 struct annulus_bytes_consumer **consumer,
                                                 struct annulus_shared_error *error);

/**
 * As annulus_producer_peer: whether the process of the consumer is there.
 */
annulus_status annulus_bytes_producer_peer(const struct annulus_bytes_producer *producer, annulus_peer *peer);

/**
 * As annulus_producer_peer: whether the process of the producer is there.
 */
annulus_status annulus_bytes_consumer_peer(const struct annulus_bytes_consumer *consumer, annulus_peer *peer);

/**
 * Makes a ring of frames, and its publisher. Frames are written once, where all subscribers read them.
 *
 * options say what is in the frames: ANNULUS_SHARED_OPTIONS(4, float, "f32") for frames that are
 * floats, one behind the other, or ANNULUS_SHARED_BYTES_OPTIONS(4) for bytes. Their capacity is how many
 * frames stay for subscribers that come late, or are slow; their places, for how many subscribers there is
 * room. All of the memory is there from the beginning: as many frames as the capacity, as all subscribers
 * may hold, and one or two more. Subscribers map it read-only.
 *
 * Otherwise as annulus_shared_producer_new.
 */
annulus_status annulus_shared_frames_new(const struct annulus_shared_options *options,
                                         const struct annulus_frame_options *frames,
                                         struct annulus_frame_publisher **publisher,
                                         struct annulus_invitation **invitation,
                                         struct annulus_shared_error *error);

/**
 * Subscribes to a ring of frames, from the next frame on, or with from_oldest from the oldest one that is
 * there. If options have a schema, the frames have to be values of that.
 *
 * With awaited, the publisher of a lossless ring waits for it; a lossy one never waits.
 *
 * The caller owns the subscriber. When the process of the publisher has ended without a close, receives
 * return what it had published completely, and then ANNULUS_PEER_DIED. Returns ANNULUS_OCCUPIED if the
 * ring has no room for one more; otherwise as annulus_invitation_producer.
 */
annulus_status annulus_invitation_frames(const struct annulus_invitation *invitation,
                                         const struct annulus_shared_options *options,
                                         bool from_oldest,
                                         bool awaited,
                                         struct annulus_frame_subscriber **subscriber,
                                         struct annulus_shared_error *error);

/**
 * Lends a frame of length bytes, to write to: *bytes is the first one. What is not written has old
 * content. Never waits. A frame that was lent and not published is lent once more.
 *
 * The thread that uses the publisher may call this. Returns ANNULUS_WRONG_SIZE (a frame has fewer bytes),
 * ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then *bytes is null.
 */
annulus_status annulus_frame_publisher_loan(struct annulus_frame_publisher *publisher,
                                            size_t length,
                                            void **bytes);

/**
 * Publishes the first length bytes of the frame that was lent. Waits for timeout_ns nanoseconds at most
 * for the slowest subscriber of a lossless ring: with 0 it does not wait, ANNULUS_FOREVER is no limit.
 * sequence may be null; otherwise the number of the message is stored there.
 *
 * The thread that uses the publisher may call this. Returns ANNULUS_INVALID if no frame is lent, or it has
 * fewer bytes; ANNULUS_TIMEOUT (with 0: ANNULUS_FULL), ANNULUS_CLOSED; ANNULUS_NOT_A_HANDLE. Then
 * the frame stays lent, as it is.
 */
annulus_status annulus_frame_publisher_publish(struct annulus_frame_publisher *publisher,
                                               size_t length,
                                               uint64_t timeout_ns,
                                               uint64_t *sequence);

/**
 * Which of the ring's frames the one is that is lent, as annulus_frame::index; SIZE_MAX if none is, or
 * publisher is no handle.
 */
size_t annulus_frame_publisher_lent(const struct annulus_frame_publisher *publisher);

/**
 * How many frames the ring has; 0 if publisher is no handle.
 */
size_t annulus_frame_publisher_frames(const struct annulus_frame_publisher *publisher);

/**
 * How many frames subscribers hold, of those that the ring no longer keeps. A frame that a dead subscriber
 * held is not. A system call for each subscriber that holds one. 0 if publisher is no handle.
 */
size_t annulus_frame_publisher_held(struct annulus_frame_publisher *publisher);

/**
 * Frees the publisher, which ends the ring: subscribers receive what was published. Null is no error, and
 * has no effect. Returns ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_frame_publisher_free(struct annulus_frame_publisher *publisher);

/**
 * Receives the next frame, in place. Waits for it for timeout_ns nanoseconds at most: with 0 it does not
 * wait, ANNULUS_FOREVER is no limit. After a loss it goes on with the oldest frame that is there.
 *
 * The frame is the caller's, which gives it back by annulus_held_frame_free, on any thread, also after the
 * subscriber was freed.
 *
 * The thread that uses the subscriber may call this. Returns ANNULUS_TIMEOUT (with 0: ANNULUS_EMPTY);
 * ANNULUS_VIEWED if as many frames are held as may be: then nothing is received, or lost;
 * ANNULUS_CLOSED, ANNULUS_PEER_DIED, ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then all of *frame is
 * null and 0.
 */
annulus_status annulus_frame_subscriber_recv(struct annulus_frame_subscriber *subscriber,
                                             uint64_t timeout_ns,
                                             struct annulus_frame *frame);

/**
 * As annulus_frame_subscriber_recv without a wait, but receives the newest frame, and passes those before
 * it, which annulus_frame_subscriber_lagged counts. ANNULUS_UNSUPPORTED where the publisher waits for
 * this subscriber.
 */
annulus_status annulus_frame_subscriber_latest(struct annulus_frame_subscriber *subscriber,
                                               struct annulus_frame *frame);

/**
 * Gives a frame back. Null is no error, and has no effect. Any thread may call this, once for each frame.
 * Returns ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_held_frame_free(struct annulus_held_frame *held);

/**
 * How many frames it has lost, or passed. 0 if subscriber is no handle.
 */
uint64_t annulus_frame_subscriber_lagged(const struct annulus_frame_subscriber *subscriber);

/**
 * How many frames the ring has, as annulus_frame::index counts them. 0 if subscriber is no handle.
 */
size_t annulus_frame_subscriber_frames(const struct annulus_frame_subscriber *subscriber);

/**
 * A file descriptor for poll, epoll or io_uring, as annulus_consumer_fd;
 * annulus_frame_subscriber_arm arms it. Returns ANNULUS_SYSTEM, ANNULUS_INVALID,
 * ANNULUS_NOT_A_HANDLE. Then *fd is -1.
 */
annulus_status annulus_frame_subscriber_fd(struct annulus_frame_subscriber *subscriber, int *fd);

/**
 * Arms the descriptor, before each wait for it, as annulus_consumer_arm. *ready says whether a frame, or
 * the end, is there already; then receive first. Returns ANNULUS_INVALID (there is no descriptor yet),
 * ANNULUS_NOT_A_HANDLE. Then *ready is true.
 */
annulus_status annulus_frame_subscriber_arm(struct annulus_frame_subscriber *subscriber, bool *ready);

/**
 * As annulus_producer_peer: whether the process of the publisher is there.
 */
annulus_status annulus_frame_subscriber_peer(const struct annulus_frame_subscriber *subscriber,
                                             annulus_peer *peer);

/**
 * Frees the subscriber. Frames that it has received stay the caller's. Its descriptor is closed. Null is no
 * error, and has no effect. Returns ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_frame_subscriber_free(struct annulus_frame_subscriber *subscriber);

/**
 * Makes cells for newest values, and what writes them: one cell, or a table of as many as the capacity of
 * the options says, 1 to 1,048,576. A value has up to 4,096 bytes. Nothing was sent to a cell at first.
 *
 * The sender never waits, and a reader that comes has the newest values at once. All of the memory is there
 * from the beginning: for each cell four values, and 64 bytes for a key. Otherwise as
 * annulus_shared_producer_new.
 */
annulus_status annulus_shared_watch_new(const struct annulus_shared_options *options,
                                        struct annulus_watch_sender **sender,
                                        struct annulus_invitation **invitation,
                                        struct annulus_shared_error *error);

/**
 * Opens newest values, to read them. The caller owns the reader. Otherwise as annulus_invitation_producer.
 */
annulus_status annulus_invitation_watch(const struct annulus_invitation *invitation,
                                        const struct annulus_shared_options *options,
                                        struct annulus_watch_reader **reader,
                                        struct annulus_shared_error *error);

/**
 * Replaces the value of a cell, from 0 on, by a copy of size bytes. Never waits.
 *
 * The thread that uses the sender may call this. Returns ANNULUS_INVALID (also: there is no such cell),
 * ANNULUS_WRONG_SIZE (of the value), ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_watch_sender_send(struct annulus_watch_sender *sender,
                                         size_t cell,
                                         const void *value,
                                         size_t size);

/**
 * Copies the newest value of a cell, as this sender has sent it. Returns ANNULUS_EMPTY: nothing was sent
 * to it yet; otherwise as annulus_watch_sender_send. Then value is as it was.
 */
annulus_status annulus_watch_sender_get(struct annulus_watch_sender *sender,
                                        size_t cell,
                                        void *value,
                                        size_t size);

/**
 * The cell of this key, which from now on has that key: the first one without a key, if no cell has this one
 * yet. A key is a text of 1 to 64 bytes of UTF-8. No key changes, and none is taken back.
 *
 * The thread that uses the sender may call this. Returns ANNULUS_OCCUPIED: all cells have other keys;
 * ANNULUS_INVALID: there can be no such key; ANNULUS_NOT_A_HANDLE. Then *cell is SIZE_MAX.
 */
annulus_status annulus_watch_sender_cell(struct annulus_watch_sender *sender, const char *key, size_t *cell);

/**
 * How many cells there are; 0 if sender is no handle.
 */
size_t annulus_watch_sender_cells(const struct annulus_watch_sender *sender);

/**
 * Frees the sender: what waits for changes receives those that are new to it, and then ANNULUS_CLOSED. The
 * values stay. Null is no error, and has no effect. Returns ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_watch_sender_free(struct annulus_watch_sender *sender);

/**
 * Copies the newest value of a cell to value, whole, and waits for nobody. It is no older than any value
 * that was sent before this call. The values stay when the sender is gone.
 *
 * The thread that uses the reader may call this. Returns ANNULUS_EMPTY: nothing was sent to the cell yet;
 * ANNULUS_TIMEOUT: the sender has replaced the value at each of 1,000 looks, so try again;
 * ANNULUS_CORRUPT; ANNULUS_INVALID (also: there is no such cell), ANNULUS_WRONG_SIZE,
 * ANNULUS_NOT_A_HANDLE. Then value is as it was.
 */
annulus_status annulus_watch_reader_get(struct annulus_watch_reader *reader,
                                        size_t cell,
                                        void *value,
                                        size_t size);

/**
 * The cell of a key. It looks at all cells, so keep what it finds. Returns ANNULUS_NOT_FOUND: no cell has
 * this key yet; ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then *cell is SIZE_MAX.
 */
annulus_status annulus_watch_reader_cell(const struct annulus_watch_reader *reader,
                                         const char *key,
                                         size_t *cell);

/**
 * Stores the key of a cell at key, with a 0 behind it: char key[ANNULUS_WATCH_KEY_SIZE];. Returns
 * ANNULUS_NOT_FOUND: the cell has none yet; ANNULUS_INVALID (also: there is no such cell),
 * ANNULUS_NOT_A_HANDLE. Then key is an empty text.
 */
annulus_status annulus_watch_reader_key(const struct annulus_watch_reader *reader, size_t cell, char *key);

/**
 * How many cells there are; 0 if reader is no handle.
 */
size_t annulus_watch_reader_cells(const struct annulus_watch_reader *reader);

/**
 * As annulus_producer_peer: whether the process of the sender is there.
 */
annulus_status annulus_watch_reader_peer(const struct annulus_watch_reader *reader, annulus_peer *peer);

/**
 * Makes what waits for changes of a cell, or with ANNULUS_WATCH_ALL_CELLS (SIZE_MAX) of all. It has seen
 * no value yet, so it begins with those that are there. The caller owns it; it lives on when the reader is
 * freed.
 * Returns ANNULUS_INVALID (also: there is no such cell), ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_watch_reader_changes(const struct annulus_watch_reader *reader,
                                            size_t cell,
                                            struct annulus_watch_changes **changes);

/**
 * Frees the reader. Null is no error, and has no effect. Returns ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_watch_reader_free(struct annulus_watch_reader *reader);

/**
 * Receives the next change: the newest value of a cell goes to value, and its number to *cell, which may
 * be null. Waits for it for timeout_ns nanoseconds at most: with 0 it does not wait, ANNULUS_FOREVER is
 * no limit. No change is lost, and each cell comes once, with the value that is newest then.
 *
 * The thread that uses the changes may call this. Returns ANNULUS_TIMEOUT (with 0: ANNULUS_EMPTY);
 * ANNULUS_CLOSED, ANNULUS_PEER_DIED: nothing is new, and nothing changes any more; ANNULUS_CORRUPT,
 * which annulus_watch_changes_corrupt counts; ANNULUS_INVALID, ANNULUS_WRONG_SIZE,
 * ANNULUS_NOT_A_HANDLE. Then value and *cell are as they were.
 */
annulus_status annulus_watch_changes_recv(struct annulus_watch_changes *changes,
                                          uint64_t timeout_ns,
                                          void *value,
                                          size_t size,
                                          size_t *cell);

/**
 * How many values it has passed over that were none of the schema. 0 if changes is no handle.
 */
uint64_t annulus_watch_changes_corrupt(const struct annulus_watch_changes *changes);

/**
 * A file descriptor for poll, epoll or io_uring, as annulus_consumer_fd;
 * annulus_watch_changes_arm arms it. Returns ANNULUS_SYSTEM, ANNULUS_INVALID,
 * ANNULUS_NOT_A_HANDLE. Then *fd is -1.
 */
annulus_status annulus_watch_changes_fd(struct annulus_watch_changes *changes, int *fd);

/**
 * Arms the descriptor, before each wait for it, as annulus_consumer_arm. *ready says whether a change,
 * or the end, is there already; then receive first. Returns ANNULUS_INVALID (there is no descriptor yet),
 * ANNULUS_NOT_A_HANDLE. Then *ready is true.
 */
annulus_status annulus_watch_changes_arm(struct annulus_watch_changes *changes, bool *ready);

/**
 * Frees what waits for changes. Its descriptor is closed. Null is no error, and has no effect. Returns
 * ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_watch_changes_free(struct annulus_watch_changes *changes);

/**
 * Stores whether the process of the consumer is there. Some system calls.
 *
 * The thread that uses the producer may call this. Returns ANNULUS_UNSUPPORTED for a queue within one
 * process; ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then *peer is as it was.
 */
annulus_status annulus_producer_peer(const struct annulus_producer *producer, annulus_peer *peer);

/**
 * As annulus_producer_peer: whether the process of the producer is there, or one of several. Of several,
 * ANNULUS_PEER_DEAD says that none is there, and at least one has ended without leaving.
 */
annulus_status annulus_consumer_peer(const struct annulus_consumer *consumer, annulus_peer *peer);

/**
 * As annulus_producer_peer: whether the process of the publisher is there, or one of several. (A publisher
 * does not know its subscribers.)
 */
annulus_status annulus_subscriber_peer(const struct annulus_subscriber *subscriber, annulus_peer *peer);

/**
 * Makes a queue that producers and consumers of any process and language share, such as a queue of work.
 * Producers join by annulus_invitation_producer, and consumers by annulus_invitation_consumer, also in
 * this process; in Rust by shm::mpmc.
 *
 * There are places for producers, each with a ring of capacity messages, and receivers for consumers.
 * Messages have at most ANNULUS_MESSAGE_MAX bytes. What follows when all of a side are gone, or a consumer
 * dies that has claimed messages, say ANNULUS_CLOSE_WITH_LAST_PRODUCER,
 * ANNULUS_CLOSE_WITH_LAST_CONSUMER, and ANNULUS_DROP_UNRECEIVED.
 *
 * Producers and consumers have the verbs of queues of one process, but lend nothing in place, have no clones
 * and no annulus_stats.
 *
 * Otherwise as annulus_shared_producer_new.
 */
annulus_status annulus_shared_queue_new(const struct annulus_shared_options *options,
                                        struct annulus_shared_queue **queue,
                                        struct annulus_invitation **invitation,
                                        struct annulus_shared_error *error);

/**
 * The queue of an invitation, to look at it from any process. It takes no place. Otherwise as
 * annulus_invitation_producer.
 */
annulus_status annulus_invitation_queue(const struct annulus_invitation *invitation,
                                        const struct annulus_shared_options *options,
                                        struct annulus_shared_queue **queue,
                                        struct annulus_shared_error *error);

/**
 * How many messages wait to be received for the first time; 0 if queue is no handle. It may have changed
 * when this returns.
 */
size_t annulus_shared_queue_len(const struct annulus_shared_queue *queue);

/**
 * How many producers are there; 0 if queue is no handle. A system call for each.
 */
size_t annulus_shared_queue_producers(const struct annulus_shared_queue *queue);

/**
 * How many consumers are there; 0 if queue is no handle. A system call for each.
 */
size_t annulus_shared_queue_consumers(const struct annulus_shared_queue *queue);

/**
 * How many messages were given again so far, of consumers that died with them, or gave them back. Each time
 * counts. 0 if queue is no handle.
 */
uint64_t annulus_shared_queue_given_again(const struct annulus_shared_queue *queue);

/**
 * How many messages of dead consumers were dropped so far (ANNULUS_DROP_UNRECEIVED). 0 if queue is no
 * handle.
 */
uint64_t annulus_shared_queue_dropped(const struct annulus_shared_queue *queue);

/**
 * Closes the queue, for all processes. What was sent before is received. Returns ANNULUS_INVALID,
 * ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_shared_queue_close(const struct annulus_shared_queue *queue);

/**
 * Whether the queue is closed. True if queue is no handle.
 */
bool annulus_shared_queue_is_closed(const struct annulus_shared_queue *queue);

/**
 * Frees the handle. The queue stays. Null is no error, and has no effect. Returns ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_shared_queue_free(struct annulus_shared_queue *queue);

/**
 * Claims the next message of a queue that several consumers share, and copies its size bytes to message.
 * Waits for it for timeout_ns nanoseconds at most: with 0 it does not wait, ANNULUS_FOREVER is no limit.
 *
 * The claim is the caller's, which ends it by annulus_claimed_done when its work is safe, on any thread,
 * in any order. If the process dies before, or by annulus_claimed_free, another consumer has the message.
 * A consumer that was freed keeps its place until its claims have ended.
 *
 * The thread that uses the consumer may call this. Returns what annulus_consumer_recv_timeout does; with 0
 * ANNULUS_EMPTY; ANNULUS_UNSUPPORTED of any other queue. Then *claimed is null.
 */
annulus_status annulus_consumer_claim(struct annulus_consumer *consumer,
                                      void *message,
                                      size_t size,
                                      uint64_t timeout_ns,
                                      struct annulus_claimed **claimed);

/**
 * How often the message was given before, 15 at most: to consumers that died with it, or gave it back. One
 * that kills each consumer would go round for ever: put it aside. 0 if claimed is no handle.
 */
uint64_t annulus_claimed_given_before(const struct annulus_claimed *claimed);

/**
 * The message is received: nobody has it again, and there is room for another one. The claim ends: it is
 * freed. Any thread may call this. Returns ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_claimed_done(struct annulus_claimed *claimed);

/**
 * Gives the message back: any consumer has it again, ahead of later ones. Null is no error, and has no
 * effect. Any thread may call this. Returns ANNULUS_NOT_A_HANDLE, also for one that is done.
 */
annulus_status annulus_claimed_free(struct annulus_claimed *claimed);

/**
 * Makes a service, and its server. Clients of any process and language ask; the server answers in any order.
 *
 * questions say what a question is: ANNULUS_SHARED_OPTIONS(16, struct question, "{symbol:u32}"). Their
 * capacity is how many questions each client may have open, their places, how many clients there can be;
 * their wait is the server's. answers say what an answer is, and nothing else; one has
 * ANNULUS_MESSAGE_MAX bytes at most. What has no schema is bytes.
 *
 * Otherwise as annulus_shared_producer_new.
 */
annulus_status annulus_shared_service_new(const struct annulus_shared_options *questions,
                                          const struct annulus_shared_options *answers,
                                          struct annulus_server **server,
                                          struct annulus_invitation **invitation,
                                          struct annulus_shared_error *error);

/**
 * Joins a service as a client. questions and answers say what it asks and gets; the wait of
 * questions is how it waits for answers. A type without a schema is any of its size.
 *
 * The caller owns the client. Returns ANNULUS_OCCUPIED if each place for clients is taken,
 * ANNULUS_CLOSED if the server is gone; otherwise as annulus_invitation_producer.
 */
annulus_status annulus_invitation_client(const struct annulus_invitation *invitation,
                                         const struct annulus_shared_options *questions,
                                         const struct annulus_shared_options *answers,
                                         struct annulus_client **client,
                                         struct annulus_shared_error *error);

/**
 * Receives the next question, of size bytes, and waits for it for timeout_ns nanoseconds at most: with 0
 * it does not wait, ANNULUS_FOREVER is no limit.
 *
 * The request is the caller's, which ends it by annulus_request_answer or annulus_request_free, on any
 * thread, in any order, also after the server was freed.
 *
 * The thread that uses the server may call this. Returns ANNULUS_TIMEOUT (with 0: ANNULUS_EMPTY);
 * ANNULUS_CLOSED: the service is closed, and all was received; ANNULUS_CORRUPT: it was no question of
 * the schema, and was refused; ANNULUS_WRONG_SIZE, ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then
 * *request is null.
 */
annulus_status annulus_server_recv(struct annulus_server *server,
                                   void *question,
                                   size_t size,
                                   uint64_t timeout_ns,
                                   struct annulus_request **request);

/**
 * How many clients are there; 0 if server is no handle. A system call for each.
 */
size_t annulus_server_clients(const struct annulus_server *server);

/**
 * Closes the service: clients can ask no more, and what they had asked is received. Returns
 * ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_server_close(struct annulus_server *server);

/**
 * A file descriptor for poll, epoll or io_uring, as annulus_consumer_fd; annulus_server_arm arms
 * it. Returns ANNULUS_SYSTEM, ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then *fd is -1.
 */
annulus_status annulus_server_fd(struct annulus_server *server, int *fd);

/**
 * Arms the descriptor, before each wait for it, as annulus_consumer_arm. Returns ANNULUS_INVALID (there
 * is no descriptor yet), ANNULUS_NOT_A_HANDLE. Then *ready is true.
 */
annulus_status annulus_server_arm(struct annulus_server *server, bool *ready);

/**
 * Frees the server, which closes the service, and refuses what was not received. Requests that it has
 * received stay the caller's. Null is no error, and has no effect. Returns ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_server_free(struct annulus_server *server);

/**
 * Answers the question by size bytes, and ends the request: it is freed. Never waits.
 *
 * Any thread may call this. Returns ANNULUS_CLOSED if the client is gone: then the request has ended, too.
 * ANNULUS_WRONG_SIZE, ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE: then it stays as it is.
 */
annulus_status annulus_request_answer(struct annulus_request *request, const void *answer, size_t size);

/**
 * Whether the client can still receive an answer, as the kernel says. False if request is no handle.
 */
bool annulus_request_client_is_there(const struct annulus_request *request);

/**
 * Refuses the question: the client receives ANNULUS_REFUSED. Null is no error, and has no effect. Returns
 * ANNULUS_NOT_A_HANDLE, also for a request that was answered.
 */
annulus_status annulus_request_free(struct annulus_request *request);

/**
 * Asks by size bytes. Never waits. The answer comes at *pending, which is the caller's, also after the
 * client was freed.
 *
 * The thread that uses the client may call this. Returns ANNULUS_FULL if as many questions are open as may
 * be: a question is open until it is answered or refused, and its pending answer is freed. ANNULUS_CLOSED,
 * ANNULUS_WRONG_SIZE, ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then *pending is null.
 */
annulus_status annulus_client_ask(struct annulus_client *client,
                                  const void *question,
                                  size_t size,
                                  struct annulus_pending_answer **pending);

/**
 * How many questions are open now; 0 if client is no handle.
 */
size_t annulus_client_open(const struct annulus_client *client);

/**
 * As annulus_producer_peer: whether the process of the server is there.
 */
annulus_status annulus_client_peer(const struct annulus_client *client, annulus_peer *peer);

/**
 * Frees the client. Its place is free for another one when its pending answers are freed, too. Null is no
 * error, and has no effect. Returns ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_client_free(struct annulus_client *client);

/**
 * Receives the answer, of size bytes, and waits for it for timeout_ns nanoseconds at most: with 0 it
 * does not wait, ANNULUS_FOREVER is no limit. It comes once; then free pending, for the next question.
 *
 * The thread that uses pending may call this. Returns ANNULUS_TIMEOUT (with 0: ANNULUS_EMPTY): it may
 * still come. ANNULUS_REFUSED; ANNULUS_PEER_DIED: the server's process has ended, and had not answered;
 * ANNULUS_CORRUPT; ANNULUS_INVALID, also if it was received before; ANNULUS_WRONG_SIZE,
 * ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_pending_answer_recv(struct annulus_pending_answer *pending,
                                           void *answer,
                                           size_t size,
                                           uint64_t timeout_ns);

/**
 * As annulus_server_fd, which is readable when the answer is there; annulus_pending_answer_arm arms it.
 */
annulus_status annulus_pending_answer_fd(struct annulus_pending_answer *pending, int *fd);

/**
 * As annulus_server_arm.
 */
annulus_status annulus_pending_answer_arm(struct annulus_pending_answer *pending, bool *ready);

/**
 * Frees the pending answer; one that has not come is given up. Null is no error, and has no effect. Returns
 * ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_pending_answer_free(struct annulus_pending_answer *pending);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ANNULUS_H */

#define ANNULUS_TEXT_OF_(number) #number
#define ANNULUS_TEXT_(number) ANNULUS_TEXT_OF_(number)
/* For example "0.1.0". */
#define ANNULUS_VERSION \
    ANNULUS_TEXT_(ANNULUS_VERSION_MAJOR) "." ANNULUS_TEXT_(ANNULUS_VERSION_MINOR) "." \
    ANNULUS_TEXT_(ANNULUS_VERSION_PATCH)

/* annulus_options options = ANNULUS_OPTIONS(1024, sizeof(struct order)); The rest is the default. */
#define ANNULUS_OPTIONS(capacity, message_size) {sizeof(annulus_options), (capacity), (message_size), {0, 0, 0}, 0}
/* The same for records of any length, in a ring of so many bytes. */
#define ANNULUS_BYTES_OPTIONS(capacity) ANNULUS_OPTIONS(capacity, 1)

#ifdef __cplusplus
#define ANNULUS_ALIGNMENT_(message) alignof(message)
#else
#define ANNULUS_ALIGNMENT_(message) _Alignof(message)
#endif
/* annulus_shared_options options = ANNULUS_SHARED_OPTIONS(1024, struct quote, "quote{bid:f64,ask:f64}"); */
#define ANNULUS_SHARED_OPTIONS(capacity, message, schema) \
    {sizeof(annulus_shared_options), (capacity), sizeof(message), ANNULUS_ALIGNMENT_(message), (schema), \
     {0, 0, 0}, 0, 0, 0, 0, NULL, NULL}
/* The same for records of any length, in a ring of so many bytes; 0 for a process that joins. */
#define ANNULUS_SHARED_BYTES_OPTIONS(capacity) ANNULUS_SHARED_OPTIONS(capacity, char, NULL)
/* annulus_frame_options frames = ANNULUS_FRAME_OPTIONS(1 << 20); The rest is the default. */
#define ANNULUS_FRAME_OPTIONS(frame_bytes) {sizeof(annulus_frame_options), (frame_bytes), 0, 0, false}
/* For annulus_watch_reader_changes: all cells. */
#define ANNULUS_WATCH_ALL_CELLS SIZE_MAX
/* annulus_shared_error error = ANNULUS_SHARED_ERROR; */
#define ANNULUS_SHARED_ERROR {sizeof(annulus_shared_error), 0, 0, 0, {0}}
