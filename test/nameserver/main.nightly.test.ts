// The start of a nameserver process.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../support/processes/free-port.ts';
import { type Program, startProgram } from '../support/processes/program.ts';
import { until } from '../support/tests/until.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'zonefleet-start-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Starts a node whose Postgres does not answer, without a snapshot, so that it cannot load zones. */
async function startWithoutZones(port: number, env: Record<string, string> = {}): Promise<Program> {
  return startProgram('../../../src/nameserver/main.ts', {
    DATABASE_URL: `postgresql://127.0.0.1:${await freePort()}/zonefleet`,
    DATA_DIR: directory,
    DNS_LISTEN: `127.0.0.1:${port}`,
    METRICS_LISTEN: `127.0.0.1:${await freePort()}`,
    DNS_THREADS: '1',
    IMAGE_BYTES: '16M',
    ...env,
  });
}

it.each([
  'UDP',
  'TCP',
])('a node that has not loaded its zones detects that its port is in use over %s', async (transport) => {
  const port = await freePort();
  const socket = createSocket('udp4').bind(port, '127.0.0.1');
  await once(socket, 'listening');
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  if (transport === 'UDP') server.close();
  else socket.close();
  const node = await startWithoutZones(port);
  try {
    await once(node.child, 'exit');
    expect(node.child.exitCode).toBe(1);
    expect(node.log()).toContain(`zonefleet: DNS_LISTEN: 127.0.0.1:${port} is in use by another program`);
  } finally {
    await node.stop('SIGKILL');
    if (transport === 'UDP') socket.close();
    else server.close();
  }
});

it('a node without zones does not listen, reports the space of its disk, and warns of a misspelled setting', async () => {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const metrics = `http://127.0.0.1:${metricsPort}`;
  const node = await startWithoutZones(port, { RRL_OCTET: '1', METRICS_LISTEN: `127.0.0.1:${metricsPort}` });
  try {
    await until(() => node.log().includes('the change feed cannot be read'), 'it tries to load zones');
    expect((await fetch(`${metrics}/readyz`)).status).toBe(503);
    const text = await (await fetch(`${metrics}/metrics`)).text();
    expect(text).toMatch(/^zonefleet_disk_free_bytes [1-9]/m);
    expect(text).toContain('zonefleet_snapshot_write_failures_total{reason="disk_full"} 0');
    expect(node.log()).toContain('RRL_OCTET is not a setting and is ignored; did you mean RRL_OCTETS?');
    expect(node.log()).not.toMatch(/\bat .*\.ts:\d+/); // without a stack trace
    const free = createServer().listen(port, '127.0.0.1');
    await once(free, 'listening');
    free.close();
  } finally {
    await node.stop();
  }
});
