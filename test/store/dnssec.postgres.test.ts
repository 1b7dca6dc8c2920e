import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import { changeStatus } from '../../src/store/change/change-status.ts';
import { addSlotTime } from '../../src/store/checks/check-shares.ts';
import {
  abortDnssec,
  type ChangedGoal,
  disableDnssec,
  enableDnssec,
  rollDnssec,
} from '../../src/store/dnssec/change-goal.ts';
import { createDomainSigned } from '../../src/store/dnssec/create-signed-domain.ts';
import { loadDnssec, loadToldDnssec, loadToldDnssecOf } from '../../src/store/dnssec/dnssec-state.ts';
import { claimDueSteps } from '../../src/store/dnssec/due-steps.ts';
import { loadDelegations, loadHeldDsVersion, loadServing } from '../../src/store/dnssec/key-facts.ts';
import { EPOCH_SQL } from '../../src/store/feed/change-feed.ts';
import { openDatabase } from '../../src/store/postgres/database.ts';
import { saveZones } from '../../src/store/zones/save-zones.ts';
import { BY, newAccount, newDomain, saved, wantedDomain } from '../support/database/domains.ts';
import { useSecrets } from '../support/database/signed-zones.ts';
import { sharedDatabase } from '../support/tests/shared-database.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

const { db, url, query, value } = sharedDatabase();

