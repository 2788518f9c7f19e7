/* What loops in C ask of the compiler, where it knows how; without it all works the same, if slower. */

#ifndef TSADEVAL_MACHINE
#define TSADEVAL_MACHINE

/* Vector instructions of the machine it runs on, where the linker can choose among functions. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) \
    && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FOR_EVERY_MACHINE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EVERY_MACHINE
#endif

/* Ask for memory ahead of its use. */
#if defined(__GNUC__)
#define FETCH(address) __builtin_prefetch(address)
#define FETCH_TO_WRITE(address) __builtin_prefetch(address, 1)
#else
#define FETCH(address) ((void)(address))
#define FETCH_TO_WRITE(address) ((void)(address))
#endif

#endif
