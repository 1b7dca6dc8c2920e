import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rcodeMnemonic } from '../../src/dns/message/rcodes.ts';
import type { UpdateRecord, UpdateRefusal } from '../../src/dns/message/update.ts';
import { isWithin, type Name, parseName } from '../../src/dns/name.ts';
import { printRdata } from '../../src/dns/record/rdata.ts';
import { CLASS, TYPE, typeCode, typeMnemonic } from '../../src/dns/type-codes.ts';
import { buildZone } from '../../src/zone/build-zone.ts';
import { type Planned, planEditInPieces } from '../../src/zone/edit/plan-edit.ts';
import { publishName } from '../../src/zone/publish/publish.ts';
import { ANAME_CODE, isAddressLike } from '../../src/zone/records/customer-types.ts';
import { printDestination } from '../../src/zone/records/destination.ts';
import { printRecordName } from '../../src/zone/records/record-name.ts';
import { namesOfZoneEdit, planZoneEdit } from '../../src/zone/update/plan-zone-edit.ts';
import { editOfChanges, runUpdate, type UpdateResult } from '../../src/zone/update/run-update.ts';
import { covers, type UpdateGrant } from '../../src/zone/update/update-grant.ts';
import { customersZone, operatorZone } from '../../src/zone/update/updated-zone.ts';
import type { RecordSet, ZoneRecord } from '../../src/zone/zone.ts';
import { updateOf } from '../support/answer/update-text.ts';
import { distorted, linesOfZone, randomUpdate, UPDATED_ZONE } from '../support/random/random-updates.ts';
import { pick, randomFrom } from '../support/random/random-zones.ts';
import { rowsOf } from '../support/tests/rows-of.ts';
import { scale } from '../support/tests/scale.ts';
import { records as customerRecords, EDGES, editState } from '../support/zone/customer-records.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

const APEX = parseName('example.com.');
const ZONE = `
@ 3600 SOA ns1 admin 10 3600 600 86400 300
@ 3600 NS ns1
@ 3600 NS ns2
www 300 A 192.0.2.1
www 300 A 192.0.2.2
www 300 TXT "a" "B"
alias 300 CNAME www
mail 300 MX 10 Mail.Example.COM.
sub 300 NS ns.sub
ns.sub 300 A 192.0.2.53
sub 300 DS 1 13 2 ${'ab'.repeat(32)}
dn 300 DNAME other.example.
* 300 TXT "wild"
a.ent 300 TXT "below"`;
const STORED = recordsOf(ZONE, 'example.com.');
const EVERYTHING: readonly UpdateGrant[] = [
  { match: 'subtree', owner: APEX, types: null, editsOrigin: true },
];

/** Reads for example `www A TXT`, `subtree @ TXT` and `origin www`. */
function grantOf(text: string): UpdateGrant {
  const words = text.split(' ');
  const [match, editsOrigin] = [words[0] === 'subtree', words[0] === 'origin'];
  const [owner = '', ...types] = match || editsOrigin ? words.slice(1) : words;
  return {
    match: match ? 'subtree' : 'exact',
    owner: parseName(owner, APEX),
    types: types.length === 0 ? null : types.map((type) => typeCode(type) as number),
    editsOrigin,
  };
}

const linesOf = (cell: string): string => cell.split(' / ').join('\n');

function resultOf(result: UpdateResult): string {
  if (result.kind === 'refused') return rcodeMnemonic(result.rcode);
  return result.sets.map(printSet).join(' / ');
}

function printSet({ owner, type, ttl, rdata }: RecordSet): string {
  const mnemonic = type === ANAME_CODE ? 'ANAME' : typeMnemonic(type);
  const head = `${printRecordName(owner, APEX)} ${mnemonic}`;
  if (rdata.length === 0) return `${head} gone`;
  const texts = rdata.map((one) => printRdata(type === ANAME_CODE ? TYPE.CNAME : type, one));
  return `${head} ${ttl} ${texts.join(', ')}`;
}

