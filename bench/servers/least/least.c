// least answers every statement with the same row of one bigint: one thread, one epoll instance, one read and one write
// a batch. No server of PostgreSQL's protocol does less, so docs/benchmarks.md measures the proxy against it.
//
//	cc -O2 -o least least.c && ./least PORT     on 127.0.0.1, until a signal
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { room = 65536, connections = 1024 };
static struct { char in[room]; int held, started; } state[connections]; // by descriptor

#define ROW "T\0\0\0\x27\0\1next_snowflake\0\0\0\0\0\0\0\0\0\0\x14\0\x08\xff\xff\xff\xff\0\0"
#define DATA "D\0\0\0\x1c\0\1\0\0\0\x12" "374000000000000001"
#define DONE "C\0\0\0\x0dSELECT 1\0"
#define READY "Z\0\0\0\5I"
#define PUT(text) (memcpy(at, text, sizeof text - 1), at += sizeof text - 1)

// reply appends the answer to one message after the startup packet.
static char *reply(char type, char what, char *at) {
	switch (type) {
	case 'Q': PUT(ROW); PUT(DATA); PUT(DONE); PUT(READY); break;
	case 'P': PUT("1\0\0\0\4"); break;
	case 'B': PUT("2\0\0\0\4"); break;
	case 'D': if (what == 'S') PUT("t\0\0\0\6\0\0"); PUT(ROW); break;
	case 'E': PUT(DATA); PUT(DONE); break;
	case 'S': PUT(READY); break;
	}
	return at;
}

// serve reads once and answers what is complete. It returns 0 when the client has left.
static int serve(int fd) {
	static char out[room * 8];
	char *in = state[fd].in, *at = out;
	ssize_t n = read(fd, in + state[fd].held, room - state[fd].held);
	if (n <= 0) return 0;
	int end = state[fd].held + n, from = 0;
	for (;;) {
		int head = state[fd].started ? 5 : 4; // a startup packet has no type
		if (end - from < head) break;
		uint32_t length;
		memcpy(&length, in + from + head - 4, 4);
		length = ntohl(length) + head - 4;
		if (length > room) return 0;
		if (end - from < (int)length) break;
		if (state[fd].started && in[from] == 'X') return 0; // the end may have come with it, and makes no event
		if (state[fd].started) at = reply(in[from], in[from + 5], at);
		else if (length == 8) PUT("N"); // SSLRequest, GSSENCRequest
		else { state[fd].started = 1; PUT("R\0\0\0\x08\0\0\0\0"); PUT(READY); }
		from += length;
	}
	memmove(in, in + from, state[fd].held = end - from);
	return at == out || write(fd, out, at - out) == at - out;
}

int main(int argc, char **argv) {
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1, poll = epoll_create1(0);
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(argc > 1 ? atoi(argv[1]) : 7500),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(listener, (struct sockaddr *)&here, sizeof here) || listen(listener, 512)) return perror("listen"), 1;
	struct epoll_event e = {.events = EPOLLIN, .data.fd = listener}, ready[64];
	epoll_ctl(poll, EPOLL_CTL_ADD, listener, &e);
	for (;;) {
		int n = epoll_wait(poll, ready, 64, -1);
		for (int i = 0; i < n; i++) {
			int fd = ready[i].data.fd;
			if (fd != listener) {
				if (!serve(fd)) close(fd);
				continue;
			}
			if ((fd = accept(listener, NULL, NULL)) < 0) continue;
			if (fd >= connections) { close(fd); continue; }
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
			state[fd].held = state[fd].started = 0;
			e.events = EPOLLIN | EPOLLET, e.data.fd = fd;
			epoll_ctl(poll, EPOLL_CTL_ADD, fd, &e);
		}
	}
}
