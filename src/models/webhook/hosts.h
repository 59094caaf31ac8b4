/* SPDX-License-Identifier: Apache-2.0 */
/* The TPU webhook's arithmetic, which is Go's (gke-kuberay-jax 3): numbers that wrap, quotients without a rest. */
#pragma once

#include <glib.h>

/* strconv.Atoi: a sign and digits, of 64 bits. */
gboolean quoit_webhook_integer (const char *text, gint64 *value);

/* Why the number between two "x" cannot be read; NULL: all can, and @chips is their product in 32 bits. The text that
 * is returned is the number, for g_free(). */
char *quoit_webhook_chips (const char *topology, gint32 *chips);

/* The hosts of a slice: at least 1. FALSE where @pod_chips is 0 in 32 bits, by which Go cannot divide. */
gboolean quoit_webhook_hosts (gint32 chips, gint64 pod_chips, gint32 *hosts);