/** Prerequisites and updates are divided by `/`. An empty result means NOERROR without a change. */
describe('runUpdate in an operator zone', () => {
  const run = (text: string) =>
    runUpdate(operatorZone(APEX, STORED), updateOf(APEX, linesOf(text)), EVERYTHING);

  it.each(
    rowsOf(`
yxdomain www | 
yxdomain nothing | NXDOMAIN
yxdomain ent | NXDOMAIN
yxdomain x.ent | NXDOMAIN
yxdomain anything | NXDOMAIN
nxdomain www | YXDOMAIN
nxdomain ent | 
yxrrset www A | 
yxrrset WWW.Example.Com. A | 
yxrrset www AAAA | NXRRSET
yxrrset ent A | NXRRSET
nxrrset www A | YXRRSET
nxrrset www AAAA | 
yxrrset www A 192.0.2.2 / yxrrset www A 192.0.2.1 | 
yxrrset www A 192.0.2.1 | NXRRSET
yxrrset www A 192.0.2.1 / yxrrset www A 192.0.2.2 / yxrrset www A 192.0.2.3 | NXRRSET
yxrrset www A 192.0.2.1 / yxrrset www A 192.0.2.1 / yxrrset www A 192.0.2.2 | 
yxrrset www AAAA 2001:db8::1 | NXRRSET
yxrrset mail MX 10 mail.example.com. | 
yxrrset mail MX 20 mail.example.com. | NXRRSET
yxrrset www TXT "a" "B" | 
yxrrset www TXT "a" "b" | NXRRSET
yxrrset www A 192.0.2.1 / yxrrset www A 192.0.2.2 / nxdomain www | YXDOMAIN
yxdomain other.example. | NOTZONE
nxrrset example. A | NOTZONE
yxdomain nothing / nxrrset example. A | NXDOMAIN
yxrrset www A 192.0.2.9 / nxrrset example. A | NOTZONE
yxdomain nothing / add x 60 A 192.0.2.9 | NXDOMAIN`),
  )('%s: %s', (text, expected = '') => {
    expect(resultOf(run(text))).toBe(expected);
  });

  it.each(
    rowsOf(`
add new 60 A 192.0.2.9 | new A 60 192.0.2.9
add www 300 A 192.0.2.1 | 
add www 60 A 192.0.2.1 | www A 60 192.0.2.1, 192.0.2.2
add www 60 A 192.0.2.9 / add www 90 A 192.0.2.8 | www A 90 192.0.2.1, 192.0.2.2, 192.0.2.9, 192.0.2.8
add mail 300 MX 10 MAIL.example.com. | 
add www 300 CNAME other | 
add alias 300 A 192.0.2.9 | 
add alias 300 CNAME other | alias CNAME 300 other.example.com.
add alias 300 CNAME WWW | 
del alias CNAME / add alias 60 A 192.0.2.9 | alias CNAME gone / alias A 60 192.0.2.9
del www / add www 60 CNAME other | www A gone / www TXT gone / www CNAME 60 other.example.com.
add dn 60 DNAME third.example. | dn DNAME 60 third.example.
add @ 3600 SOA ns1 admin 9 3600 600 86400 300 | 
add @ 3600 SOA ns1 admin 10 1 1 1 1 | 
add @ 3600 SOA ns1 admin 11 3600 600 86400 300 | @ SOA 3600 ns1.example.com. admin.example.com. 11 3600 600 86400 300
add @ 3600 SOA ns1 admin 2147483657 1 1 1 1 | @ SOA 3600 ns1.example.com. admin.example.com. 2147483657 1 1 1 1
add @ 3600 SOA ns1 admin 2147483658 1 1 1 1 | 
add @ 3600 SOA ns1 admin 2147483659 1 1 1 1 | 
add www 3600 SOA ns1 admin 11 3600 600 86400 300 | 
del www A | www A gone
del www AAAA | 
del www A 192.0.2.1 | www A 300 192.0.2.2
del www A 192.0.2.1 / del www A 192.0.2.2 | www A gone
del www A 192.0.2.9 | 
del mail MX 10 mail.EXAMPLE.com. | mail MX gone
del www | www A gone / www TXT gone
del nothing | 
del @ | 
add @ 60 TXT x / del @ | 
del @ NS | 
del @ SOA | 
del @ NS ns1 | @ NS 3600 ns2.example.com.
del @ NS ns1 / del @ NS ns2 | @ NS 3600 ns2.example.com.
del @ NS ns1 / del @ NS ns2 / add @ 60 NS ns3 | @ NS 60 ns2.example.com., ns3.example.com.
add @ 60 NS ns3 / del @ NS ns1 / del @ NS ns2 / del @ NS ns3 | @ NS 60 ns3.example.com.
del @ SOA ns1 admin 10 3600 600 86400 300 | 
del sub NS ns.sub | sub NS gone
del sub | sub NS gone / sub DS gone
del ent | 
add www 60 TYPE65280 \\# 2 0102 / del www TXT | www TXT gone / www TYPE65280 60 \\# 2 0102
del www A 192.0.2.1 / add www 300 A 192.0.2.1 | 
del www A / add www 300 A 192.0.2.2 / add www 300 A 192.0.2.1 | 
add w 60 TYPE11 \\# 6 c00002010600 / add w 60 TYPE11 \\# 6 c000020106ff | w TYPE11 60 \\# 6 C000020106FF
add other.example. 60 A 192.0.2.1 | NOTZONE
del example. | NOTZONE
add www 60 A 192.0.2.9 / del example. | NOTZONE
add www 60 RRSIG A 13 3 60 20300101000000 20260101000000 1 example.com. AAAA | REFUSED
add www 60 NSEC www A | REFUSED
del www RRSIG | REFUSED
del @ DNSKEY | REFUSED
add @ 60 CDS 0 0 0 00 | REFUSED
del @ NSEC3PARAM | REFUSED
add www 60 TYPE65535 \\# 0 | REFUSED`),
  )('%s: %s', (text, expected = '') => {
    expect(resultOf(run(text))).toBe(expected);
  });

  const record = (change: Partial<UpdateRecord>): UpdateRecord => ({
    ...{ owner: parseName('www', APEX), type: TYPE.A, class: CLASS.ANY, ttl: 0, rdata: new Uint8Array() },
    ...change,
  });
  const ADDRESS = Uint8Array.of(192, 0, 2, 1);

  it.each<[string, Partial<UpdateRecord>]>([
    ['a TTL', { ttl: 1 }],
    ['a TTL with rdata', { class: CLASS.IN, ttl: 1, rdata: ADDRESS }],
    ['rdata in class ANY', { rdata: ADDRESS }],
    ['rdata in class NONE', { class: CLASS.NONE, rdata: ADDRESS }],
    ['no rdata in class IN', { class: CLASS.IN }],
    ['invalid rdata', { class: CLASS.IN, rdata: ADDRESS.subarray(1) }],
    ['class CH', { class: CLASS.CH }],
  ])('a prerequisite with %s is a format error', (_what, change) => {
    const prerequisites = [record(change)];
    expect(resultOf(runUpdate(operatorZone(APEX, STORED), { prerequisites, updates: [] }, EVERYTHING))).toBe(
      'FORMERR',
    );
  });

  it.each<[string, Partial<UpdateRecord>]>([
    ['a TTL in class ANY', { ttl: 1 }],
    ['a TTL in class NONE', { class: CLASS.NONE, ttl: 1, rdata: ADDRESS }],
    ['rdata in class ANY', { rdata: ADDRESS }],
    ['no rdata in class NONE', { class: CLASS.NONE }],
    ['no rdata in class IN', { class: CLASS.IN }],
    ['invalid rdata', { class: CLASS.IN, rdata: ADDRESS.subarray(1) }],
    ['class CH', { class: CLASS.CH, rdata: ADDRESS }],
    ...[TYPE.AXFR, TYPE.MAILA, TYPE.MAILB, TYPE.IXFR, TYPE.TSIG, TYPE.OPT, 0].flatMap(
      (type): [string, Partial<UpdateRecord>][] => [
        [`class ANY and type ${type}`, { type }],
        [`class NONE and type ${type}`, { type, class: CLASS.NONE }],
        [`class IN and type ${type}`, { type, class: CLASS.IN }],
      ],
    ),
    ['class NONE and type ANY', { type: TYPE.ANY, class: CLASS.NONE }],
    ['class IN and type ANY', { type: TYPE.ANY, class: CLASS.IN }],
  ])('an update with %s is a format error', (_what, change) => {
    const updates = [record({ class: CLASS.IN, rdata: ADDRESS, owner: APEX }), record(change)];
    expect(resultOf(runUpdate(operatorZone(APEX, STORED), { prerequisites: [], updates }, EVERYTHING))).toBe(
      'FORMERR',
    );
  });
});

