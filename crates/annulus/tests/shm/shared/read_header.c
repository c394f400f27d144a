/* Reads a ring by the offsets of docs/SHM-FORMAT.md alone, and prints its header and some bytes of its sections. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static uint32_t u32(const volatile unsigned char *at) { return *(const volatile uint32_t *)at; }
static uint64_t u64(const volatile unsigned char *at) { return *(const volatile uint64_t *)at; }

int main(int argc, char **argv) {
    struct stat status;
    int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    if (fd < 0 || fstat(fd, &status) != 0) return 1;
    const volatile unsigned char *ring = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (ring == MAP_FAILED) return 2;
    if (memcmp((const void *)ring, "ANNULUS", 8) != 0 || u32(ring + 8) != 0x01020304) return 3;
    printf("version %" PRIu32 "\nkind %" PRIu32 "\nrequired %" PRIu32 "\n", u32(ring + 12), u32(ring + 16), u32(ring + 20));
    printf("total size %" PRIu64 "\ncells %" PRIu64 "\n", u64(ring + 24), u64(ring + 32));
    printf("slots offset %" PRIu64 "\nslot size %" PRIu64 "\n", u64(ring + 40), u64(ring + 48));
    printf("capacity %" PRIu64 "\npayload size %" PRIu64 "\n", u64(ring + 56), u64(ring + 64));
    printf("payload alignment %" PRIu64 "\nfingerprint %016" PRIx64 "\n", u64(ring + 72), u64(ring + 80));
    printf("start sequence %" PRIu64 "\ncreator's start %" PRIu64 "\n", u64(ring + 88), u64(ring + 96));
    printf("creator's pid %" PRIu32 "\n", u32(ring + 104));
    printf("schema %.*s\n", (int)u32(ring + 108), (const char *)ring + 512 + 128 * u64(ring + 32));
    printf("identity %016" PRIx64 "\n", u64(ring + 112));
    printf("producer %u\nconsumer %u\nwake %u\n", ring[128], ring[256], ring[384]);
    printf("first cell %u\nlast cell %u\n", ring[512], ring[512 + 128 * (u64(ring + 32) - 1)]);
    printf("first slot %u\nlast slot %u\n", ring[u64(ring + 40)],
           ring[u64(ring + 40) + u64(ring + 48) * (u64(ring + 56) - 1)]);
    return 0;
}
