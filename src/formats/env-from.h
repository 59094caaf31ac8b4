/* SPDX-License-Identifier: Apache-2.0 */
/* The variables that envFrom gives to a container, from the ConfigMaps and Secrets in the manifest. */
#pragma once

#include "formats/manifest.h"

/* The state while the containers of a manifest are read. */
typedef struct {
  const QuoitManifest *manifest;
  const char *namespace; /* of the pods; NULL: not stated */
  GHashTable *objects;   /* "ConfigMap/NAME" -> GPtrArray of JsonNode; NULL: not read yet */
  GHashTable *missing;   /* "ConfigMap/NAME" of the objects that have a note */
  GPtrArray *notes;      /* of text, owned by the caller: what is not known */
  gsize n_bytes;         /* of all variables so far */
} QuoitEnvFromReader;

void quoit_env_from_clear (QuoitEnvFromReader *reader);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitEnvFromReader, quoit_env_from_clear)

/* Adds the variables of the container's envFrom to the last one of @containers, which are of QuoitWebhookContainer. A
 * missing object that is not optional gets a note. */
gboolean quoit_env_from_read (QuoitEnvFromReader *reader, JsonNode *container, GArray *containers);
