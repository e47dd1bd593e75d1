#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER shop
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./shop_events.h"
#if !defined(SHOP_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define SHOP_EVENTS_H
#include <lttng/tracepoint.h>
#include <stdint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT_CLASS(shop, step,
    LTTNG_UST_TP_ARGS(uint32_t, shard),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, shard, shard)))
#define STEP(name)                                                                                 \
    LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(shop, step, shop, name, LTTNG_UST_TP_ARGS(uint32_t, shard))
STEP(sell_end)
STEP(parse_begin) STEP(parse_end)
STEP(find_begin)  STEP(find_end)
STEP(index_begin) STEP(index_end)
STEP(disk_begin)  STEP(disk_end)
STEP(pack_begin)  STEP(pack_end)
LTTNG_UST_TRACEPOINT_EVENT(shop, sell_begin,
    LTTNG_UST_TP_ARGS(const char *, what, uint32_t, shard),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_string(what, what)
        lttng_ust_field_integer(uint32_t, shard, shard)))
/* clang-format on */
#endif
#include <lttng/tracepoint-event.h>
