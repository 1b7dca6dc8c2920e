import { beforeAll, describe, expect, it } from 'vitest';
import { NoTurn } from '../../../src/api/calls/turns.ts';
import { carryOut, type UpdateTools } from '../../../src/api/updates/carry-out.ts';
import type { TsigKey } from '../../../src/dns/message/tsig.ts';
import { type Name, parseName, ROOT } from '../../../src/dns/name.ts';
import { CLASS, typeCode } from '../../../src/dns/type-codes.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { listDomainChanges } from '../../../src/store/records/load-changes.ts';
import { createKey } from '../../../src/store/transfers/keys.ts';
import { allowName, findTargets } from '../../../src/store/updates/grants.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { readAnswer, type SentUpdate, signedUpdate } from '../../support/answer/signed-updates.ts';
import {
  BY,
  expectPublished,
  listed,
  newAccount,
  newDomain,
  published,
  saved,
} from '../../support/database/domains.ts';
import { enabled, signatureFaults, useSecrets } from '../../support/database/signed-zones.ts';
import { randomFrom } from '../../support/random/random-zones.ts';
import { scale } from '../../support/tests/scale.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const { db, query, value } = keptDatabase();
const tsigSecrets = [{ name: 'test', secret: Buffer.alloc(32, 9) }];
const tools: UpdateTools = {
  ...{ db, tsigSecrets, countryOf: undefined, originAllow: [], admits: () => true },
  whenFree: (query) => query(),
  inTurn: (_, work) => work(),
  nowMs: Date.now,
};
const APEX = parseName('example.com.');
const OPERATOR = parseName('op.test.');
let domainId: number;
let accountId: number;
/** May change everything in both zones. */
let all: TsigKey & { readonly id: number };

async function newKey(owner: number | null = null): Promise<typeof all> {
  const stored = await createKey(db, tsigSecrets, { accountId: owner, algorithm: 'hmac-sha256', label: 'k' });
  if (stored.kind !== 'stored') throw new Error(stored.kind);
  const { id, name, algorithm } = stored.key;
  return { id, name: parseName(name), algorithm, secret: stored.secret };
}

/** Reads `exact www A,TXT`, `subtree @` or `origin www`. */
async function allow({ id: keyId }: typeof all, grant: string, zone: Name = APEX): Promise<void> {
  const [match = '', name = '', types] = grant.split(' ');
  const owner = parseName(name, zone);
  await db.transaction().execute(async (trx) => {
    const [target] = await findTargets(trx, owner);
    if (target === undefined) throw new Error(`no zone for ${grant}`);
    await allowName(trx, target, {
      keyId,
      owner,
      match: match === 'subtree' ? 'subtree' : 'exact',
      types: types === undefined ? null : types.split(',').map((type) => typeCode(type) as number),
      editsOrigin: match === 'origin',
    });
  });
}

async function send(sent: SentUpdate, changed: Partial<UpdateTools> = {}, deadline = 'infinity') {
  const { octets } = sent;
  const done = await carryOut({ ...tools, ...changed }, { octets, address: '192.0.2.7', deadline });
  return { ...done, text: readAnswer(sent, done.answer) };
}

const update = async (text: string, key: TsigKey = all, zone: Name = APEX) =>
  (await send(signedUpdate(zone, text, key))).text;
const version = () => value<number>`select version from zones where name = 'example.com.'`;
const serial = (apex: Name = APEX) =>
  published(db, apex).then((lines) =>
    Number(
      lines
        ?.find((line) => / SOA /.test(line))
        ?.split(' ')
        .at(-1),
    ),
  );

beforeAll(async () => {
  useSecrets(db);
  accountId = await newAccount(db, 'ann@example.com');
  ({ id: domainId } = await newDomain(db, accountId));
  await saved(db, domainId, [
    'www 300 A 192.0.2.1',
    'proxied 300 A 9.9.9.9 ; proxied',
    'alias 300 ANAME target.example.net.',
    'sub 300 NS ns.example.net.',
    'txt 300 TXT "a"',
  ]);
  const zone = '@ 60 SOA ns admin 10 1 1 1 1\n@ NS ns\nns A 192.0.2.53\nwww A 192.0.2.1';
  const saveAll = [{ apex: OPERATOR, records: recordsOf(zone, 'op.test.') }];
  await saveZones(db, saveAll, { source: 'test' });
  all = await newKey();
  await allow(all, 'subtree @');
  await allow(all, 'subtree @', OPERATOR);
});