describe('grants', () => {
  it.each(
    rowsOf(`
www | add www 60 A 192.0.2.9 / del www TXT | www A 60 192.0.2.1, 192.0.2.2, 192.0.2.9 / www TXT gone
www | add x.www 60 A 192.0.2.9 | REFUSED
www A | add www 300 TXT x | REFUSED
www A | add www 300 A 192.0.2.1 / del www TXT | REFUSED
www A | del www | REFUSED
www A TXT | del www | www A gone / www TXT gone
www A, www TXT | del www | www A gone / www TXT gone
www A | del new | REFUSED
new A | del new | 
new A | add new 60 A 192.0.2.9 / del new | 
subtree www TXT | add _acme-challenge.www 60 TXT x / add www 60 TXT y | _acme-challenge.www TXT 60 "x" / www TXT 60 "a" "B", "y"
subtree ww TXT | add www 60 TXT x | REFUSED
subtree @ TXT | del @ | 
subtree @ TXT | del sub | REFUSED
subtree @ | del @ NS | 
@ A | del @ NS | REFUSED
 | del new | REFUSED
 | | `),
  )('%s: %s → %s', (grants, text, expected = '') => {
    const held = grants === '' ? [] : grants.split(', ').map(grantOf);
    const update = updateOf(APEX, linesOf(text as string));
    expect(resultOf(runUpdate(operatorZone(APEX, STORED), update, held))).toBe(expected);
  });

  it('allow exactly their owners and types', () => {
    const names = ['@', 'www', 'x.www', 'ww', 'alias', 'sub', 'a.ent', 'mail'];
    const types = [TYPE.A, TYPE.AAAA, TYPE.TXT, TYPE.MX];
    const grant = fc.record({
      match: fc.constantFrom('exact' as const, 'subtree' as const),
      owner: fc.constantFrom(...names).map((name) => parseName(name, APEX)),
      types: fc.option(fc.subarray(types)),
      editsOrigin: fc.boolean(),
    });
    const update = fc.record({
      owner: fc.constantFrom(...names).map((name) => parseName(name, APEX)),
      type: fc.constantFrom(...types, TYPE.ANY),
      isAdded: fc.boolean(),
    });
    const rdata = new Map([
      [TYPE.A, Uint8Array.of(192, 0, 2, 9)],
      [TYPE.AAAA, new Uint8Array(16)],
      [TYPE.TXT, Uint8Array.of(1, 65)],
      [TYPE.MX, Uint8Array.of(0, 1, 0)],
    ]);
    const zone = operatorZone(APEX, STORED);
    fc.assert(
      fc.property(fc.array(grant, { maxLength: 4 }), fc.array(update, { maxLength: 4 }), (grants, wanted) => {
        const updates = wanted.map(({ owner, type, isAdded }) => {
          const isNew = isAdded && type !== TYPE.ANY;
          const content = isNew ? rdata.get(type) : undefined;
          return {
            owner,
            type,
            class: isNew ? CLASS.IN : CLASS.ANY,
            ttl: isNew ? 60 : 0,
            rdata: content ?? new Uint8Array(),
          };
        });
        const result = runUpdate(zone, { prerequisites: [], updates }, grants);
        const mayWrite = (owner: Name, type: number) => grants.some((each) => covers(each, owner, type));
        if (result.kind === 'changes')
          for (const { owner, type } of result.sets) expect(mayWrite(owner, type)).toBe(true);
        const named = updates.filter(({ type }) => type !== TYPE.ANY);
        if (named.length === updates.length)
          expect(result.kind).toBe(
            named.every(({ owner, type }) => mayWrite(owner, type)) ? 'changes' : 'refused',
          );
      }),
      { numRuns: scale(20_000, 100) },
    );
  });
});

