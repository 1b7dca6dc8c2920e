import { afterEach, beforeEach, expect, test } from 'vitest';
import { dsText } from '../../../src/checks/dnssec/ds-evidence.ts';
import { RULES } from '../../../src/checks/dnssec/rules.ts';
import type { TheirEvidence } from '../../../src/checks/dnssec/their-keys.ts';
import { dnssecFindings } from '../../../src/checks/dnssec/told/dnssec-findings.ts';
import { keyTag } from '../../../src/dns/dnssec/key-tag.ts';
import { enableDnssec } from '../../../src/store/dnssec/change-goal.ts';
import { loadDnssec } from '../../../src/store/dnssec/dnssec-state.ts';
import { importForeignKeys, replaceForeignKeys } from '../../../src/store/dnssec/foreign-keys.ts';
import { importPrivateKeys } from '../../../src/store/dnssec/private-keys.ts';
import { dsOf as dsOfKey } from '../../../src/store/keys/signed-zone.ts';
import { makeKey, SIGNING_ALGORITHM } from '../../../src/zone/signing/signing-key.ts';
import { BY, published } from '../../support/database/domains.ts';
import { RolledDomain } from '../../support/database/rolled-domain.ts';
import { checkOnce } from '../../support/database/saved-checks.ts';
import { signatureFaults } from '../../support/database/signed-zones.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { APEX } from '../../support/zone/customer-records.ts';

const { db, url } = sharedDatabase();
let rolled: RolledDomain;
let domainId: number;

beforeEach(async () => {
  rolled = await RolledDomain.create({ url, db, drop: async () => {} });
  domainId = rolled.domainId;
});
afterEach(() => rolled.drop());

/** A key for flags 257, as a DNSKEY record's rdata. */
const foreignRdata = () => makeKey(SIGNING_ALGORITHM.ECDSAP256SHA256, 257).dnskey;

function shownByTheirs(...keys: readonly Uint8Array[]): TheirEvidence {
  const server = { address: '192.0.2.99', keys, ttl: 3600, isSilent: false, error: undefined };
  return { servers: [server], failure: undefined };
}

const fields = (rdata: Uint8Array) => ({
  flags: 256 | (rdata[1] as number),
  protocol: 3,
  algorithm: 13,
  publicKey: rdata.subarray(4),
});

const dsTextOf = (rdata: Uint8Array) => dsText(dsOfKey(APEX, { tag: keyTag(rdata), dnskey: rdata }, 2));

test('an import adds the keys that the DS leads to, and the other operator’s DS is no longer a fault', async () => {
  const rdata = foreignRdata();
  rolled.shown = [dsTextOf(rdata)];
  await enableDnssec(db, { ...BY, domainId });
  expect((await rolled.settle()).status).toBe('broken');
  await importForeignKeys(db, { ...BY, domainId });
  rolled.theirs = shownByTheirs(rdata);
  expect(await rolled.look()).toEqual({ kind: 'writing' });
  expect((await rolled.settle()).status).toBe('waiting');
  const keys = (await loadDnssec(db, domainId))?.keys ?? [];
  expect(keys.map(({ origin, signs, isUsable }) => [origin, signs, isUsable])).toEqual([
    ['ours', 'both', true],
    ['foreign', 'none', false],
  ]);
  const served = (await published(db))?.filter((line) => / DNSKEY /.test(line) && !/RRSIG/.test(line)) ?? [];
  expect(served).toHaveLength(2);
  expect(await signatureFaults(db, APEX)).toEqual([]);
});

test.each([
  [
    'the keys do not verify',
    () => ({
      servers: [{ ...shownByTheirs().servers[0], keys: undefined, error: 'no key matches its DS records' }],
      failure: undefined,
    }),
    'no key matches',
  ],
  [
    'no server responds',
    () => ({ servers: [], failure: 'the parent lists only our nameservers' }),
    'only our nameservers',
  ],
  ['there are five keys', () => shownByTheirs(...Array.from({ length: 5 }, foreignRdata)), 'more than 4'],
  [
    'a key is RSA',
    () => shownByTheirs(Uint8Array.from([1, 1, 3, 8, ...new Uint8Array(516)])),
    'its algorithm is 8',
  ],
])('an import changes no key and reports why if %s', async (_, evidence, why) => {
  rolled.shown = [dsTextOf(foreignRdata())];
  await enableDnssec(db, { ...BY, domainId });
  await rolled.settle();
  await importForeignKeys(db, { ...BY, domainId });
  rolled.theirs = evidence() as TheirEvidence;
  await rolled.look();
  const machine = await rolled.machine();
  expect(machine.foreign).toMatchObject({ wanted: [], importAskedAt: null });
  expect(machine.foreign?.imported?.failure).toContain(why);
  expect((await loadDnssec(db, domainId))?.keys).toHaveLength(1);
});

