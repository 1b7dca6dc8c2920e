// Settings of what edges report of requests.

import { resolve } from 'node:path';
import { setting } from './setting.ts';
import { bytes, shape } from './shapes.ts';

const MIB = 1024 ** 2;

export const REQUEST_SETTINGS = {
  /** Undefined: `spool` in DATA_DIR. */
  spoolDirectory: setting({
    name: 'ANALYTICS_SPOOL',
    readers: ['API'],
    schema: shape('a directory', (text) => resolve(text)),
    byDefault: { words: '`spool` in `DATA_DIR`', make: () => undefined },
    is: 'where requests that edges have reported wait for the analytics store, on a disk that keeps them; processes on one machine may share it',
  }),
  spoolBytes: setting({
    name: 'ANALYTICS_SPOOL_BYTES',
    readers: ['API'],
    schema: bytes(64 * MIB, 1024 ** 4, 'a size from 64M to 1024G'),
    byDefault: '2G',
    is: 'how much of it each API process may fill, `64M` to `1024G`: beyond that the oldest are dropped',
  }),
};
