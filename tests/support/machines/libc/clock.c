// The wall clock of a machine, for programs that link the C library dynamically. LD_PRELOAD puts these functions before
// the library's. A file says how many nanoseconds the clock is ahead, and all processes of the machine map it. So a
// step reaches them all at once, as a step of the kernel's clock does. libfaketime reads its file only now and then,
// which would give two backends of one server different clocks meanwhile.
//
// Monotonic clocks stay, as when an operator sets the time. A wait until an instant of the wall clock does not follow a
// step. PostgreSQL and Patroni wait for durations.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { second = 1000000000 };

static const int64_t *ahead; // the mapped file; none: use the kernel's clock
static int (*kernels)(clockid_t, struct timespec *);

__attribute__((constructor)) static void find(void)
{
	kernels = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	const char *path = getenv("PGFLURRY_TEST_MACHINE_CLOCK");
	int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return;
	void *mapped = mmap(NULL, sizeof *ahead, PROT_READ, MAP_SHARED, file, 0);
	close(file);
	if (mapped != MAP_FAILED)
		ahead = mapped;
}

int clock_gettime(clockid_t id, struct timespec *at)
{
	// Another library's constructor may ask before ours has run.
	int failed = kernels == NULL ? (int)syscall(SYS_clock_gettime, id, at) : kernels(id, at);
	if (failed || ahead == NULL || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE))
		return failed;
	int64_t off = __atomic_load_n(ahead, __ATOMIC_RELAXED);
	at->tv_sec += off / second;
	at->tv_nsec += off % second; // negative if off is
	if (at->tv_nsec < 0) {
		at->tv_nsec += second;
		at->tv_sec--;
	} else if (at->tv_nsec >= second) {
		at->tv_nsec -= second;
		at->tv_sec++;
	}
	return 0;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone)
{
	(void)zone; // obsolete; nobody asks
	struct timespec now;
	int failed = clock_gettime(CLOCK_REALTIME, &now);
	if (!failed) {
		at->tv_sec = now.tv_sec;
		at->tv_usec = now.tv_nsec / 1000;
	}
	return failed;
}

time_t time(time_t *at)
{
	struct timespec now;
	if (clock_gettime(CLOCK_REALTIME_COARSE, &now))
		return -1;
	if (at != NULL)
		*at = now.tv_sec;
	return now.tv_sec;
}
