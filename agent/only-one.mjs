// @ts-check
// Prevents two agents from using one folder, where both would report the same lines. A name in Linux's abstract namespace becomes
// free when its process ends for any reason, unlike a file.

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
    throw error.code === 'EADDRINUSE' ? new Error(`another agent uses ${state}`) : error;
  });
  held.unref();
}
