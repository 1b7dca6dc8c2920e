// ANAME: records whose addresses workers look up at another name. The table of targets belongs to the core, since every
// edit of such a record writes it.

import type { Feature } from '../feature.ts';
import { FLATTEN_ANAME } from './rules.ts';

export const aname: Feature = {
  name: 'aname',
  privileges: { tables: {} },
  queues: [FLATTEN_ANAME],
  jobs: async () => [(await import('./job.ts')).openAnameJob],
};