test('an import queries no server if the parent has no DS record', async () => {
  await enableDnssec(db, { ...BY, domainId });
  await rolled.settle();
  rolled.theirs = shownByTheirs(foreignRdata());
  await importForeignKeys(db, { ...BY, domainId });
  await rolled.look();
  expect((await rolled.machine()).foreign?.imported?.failure).toContain('no DS record');
  expect((await loadDnssec(db, domainId))?.keys).toHaveLength(1);
});

test('CDS includes the DS of another operator’s key only if that key has the SEP flag', async () => {
  await enableDnssec(db, { ...BY, domainId });
  await rolled.settle();
  const [entry, data] = [foreignRdata(), makeKey(SIGNING_ALGORITHM.ECDSAP256SHA256, 256).dnskey];
  const list = [fields(entry), fields(data)];
  expect((await replaceForeignKeys(db, { ...BY, domainId, keys: list })).kind).toBe('updated');
  expect((await rolled.passTime(4)).status).toBe('ds_wanted');
  const lines = (await published(db)) ?? [];
  const cds = lines.filter((line) => /^@ \d+ CDS /.test(line)).map((line) => line.split(' ')[3]);
  expect(cds.sort()).toEqual(
    [String(keyTag(entry)), (await rolled.dsOf((await rolled.machine()).wanted?.sep)).split(' ')[0]].sort(),
  );
  expect(lines.filter((line) => /^@ \d+ CDNSKEY /.test(line))).toHaveLength(2);
  expect(lines.filter((line) => /^@ \d+ DNSKEY /.test(line))).toHaveLength(3);
});

test('an import fails if the DNSKEY set would be too large while removed keys are still published', async () => {
  const rdata = foreignRdata();
  rolled.shown = [dsTextOf(rdata)];
  await enableDnssec(db, { ...BY, domainId });
  await rolled.settle();
  const order = { ...BY, domainId };
  const four = Array.from({ length: 4 }, foreignRdata);
  expect((await replaceForeignKeys(db, { ...order, keys: four.map(fields) })).kind).toBe('updated');
  await rolled.settle();
  expect((await replaceForeignKeys(db, { ...order, keys: [] })).kind).toBe('updated');
  await importForeignKeys(db, order);
  rolled.theirs = shownByTheirs(rdata);
  await rolled.look();
  const { foreign } = await rolled.machine();
  expect(foreign?.wanted).toEqual([]);
  expect(foreign?.imported?.failure).toContain('are still in the zone');
});

const OTHERS = 'referral ns1.other.example ns2.other.example';

test.each([
  ['unsigned', 13],
  ['signed with a key that no DS leads to', 13],
  ['signed with a key of another algorithm', 15],
] as const)('private keys sign a domain that was %s in one step, and its answers stay whole', async (before, algorithm) => {
  await checkOnce(db, domainId, OTHERS);
  if (before !== 'unsigned') {
    await enableDnssec(db, { ...BY, domainId });
    await rolled.settle();
  }
  const [ksk, zsk] = [
    { ...makeKey(algorithm, 257), flags: 257 },
    { ...makeKey(algorithm, 256), flags: 256 },
  ] as const;
  rolled.shown = [dsTextOf(ksk.dnskey)];
  rolled.theirs = shownByTheirs(ksk.dnskey, zsk.dnskey);
  expect((await importPrivateKeys(db, { ...BY, domainId, keys: [ksk, zsk] })).kind).toBe('updated');
  await rolled.settle();
  const lines = (await published(db)) ?? [];
  const served = lines.filter((line) => /^@ \d+ DNSKEY /.test(line)).map((line) => line.split(' ')[3]);
  expect(served.sort()).toEqual(['256', '257']);
  expect(lines.find((line) => /^@ \d+ CDS /.test(line))).toContain(` ${ksk.tag} `);
  const { foreign, asked, keys } = await rolled.machine();
  const ids = keys.filter(({ shared }) => shared === 'imported').map(({ id }) => id);
  expect(asked).toEqual([ids[0]]);
  expect(foreign?.shows).toMatchObject({ keys: ids, hasOthers: false });
});

test('the nameservers must not be changed while the other operator shows a key that is not here', async () => {
  await checkOnce(db, domainId, OTHERS);
  const key = { ...makeKey(13, 257), flags: 257 } as const;
  const other = makeKey(13, 256).dnskey;
  rolled.shown = [dsTextOf(key.dnskey)];
  rolled.theirs = shownByTheirs(key.dnskey, other);
  await importPrivateKeys(db, { ...BY, domainId, keys: [key] });
  await rolled.settle();
  const found = async () =>
    dnssecFindings(await rolled.machine(), 'elsewhere', Date.now(), RULES).map(({ code }) => code);
  expect(await found()).toEqual(['FOREIGN_NS_WAIT']);
  await replaceForeignKeys(db, { ...BY, domainId, keys: [fields(other)] });
  await rolled.settle();
  await rolled.look(); // the answers are tried when all nodes have them
  expect(await found()).toEqual(['FOREIGN_NS_READY']);
});
