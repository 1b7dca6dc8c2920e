// The query of an update. A parameter may occur several times. The parameters `system`, `wildcard`, `mx` and `backmx` of the
// protocol are ignored, as are unknown ones.

import { z } from 'zod';

const texts = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((text) => text && [text].flat().join());

/** Each parameter becomes a comma-separated list, which is undefined if it is absent. */
export const UpdateQuery = z.looseObject({ hostname: texts, myip: texts, myipv6: texts, offline: texts });
