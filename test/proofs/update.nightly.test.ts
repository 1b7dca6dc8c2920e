// Updates of the same zone by BIND and by Zonefleet (RFC 2136 §2.4, §2.5): the same rcode, and the same zone afterwards,
// except for the listed differences. Random updates go to the pure functions; those of real clients go to a fleet.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeMessage } from '../../src/dns/message/message.ts';
import { RCODE, rcodeMnemonic } from '../../src/dns/message/rcodes.ts';
import { readUpdate, type Update, type UpdateRecord } from '../../src/dns/message/update.ts';
import { foldCase, isWildcard, isWithin, parseName } from '../../src/dns/name.ts';
import { CLASS, TYPE } from '../../src/dns/type-codes.ts';
import { saveZones } from '../../src/store/zones/save-zones.ts';
import { judgePrerequisites } from '../../src/zone/update/judge-prerequisites.ts';
import { namesOfZoneEdit, planZoneEdit } from '../../src/zone/update/plan-zone-edit.ts';
import { prescan } from '../../src/zone/update/prescan.ts';
import { runUpdate } from '../../src/zone/update/run-update.ts';
import { recordKey } from '../../src/zone/update/sets-by-name.ts';
import { operatorZone } from '../../src/zone/update/updated-zone.ts';
import type { ZoneRecord } from '../../src/zone/zone.ts';
import { encodeUpdate, updateOf } from '../support/answer/update-text.ts';
import { startDaemon } from '../support/peers/daemon.ts';
import { DNSPYTHON, dnspython } from '../support/peers/dnspython.ts';
import { nsupdate } from '../support/peers/nsupdate.ts';
import { askTcp, isInstalled } from '../support/peers/peers.ts';
import { transferred } from '../support/peers/transfer-fleet.ts';
import { UpdateFleet, type UpdateKey } from '../support/peers/update-fleet.ts';
import { freePort } from '../support/processes/free-port.ts';
import { distorted, linesOfZone, randomUpdate, UPDATED_ZONE } from '../support/random/random-updates.ts';
import { randomFrom } from '../support/random/random-zones.ts';
import { scale } from '../support/tests/scale.ts';
import { until } from '../support/tests/until.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

const needs = isInstalled('named') ? '' : ' (skipped: needs named)';
const APEX = parseName('example.com.');
const ALL = [{ match: 'subtree', owner: APEX, types: null, editsOrigin: false }] as const;
const WKS = 11;

interface Outcome {
  readonly rcode: number;
  readonly records: readonly ZoneRecord[];
}

interface Case extends Update {
  readonly before: readonly ZoneRecord[];
  readonly zonefleet: Outcome;
  readonly bind: Outcome;
}

const isOfClass =
  (...classes: number[]) =>
  (record: UpdateRecord) =>
    classes.includes(record.class);

/** The reasons why BIND may have another rcode or zone. */
const DIFFERENCES: Readonly<Record<string, (of: Case) => boolean>> = {
  'BIND checks the form of all records before anything else': ({ prerequisites, updates, bind }) => {
    const alone = (record: UpdateRecord) => [{ ...record, owner: APEX }];
    const faults = [
      ...prerequisites.map((one) => judgePrerequisites(APEX, alone(one), new Map())),
      ...updates.map((one) => prescan(APEX, alone(one))),
    ];
    return bind.rcode === RCODE.FORMERR && faults.some((fault) => fault?.rcode === RCODE.FORMERR);
  },
  'BIND checks the update section before the prerequisites, unlike RFC 2136 §3': ({
    updates,
    zonefleet,
    bind,
  }) => zonefleet.rcode !== RCODE.NOERROR && bind.rcode === prescan(APEX, updates)?.rcode,
  'BIND compares a prerequisite set with its duplicates': ({ prerequisites, bind }) => {
    const tested = prerequisites.filter(isOfClass(CLASS.IN));
    const keys = tested.map(({ owner, type, rdata }) => `${type} ${owner}${recordKey(type, rdata)}`);
    return bind.rcode === RCODE.NXRRSET && new Set(keys).size < keys.length;
  },
  'WKS rdata is opaque to Zonefleet, as of any other type without a text form': ({
    prerequisites,
    updates,
    bind,
  }) =>
    bind.rcode === RCODE.FORMERR &&
    [...prerequisites, ...updates].some(({ type, rdata }) => type === WKS && rdata.length === 0),
  'BIND ignores NS and DNAME at a wildcard, which RFC 4592 §4.2 and RFC 6672 §3.3 discourage': ({
    updates,
    bind,
  }) =>
    bind.rcode === RCODE.NOERROR &&
    updates.some(({ owner, type }) => (type === TYPE.DNAME || type === TYPE.NS) && isWildcard(owner)),
  'Zonefleet refuses zones that it does not load: names below a DNAME, DNAME and NS': ({
    zonefleet,
    bind,
    before,
  }) => {
    const isBroken = (records: readonly ZoneRecord[]) =>
      records.some(
        ({ owner, type }) =>
          type === TYPE.DNAME &&
          records.some(
            (other) =>
              (isWithin(other.owner, owner) && other.owner !== owner) ||
              (other.owner === owner && owner !== APEX && other.type === TYPE.NS),
          ),
      );
    return zonefleet.rcode === RCODE.REFUSED && !isBroken(before) && isBroken(bind.records);
  },
};