const CUSTOMERS = [
  'www 300 A 192.0.2.1 ; proxied',
  'www 300 TXT hello',
  'shop 300 CNAME web.example.net ; proxied',
  '@ 300 ANAME web.example.net',
  '@ 300 MX 10 mail.example.net',
  'plain 300 A 192.0.2.7',
  'plain 3600 CAA 0 issue "ca.example"',
  'dav 300 CNAME plain.example.com',
  '_acme-challenge 300 TXT service',
];
const SERVICE = recordsOf(
  `@ 3600 SOA ns1.dns.example. admin.dns.example. 10 3600 600 86400 300
@ 86400 NS ns1.dns.example.
@ 86400 NS ns2.dns.example.`,
  'example.com.',
);
const FLATTENED = { v4: ['198.51.100.1'], v6: [], ttl: 60 };

function customers(lines: readonly string[], grants: readonly UpdateGrant[]) {
  const records = customerRecords(lines).map((record) =>
    record.name.startsWith('\x0f_acme') ? { ...record, managed: true } : record,
  );
  const names = new Set(records.map(({ name }) => name));
  const published = [...names].flatMap((name) =>
    publishName(
      records.filter((each) => each.name === name),
      EDGES,
      FLATTENED,
    ),
  );
  return {
    records,
    zone: customersZone({ apex: APEX, records, published: [...SERVICE, ...published], grants }),
  };
}

