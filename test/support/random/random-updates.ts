// Random updates of a small zone, as lines for `updateOf`: conflicts, delegations, names outside the zone, and records
// that the zone already has. Nameservers are outside the zone, because BIND requires addresses of those inside.

import type { MessageRecord } from '../../../src/dns/message/message.ts';
import { type Name, printName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { CLASS, TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';
import { pick, type Random } from './random-zones.ts';

export const UPDATED_ZONE = `
@ 3600 SOA ns1 admin 10 3600 600 86400 300
@ 3600 NS ns1.example.net.
@ 3600 NS ns2.example.net.
ns1 3600 A 192.0.2.1
ns2 3600 A 192.0.2.2
www 300 A 192.0.2.1
www 300 A 192.0.2.2
www 300 TXT "a" "B"
alias 300 CNAME www
@ 300 MX 10 mail
sub 300 NS ns.example.net.
ns.sub 300 A 192.0.2.53
dn 300 DNAME other.example.
* 300 TXT "wild"
a.ent 300 TXT "below"`;

const NAMES = '@ www WWW alias new x.new sub ns.sub dn x.dn * ent a.ent ns1 b.a.ent'.split(' ');
const OUTSIDE = ['other.test.', '.'];
const CONTENTS: Readonly<Record<string, readonly string[]>> = {
  A: ['192.0.2.1', '192.0.2.2', '192.0.2.53'],
  AAAA: ['2001:db8::1'],
  TXT: ['"a" "B"', '"a"', '"wild"'],
  CNAME: ['www', 'WWW', 'other.example.'],
  MX: ['10 mail', '10 MAIL', '20 mail'],
  NS: ['ns1.example.net.', 'ns2.example.net.', 'NS.example.net.'],
  DNAME: ['other.example.', 'third.example.'],
  SRV: ['0 5 5060 www'],
  SOA: ['ns1 admin 5 1 1 1 1', 'ns1 admin 4000 3600 600 86400 300', 'ns1 admin 2147483900 1 1 1 1'],
  TYPE65280: ['\\# 2 0102', '\\# 0'],
  TYPE11: ['\\# 6 c00002010601', '\\# 6 c000020106ff'],
};
const TTLS = ['0', '60', '300', '3600'];

/** Returns the prerequisites, of which most hold, and the updates. `records` are those of the zone. */
export function randomUpdate(random: Random, records: readonly ZoneRecord[]): string {
  const lines: string[] = [];
  const count = (limit: number) => Math.floor(random() * limit);
  for (let i = count(4) - 1; i > 0; i--) lines.push(...prerequisite(random, records));
  for (let i = count(5); i > 0; i--) lines.push(update(random, records));
  return lines.join('\n');
}

function prerequisite(random: Random, records: readonly ZoneRecord[]): string[] {
  const { owner, type } = pick(random, records);
  const held = records.filter((each) => each.owner === owner && each.type === type);
  if (random() < 0.3) return held.map((record) => `yxrrset ${lineOf(record)}`);
  if (random() < 0.3) return [`yxrrset ${printName(owner)} ${typeMnemonic(type)}`];
  const name = nameOf(random);
  const [mnemonic, content] = contentOf(random);
  return [
    pick(random, [
      `nxdomain ${name}`,
      `yxdomain ${name}`,
      `nxrrset ${name} ${mnemonic}`,
      `yxrrset ${name} ${mnemonic}`,
      `yxrrset ${name} ${mnemonic} ${content}`,
    ]),
  ];
}

function update(random: Random, records: readonly ZoneRecord[]): string {
  const name = nameOf(random);
  const [type, content] = contentOf(random);
  const held = lineOf(pick(random, records));
  return pick(random, [
    `add ${name} ${pick(random, TTLS)} ${type} ${content}`,
    `add ${name} ${pick(random, TTLS)} ${type} ${content}`,
    `del ${name}`,
    `del ${name} ${type}`,
    `del ${name} ${type} ${content}`,
    `del ${held}`,
    `add ${held.replace(' ', ` ${pick(random, TTLS)} `)}`,
  ]);
}

function nameOf(random: Random): string {
  return random() < 0.03 ? pick(random, OUTSIDE) : pick(random, NAMES);
}

function contentOf(random: Random): [string, string] {
  const type = pick(random, Object.keys(CONTENTS));
  return [type, pick(random, CONTENTS[type] as readonly string[])];
}

function lineOf({ owner, type, rdata }: ZoneRecord): string {
  return `${printName(owner)} ${typeMnemonic(type)} ${printRdata(type, rdata)}`;
}

/** Returns records of which one has another class, type, TTL or rdata: often a format error. */
export function distorted(random: Random, records: readonly MessageRecord[]): MessageRecord[] {
  const at = Math.floor(random() * records.length);
  const change = pick<Partial<MessageRecord>>(random, [
    { class: pick(random, [CLASS.IN, CLASS.CH, CLASS.NONE, CLASS.ANY]) },
    { type: pick(random, [TYPE.ANY, TYPE.AXFR, TYPE.MAILB, TYPE.A]) },
    { ttl: 7 },
    { rdata: new Uint8Array() },
  ]);
  return records.map((record, i) => (i === at ? { ...record, ...change } : record));
}

/** Returns the lines of a zone, sorted, for a comparison. The serial is not compared. */
export function linesOfZone(records: Iterable<ZoneRecord>): string[] {
  const lines = [...records].map(({ owner, type, ttl, rdata }) => {
    const text = printRdata(type, rdata);
    const content = type === TYPE.SOA ? text.replace(/ \d+( \d+ \d+ \d+ \d+)$/, ' SERIAL$1') : text;
    return `${printName(owner as Name)} ${ttl} ${typeMnemonic(type)} ${content}`.toLowerCase();
  });
  return lines.sort();
}
