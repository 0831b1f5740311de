// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The page allocator, orders 0 to 9: the ring of a packet socket consists of blocks of 4 KiB to 2 MiB, each
 * physically contiguous. CPU time is measured, since the kernel waits for RCU before each change of a ring.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <time.h>

#include "common.h"

#define ORDERS 10
#define BLOCKS 4 /* number of blocks of each order */

static uint64_t cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void ring(const struct workload *w, int fd, unsigned int block, unsigned int blocks)
{
	struct tpacket_req req = {
		.tp_block_size = block,
		.tp_block_nr = blocks,
		.tp_frame_size = block ? 2048 : 0,
		.tp_frame_nr = block / 2048 * blocks,
	};

	if (setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)))
		workload_fail(w, errno, "a ring of %u blocks of %u bytes", blocks, block);
}

int main(int argc, char **argv)
{
	struct workload w = {
		.name = "page-orders",
		.timed =
			"a packet socket's ring of 4 blocks of 4 KiB, 8 KiB, … 2 MiB made and freed: the\n"
			"page allocator's orders 0 to 9; CPU time, not wall time (needs CAP_NET_RAW)",
		.iterations = 20,
	};
	uint64_t *times, i, start;
	int fd, order;

	workload_init(&w, argc, argv);
	times = workload_times(&w);
	/* With protocol 0 the socket receives no packets. */
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (fd < 0)
		workload_fail(&w, errno, "packet socket (needs CAP_NET_RAW)");
	for (i = 0; i < w.iterations; i++) {
		start = cpu_time();
		for (order = 0; order < ORDERS; order++) {
			ring(&w, fd, WORKLOAD_PAGE << order, BLOCKS);
			ring(&w, fd, 0, 0);
		}
		times[i] = cpu_time() - start;
	}
	workload_report(&w, times, NULL);
	return 0;
}