/** Runs an update and plans its edit. */
function plan(update: ReturnType<typeof updateOf>, grants: readonly UpdateGrant[]): UpdateRefusal | Planned {
  const { zone, records } = customers(CUSTOMERS, grants);
  const result = runUpdate(zone, update, grants);
  if (result.kind === 'refused') return result;
  const planning = planEditInPieces({ ...editState(CUSTOMERS), records }, editOfChanges(zone, result.sets));
  let step = planning.next();
  while (step.done !== true) step = planning.next();
  return step.value;
}

/** Returns the rcode, or the records that are deleted (-), changed and created (+). */
function printPlan(planned: ReturnType<typeof plan>): string {
  if (planned.kind === 'refused') return `${rcodeMnemonic(planned.rcode)}: ${planned.message}`;
  if (planned.kind === 'problems') return `problem: ${planned.problems[0]?.message}`;
  return planned.ops
    .map((op) => {
      const { name, type, rdata, ttl, proxied } = op.op === 'delete' ? op.before : op.after;
      const sign = { create: '+', update: '', delete: '-' }[op.op];
      const { destination } = printDestination(type, rdata);
      return `${sign}${printRecordName(name, APEX)} ${ttl} ${type} ${destination}${proxied ? ' proxied' : ''}`;
    })
    .join(' / ');
}