describe('an update of a domain', () => {
  it('is stored as one change by the key, with its records', async () => {
    expect(await update('nxrrset _acme TXT\nadd _acme 60 TXT "x"\nadd _acme 60 TXT "y"')).toBe('NOERROR');
    expect(await published(db)).toEqual(
      expect.arrayContaining(['_acme 60 TXT "x"', '_acme 60 TXT "y"', `@ 3600 SOA serial ${await serial()}`]),
    );
    const [change] = await listDomainChanges(db, domainId, { limit: 1 });
    expect(change).toMatchObject({
      source: 'update',
      serial: await serial(),
      actor: { kind: 'tsig', keyId: all.id, address: '192.0.2.7' },
      ops: [{ op: 'create' }, { op: 'create' }],
    });
    expect(await update('yxrrset _acme TXT "y"\nyxrrset _acme TXT "x"\ndel _acme TXT "x"')).toBe('NOERROR');
    expect(await listed(db, domainId)).toContain('_acme 60 TXT y');
    await expectPublished(db, domainId);
  });

  it.each([
    ['yxrrset txt TXT "b"\nadd new 300 A 192.0.2.2', /^NXRRSET/],
    ['nxdomain www\nadd new 300 A 192.0.2.2', /^YXDOMAIN/],
    ['add other.test. 300 A 192.0.2.2', /^NOTZONE/],
    ['add new 300 A 192.0.2.2\ndel new TYPE250', /^FORMERR/],
    ['add new 300 A 192.0.2.2\nadd @ 300 NS ns.example.net.', /^REFUSED: the NS records/],
    ['add new 300 A 192.0.2.2\nadd proxied 300 A 192.0.2.2', /^REFUSED: proxied\S+ is proxied/],
    ['add new 300 A 192.0.2.2\ndel alias A', /^REFUSED: alias\S+ has an ANAME/],
    ['add new 300 A 192.0.2.2\nadd host.sub 300 TXT "x"', /^REFUSED: .*sub/],
    [
      'add new 300 A 192.0.2.2\nadd new 300 RRSIG A 13 2 300 20300101000000 20200101000000 1 a. AA==',
      /^REFUSED/,
    ],
  ])('is refused completely: %s', async (text, expected) => {
    const before = await version();
    expect(await update(text)).toMatch(expected);
    expect(await version()).toBe(before);
  });

  it('does not raise the serial if it changes nothing', async () => {
    const before = await version();
    expect(await update('add www 300 A 192.0.2.1\ndel none')).toBe('NOERROR');
    expect(await version()).toBe(before);
    expect(await update('add www 5 A 192.0.2.1')).toBe('NOERROR');
    expect(await listed(db, domainId)).toContain('www 60 A 192.0.2.1');
  });

  it('reads the published records of a proxied name, and changes the origin only with a grant for it', async () => {
    expect(await update('yxrrset proxied A 9.9.9.9')).toMatch('NXRRSET');
    const origin = await newKey();
    await allow(origin, 'origin proxied');
    expect(await update('yxrrset proxied A 9.9.9.9\ndel proxied A\nadd proxied 60 A 8.8.8.8', origin)).toBe(
      'NOERROR',
    );
    expect(await listed(db, domainId)).toContain('proxied 60 A 8.8.8.8 ; proxied');
    expect(await update('add proxied 60 A 10.0.0.1', origin)).toMatch(/^REFUSED: .*public/);
  });

  it('is stored while nodes serve only the apex of the domain, and refused if they do not serve it', async () => {
    const { id } = await newDomain(db, accountId, 'apex.com.', { exempt: false });
    const apex = parseName('apex.com.');
    await allow(all, 'subtree @', apex);
    expect(await value`select served from domains where id = ${id}`).toBe('apex');
    expect(await update('add _acme 60 TXT "x"', all, apex)).toBe('NOERROR');
    expect(await listed(db, id, apex)).toEqual(['_acme 60 TXT x']);
    expect(await published(db, apex)).not.toContain('_acme 60 TXT "x"');
    await changeStatus(db, { ...BY, domainId: id, event: 'disable' });
    expect(await update('add _acme 60 TXT "y"', all, apex)).toMatch(/^NOTAUTH: apex.com. is not a zone/);
  });

  it('is signed if the domain is signed', async () => {
    const { id } = await newDomain(db, accountId, 'signed.com.');
    const apex = parseName('signed.com.');
    await allow(all, 'subtree @', apex);
    await enabled(db, { domainId: id });
    expect(await update('add _acme 60 TXT "x"\nadd a.b 60 A 192.0.2.1', all, apex)).toBe('NOERROR');
    expect(await signatureFaults(db, apex)).toEqual([]);
    expect(await update('del _acme\ndel a.b A', all, apex)).toBe('NOERROR');
    expect(await signatureFaults(db, apex)).toEqual([]);
  });
});