function carriedOut(update: Update, before: readonly ZoneRecord[]): Outcome {
  const result = runUpdate(operatorZone(APEX, before), update, ALL);
  if (result.kind === 'refused') return { rcode: result.rcode, records: before };
  const { below } = namesOfZoneEdit(APEX, result.sets);
  const isTouched = (record: ZoneRecord) => result.sets.some(({ owner }) => owner === record.owner);
  const others = before.filter((record) => !isTouched(record));
  const parents = new Set(below.filter((name) => others.some(({ owner }) => isWithin(owner, name))));
  const plan = planZoneEdit({ apex: APEX, records: before, parents, isSignedHere: false }, result.sets);
  if (plan.kind === 'refused') return { rcode: plan.rcode, records: before };
  const edited = new Set(plan.owners.map(({ owner }) => owner));
  const kept = before.filter(({ owner }) => !edited.has(owner));
  return { rcode: RCODE.NOERROR, records: [...kept, ...plan.owners.flatMap(({ all }) => all)] };
}

/** Starts BIND with copies of the zone. Updates must be signed if there is a key. */
async function startBind(port: number, zones: readonly string[], key?: UpdateKey) {
  const allowed = key === undefined ? 'any' : `key "${key.name}"`;
  return await startDaemon({
    program: 'named',
    files: (directory) => ({
      ...Object.fromEntries(zones.map((zone) => [zone, `$ORIGIN ${zone}.\n${UPDATED_ZONE}\n`])),
      'named.conf': `
options {
  directory "${directory}"; pid-file none; session-keyfile "${directory}/session.key"; lock-file none;
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; recursion no; dnssec-validation no;
  notify no; empty-zones-enable no; allow-transfer { any; }; check-names master ignore; check-integrity no;
};
controls { };
${key === undefined ? '' : `key "${key.name}" { algorithm hmac-sha256; secret "${key.secret}"; };`}
${zones
  .map(
    (zone) => `zone "${zone}" {
  type master; file "${zone}"; allow-update { ${allowed}; }; serial-update-method increment;
};`,
  )
  .join('\n')}`,
    }),
    args: (directory) => ['-f', '-n', '1', '-c', `${directory}/named.conf`],
    isReady: async () => (await transferred(port, parseName(`${zones.at(-1)}.`))).length > 0,
  });
}

async function transferredFrom(port: number): Promise<ZoneRecord[]> {
  const query = Buffer.from(encodeUpdate(APEX, { prerequisites: [], updates: [] }));
  query.writeUInt16BE(0, 2); // opcode QUERY
  query.writeUInt16BE(TYPE.AXFR, 12 + APEX.length);
  const { answers } = decodeMessage(await askTcp(port, query));
  // The last record is the SOA again.
  return answers.slice(0, -1).map((record) => ({ ...record, owner: foldCase(record.owner) }));
}