describe('change-goal', () => {
  let domainId: number;
  let accountId: number;

  beforeEach(async () => {
    useSecrets(db);
    accountId = await newAccount(db, 'a@example.org');
    domainId = (await newDomain(db, accountId)).id;
  });

  const order = () => ({ ...BY, domainId });
  const refusal = (result: ChangedGoal) => (result.kind === 'refused' ? result.code : result.kind);
  const loggedChanges = () => query<{ id: number; operation: string; action: string }>`
    select c.id, c.operation, a.action from domain_changes c join audit_log a on a.change_id = c.id
    where c.operation = 'dnssec' order by c.id`;

  test('an enabled domain has its own key, which no record shows yet, and a change in its log', async () => {
    const result = await enableDnssec(db, order());
    expect(await loggedChanges()).toEqual([
      { id: (result as { changeId: number }).changeId, operation: 'dnssec', action: 'domain.dnssec' },
    ]);
    const stored = await loadDnssec(db, domainId);
    expect(stored?.keys).toMatchObject([
      { role: 'csk', algorithm: 13, flags: 257, signs: 'none', publishedAt: null },
    ]);
    expect(stored?.signed).toMatchObject({ goal: 'signed', denial: 'nsec', phase: 'off', keys: [] });
    expect(stored?.machine).toMatchObject({ goal: 'signed', serving: { keys: [] } });
    expect(stored?.dueAt).not.toBeNull();
    expect(await enableDnssec(db, order())).toEqual({ kind: 'updated' });
    expect(refusal(await enableDnssec(db, { ...order(), denial: 'nsec3' }))).toBe('dnssec_busy');
    expect(await loggedChanges()).toHaveLength(1);
  });

  test('enabling again after an abort reuses the earlier keys, and another algorithm creates new ones', async () => {
    await enableDnssec(db, { ...order(), split: true });
    const first = await loadDnssec(db, domainId);
    expect(first?.keys.map(({ role }) => role)).toEqual(['ksk', 'zsk']);
    expect((await disableDnssec(db, order())).kind).toBe('updated');
    await enableDnssec(db, order());
    expect((await loadDnssec(db, domainId))?.keys).toEqual(first?.keys);
    await abortDnssec(db, order());
    expect((await loadDnssec(db, domainId))?.machine?.goal).toBe('unsigned');
    await enableDnssec(db, { ...order(), algorithm: 15 });
    const keys = (await loadDnssec(db, domainId))?.keys ?? [];
    expect(keys.map(({ algorithm }) => algorithm)).toEqual([13, 13, 15, 15]);
    expect(new Set(keys.map(({ tag }) => tag)).size).toBe(4);
  });

  test('keys are not rolled before the zone is signed, and the new keys are removed then', async () => {
    expect(refusal(await rollDnssec(db, { ...order(), compromised: false }))).toBe('wrong_state');
    expect(refusal(await abortDnssec(db, order()))).toBe('wrong_state');
    expect(await disableDnssec(db, order())).toEqual({ kind: 'updated' });
    await enableDnssec(db, order());
    expect(refusal(await rollDnssec(db, { ...order(), compromised: false }))).toBe('dnssec_busy');
    expect((await loadDnssec(db, domainId))?.keys).toHaveLength(1);
  });

  test('a rollover can change the algorithm, or from two keys to one, and an abort restores the earlier settings', async () => {
    const compromised = true; // also while a change is in progress
    await enableDnssec(db, { ...order(), split: true });
    expect(refusal(await rollDnssec(db, { ...order(), compromised, algorithm: 15 }))).toBe('updated');
    let stored = await loadDnssec(db, domainId);
    expect(stored?.signed).toMatchObject({ algorithm: 15, split: true });
    expect(stored?.keys.slice(2)).toMatchObject([
      { role: 'ksk', algorithm: 15 },
      { role: 'zsk', algorithm: 15 },
    ]);
    expect(refusal(await rollDnssec(db, { ...order(), compromised, split: false }))).toBe('updated');
    stored = await loadDnssec(db, domainId);
    expect(stored?.signed).toMatchObject({ algorithm: 15, split: false });
    expect(stored?.keys.at(-1)).toMatchObject({ role: 'csk', algorithm: 15 });
    await abortDnssec(db, order());
    expect((await loadDnssec(db, domainId))?.signed).toMatchObject({ algorithm: 15, split: true });
  });

  test('external and disabled domains, and domains of another account, are rejected', async () => {
    const other = await newDomain(db, accountId, 'example.net.', { dnsMode: 'external' });
    expect(refusal(await enableDnssec(db, { ...BY, domainId: other.id }))).toBe('wrong_state');
    await changeStatus(db, { ...order(), event: 'disable', exempt: true });
    expect(refusal(await enableDnssec(db, order()))).toBe('wrong_state');
    expect(refusal(await enableDnssec(db, { ...order(), ownerId: accountId + 1 }))).toBe('absent');
  });

  test('without secrets, or with a node that is too old, nothing is written', async () => {
    const without = openDatabase(url);
    try {
      expect(await enableDnssec(without, order())).toMatchObject({
        code: 'dnssec_unavailable',
        retryAfterSeconds: 600,
      });
    } finally {
      await without.destroy();
    }
    await query`
    insert into nodes (name, instance, started_at, loaded, zones, records)
    values ('old', gen_random_uuid(), clock_timestamp(), true, 0, 0)`;
    expect(refusal(await enableDnssec(db, order()))).toBe('dnssec_unavailable');
    expect(await loadDnssec(db, domainId)).toBeUndefined();
  });

  test('the number of keys created per day is limited', async () => {
    await enableDnssec(db, order());
    for (let made = 1; made < 12; made++)
      expect(refusal(await rollDnssec(db, { ...order(), compromised: true }))).toBe('updated');
    expect(refusal(await rollDnssec(db, { ...order(), compromised: true }))).toBe('dnssec_busy');
    expect((await loadDnssec(db, domainId))?.keys).toHaveLength(12);
    await disableDnssec(db, order());
    expect(refusal(await enableDnssec(db, { ...order(), algorithm: 15 }))).toBe('dnssec_busy');
    expect((await loadDnssec(db, domainId))?.machine?.goal).toBe('unsigned');
  });
});