describe('runUpdate in a domain', () => {
  it.each(
    rowsOf(`
subtree @ | add _acme-challenge.www 0 TXT x | +_acme-challenge.www 60 TXT x
subtree @ | add new 4000000 A 192.0.2.9 | +new 86400 A 192.0.2.9
subtree @ | add plain 60 A 192.0.2.9 | plain 60 A 192.0.2.7 / +plain 60 A 192.0.2.9
subtree @ | add plain 300 A 192.0.2.7 | 
subtree @ | del plain A 192.0.2.7 | -plain 300 A 192.0.2.7
subtree @ | del plain | -plain 300 A 192.0.2.7 / -plain 3600 CAA 0 issue "ca.example"
subtree @ | add dav 60 A 192.0.2.9 | 
subtree @ | add d 60 DHCID AAIB | +d 60 DHCID AAIB
subtree @ | add d 60 TYPE65280 \\# 1 00 | +d 60 TYPE65280 \\# 1 00
subtree @ | add _acme-challenge 60 TXT y | _acme-challenge 60 TXT service / +_acme-challenge 60 TXT y
subtree @ | del _acme-challenge TXT | 
subtree @ | yxrrset _acme-challenge TXT service / del plain CAA | -plain 3600 CAA 0 issue "ca.example"
subtree @ | yxrrset www A 203.0.113.1 / yxrrset www A 203.0.113.2 / del www TXT | -www 300 TXT hello
subtree @ | yxrrset www A 192.0.2.1 / del www TXT | NXRRSET: www.example.com. A has other records
subtree @ | yxrrset @ A 198.51.100.1 / nxrrset shop CNAME / yxrrset shop AAAA 2001:db8::1 | 
subtree @ | yxrrset @ SOA / yxrrset @ NS ns1.dns.example. / yxrrset @ NS ns2.dns.example. | 
subtree @ | add www 60 A 192.0.2.9 | REFUSED: www.example.com. is proxied: change it with the API
subtree @ | del www A 203.0.113.1 | REFUSED: www.example.com. is proxied: change it with the API
subtree @ | add shop 60 CNAME other.example. | REFUSED: shop.example.com. is proxied: change it with the API
subtree @ | del shop | REFUSED: shop.example.com. is proxied: change it with the API
subtree @ | add @ 60 AAAA 2001:db8::9 | REFUSED: example.com. has an ANAME: change it with the API
subtree @ | del @ | REFUSED: example.com. has an ANAME: change it with the API
subtree @ | add shop 60 TXT x | +shop 60 TXT x
subtree @ | del @ MX | -@ 300 MX mail.example.net
subtree @ | add @ 60 NS ns9.example. | REFUSED: the NS records of the domain itself are set by the service
subtree @ | del @ NS | REFUSED: the NS records of the domain itself are set by the service
subtree @ | add @ 60 SOA a b 99 1 1 1 1 | REFUSED: the SOA records of the domain itself are set by the service
subtree @ | add @ 60 DNSKEY 256 3 13 AAAA | REFUSED: DNSKEY records are generated by the signer of the zone
subtree @ | add x 60 SPF "v=spf1 -all" | REFUSED: SPF records cannot be changed
subtree @ | add x 60 TYPE65401 \\# 1 00 | REFUSED: TYPE65401 records cannot be changed
subtree @ | add x 60 DS 1 13 2 ${'ab'.repeat(32)} | problem: x.example.com. has a DS but no NS: a DS belongs to a delegation
subtree @ | add a.*.b 60 A 192.0.2.9 | REFUSED: a.*.b.example.com. A: a wildcard can only be the leftmost label
subtree @ | add x 60 MX 10 *.example.net. | REFUSED: x.example.com. MX: a host name cannot contain a wildcard
subtree @ | add x 60 CNAME . | REFUSED: x.example.com. CNAME: the root is not a destination
subtree @ | add \\000\\.x 60 TXT "" | +\\000\\046x 60 TXT ""
subtree @ | add @ 60 CNAME other.example. | REFUSED: example.com. has an ANAME: change it with the API
origin www | yxrrset www A 192.0.2.1 / add www 60 A 192.0.2.9 | www 60 A 192.0.2.1 proxied / +www 60 A 192.0.2.9 proxied
origin www | del www A 192.0.2.1 / add www 300 A 192.0.2.9 | www 300 A 192.0.2.9 proxied
origin www A | del www | REFUSED: the key has no grant for www.example.com. TXT
origin www | del www | -www 300 A 192.0.2.1 proxied / -www 300 TXT hello
origin shop | yxrrset shop CNAME web.example.net. / add shop 60 TXT x | +shop 60 TXT x
origin shop | add shop 300 CNAME new.example. | shop 300 CNAME new.example proxied
origin shop | add shop 60 A 192.0.2.9 | 
origin shop | del shop CNAME / add shop 60 A 192.0.2.9 | -shop 300 CNAME web.example.net proxied / +shop 60 A 192.0.2.9
origin shop A | yxrrset shop CNAME web.example.net. | NXRRSET: shop.example.com. CNAME has other records
origin shop A, shop TXT | del shop | REFUSED: the key has no grant for shop.example.com. AAAA
origin @ | nxrrset @ A / del @ | -@ 300 ANAME web.example.net / -@ 300 MX mail.example.net
origin @ | add @ 60 A 192.0.2.9 | problem: example.com. has an ANAME, which provides its addresses`),
  )('%s: %s → %s', (grants, text, expected = '') => {
    const held = (grants as string).split(', ').map(grantOf);
    expect(printPlan(plan(updateOf(APEX, linesOf(text as string)), held))).toBe(expected);
  });

  it('changes only what the grants allow, for random updates', () => {
    const random = randomFrom(4592);
    const texts = [
      'subtree @',
      'subtree @ A TXT MX',
      'origin www',
      'origin shop CNAME',
      'origin @',
      'new A',
      'plain',
    ];
    const held = [...customers(CUSTOMERS, EVERYTHING).zone.sets.values()].flatMap((sets) => [
      ...sets.values(),
    ]);
    const stored = edited([], held);
    let changes = 0;
    for (let i = scale(20_000, 200); i > 0; i--) {
      const grants = [pick(random, texts), pick(random, texts)].map(grantOf);
      const update = updateOf(APEX, randomUpdate(random, stored));
      const planned = plan({ prerequisites: [], updates: update.updates.slice(0, 2) }, grants);
      if (planned.kind !== 'change') continue;
      changes += planned.ops.length;
      for (const op of planned.ops) {
        for (const { name, type } of [
          ...(op.op === 'create' ? [] : [op.before]),
          ...(op.op === 'delete' ? [] : [op.after]),
        ]) {
          const code = type === 'ANAME' ? ANAME_CODE : (typeCode(type) as number);
          const allowing = grants.filter((grant) => covers(grant, name, code));
          const isGuarded =
            [APEX, parseName('www', APEX), parseName('shop', APEX)].includes(name) && isAddressLike(type);
          expect(allowing.some(({ editsOrigin }) => editsOrigin || !isGuarded)).toBe(true);
        }
      }
    }
    expect(changes).toBeGreaterThan(20);
  });
});

