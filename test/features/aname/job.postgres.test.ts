import { beforeEach, expect, test } from 'vitest';
import { createFlattener, type FlattenOutcome } from '../../../src/features/aname/job.ts';
import type { Domain } from '../../../src/store/domains/domain.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { timedSerial } from '../../../src/zone/serial.ts';
import { expectPublished, newAccount, newDomain, published, saved } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { madeTargets, targetEvidence } from '../../support/world/made-targets.ts';
import { edit } from '../../support/zone/customer-records.ts';

const { db, query, value } = sharedDatabase();
let domainId: number;
beforeEach(async () => {
  const accountId = await newAccount(db, 'me@example.org');
  domainId = (await newDomain(db, accountId)).id;
  await query`update domains set status = 'active'`;
});

const addresses = async () => ((await published(db)) ?? []).filter((line) => / (A|AAAA) /.test(line));
const findings = async () => ((await loadDomainById(db, domainId))?.findings ?? []).map(({ code }) => code);
const point = (target = 'web.example.net') => saved(db, domainId, [`@ ANAME ${target}`]);

test('a thousand records of one target share a lookup, at the target’s TTL and at most once a minute', async () => {
  const create = Array.from({ length: 1000 }, (_, i) => `n${i} ANAME web.example.net`);
  await saved(db, domainId, create);
  const made = madeTargets(db);
  made.said.set('example.net.', '192.0.2.7 for 20');
  await made.runFor(299);
  expect(made.lookedUp).toHaveLength(5);
  expect(await addresses()).toHaveLength(1000);
  made.said.set('example.net.', '192.0.2.7 for 600');
  await made.runFor(1201);
  expect(made.lookedUp).toHaveLength(8);
});

test('only another address set or a lower TTL is a change', async () => {
  await point();
  const made = madeTargets(db);
  const changes: string[] = [];
  for (const said of [
    '192.0.2.7 for 90',
    '192.0.2.7 for 90',
    '192.0.2.7 for 200',
    '192.0.2.7 for 70',
    '192.0.2.8 for 300',
  ]) {
    made.said.set('example.net.', said);
    const serial = (await loadDomainById(db, domainId))?.serial;
    await made.round();
    made.clock.now += 3_600_000;
    if ((await loadDomainById(db, domainId))?.serial !== serial) changes.push((await addresses()).join());
  }
  expect(changes).toEqual(['@ 90 A 192.0.2.7', '@ 70 A 192.0.2.7', '@ 300 A 192.0.2.8']);
});

test('a failing target keeps its addresses, with a finding until it recovers', async () => {
  await point();
  const made = madeTargets(db);
  expect(await findings()).toEqual([]);
  await made.round();
  expect([await addresses(), await findings()]).toEqual([[], ['ANAME_TARGET_FAILS']]);
  made.said.set('example.net.', '192.0.2.7 2001:db8::7 for 300');
  await made.runFor(60);
  expect(await findings()).toEqual([]);
  made.said.set('example.net.', 'lame');
  await made.runFor(3000, async () => {
    expect(await addresses()).toEqual(['@ 300 A 192.0.2.7', '@ 300 AAAA 2001:db8::7']);
  });
  expect(await findings()).toEqual(['ANAME_TARGET_FAILS']);
  made.said.set('example.net.', '192.0.2.8 for 300');
  await made.runFor(300);
  expect([await addresses(), await findings()]).toEqual([
    ['@ 300 A 192.0.2.8', '@ 300 AAAA 2001:db8::7'],
    [],
  ]);
  await made.runFor(900); // the zone reported twice that IPv6 is gone
  expect(await addresses()).toEqual(['@ 300 A 192.0.2.8']);
  await expectPublished(db, domainId);
});

test('a new target that fails keeps the earlier answers, and one without addresses removes them', async () => {
  await saved(db, domainId, ['@ 900 A 192.0.2.1', '@ 900 AAAA 2001:db8::1']);
  await saved(
    db,
    domainId,
    edit({
      replace: [
        ['@', 'A'],
        ['@', 'AAAA'],
      ],
      create: ['@ ANAME web.example.net', 'new ANAME web.example.net'],
    }),
  );
  const before = ['@ 300 A 192.0.2.1', '@ 300 AAAA 2001:db8::1'];
  const made = madeTargets(db);
  await made.runFor(3600, async () => expect(await addresses()).toEqual(before));
  await expectPublished(db, domainId);
  made.said.set('example.net.', 'none');
  const { serial } = (await loadDomainById(db, domainId)) as Domain;
  await made.runFor(600);
  expect([await addresses(), await findings()]).toEqual([[], ['ANAME_TARGET_EMPTY']]);
  await made.runFor(1200);
  const after = (await loadDomainById(db, domainId)) as Domain;
  expect(after.serial).toBe(timedSerial(serial, after.updatedAt));
  made.said.set('example.net.', '192.0.2.8 for 300');
  await made.runFor(60);
  expect(await addresses()).toEqual(['@ 300 A 192.0.2.8', 'new 300 A 192.0.2.8']);
  await expectPublished(db, domainId);
});

test('records in a loop keep their addresses, with a finding', async () => {
  await saved(db, domainId, ['a ANAME b.example.com', 'b A 192.0.2.7']);
  const made = madeTargets(db);
  made.said.set('example.com.', '192.0.2.7 for 60');
  await made.round();
  await saved(db, domainId, edit({ replace: [['b', 'A']], create: ['b ANAME a.example.com'] }));
  await made.runFor(600);
  expect(await findings()).toEqual(['ANAME_LOOP']);
  expect(await addresses()).toEqual(['a 60 A 192.0.2.7', 'b 300 A 192.0.2.7']);
  await expectPublished(db, domainId);
});

test('a result that another worker saved meanwhile is kept', async () => {
  await point();
  const other = madeTargets(db);
  other.said.set('example.net.', '192.0.2.8 for 300');
  const outcomes: FlattenOutcome[] = [];
  const run = createFlattener({
    db,
    resolver: {
      async observeAddresses(target) {
        await other.round();
        return targetEvidence(target, '192.0.2.7 for 300', Date.now());
      },
    },
    onOutcome: (outcome) => void outcomes.push(outcome),
  });
  const id = await value<number>`select id from aname_targets`;
  const job = { signal: new AbortController().signal, again: false };
  await run({ targetId: id as number }, job);
  await run({ targetId: 4711 }, job);
  expect(outcomes).toEqual([{ kind: 'conflict' }, { kind: 'absent' }]);
  expect(await addresses()).toEqual(['@ 300 A 192.0.2.8']);
});

test('an aborted lookup has no outcome', async () => {
  await point();
  const stopping = new AbortController();
  const run = createFlattener({
    db,
    resolver: {
      async observeAddresses(target) {
        stopping.abort(new Error('stopping'));
        return targetEvidence(target, 'none', Date.now());
      },
    },
    onOutcome: () => expect.unreachable(),
  });
  const rows = await query<{ id: number }>`select id from aname_targets`;
  const running = run({ targetId: rows[0]?.id as number }, { signal: stopping.signal, again: false });
  await expect(running).rejects.toThrow('stopping');
});
