// Signs domains through the API, and edits a large signed zone.

import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { expectOk } from './calls.ts';
import { type Cost, costOf } from './cost.ts';
import type { MeteredProgram, Tree } from './tree.ts';

const DOMAINS = 40;
const HOSTS = ['www', 'mail', 'ftp', 'api', 'dev', 'shop', 'blog'];
const LARGE = 'large-signed.example';
const LARGE_NAMES = 20_000;
const IMPORTED_AT_ONCE = 5000;
const EDITS = 50;
const POLL_MS = 50;
const TIMEOUT_MS = 120_000;

/** From the call of the API until workers have signed the domain. */
export async function measureEnabling(
  tree: Tree,
  programs: readonly MeteredProgram[],
  round: number,
): Promise<Cost> {
  const names = Array.from({ length: DOMAINS }, (_, i) => `signed${round}-${i}.example`);
  for (const name of names) {
    await expectOk(tree.ask('POST', '/domains/', { name, scan: false }));
    await importHosts(tree, name, HOSTS);
  }
  return await costOf(programs, DOMAINS, async () => {
    await Promise.all(names.map((name) => expectOk(tree.ask('POST', `/domains/${name}/dnssec/enable`))));
    await untilSigned(tree, names);
  });
}

/** Edits of a signed zone of 20,000 names. */
export async function measureLargeEdits(
  tree: Tree,
  programs: readonly MeteredProgram[],
  round: number,
): Promise<Cost> {
  if (round === 0) await makeLarge(tree);
  const edit = async (i: number) => {
    const body = { name: `edit${round}-${i}`, type: 'A', destination: '192.0.2.77' };
    await expectOk(tree.ask('POST', `/domains/${LARGE}/records/`, body));
  };
  return await costOf(programs, EDITS, async () => {
    for (let i = 0; i < EDITS; i++) await edit(i);
  });
}

async function makeLarge(tree: Tree): Promise<void> {
  await expectOk(tree.ask('POST', '/domains/', { name: LARGE, scan: false }));
  for (let first = 0; first < LARGE_NAMES; first += IMPORTED_AT_ONCE) {
    const hosts = Array.from({ length: IMPORTED_AT_ONCE }, (_, i) => `host${first + i}`);
    await importHosts(tree, LARGE, hosts);
  }
  await expectOk(tree.ask('POST', `/domains/${LARGE}/dnssec/enable`));
  await untilSigned(tree, [LARGE]);
}

async function importHosts(tree: Tree, domain: string, hosts: readonly string[]): Promise<void> {
  const records = hosts.map((name) => ({ name, type: 'A', destination: '192.0.2.1' }));
  await expectOk(tree.ask('POST', `/domains/${domain}/records/import`, { records }));
}

/** Uses one connection, because a connection for each query would cost more than the signing that is measured. */
async function untilSigned(tree: Tree, names: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: tree.databaseUrl });
  await client.connect();
  try {
    const deadline = performance.now() + TIMEOUT_MS;
    for (;;) {
      const { rows } = await client.query({
        name: 'signed',
        text: `select count(*)::int as signed from signed_zones s join domains d on d.id = s.domain_id
         where d.name = any($1) and s.expires_at is not null and s.phase not in ('off', 'signing')`,
        values: [names.map((name) => `${name}.`)],
      });
      const { signed } = rows[0];
      if (signed === names.length) return;
      if (performance.now() > deadline) throw new Error(`${signed} of ${names.length} domains are signed`);
      await pause(POLL_MS);
    }
  } finally {
    await client.end();
  }
}
