/* Reads the messages of a live ring by the offsets of docs/SHM-FORMAT.md alone: each is a number of 8 bytes, or a record of text. The second argument
 * is the sleepers' page of a lossless ring. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

static uint64_t load(const unsigned char *at) { return __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE); }

/* The messages of a lane, whose tail and head are 128 bytes apart. */
static void print_lane(const unsigned char *tail, const unsigned char *slots, uint64_t slot_size, uint64_t capacity, uint64_t start) {
    uint64_t head = load(tail + 128), end = load(tail);
    for (uint64_t number = head; number != end; number++)
        printf("message %" PRIu64 ": %" PRIu64 "\n", number, load(slots + slot_size * ((number - start) % capacity)));
}

/* The records of a queue: a word with the length, and behind it the bytes, in whole words; or a word that sends the reader to the first slot. */
static void print_records(const unsigned char *ring, const unsigned char *slots, uint64_t capacity, uint64_t start) {
    uint64_t number = load(ring + 256), end = load(ring + 128);
    while (number != end) {
        uint64_t slot = (number - start) % capacity, length = load(slots + 8 * slot);
        if (length == UINT64_MAX) {
            number += capacity - slot;
            continue;
        }
        printf("record at %" PRIu64 ": %.*s\n", number, (int)length, slots + 8 * slot + 8);
        number += 1 + (length + 7) / 8;
    }
}

/* The records of a broadcast ring: messages that say where they lie in an area behind the slots. */
static int print_extents(const unsigned char *ring, const unsigned char *slots, uint64_t slot_size, uint64_t capacity, uint64_t start) {
    uint64_t bytes = load(ring + 512), words = bytes / 8, next = load(ring + 128);
    uint64_t slots_end = (uint64_t)(slots - ring) + slot_size * capacity;
    const unsigned char *area = ring + (slots_end + 127) / 128 * 128;
    printf("bytes %" PRIu64 "\noverwritten %" PRIu64 "\n", bytes, load(ring + 520));
    while (load(slots + slot_size * (next % capacity)) == 2 * next + 2) next++;
    for (uint64_t number = next - start < capacity ? start : next - capacity; number != next; number++) {
        const unsigned char *slot = slots + slot_size * (number % capacity);
        uint64_t first = load(slot + 8), length = load(slot + 16);
        if (load(slot) != 2 * number + 2 || length > bytes / 2) return 3;
        printf("record %" PRIu64 " at %" PRIu64 ": ", number, first);
        for (uint64_t byte = 0; byte < length; byte++) putchar(area[8 * ((first + byte / 8) % words) + byte % 8]);
        /* (Behind a look at the bytes.) */
        printf("%s\n", load(ring + 520) > first ? " (overwritten)" : "");
    }
    return 0;
}

static const unsigned char *map(const char *path) {
    struct stat status;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &status) != 0) return NULL;
    const unsigned char *memory = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

int main(int argc, char **argv) {
    const unsigned char *ring = argc >= 2 ? map(argv[1]) : NULL, *page = argc >= 3 ? map(argv[2]) : NULL;
    if (ring == NULL) return 1;
    uint32_t kind = *(const uint32_t *)(ring + 16);
    uint64_t slot_size = load(ring + 48), capacity = load(ring + 56), start = load(ring + 88);
    const unsigned char *slots = ring + load(ring + 40);
    if (kind == 4 || kind == 15) { /* a lossless broadcast ring: what a lossy one has, and seats */
        if (page == NULL) return 2;
        printf("headroom %" PRIu64 "\nscanned %" PRIu64 "\n", load(ring + 136), load(page + 256));
        for (uint64_t seat = 0; seat < load(ring + 144); seat++) {
            uint64_t cursor = load(page + 384 + 128 * seat);
            if (cursor == UINT64_MAX) printf("seat %" PRIu64 ": free\n", seat);
            else printf("seat %" PRIu64 ": %" PRIu64 "\n", seat, cursor);
        }
    }
    if (kind == 3 || kind == 4) { /* a broadcast ring */
        uint64_t next = load(ring + 128);
        while (load(slots + slot_size * (next % capacity)) == 2 * next + 2) next++;
        printf("next %" PRIu64 "\nend %" PRIu64 "\n", next, load(ring + 256));
        for (uint64_t number = next - start < capacity ? start : next - capacity; number != next; number++) {
            const unsigned char *slot = slots + slot_size * (number % capacity);
            uint64_t before = load(slot), message = load(slot + 8), after = load(slot);
            if (before == 2 * number + 3) { /* no message has this number */
                printf("left out %" PRIu64 "\n", number);
                continue;
            }
            if (before != 2 * number + 2 || after != before) return 3;
            printf("message %" PRIu64 ": %" PRIu64 "\n", number, message);
        }
    } else if (kind == 1) { /* a queue of one producer */
        printf("consumers %" PRIu64 "\nclosed %" PRIu64 "\n", load(ring + 264), load(ring + 384));
        print_lane(ring + 128, slots, slot_size, capacity, start);
    } else if (kind == 2) { /* a queue of several producers */
        uint64_t places = load(ring + 32) / 3, of_lane = capacity / places;
        uint64_t lane_size = (slot_size * of_lane + 127) / 128 * 128;
        printf("policies %" PRIu64 "\nconsumers %" PRIu64 "\nclosed %" PRIu64 "\n", load(ring + 136), load(ring + 264), load(ring + 384));
        for (uint64_t place = 0; place < places; place++) {
            const unsigned char *lane = ring + 512 + 384 * place;
            printf("place %" PRIu64 ": %" PRIu64 " came, %" PRIu64 " left\n", place, load(lane + 16), load(lane + 24));
            print_lane(lane, slots + lane_size * place, slot_size, of_lane, start);
        }
    } else if (kind == 5) { /* a queue of records */
        printf("bytes %" PRIu64 "\n", load(ring + 136));
        print_records(ring, slots, capacity, start);
    } else if (kind == 15) { /* a lossless broadcast ring of records */
        printf("floor %" PRIu64 "\n", load(page + 264));
        return print_extents(ring, slots, slot_size, capacity, start);
    } else {
        return 4;
    }
    return 0;
}
