// Processes that edit signed domains are killed at random moments: what they leave is whole. The signatures and the ring of every
// zone verify, what is served is what the records say, a node holds what Postgres holds, and every answer is proven.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { atLater } from '../../support/database/database-clock.ts';
import { newAccount } from '../../support/database/domains.ts';
import { newSignedDomain, type SignedDomain } from '../../support/database/signed-domains.ts';
import { SIGNING_SECRETS, useSecrets } from '../../support/database/signed-zones.ts';
import { JudgedNode } from '../../support/dnssec/judged-node.ts';
import { randomFrom } from '../../support/random/random-zones.ts';
import { scale } from '../../support/tests/scale.ts';

const SEED = Number(process.env.ZONEFLEET_SEED ?? 20_261_123);
const ROUNDS = scale(200, 4);
const LONGEST_MS = 300;
const CHILD = fileURLToPath(new URL('../../support/processes/editing-child.ts', import.meta.url));
const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const ORDERS = [
  { denial: 'nsec', algorithm: 13, split: false },
  { denial: 'nsec3', algorithm: 15, split: true },
] as const;

describe('signed domains whose writers are killed', () => {
  const random = randomFrom(SEED);
  let database: TestDatabase;
  let accountId: number;
  let node: JudgedNode;

  beforeAll(async () => {
    database = await createDatabase();
    useSecrets(database.db);
    accountId = await newAccount(database.db, 'ann@example.org');
    node = await JudgedNode.follow(database.url);
  });

  afterAll(async () => {
    await node?.stop();
    await database?.drop();
  });

  /** Signatures of which some are due: an edit and a refresh make them anew. */
  async function newDomains(round: number): Promise<SignedDomain[]> {
    const past = await atLater(database, -6);
    useSecrets(past);
    const domains: SignedDomain[] = [];
    for (const [i, order] of ORDERS.entries())
      domains.push(await newSignedDomain(past, accountId, `d${i}.r${round}.example.`, order));
    await past.destroy();
    return domains;
  }

  function startWriter(domains: readonly SignedDomain[], seed: number): ChildProcess {
    const [{ name, secret }] = SIGNING_SECRETS as [(typeof SIGNING_SECRETS)[number]];
    const places = domains.map(({ id, apex }) => `${id}=${apex}`);
    return fork(CHILD, [database.url, String(seed), ...places], {
      execArgv: ['--import', TSX],
      env: { ...process.env, KEY_SECRETS: `${name}:${secret.toString('base64')}` },
    });
  }

  /** Number of edits in the log of these domains. */
  async function logged(domains: readonly SignedDomain[]): Promise<number> {
    const { rows } = await sql<{ edits: number }>`
      select count(*)::integer as edits from domain_changes
      where operation = 'edit' and domain_id in (${sql.join(domains.map(({ id }) => id))})`.execute(
      database.db,
    );
    return rows[0]?.edits ?? 0;
  }

  /** The number of edits that were acknowledged, and of transactions that had written when it was killed. */
  async function editAndKill(domains: readonly SignedDomain[], seed: number) {
    const writer = startWriter(domains, seed);
    let edits = 0;
    const ended = once(writer, 'exit');
    const begun = new Promise<void>((done) => {
      writer.on('message', (message) => {
        if (message !== 'saved') return;
        edits++;
        done();
      });
    });
    await Promise.race([
      begun,
      ended.then(([code]) => {
        throw new Error(`the writer ended with ${code}`);
      }),
    ]);
    await pause(random() * LONGEST_MS);
    const { rows } = await sql<{ open: number }>`
      select count(*)::integer as open from pg_stat_activity
      where datname = current_database() and backend_xid is not null`.execute(database.db);
    writer.kill('SIGKILL');
    await ended;
    return { edits, open: rows[0]?.open ?? 0 };
  }

  it(`are whole after each of ${ROUNDS} kills`, async () => {
    let open = 0;
    let edits = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const domains = await newDomains(round);
      const before = await logged(domains);
      const told = await editAndKill(domains, SEED + 97 * round);
      expect((await logged(domains)) - before).toBeGreaterThanOrEqual(told.edits);
      edits += told.edits;
      if (told.open > 0) open++;
      expect(await node.faults(database.db, `r${round}.example.`), `round ${round}`).toEqual([]);
    }
    expect(edits).toBeGreaterThan(ROUNDS);
    expect(open).toBeGreaterThan(ROUNDS / 2);
  });
});