describe('claim-due-steps', () => {
  /** Creates an account with this many due signed domains, the first one due for the longest. */
  async function accountWith(count: number, label: string): Promise<{ accountId: number; ids: number[] }> {
    const accountId = await newAccount(db, `${label}@example.org`);
    const ids: number[] = [];
    for (let i = 0; i < count; i++) {
      const domain = await newDomain(db, accountId, `${label}${i}.net.`, {});
      const id = await value<number>`
      insert into signed_zones (domain_id, account_id, goal, denial, algorithm, phase, machine, due_at)
      values (${domain.id}, ${accountId}, 'signed', 'nsec', 13, 'waiting', '{}', now() - make_interval(secs => ${1000 - i}))
      returning id`;
      ids.push(id as number);
    }
    return { accountId, ids };
  }

  const claim = async (more: object = {}) =>
    (await claimDueSteps(db, { limit: 10, ...more })).rows.map(({ id }) => id);

  test('an account with many zones does not delay others: each account’s first zone comes before second ones', async () => {
    const bulk = await accountWith(5, 'bulk');
    const { ids } = await accountWith(1, 'one');
    expect(await claim({ limit: 2 })).toEqual([bulk.ids[0], ids[0]]);
    expect(await claim()).toEqual(bulk.ids.slice(1));
    expect(await claim()).toEqual([]); // each is leased
  });

  test('an account with much recent use comes last, and not while the queue is full', async () => {
    const bulk = await accountWith(2, 'bulk');
    const { ids } = await accountWith(2, 'one');
    await addSlotTime(db, [{ accountId: bulk.accountId, slotMs: 600_000 }]);
    expect(await claim({ lightOnly: true, limit: 1 })).toEqual([ids[0]]);
    expect(await claim()).toEqual([ids[1], ...bulk.ids]);
  });

  test('skips zones that are not due or have no machine, and a transferred domain counts for its new account', async () => {
    const [later, without] = (await accountWith(2, 'bulk')).ids;
    await query`update signed_zones set due_at = now() + interval '1 hour' where id = ${later}`;
    await query`update signed_zones set machine = null where id = ${without}`;
    expect(await claim()).toEqual([]);
    const other = await newAccount(db, 'other@example.org');
    await query`update domains set account_id = ${other} where name = 'bulk0.net.'`;
    expect(await query`select account_id as account from signed_zones where id = ${later}`).toEqual([
      { account: other },
    ]);
  });
});

describe('create-signed-domain', () => {
  let accountId: number;
  beforeEach(async () => {
    useSecrets(db);
    accountId = await newAccount(db, 'a@example.org');
  });

  const wanted = (name = 'new.example.com.') => wantedDomain(accountId, name, { exempt: true });
  const made = async () =>
    (
      await query<{ domains: number; keys: number; changes: number }>`
    select (select count(*)::integer from domains) as domains, (select count(*)::integer from signing_keys) as keys,
      (select count(*)::integer from domain_changes) as changes`
    )[0];

  test('is not created if it cannot be signed', async () => {
    const without = openDatabase(url);
    try {
      const refused = await createDomainSigned(without, wanted(), {});
      expect(refused).toMatchObject({ kind: 'refused', code: 'dnssec_unavailable' });
    } finally {
      await without.destroy();
    }
    const long = `${`${'a'.repeat(60)}.`.repeat(3)}${'b'.repeat(44)}.com.`;
    expect(await createDomainSigned(db, wanted(long), { denial: 'nsec3' })).toMatchObject({
      kind: 'refused',
      code: 'wrong_state',
    });
    await query`
    insert into nodes (name, instance, started_at, loaded, zones, records)
    values ('old', gen_random_uuid(), clock_timestamp(), true, 0, 0)`;
    expect(await createDomainSigned(db, wanted(), {})).toMatchObject({ code: 'dnssec_unavailable' });
    expect(await made()).toEqual({ domains: 0, keys: 0, changes: 0 });
  });

  test('leaves nothing if the name is taken', async () => {
    await createDomainSigned(db, wanted(), {});
    expect((await createDomainSigned(db, wanted(), {})).kind).toBe('taken');
    expect(await made()).toMatchObject({ domains: 1, keys: 1 });
  });
});

describe('held-ds-version', () => {
  const LAB = parseName('lab.');
  const CHILD = parseName('del.lab.');

  const save = (serial: number, ...lines: string[]) => {
    const apex = `@ 300 SOA ns.lab. host.lab. ${serial} 3600 600 86400 120\n@ NS ns.lab.\nns A 192.0.2.53\n`;
    const records = recordsOf(`${apex}del NS ns1.example.\n${lines.join('\n')}\n`, 'lab.');
    return saveZones(db, [{ apex: LAB, records }], { source: 'test', actor: 'me' });
  };
  const version = async () => (await loadHeldDsVersion(db, LAB, CHILD))?.version;
  const zoneVersion = () => value<number>`select version from zones`;
  const DS = `del DS 12345 13 2 ${'07'.repeat(32)}`;

  test('is the version of the newest change of its records, also a removal, and not of the zone', async () => {
    expect(await version()).toBeUndefined();
    await save(1);
    const first = await zoneVersion();
    expect(await version()).toBe(first);
    await save(2, 'other A 192.0.2.1');
    expect(await version()).toBe(first);
    await save(3, 'other A 192.0.2.1', DS);
    const appeared = await zoneVersion();
    expect(await version()).toBe(appeared);
    await save(4, DS);
    expect(await version()).toBe(appeared);
    await save(5);
    expect(await version()).toBe(await zoneVersion());
  });

  test('for a set that is older than the purged rows, is the version of that time', async () => {
    await save(1);
    await query`with gone as (delete from zone_records where owner = 'del.lab.') update zones set complete_since = 7`;
    expect(await version()).toBe(7);
  });
});