/** Plans an update of a zone from all its records, as an API process does from the records at the touched names. */
function plannedZone(records: readonly ZoneRecord[], sets: readonly RecordSet[], isSignedHere = false) {
  const { at, dnamesAt, below } = namesOfZoneEdit(APEX, sets);
  const needed = records.filter(
    ({ owner, type }) => at.includes(owner) || (type === TYPE.DNAME && dnamesAt.includes(owner)),
  );
  const others = records.filter(({ owner }) => !at.includes(owner));
  const parents = new Set(
    below.filter((name) => others.some(({ owner }) => owner !== name && isWithin(owner, name))),
  );
  return planZoneEdit({ apex: APEX, records: needed, parents, isSignedHere }, sets);
}

/** Returns the zone after the change, without a serial that is newer. */
function edited(records: readonly ZoneRecord[], sets: readonly RecordSet[]): ZoneRecord[] {
  const isIn = ({ owner, type }: ZoneRecord) => sets.some((set) => set.owner === owner && set.type === type);
  const added = sets.flatMap(({ owner, type, ttl, rdata }) =>
    rdata.map((one) => ({ owner, type, ttl, rdata: one })),
  );
  return [...records.filter((record) => !isIn(record)), ...added];
}

describe('planZoneEdit', () => {
  const changesOf = (text: string): readonly RecordSet[] => {
    const result = runUpdate(operatorZone(APEX, STORED), updateOf(APEX, linesOf(text)), EVERYTHING);
    if (result.kind === 'refused') throw new Error(result.message);
    return result.sets;
  };

  it.each(
    rowsOf(`
add new 60 A 192.0.2.9 | 11
add @ 3600 SOA ns1 admin 20 3600 600 86400 300 | 20
add @ 3600 SOA ns1 admin 10 1 1 1 1 | 10
del www AAAA | 10
add x.dn 60 A 192.0.2.9 | x.dn.example.com. is below the DNAME at dn.example.com.
del dn DNAME / add x.dn 60 A 192.0.2.9 | 11
add a.ent 60 DNAME other.example. | 11
add ent 60 DNAME other.example. | ent.example.com. has names below it, so it cannot have a DNAME
del a.ent / add ent 60 DNAME other.example. | 11
add a.ent 60 DNAME other.example. / add x.a.ent 60 A 192.0.2.9 | x.a.ent.example.com. is below the DNAME at a.ent.example.com.
add sub 60 DNAME other.example. | sub.example.com. has names below it, so it cannot have a DNAME
add dn 60 NS ns1 | dn.example.com. has both DNAME and NS
add * 60 NS ns1 | *.example.com. has NS: a wildcard cannot be delegated
add @ 60 DS 1 13 2 ${'ab'.repeat(32)} | example.com. has a DS: it belongs to the parent zone
add www.sub 60 A 192.0.2.9 | 11
add @ 60 ZONEMD 10 1 1 ${'ab'.repeat(48)} | example.com. has a ZONEMD, which would no longer match the zone`),
  )('%s: serial or reason %s', (text, expected = '') => {
    const plan = plannedZone(STORED, changesOf(text));
    expect(plan.kind === 'edit' ? `${plan.serial}` : plan.message).toBe(expected);
  });

  it('requires the changed names, the names above them, and the names below each new DNAME', () => {
    const { at, dnamesAt, below } = namesOfZoneEdit(
      APEX,
      changesOf('add a.b.c 60 A 192.0.2.9 / add b.c 60 TXT x / add d 60 DNAME other.example. / del dn'),
    );
    const texts = [at, dnamesAt, below].map((names) =>
      names.map((name) => printRecordName(name, APEX)).join(' '),
    );
    expect(texts).toEqual(['@ a.b.c b.c d dn', 'c', 'd']);
  });

  it('refuses to change a zone that another signer signed', () => {
    const signed = [
      ...STORED,
      ...recordsOf('@ RRSIG SOA 13 2 60 20300101000000 20260101000000 1 @ AAAA', 'example.com.'),
    ];
    const sets = changesOf('add new 60 A 192.0.2.9');
    expect(plannedZone(signed, sets)).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('another signer'),
    });
    expect(plannedZone(signed, sets, true).kind).toBe('edit');
  });

  it('refuses a set that does not fit into a message', () => {
    const texts = Array.from({ length: 300 }, (_, i) => `add big 60 TXT "${`${i}`.padStart(250, 'x')}"`);
    expect(plannedZone(STORED, changesOf(texts.join(' / ')))).toMatchObject({
      message: expect.stringContaining('does not fit into a message'),
    });
  });

  it('accepts exactly the changes that lead to a valid zone, for random updates', () => {
    const random = randomFrom(2136);
    const counts = { edit: 0, refused: 0 };
    let records = recordsOf(UPDATED_ZONE, 'example.com.');
    for (let i = scale(50_000, 1000); i > 0; i--) {
      const text = randomUpdate(random, records);
      const sections = updateOf(APEX, text);
      const updates = random() < 0.1 ? distorted(random, sections.updates) : sections.updates;
      const result = runUpdate(operatorZone(APEX, records), { ...sections, updates }, EVERYTHING);
      if (result.kind === 'refused') continue;
      const plan = plannedZone(records, result.sets);
      const after = edited(records, result.sets);
      counts[plan.kind]++;
      expect(plan.kind === 'edit' ? 'built' : 'refused', text).toBe(buildZone(APEX, after).kind);
      if (plan.kind === 'refused') continue;
      const changed = plan.owners.map(({ owner }) => owner);
      const all = plan.owners.flatMap((owner) => owner.all);
      records = [...records.filter(({ owner }) => !changed.includes(owner)), ...all];
      expect(linesOfZone(records), text).toEqual(linesOfZone(after));
    }
    expect(Math.min(counts.edit, counts.refused)).toBeGreaterThan(5);
  });
});
