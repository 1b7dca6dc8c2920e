// Starts PowerDNS with its HTTP API and an empty SQLite database.

import { join } from 'node:path';
import { freePort } from '../processes/free-port.ts';
import { runProgram } from '../validators/run-program.ts';
import { startDaemon } from './daemon.ts';
import { isInstalled } from './peers.ts';

/** Suffix of test names if a program is missing. */
export const POWER_DNS_NEEDS = ['pdns_server', 'sqlite3'].every(isInstalled)
  ? ''
  : ' (skipped: needs pdns_server and sqlite3)';

const SCHEMA = '/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql';
const KEY = 'secret';

export async function startPowerDnsApi() {
  const [dnsPort, port] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const ask = async (method: string, path: string, body?: string) => {
    const headers = { 'x-api-key': KEY, accept: 'application/json' };
    const response = await fetch(url + path, { method, headers, ...(body !== undefined && { body }) });
    return { status: response.status, text: await response.text() };
  };
  const daemon = await startDaemon({
    program: 'pdns_server',
    files: (directory) => ({
      'pdns.conf': `
launch=gsqlite3
gsqlite3-database=${directory}/pdns.db
gsqlite3-dnssec=yes
local-address=127.0.0.1:${dnsPort}
socket-dir=${directory}
daemon=no
guardian=no
setuid=
setgid=
api=yes
api-key=${KEY}
webserver-port=${port}
`,
    }),
    prepare: async (directory) => {
      const { code, text } = await runProgram(
        'sqlite3',
        [join(directory, 'pdns.db'), `.read ${SCHEMA}`],
        directory,
      );
      if (code !== 0) throw new Error(`sqlite3: ${text}`);
    },
    args: (directory) => [`--config-dir=${directory}`],
    isReady: async () => (await ask('GET', '/api').catch(() => undefined))?.status === 200,
  });
  return { ask, stop: () => daemon.stop() };
}