describe.skipIf(needs !== '')(`random updates by BIND and by Zonefleet${needs}`, () => {
  let port: number;
  let bind: Awaited<ReturnType<typeof startDaemon>>;

  beforeAll(async () => {
    port = await freePort();
    bind = await startBind(port, ['example.com']);
  });
  afterAll(() => bind.stop());

  /** Restores BIND's zone except for the SOA. It is called for zones that Zonefleet would refuse. */
  async function restored(before: readonly ZoneRecord[], now: readonly ZoneRecord[]): Promise<ZoneRecord[]> {
    const keyOf = ({ owner, type, ttl, rdata }: ZoneRecord) => `${owner} ${type} ${ttl} ${rdata.join()}`;
    const without = (records: readonly ZoneRecord[], others: readonly ZoneRecord[]) =>
      records.filter((one) => one.type !== TYPE.SOA && !others.some((other) => keyOf(one) === keyOf(other)));
    const added = without(before, now).map((record) => ({ ...record, class: CLASS.IN }));
    const removed = without(now, before).map((record) => ({ ...record, class: CLASS.NONE, ttl: 0 }));
    // The apex must have NS records at any time.
    const updates = [...added.filter(({ owner }) => owner === APEX), ...removed, ...added];
    await askTcp(port, encodeUpdate(APEX, { prerequisites: [], updates }));
    return await transferredFrom(port);
  }

  it('have the same rcode and lead to the same zone', async () => {
    const random = randomFrom(2136);
    const seen = new Map<string, number>();
    let before = await transferredFrom(port);
    for (let i = scale(20_000, 1500); i > 0; i--) {
      const text = randomUpdate(random, before);
      const { prerequisites, updates } = updateOf(APEX, text);
      const octets = encodeUpdate(APEX, {
        prerequisites: random() < 0.1 ? distorted(random, prerequisites) : prerequisites,
        updates: random() < 0.1 ? distorted(random, updates) : updates,
      });
      const read = readUpdate(octets);
      const zonefleet =
        read.kind === 'refused' ? { rcode: read.rcode, records: before } : carriedOut(read, before);
      const { rcode } = decodeMessage(await askTcp(port, octets));
      const bindsOutcome = { rcode, records: await transferredFrom(port) };
      const [left, right] = [zonefleet, bindsOutcome].map((outcome) =>
        [rcodeMnemonic(outcome.rcode), ...linesOfZone(outcome.records)].join('\n'),
      );
      if (left !== right) {
        const of = { ...(read as Update), before, zonefleet, bind: bindsOutcome };
        const explains = read.kind === 'refused' ? [] : Object.entries(DIFFERENCES);
        const reason = explains.find(([, applies]) => applies(of))?.[0];
        if (reason === undefined) expect(left, `${text}\n${Buffer.from(octets).toString('hex')}`).toBe(right);
        seen.set(reason ?? '', (seen.get(reason ?? '') ?? 0) + 1);
      }
      const isBroken = zonefleet.rcode === RCODE.REFUSED && rcode === RCODE.NOERROR;
      before = isBroken ? await restored(before, bindsOutcome.records) : bindsOutcome.records;
    }
    expect([...seen.keys()].sort()).toEqual(Object.keys(DIFFERENCES).sort());
  });
});

/**
 * Messages to a zone `%` with the content of UPDATED_ZONE, in order. A comment explains why Zonefleet and BIND differ. nsupdate
 * does not send those with lines that only `dnspython` has.
 */