describe('an update of an operator zone', () => {
  it('changes its records and its serial', async () => {
    expect(await update('add new 5 TYPE65280 \\# 1 00\ndel www', all, OPERATOR)).toBe('NOERROR');
    expect(await published(db, OPERATOR)).toEqual([
      'new 5 TYPE65280 \\# 1 00',
      'ns 300 A 192.0.2.53',
      '@ 300 NS ns.op.test.',
      '@ 60 SOA serial 11',
    ]);
    expect(await value`select actor from changes where zone = 'op.test.' order by id desc limit 1`).toMatch(
      /^tsig k-/,
    );
    expect(await update('yxrrset new TYPE65280\nadd @ 60 SOA ns admin 50 1 1 1 1', all, OPERATOR)).toBe(
      'NOERROR',
    );
    expect(await serial(OPERATOR)).toBe(50);
    expect(await update('add new 5 TYPE65280 \\# 1 00', all, OPERATOR)).toBe('NOERROR');
    expect(await serial(OPERATOR)).toBe(50);
  });

  it('keeps its history for incremental transfers', async () => {
    await query`
      with t as (insert into transfer_policies (name, is_default) values ('default', true) returning id),
      p as (insert into peers (name, networks) values ('second', '{192.0.2.0/24}') returning id)
      insert into policy_peers select t.id, p.id, true, false from t, p`;
    expect(await update('add kept 5 A 192.0.2.9', all, OPERATOR)).toBe('NOERROR');
    expect(
      await value`select format('%s %s %s', serial_before, serial_after, rows) from zone_history order by version desc limit 1`,
    ).toBe('50 51 3');
  });

  it.each([
    ['add d 60 DNAME x.test.\nadd a.d 60 A 192.0.2.1', /^REFUSED/],
    ['add new 60 CNAME x.test.\nadd c 60 A 192.0.2.1', /^NOERROR/], // ignored (RFC 2136 §3.4.2.2)
    ['add @ 60 DNAME x.test.', /^REFUSED: \S+ has names below it/],
    ['add a\\\\.e 60 A 192.0.2.1\nadd a\\.f 60 A 192.0.2.1', /^NOERROR/],
    ['add e 60 DNAME x.test.', /^REFUSED: e\S+ has names below it/],
    ['add f 60 DNAME x.test.', /^NOERROR/],
    [`add new 60 A 192.0.2.1\nadd @ 60 DS 1 13 2 ${'00'.repeat(32)}`, /^REFUSED/],
  ])('obeys the rules of zones: %s', async (text, expected) => {
    expect(await update(text, all, OPERATOR)).toMatch(expected);
  });

  it('cannot write a DNAME at the root if the zone has other names', async () => {
    const records = recordsOf('@ SOA a. b. 1 1 1 1 1\n@ NS a.\na A 192.0.2.1', '.');
    await saveZones(db, [{ apex: ROOT, records }], { source: 'test' });
    await allow(all, 'subtree @', ROOT);
    expect(await update('add @ 60 DNAME x.test.', all, ROOT)).toBe(
      'REFUSED: . has names below it, so it cannot have a DNAME',
    );
  });

  it('is signed if the fleet signs the zone', async () => {
    await enabled(db, { zoneName: 'op.test.' }, { denial: 'nsec3' });
    expect(await update('add x.y 60 A 192.0.2.1\ndel new', all, OPERATOR)).toBe('NOERROR');
    expect(await signatureFaults(db, OPERATOR)).toEqual([]);
  });

  it('is refused if the zone is a copy', async () => {
    const copied = parseName('copied.test.');
    const zone = { apex: copied, records: recordsOf('@ SOA a. b. 1 1 1 1 1\n@ NS a.', 'copied.test.') };
    await saveZones(db, [zone], { source: 'test' });
    await allow(all, 'subtree @', copied);
    await query`insert into secondaries (zone_name, peers) values ('copied.test.', '{1}')`;
    expect(await update('add a 60 A 192.0.2.1', all, copied)).toMatch(/^REFUSED: .*primary/);
  });
});

