// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/misses.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <stddef.h>

#include "profile/profile.h"

/*
 * struct bpf_link_info as it is since 6.7, which headers need not have yet. Of its union only what is
 * read here.
 */
struct link_info {
	__u32 type, id, prog_id, pad;
	union {
		struct {
			__u64 addrs;
			__u32 count, flags;
			__u64 missed;
		} kprobe_multi;
		struct {
			__u32 type, pad;
			__u64 func_name;
			__u32 name_len, offset;
			__u64 addr, missed;
		} perf_event;
	};
};

_Static_assert(offsetof(struct link_info, kprobe_multi.missed) == 32, "as in the kernel");
_Static_assert(offsetof(struct link_info, perf_event.missed) == 48, "as in the kernel");
_Static_assert(sizeof(struct link_info) == 56, "the kernel's was shorter before it told of misses");

uint64_t record_link_misses(int link)
{
	struct link_info info = {};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(link, &info, &len))
		return PROFILE_NOT_COUNTED;
	if (info.type != BPF_LINK_TYPE_KPROBE_MULTI && info.type != BPF_LINK_TYPE_PERF_EVENT)
		return 0;
	/* The kernel says how much of it it has filled in. */
	if (len < sizeof(info))
		return PROFILE_NOT_COUNTED;
	return info.type == BPF_LINK_TYPE_PERF_EVENT ? info.perf_event.missed :
						       info.kprobe_multi.missed;
}
