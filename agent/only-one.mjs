// @ts-check
// Two agents on one folder would each make batches of the same lines. A name in Linux's abstract namespace is free again as soon as its
// process has ended, however it ended; a file would stay.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { createServer } from 'node:net';

/** Rejects while another agent of this machine has the folder. @param {string} state */
export async function holdAlone(state) {
  const name = createHash('sha256').update(realpathSync(state)).digest('hex');
  const held = createServer((socket) => socket.destroy());
  held.listen(`\0zonefleet-edge-agent-${name}`);
  await once(held, 'listening').catch((/** @type {NodeJS.ErrnoException} */ error) => {
    throw error.code === 'EADDRINUSE' ? new Error(`another agent has ${state}`) : error;
  });
  held.unref();
}
