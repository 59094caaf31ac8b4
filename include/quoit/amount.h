/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_AMOUNT_H
#define QUOIT_AMOUNT_H

#include <stdint.h>

#include <quoit/error.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitAmount:
 * @e4: the amount in ten-thousandths, the unit in which Ray counts resources
 *
 * An exact amount of a resource: chips, CPUs, bytes. At most 922337203685477.5807.
 */
typedef struct {
  int64_t e4;
} QuoitAmount;

/**
 * quoit_amount_format:
 *
 * Returns: (transfer full): the shortest decimal text of @amount: "4", "0.5", "1.0001"; g_free() it
 */
QUOIT_API char *quoit_amount_format (QuoitAmount amount);

/* cdef-end */

G_END_DECLS

#endif
