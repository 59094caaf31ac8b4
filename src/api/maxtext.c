/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the settings of a YAML file to a MaxText job. Only src/formats reads YAML. */
#include <quoit/models/maxtext.h>

#include "formats/maxtext-config.h"
#include "models/maxtext/maxtext.h"

bool
quoit_maxtext_job_add_config (QuoitMaxtextJob *job, const char *name, const char *text, size_t length, GError **error)
{
  g_autoptr (GArray) settings = NULL;

  g_return_val_if_fail (job != NULL && name != NULL && text != NULL, 0);

  settings = quoit_maxtext_config_read (text, length, error);
  if (settings == NULL)
    {
      g_prefix_error (error, "%s: ", name);
      return 0;
    }
  for (guint i = 0; i < settings->len; i++)
    {
      QuoitConfigSetting *setting = &g_array_index (settings, QuoitConfigSetting, i);
      QuoitMaxtextFileSetting file_setting
          = { g_steal_pointer (&setting->key), g_steal_pointer (&setting->value), { g_strdup (name), setting->line } };

      g_array_append_val (job->file_settings, file_setting);
    }
  return 1;
}