describe('load-delegation', () => {
  const DAY_MS = 86_400_000;
  const MINUTE_MS = 60_000;

  let domainId: number;
  let madeAt: number;

  beforeEach(async () => {
    const domain = await newDomain(db, await newAccount(db, 'a@example.org'));
    domainId = domain.id;
    madeAt = domain.createdAt.getTime();
  });

  /** Adds a run to the log, `after` milliseconds after the domain was created. */
  async function run(verdict: string, after: number, ttls: readonly (number | undefined)[] = [3600]) {
    const at = new Date(madeAt + after);
    const evidence = JSON.stringify({ servers: ttls.map((ttl) => ({ ttl })) });
    await query`
    insert into check_runs (domain_id, kind, started_at, finished_at, last_seen_at, verdict, findings, status_before,
      status_after, queries, evidence)
    values (${domainId}, 'background', ${at}, ${at}, ${at}, ${verdict}, '[]', 'active', 'active', 3, ${evidence})`;
  }
  const delegation = async () => (await loadDelegations(db, [domainId])).get(domainId);

  test('a domain that was never checked, or whose parent names other servers, is not delegated to the fleet', async () => {
    expect(await delegation()).toEqual({ kind: 'not_ours' });
    await run('match', MINUTE_MS);
    await run('foreign', DAY_MS);
    const elsewhere = { kind: 'not_ours', elsewhereSince: madeAt + DAY_MS };
    expect(await delegation()).toEqual(elsewhere);
    await run('unknown', 2 * DAY_MS);
    await run('not_delegated', 3 * DAY_MS);
    expect(await delegation()).toEqual(elsewhere);
    await run('mixed', 4 * DAY_MS);
    expect(await delegation()).toEqual({ kind: 'not_ours' });
  });

  test('is delegated since the first match after the last check that saw other servers, with the largest TTL seen', async () => {
    await run('foreign', MINUTE_MS);
    await run('match', DAY_MS, [300, 7200, undefined]);
    await run('unknown', 2 * DAY_MS);
    await run('match', 3 * DAY_MS, [300, 7200, undefined]);
    const since = madeAt + DAY_MS;
    expect(await delegation()).toEqual({ kind: 'ours', since, ttl: 7200, isFirst: false });
    await run('extra', 4 * DAY_MS);
    await run('match', 5 * DAY_MS, []);
    expect(await delegation()).toEqual({
      kind: 'ours',
      since: madeAt + 5 * DAY_MS,
      ttl: 172_800,
      isFirst: false,
    });
  });

  test.each([
    [
      'was not delegated when it was created',
      [
        ['unregistered', MINUTE_MS],
        ['not_delegated', DAY_MS],
      ],
      true,
    ],
    [
      'was delegated to other servers once',
      [
        ['unregistered', MINUTE_MS],
        ['foreign', DAY_MS],
      ],
      false,
    ],
    ['was checked for the first time days later', [['unregistered', 2 * DAY_MS]], false],
    ['was delegated to the fleet from the first check on', [], false],
  ] as const)('servers of before may be asked unless the domain was new: it %s', async (_, runs, isFirst) => {
    for (const [verdict, after] of runs) await run(verdict, after);
    await run('match', 9 * DAY_MS);
    expect(await delegation()).toEqual({ kind: 'ours', since: madeAt + 9 * DAY_MS, ttl: 3600, isFirst });
  });
});

