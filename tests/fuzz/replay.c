/* SPDX-License-Identifier: Apache-2.0 */
/* main() of a fuzz target without libFuzzer: runs the given files and the files in the given folders. Ignores
 * libFuzzer's options. */
#include <glib.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static unsigned
replay_file (const char *path)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  gsize length;

  if (!g_file_get_contents (path, &text, &length, &error))
    {
      g_printerr ("%s\n", error->message);
      exit (EXIT_FAILURE);
    }
  LLVMFuzzerTestOneInput ((const guint8 *) text, length);
  return 1;
}

static unsigned
replay_folder (GDir *folder, const char *path)
{
  const char *name;
  unsigned n = 0;

  while ((name = g_dir_read_name (folder)) != NULL)
    {
      g_autofree char *file = g_build_filename (path, name, NULL);

      n += replay_file (file);
    }
  return n;
}

int
main (int argc, char **argv)
{
  unsigned n = 0;

  for (int i = 1; i < argc; i++)
    {
      g_autoptr (GDir) folder = NULL;

      if (argv[i][0] == '-')
        continue;
      folder = g_dir_open (argv[i], 0, NULL);
      n += folder == NULL ? replay_file (argv[i]) : replay_folder (folder, argv[i]);
    }
  g_print ("%u inputs\n", n);
  return n > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
