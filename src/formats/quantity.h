/* SPDX-License-Identifier: Apache-2.0 */
/* Parses amounts as Kubernetes and Ray write them. */
#pragma once

#include "base/amount.h"

/* Parses a Kubernetes quantity exactly: "8", "0.5", "500m", "200G", "16Gi", "1e3". INVALID if it is malformed,
   negative, too large or finer than 0.0001. An amount that is finer only because of a binary suffix ("1.23456Gi") is
   rounded up to a multiple of 0.0001. */
gboolean quoit_quantity_parse (const char *text, QuoitAmount *amount, GError **error);

/* Rounds up to a whole number, as KubeRay does for the CPUs, memory and chips that it passes to Ray. */
QuoitAmount quoit_quantity_round_up (QuoitAmount amount);

/* Converts a number that a user gives to Ray to the amount that Ray counts. INVALID if it is negative, too large, or so
   small that Ray would count it as 0. */
gboolean quoit_ray_amount (double value, QuoitAmount *amount, GError **error);

/* Parses memory as Ray's lists print it, "1.000 GiB" or "80.000 MiB". The amount is a whole number of bytes. */
gboolean quoit_memory_text_parse (const char *text, QuoitAmount *amount, GError **error);
