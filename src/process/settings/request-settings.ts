// Settings for the requests that edges report.

import { resolve } from 'node:path';
import { setting } from './setting.ts';
import { bytes, shape } from './shapes.ts';

const MIB = 1024 ** 2;

export const REQUEST_SETTINGS = {
  /** Undefined means `spool` in DATA_DIR. */
  spoolDirectory: setting({
    name: 'ANALYTICS_SPOOL',
    readers: ['API'],
    schema: shape('a directory', (text) => resolve(text)),
    byDefault: { words: '`spool` in `DATA_DIR`', make: () => undefined },
    is: 'the directory in which reported requests wait for the analytics store, on a persistent disk; processes on one machine may share it',
  }),
  spoolBytes: setting({
    name: 'ANALYTICS_SPOOL_BYTES',
    readers: ['API'],
    schema: bytes(64 * MIB, 1024 ** 4, 'a size from 64M to 1024G'),
    byDefault: '2G',
    is: 'maximum size for each API process, `64M` to `1024G`; beyond it the oldest requests are dropped',
  }),
};