const MESSAGES = `
prereq yxdomain www.% | update add p1.% 60 A 192.0.2.9
prereq yxdomain none.% | update add p2.% 60 A 192.0.2.9
prereq yxdomain ent.% | update add p2.% 60 A 192.0.2.9
prereq yxdomain matches-wildcard.% | update add p2.% 60 A 192.0.2.9
prereq nxdomain none.% | update add p3.% 60 A 192.0.2.9
prereq nxdomain www.% | update add p4.% 60 A 192.0.2.9
prereq yxrrset www.% TXT | update add p5.% 60 A 192.0.2.9
prereq yxrrset www.% MX | update add p6.% 60 A 192.0.2.9
prereq nxrrset www.% MX | update add p7.% 60 A 192.0.2.9
prereq nxrrset www.% A | update add p8.% 60 A 192.0.2.9
prereq yxrrset www.% A 192.0.2.2 | prereq yxrrset www.% A 192.0.2.1 | update add p9.% 60 A 192.0.2.9
prereq yxrrset www.% A 192.0.2.1 | update add p10.% 60 A 192.0.2.9
prereq yxrrset none.% A 192.0.2.1 | update add p10.% 60 A 192.0.2.9
prereq yxrrset alias.% CNAME WWW.% | prereq nxdomain none.% | update add p11.% 60 A 192.0.2.9
prereq yxrrset www.% TXT "A" "B" | update add p12.% 60 A 192.0.2.9
prereq nxdomain www.other. | update add p12.% 60 A 192.0.2.9
prereq yxdomain www.% | prereq yxrrset www.% MX | update delete www.%
update add new.% 60 A 192.0.2.1 | update add new.% 300 A 192.0.2.2 | update add NEW.% 300 A 192.0.2.2
update add new.% 30 A 192.0.2.2
update add x.y.new.% 60 TXT "two" "strings" | update add w.new.% 60 TYPE65280 \\# 2 0102
update delete new.% A 192.0.2.1 | update delete new.% A 192.0.2.77 | update delete none.% A
update add new.% 60 MX 10 mail.% | update delete new.% A | update delete x.y.new.%
update delete new.% | update add new.% 60 AAAA 2001:db8::1
update add alias.% 300 CNAME new.% | update add alias.% 60 A 192.0.2.1
update add www.% 60 CNAME new.% | update delete alias.% | update add alias.% 60 A 192.0.2.1
update delete www.% | update add www.% 60 CNAME new.% | update add www.% 60 TXT "not next to a CNAME"
update add % 60 CNAME new.% | update add % 60 TXT "apex"
update delete %
update delete % NS | update delete % SOA
update delete % NS ns1.example.net. | update delete % NS ns2.example.net.
update add % 60 NS ns3.example.net. | update delete % NS ns2.example.net.
update add % 3600 SOA ns1.% admin.% 5 1 1 1 1 | update add o1.% 60 A 192.0.2.1
update add % 1800 SOA ns9.% admin.% 4000 3600 600 86400 60 | update add o2.% 60 A 192.0.2.1
update add www.% 3600 SOA ns1.% admin.% 5000 1 1 1 1
update add below.sub.% 60 A 192.0.2.1 | update delete sub.% NS ns.example.net.
update add *.% 60 A 192.0.2.1 | update delete *.% TXT
update add in.% 60 A 192.0.2.1 | update add other.test. 60 A 192.0.2.1
prereq nxdomain www.% | update add other.test. 60 A 192.0.2.1 // BIND checks the update section before the prerequisites, unlike RFC 2136 §3
prereq nxdomain www.% | raw update www.% 7 NONE A \\# 4 c0000201 // BIND checks the update section before the prerequisites, unlike RFC 2136 §3
update add x.dn.% 60 A 192.0.2.1 // Zonefleet refuses zones that it does not load: names below a DNAME
update delete x.dn.%
update add % 60 DNSKEY 256 3 13 AAAA // Zonefleet's signer generates DNSSEC records
update delete % DNSKEY // Zonefleet's signer generates DNSSEC records
zone www.% | update add www.% 60 A 192.0.2.1
zone absent.test. | update add www.absent.test. 60 A 192.0.2.1
class CH | zone % | update add www.% 60 TXT "class" // BIND answers NOTIMP for class CH, in which it has zones of its own
key none | update add k.% 60 A 192.0.2.1
key none | prereq yxdomain www.% | update delete www.%
key unknown | update add k.% 60 A 192.0.2.1
key wrong | update add k.% 60 A 192.0.2.1
zonetype A | update add z.% 60 A 192.0.2.1
update add r.% 60 A 192.0.2.1 | raw prereq www.% 0 CH TXT "class"
update add r.% 60 A 192.0.2.1 | raw prereq www.% 0 ANY A \\# 4 c0000201
update add r.% 60 A 192.0.2.1 | raw prereq www.% 0 NONE A \\# 4 c0000201
update add r.% 60 A 192.0.2.1 | raw prereq www.% 7 IN A 192.0.2.1
raw update www.% 60 CH TXT "class"
raw update www.% 60 IN AXFR \\# 0
raw update www.% 0 NONE ANY
raw update www.% 7 NONE A \\# 4 c0000201
raw update www.% 0 ANY A \\# 4 c0000201
raw update www.% 0 ANY AXFR
`
  .trim()
  .split('\n')
  .map((line) => line.split(' // ') as [string, string | undefined]);