describe('load-told-dnssec', () => {
  // After a restore, the API shows no missing DS record as an action until the next observation.
  let domainId: number;

  beforeEach(async () => {
    useSecrets(db);
    domainId = (await newDomain(db, await newAccount(db, 'a@example.org'))).id;
  });

  test('shows no actions of a restored database before the next observation', async () => {
    expect(await loadToldDnssec(db, domainId)).toBeUndefined();
    await enableDnssec(db, { ...BY, domainId });
    const stored = await loadDnssec(db, domainId);
    expect(await loadToldDnssec(db, domainId)).toEqual(stored);
    const id = stored?.keys[0]?.id;
    await query`
    update signed_zones set machine = machine || jsonb_build_object('asked', jsonb_build_array(${String(id)}::text),
      'epoch', (select ${sql.raw(EPOCH_SQL)} from feed))`;
    expect((await loadToldDnssec(db, domainId))?.machine?.asked).toEqual([String(id)]);
    await query`update feed set epoch = gen_random_uuid()`;
    expect((await loadToldDnssec(db, domainId))?.machine?.asked).toEqual([]);
    expect((await loadToldDnssecOf(db, stored?.signed.id as number))?.machine?.asked).toEqual([]);
    expect((await loadDnssec(db, domainId))?.machine?.asked).toEqual([String(id)]);
  });
});

describe('nodes-serving', () => {
  // The version of a zone that a node serves follows from the transactions that it has seen.
  let domainId: number;
  let zoneId: number;

  beforeEach(async () => {
    domainId = (await newDomain(db, await newAccount(db, 'a@example.org'))).id;
    const rows = await query<{ id: number }>`select zone_id as id from domains`;
    zoneId = (rows[0] as { id: number }).id;
    await query`
    insert into nodes (name, instance, started_at, loaded, zones, records, unserved)
    values ('ns1', gen_random_uuid(), clock_timestamp(), true, 0, 0, '{}')`;
  });

  const follow = () =>
    query`
    update nodes set snapshot = pg_current_snapshot(), epoch = (select ${sql.raw(EPOCH_SQL)} from feed)`;
  const change = async (name: string) => (await saved(db, domainId, [`${name} A 198.51.100.1`])).changeId;
  const versionAt = async (zone: number | null = zoneId) => (await loadServing(db, zone)).nodes[0]?.version;
  const setNode = async (columns: string) => await sql.raw(`update nodes set ${columns}`).execute(db);

  test('a node has the changes that its snapshot sees, and no later ones', async () => {
    expect(await versionAt()).toBeNull();
    const first = await change('a');
    await follow();
    const second = await change('b');
    expect(await versionAt()).toBe(first);
    await follow();
    expect(await versionAt()).toBe(second);
  });

  test('a node of another epoch, one that is loading, and one without space for the zone have no version of it', async () => {
    await change('a');
    for (const [broken, mended] of [
      ["epoch = 'another'", undefined],
      ['loaded = false', 'loaded = true'],
      [`unserved = '{${zoneId}}'`, "unserved = '{}'"],
      ['unserved = null', "unserved = '{}'"],
    ] as const) {
      await follow();
      expect(await versionAt()).not.toBeNull();
      await setNode(broken);
      expect(await versionAt()).toBeNull();
      if (mended !== undefined) await setNode(mended);
    }
  });

  test('after a purge, a node that has seen all purged changes has the zone’s version, and another node has none', async () => {
    const version = await change('a');
    const purge = (xid: string) =>
      query`with gone as (delete from changes) update feed set purged_xid = ${sql.raw(xid)}`;
    await follow();
    const before = await sql<{ snapshot: string }>`select snapshot::text from nodes`.execute(db);
    await change('b');
    await purge('pg_snapshot_xmax(pg_current_snapshot())::text::xid8');
    await query`update nodes set snapshot = ${before.rows[0]?.snapshot}::pg_snapshot`;
    expect(await versionAt()).toBeNull();
    await follow();
    await change('c'); // so that the snapshot's past is all purged
    await follow();
    expect(await versionAt()).toBeGreaterThan(version);
  });

  test('nodes lack nothing of a domain without a zone, and the result shows last reports and removed nodes', async () => {
    await follow();
    expect(await versionAt(null)).toBe(Number.MAX_SAFE_INTEGER);
    const { nodes, at } = await loadServing(db, null);
    expect(nodes).toMatchObject([{ id: 'ns1', isGone: false }]);
    expect(at.getTime() - (nodes[0]?.heardAt as number)).toBeGreaterThanOrEqual(0);
    await setNode('forgotten_at = clock_timestamp()');
    expect((await loadServing(db, null)).nodes[0]?.isGone).toBe(true);
    await setNode('seen_at = clock_timestamp()');
    expect((await loadServing(db, null)).nodes[0]?.isGone).toBe(false);
    await setNode('left_at = clock_timestamp()');
    expect((await loadServing(db, null)).nodes[0]?.isGone).toBe(true);
  });
});
