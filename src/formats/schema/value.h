/* SPDX-License-Identifier: Apache-2.0 */
/* What Kubernetes reads from a YAML scalar, and the formats of its texts. */
#pragma once

#include "formats/manifest.h"

typedef enum {
  QUOIT_SCALAR_UNKNOWN, /* the text has a variable without a value */
  QUOIT_SCALAR_NULL,
  QUOIT_SCALAR_BOOLEAN,
  QUOIT_SCALAR_INTEGER,
  QUOIT_SCALAR_FRACTION, /* also an integer that 64 bits do not hold, an infinity, or not a number */
  QUOIT_SCALAR_STRING,
  QUOIT_SCALAR_NONE /* a list or a map */
} QuoitScalarType;

typedef struct {
  QuoitScalarType type;
  const char *text; /* of a string; valid as long as the manifest */
  gint64 integer;
} QuoitScalar;

/* Reads a value as Kubernetes does, after variables are replaced. Unquoted 010, 0x1f, 1_000, 4.0 and 1e3 are integers.
 */
QuoitScalar quoit_scalar_read (const QuoitManifest *manifest, JsonNode *node);

/* The syntax of names of ports, environment variables, and keys of ConfigMaps and Secrets. */
gboolean quoit_is_port_name (const char *text);
gboolean quoit_is_env_name (const char *text);
gboolean quoit_is_config_key (const char *text);
/* A schedule of cron: five fields, or "@daily". */
gboolean quoit_is_schedule (const char *text);

/* The syntax of quantities, label keys ("example.com/name"), label values, times (RFC 3339), Base64 and names of
   objects (a DNS subdomain). */
gboolean quoit_is_quantity (const char *text);
gboolean quoit_is_label_key (const char *text);
gboolean quoit_is_label_value (const char *text);
gboolean quoit_is_time (const char *text);
gboolean quoit_is_base64 (const char *text);
gboolean quoit_is_dns_subdomain (const char *text);
