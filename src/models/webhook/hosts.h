/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of the TPU webhook, with the rules of Go (gke-kuberay-jax 3): integers wrap, and quotients drop the
 * remainder. */
#pragma once

#include <glib.h>

/* Parses an integer as strconv.Atoi() does: a sign and digits, 64 bits. */
gboolean quoit_webhook_parse_integer (const char *text, gint64 *value);

/* Sets *@chips to the product of the numbers in @topology, such as "2x4", in 32 bits. Returns NULL, or the first part
 * that is not a number; free it with g_free(). */
char *quoit_webhook_parse_topology (const char *topology, gint32 *chips);

/* Computes the number of hosts of a slice, at least 1. FALSE if @pod_chips is 0 in 32 bits, because Go would divide by
 * zero. */
gboolean quoit_webhook_compute_hosts (gint32 chips, gint64 pod_chips, gint32 *hosts);