describe('a key', () => {
  it('learns nothing from prerequisites without a grant in the zone', async () => {
    const stranger = await newKey(accountId);
    const answers = [
      'yxdomain www',
      'nxdomain www',
      'yxdomain none',
      'yxrrset www A 192.0.2.1',
      'add other. 1 A 1.1.1.1',
    ];
    for (const text of answers)
      expect(await update(text, stranger)).toBe('REFUSED: the key has no grant in example.com.');
    expect(await update('yxdomain www', all, parseName('none.test.'))).toMatch(/^NOTAUTH: none/);
  });

  it('changes exactly what its grants allow', async () => {
    const random = randomFrom(7);
    const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
    const NAMES = ['@', 'a', 'b.a', 'c.b.a', 'xa', '*.a'];
    const TYPES = ['A', 'AAAA', 'TXT', 'MX'];
    const CONTENT = { A: '192.0.2.9', AAAA: '2001:db8::9', TXT: '"x"', MX: '1 m' } as Record<string, string>;
    const grants = new Map<typeof all, { match: string; name: string; types: readonly string[] }[]>();
    for (let i = 0; i < 10; i++) {
      const key = await newKey(i % 2 === 0 ? accountId : null);
      const own = Array.from({ length: 2 }, () => ({
        match: pick(['exact', 'subtree']),
        name: pick(NAMES),
        types: random() < 0.3 ? TYPES : [pick(TYPES), pick(TYPES)],
      }));
      for (const { match, name, types } of own)
        await allow(key, `${match} ${name}${types === TYPES ? '' : ` ${types}`}`);
      // A later grant of the same name and kind replaces the earlier one.
      const last = own.filter(
        ({ match, name }, n) => !own.slice(n + 1).some((o) => o.match === match && o.name === name),
      );
      grants.set(key, last);
    }
    const isBelow = (name: string, top: string) => top === '@' || name === top || name.endsWith(`.${top}`);
    for (let i = 0; i < scale(200, 100); i++) {
      const [key, own] = pick([...grants]);
      const [name, type] = [pick(NAMES), pick(TYPES)];
      const isAllowed = own.some(
        (grant) =>
          grant.types.includes(type) &&
          (grant.match === 'exact' ? name === grant.name : isBelow(name, grant.name)),
      );
      const verb = pick([`add ${name} 60 ${type} ${CONTENT[type]}`, `del ${name} ${type}`]);
      expect([verb, own, (await update(verb, key)).split(':')[0]]).toEqual([
        verb,
        own,
        isAllowed ? 'NOERROR' : 'REFUSED',
      ]);
    }
  });

  it('is refused if its account is inactive or no longer owns the domain', async () => {
    const key = await newKey(accountId);
    await allow(key, 'subtree @');
    await query`update accounts set active = false where id = ${accountId}`;
    expect(await update('add www 60 TXT "x"', key)).toMatch(/no grant/);
    await query`update accounts set active = true where id = ${accountId}`;
    const other = await newAccount(db, 'other@example.com');
    await query`update tsig_keys set account_id = ${other} where id = ${key.id}`;
    expect(await update('add www 60 TXT "x"', key)).toMatch(/no grant/);
  });

  it.each([
    ['an unknown key', { name: parseName('none.') }, 'NOTAUTH (the server reports BADKEY)'],
    ['another secret', { secret: Buffer.alloc(32) }, 'NOTAUTH (the server reports BADSIG)'],
  ])('is rejected with %s', async (_, wrong, expected) => {
    expect(await update('add www 60 TXT "x"', { ...all, ...wrong })).toBe(expected);
  });

  it('is rejected if the message is older than five minutes, or if it is revoked or cannot be opened', async () => {
    const nowSeconds = Math.floor(Date.now() / 1000);
    const old = signedUpdate(APEX, 'add www 60 TXT "x"', all, { nowSeconds: nowSeconds - 301 });
    expect((await send(old)).text).toMatch(/^NOTAUTH/);
    const sent = signedUpdate(APEX, 'add www 60 TXT "x"', all);
    expect((await send(sent, { tsigSecrets: [] })).rcode).toBe(2);
    const revoked = await newKey();
    await allow(revoked, 'subtree @');
    await query`update tsig_keys set revoked_at = now() where id = ${revoked.id}`;
    expect(await update('add www 60 TXT "x"', revoked)).toBe('NOTAUTH (the server reports BADKEY)');
  });

  it('gets SERVFAIL beyond its rate, and if too many updates of the zone wait', async () => {
    const sent = signedUpdate(APEX, 'add www 60 TXT "rate"', all);
    expect((await send(sent, { admits: (id) => id !== all.id })).text).toMatch(/^SERVFAIL: .*too many/);
    const inTurn = () => Promise.reject(new NoTurn('100 writes of the domain wait'));
    expect((await send(sent, { inTurn })).text).toBe('SERVFAIL: 100 writes of the domain wait');
    expect((await send(sent)).text).toBe('NOERROR'); // the SERVFAIL was not stored
    expect((await send(sent, { admits: () => false })).text).toBe('NOERROR'); // a repeated message
  });

  it('without a grant is limited too', async () => {
    const sent = signedUpdate(APEX, 'add www 60 TXT "x"', await newKey(accountId));
    expect((await send(sent, { admits: () => false })).text).toMatch(/^SERVFAIL: .*too many/);
  });
});

