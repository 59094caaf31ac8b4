/* SPDX-License-Identifier: Apache-2.0 */
/* Amounts as Kubernetes and Ray write them. */
#pragma once

#include "base/amount.h"

/* A Kubernetes quantity, exactly: "8", "0.5", "500m", "200G", "16Gi", "1e3". INVALID when it is not one, is negative,
 * too large or finer than 0.0001; only what a binary suffix makes finer ("1.23456Gi") is rounded up to that. */
gboolean quoit_quantity_parse (const char *text, QuoitAmount *amount, GError **error);

/* The next whole number: what KubeRay gives Ray of CPUs, memory and chips. */
QuoitAmount quoit_quantity_round_up (QuoitAmount amount);

/* What Ray counts of a number in its own terms. INVALID also for what it would count as 0 though it is not. */
gboolean quoit_ray_amount (double value, QuoitAmount *amount, GError **error);

/* Memory as Ray's state listings show it, "1.000 GiB" or "80.000 MiB", in whole bytes. */
gboolean quoit_memory_text_parse (const char *text, QuoitAmount *amount, GError **error);
