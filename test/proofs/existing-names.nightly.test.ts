// A nameserver process is asked about names whose records publish nothing: an ANAME without addresses yet, proxied
// records while there is no edge. They exist (RFC 4592 §2.2), as an oracle says that knows the customer's records only.

import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decodeMessage } from '../../src/dns/message/message.ts';
import { RCODE } from '../../src/dns/message/rcodes.ts';
import { isWithin, type Name, parentOf, parseName, wildcardBelow } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { saveEdit } from '../../src/store/change/save-edit.ts';
import { migrate } from '../../src/store/migrate/migrate.ts';
import { loadRecordsByName } from '../../src/store/records/load-touched-records.ts';
import type { CustomerRecord } from '../../src/zone/records/customer-record.ts';
import { queryFor } from '../support/answer/queries.ts';
import { exchangeUdp } from '../support/answer/sockets.ts';
import { createDatabase, TEST_SETTINGS, type TestDatabase } from '../support/database/database.ts';
import { BY, expectPublished, newAccount, newDomain } from '../support/database/domains.ts';
import { type NodeProcess, startNode } from '../support/processes/nodes.ts';
import { scale } from '../support/tests/scale.ts';
import { until } from '../support/tests/until.ts';
import { APEX, type EditLines, edit } from '../support/zone/customer-records.ts';

const ROUNDS = scale(1000, 60);
const SEED = Number(process.env.ZONEFLEET_SEED ?? Math.floor(Math.random() * 2 ** 31));
const NAMES = ['@', 'm', 'a.m', 'b.c.x', '*.x', '*', 'x'];
const ASKED = [...NAMES, 'c.x', 'q.x', 'q.c.x', 'q.b.c.x', 'q.m', 'q.a.m', 'q', 'q.q', 'q.*'];
const CONTENTS = [
  'A 192.0.2.7 ; proxied',
  'ANAME t.example.net',
  'A 192.0.2.7',
  'TXT x',
  'ANAME u.example.net ; proxied',
];
const NO_EDGE = { ...TEST_SETTINGS, edgeIpv4: [], edgeIpv6: [] };

let database: TestDatabase;
let domainId: number;
let node: NodeProcess;
let hasEdge = true;

beforeAll(async () => {
  database = await createDatabase();
  domainId = (await newDomain(database.db, await newAccount(database.db, 'a@example.org'))).id;
  await sql`
    insert into aname_targets (target, v4_addresses, v6_addresses, due_at)
    values ('t.example.net', '{}', '{}', now()), ('u.example.net', '{}', '{}', now())`.execute(database.db); // looked up
  node = await startNode('existing-names', { DATABASE_URL: database.url });
});
afterAll(async () => {
  await node?.stop();
  await database?.drop();
});

async function ask(name: Name, type: number) {
  const answer = await exchangeUdp(node.address, queryFor({ name, type, udpPayloadSize: 1232 }));
  if (answer === undefined) throw new Error('no answer');
  return decodeMessage(answer);
}

async function save(lines: EditLines): Promise<string> {
  const { kind } = await saveEdit(database.db, { ...BY, domainId, edit: edit(lines) });
  return kind;
}

async function setEdge(there: boolean): Promise<void> {
  await migrate(database.db, there ? TEST_SETTINGS : NO_EDGE);
  hasEdge = there;
}

/** The node has the newest serial. */
async function untilServed(): Promise<void> {
  const [row] = await database.db.selectFrom('domains').select('serial').where('id', '=', domainId).execute();
  await until(async () => {
    const soa = (await ask(APEX, TYPE.SOA)).answers[0]?.rdata as Uint8Array;
    return Buffer.from(soa).readUInt32BE(soa.length - 20) === row?.serial;
  }, 'the change is served');
}

type Expected = 'nxdomain' | 'nodata' | 'answer';

/** What stands at a name, apart from the service's own at the apex; proxied records by what is published for them. */
function typesOf(records: readonly CustomerRecord[]): number[] {
  return records.flatMap(({ type, proxied }) => {
    if (proxied) return hasEdge ? [TYPE.A, TYPE.AAAA] : [];
    return type === 'ANAME' ? [] : [TYPE[type]];
  });
}

function oracle(byName: ReadonlyMap<Name, readonly CustomerRecord[]>, name: Name, type: number): Expected {
  const names = [APEX, ...byName.keys()];
  const exists = (one: Name) => names.some((held) => isWithin(held, one));
  const judge = (source: Name) => (typesOf(byName.get(source) ?? []).includes(type) ? 'answer' : 'nodata');
  if (exists(name)) return judge(name);
  let encloser = parentOf(name);
  while (!exists(encloser)) encloser = parentOf(encloser);
  const wildcard = wildcardBelow(encloser) as Name;
  return exists(wildcard) ? judge(wildcard) : 'nxdomain';
}

async function seen(name: Name, type: number): Promise<Expected> {
  const { rcode, aa, answers, authorities } = await ask(name, type);
  expect(aa).toBe(true);
  if (answers.length > 0) return 'answer';
  expect(authorities.map((record) => record.type)).toEqual([TYPE.SOA]);
  expect([RCODE.NOERROR, RCODE.NXDOMAIN]).toContain(rcode);
  return rcode === RCODE.NXDOMAIN ? 'nxdomain' : 'nodata';
}

/** Every name and type for which the node and the oracle disagree. */
async function disagreements(): Promise<string[]> {
  const byName = await loadRecordsByName(database.db, domainId);
  const found: string[] = [];
  for (const text of ASKED) {
    const name = text === '@' ? APEX : parseName(text, APEX);
    for (const type of [TYPE.A, TYPE.AAAA, TYPE.TXT, TYPE.MX, 65280]) {
      const [wanted, is] = [oracle(byName, name, type), await seen(name, type)];
      if (wanted !== is) found.push(`${text} ${type}: ${is}, not ${wanted}`);
    }
  }
  return found;
}

test(`${ROUNDS} random edits leave no name that exists denied (seed ${SEED})`, {
  timeout: 600_000,
}, async () => {
  const rounds = fc.sample(
    fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...CONTENTS), fc.nat(99), fc.nat(9)),
    { numRuns: ROUNDS, seed: SEED },
  );
  let marked = 0;
  for (const [name, content, victim, chance] of rounds) {
    if (chance === 0) await setEdge(!hasEdge);
    const held = [...(await loadRecordsByName(database.db, domainId)).values()].flat();
    const gone = held.length > 3 ? [held[victim % held.length]?.id as number] : [];
    if ((await save({ create: [`${name} ${content}`], delete: gone })) !== 'saved') continue;
    await untilServed();
    expect(await disagreements()).toEqual([]);
    const marks = await database.db
      .selectFrom('zone_records')
      .select('owner')
      .where('type', '=', 0)
      .where('removed', '=', false)
      .execute();
    marked += marks.length;
  }
  expect(marked).toBeGreaterThan(ROUNDS / 10);
  await expectPublished(database.db, domainId);
});