const clients = { nsupdate, dnspython } as const;
const missing = ['named', 'nsupdate', 'dig', DNSPYTHON].filter((each) => !isInstalled(each));
const needsClients = missing.length === 0 ? '' : ` (skipped: needs ${missing.join(', ')})`;

describe.skipIf(needsClients !== '')(`updates to BIND and to a fleet${needsClients}`, () => {
  let fleet: UpdateFleet;
  let bind: Awaited<ReturnType<typeof startDaemon>>;
  let bindsPort: number;
  let key: UpdateKey;

  beforeAll(async () => {
    fleet = await UpdateFleet.start();
    const zones = Object.keys(clients).map((client) => `${client}.test`);
    const contents = zones.map((zone) => ({
      apex: parseName(`${zone}.`),
      records: recordsOf(UPDATED_ZONE, `${zone}.`),
    }));
    await saveZones(fleet.db, contents, { source: 'test' });
    key = await fleet.createKey('client', ...zones.map((zone) => [zone, '--match', 'subtree']));
    await fleet.cli('peer', 'add', 'client', '--key', key.name);
    await fleet.cli('policy', 'set', 'default', '--transfer', 'client');
    bindsPort = await freePort();
    bind = await startBind(bindsPort, zones, key);
    for (const { apex } of contents)
      await until(async () => (await transferred(fleet.port, apex, '-y', key.text)).length > 0);
  });
  afterAll(() => Promise.all([fleet?.stop(), bind?.stop()]));

  it.each(Object.keys(clients) as (keyof typeof clients)[])('of %s have the same outcome', async (client) => {
    const zone = `${client}.test.`;
    const other = Buffer.alloc(32, 1).toString('base64');
    const keys: Readonly<Record<string, string>> = {
      none: '',
      unknown: `hmac-sha256:unknown.:${other}`,
      wrong: `hmac-sha256:${key.name}:${other}`,
    };
    const outcomeAt = async (port: number, message: string) => {
      const lines = message.replaceAll('%', zone).split(' | ');
      const named = /^key (\w+)/.exec(lines[0] as string)?.[1] ?? '';
      if (named !== '') lines.shift();
      const hasZone = lines.some((line) => line.startsWith('zone '));
      const text = await clients[client](port, keys[named] ?? key.text, [
        ...(hasZone ? [] : [`zone ${zone}`]),
        ...lines,
      ]);
      const records = await transferred(port, parseName(zone), '-y', key.text);
      const content = records.map((line) => line.replace(/(SOA \S+ \S+) \d+/, '$1').toLowerCase());
      return [text || 'NOERROR', ...content.sort()];
    };
    const seen = new Set<string>();
    for (const [message, reason] of MESSAGES) {
      if (client === 'nsupdate' && /\b(raw|zonetype) /.test(message)) continue;
      const zonefleet = await outcomeAt(fleet.port, message);
      const binds = await outcomeAt(bindsPort, message);
      if (reason === undefined) expect(zonefleet, message).toEqual(binds);
      else expect(zonefleet, message).not.toEqual(binds);
      for (const [rcode] of (zonefleet[0] as string).matchAll(/\b[A-Z]{5,}\b/g)) seen.add(rcode);
    }
    const errors = 'NOERROR NXDOMAIN NXRRSET YXDOMAIN YXRRSET NOTAUTH NOTZONE REFUSED'.split(' ');
    expect([...seen]).toEqual(expect.arrayContaining(errors));
  });
});