describe('a repeated message', () => {
  it('gets the same rcode, reason and change, and changes nothing', async () => {
    const sent = signedUpdate(APEX, 'nxrrset once TXT\nadd once 60 TXT "x"', all);
    const first = await send(sent);
    expect([first.text, first.change?.serial]).toEqual(['NOERROR', await serial()]);
    expect(await update('del once TXT')).toBe('NOERROR');
    const before = await version();
    const again = await send(sent);
    expect([again.text, again.change]).toEqual(['NOERROR', first.change]);
    expect(await version()).toBe(before);
    const refused = signedUpdate(APEX, 'yxdomain once\nadd once 60 TXT "x"', all);
    const reason = (await send(refused)).text;
    expect(reason).toMatch(/^NXDOMAIN: ./);
    expect(await update('add once 60 TXT "y"')).toBe('NOERROR');
    expect((await send(refused)).text).toBe(reason);
    expect(await listed(db, domainId)).not.toContain('once 60 TXT x');
  });

  it('is carried out once if all transmissions arrive at the same time', async () => {
    for (const zone of [APEX, OPERATOR]) {
      const sent = signedUpdate(zone, 'nxrrset race TXT\nadd race 60 TXT "x"', all);
      const results = await Promise.all(Array.from({ length: 6 }, () => send(sent)));
      expect(new Set(results.map(({ text }) => text))).toEqual(new Set(['NOERROR']));
      expect(new Set(results.map(({ change }) => change?.serial)).size).toBe(1);
    }
  });
});

it('a message whose node no longer waits changes nothing, and can be repeated', async () => {
  for (const zone of [APEX, OPERATOR]) {
    const sent = signedUpdate(zone, 'nxrrset late TXT\nadd late 60 TXT "x"', all);
    const late = (await send(sent, {}, '2026-01-01T00:00:00Z')).text;
    expect(late).toBe('SERVFAIL: the node no longer waits for the answer');
    expect((await send(sent)).text).toBe('NOERROR');
  }
});

it('concurrent updates of one set are all carried out', async () => {
  const texts = Array.from({ length: 12 }, (_, i) => `add many 60 TXT "${i}"`);
  expect(await Promise.all(texts.map((text) => update(text)))).toEqual(texts.map(() => 'NOERROR'));
  expect((await listed(db, domainId)).filter((line) => line.startsWith('many '))).toHaveLength(12);
});

it.each([
  ['another class', () => signedUpdate(APEX, '', all, { zoneClass: CLASS.CH }), /^NOTAUTH/],
  [
    'too many names',
    () => signedUpdate(APEX, Array.from({ length: 201 }, (_, i) => `del n${i}`).join('\n'), all),
    /^REFUSED: .*200 names/,
  ],
  ['too many records', () => signedUpdate(APEX, 'del a\n'.repeat(1001), all), /^REFUSED: .*1000 records/],
])('a message with %s is refused', async (_, sent, expected) => {
  expect((await send(sent())).text).toMatch(expected);
});

it('a message without TSIG is refused', async () => {
  const { octets } = signedUpdate(APEX, 'add www 60 TXT "x"', all);
  const plain = Buffer.from(octets.subarray(0, octets.length));
  plain.writeUInt16BE(1, 10); // only the OPT record
  const done = await carryOut(tools, { octets: plain, address: '192.0.2.7', deadline: 'infinity' });
  expect(done.rcode).toBe(5);
});

it('an update beyond the records of the plan is refused', async () => {
  await query`update domains set plan_overrides = '{"max_records": 3}' where id = ${domainId}`;
  expect(await update('add over 60 A 192.0.2.1')).toMatch(/^REFUSED: .*3/);
  await query`update domains set plan_overrides = null where id = ${domainId}`;
});
