// One zone of many names, and queries for it: 60 % A, 15 % AAAA, 5 % through a CNAME, 5 % nonexistent names, 5 % wildcards,
// 10 % MX and TXT of the apex.

import { type Random, randomFrom } from '../../test/support/random/random-zones.ts';
import type { ZoneSet } from './zone-set.ts';

const ALIASES_PART = 0.05;
const WILDCARDS_PART = 0.01;
/** Names that do not exist, and names below wildcards: a fixed number, so that a server's cache can hold the answers. */
const ABSENT_NAMES = 1000;

export interface OneZone {
  readonly set: ZoneSet;
  readonly names: number;
  /** Lines for dnsperf. */
  questions(count: number, seed: number): string;
  /** A host's name, without the final dot. */
  hostName(index: number): string;
}

export function makeOneZone(label: string, names: number): OneZone {
  const apex = `${label}.test`;
  const aliases = Math.max(1, Math.floor(names * ALIASES_PART));
  const wildcards = Math.max(1, Math.floor(names * WILDCARDS_PART));
  const hosts = names - 1 - aliases - wildcards;
  const hostLabel = (index: number) => `host${String(index).padStart(6, '0')}`;
  const lines = [
    '$TTL 3600',
    '@ SOA ns1.nameservers.test. hostmaster.nameservers.test. 1 10000 2400 604800 1800',
    '@ NS ns1.nameservers.test.',
    '@ NS ns2.nameservers.test.',
    '@ A 192.0.2.1',
    '@ MX 10 mx1.mail.test.',
    '@ MX 20 mx2.mail.test.',
    '@ TXT "v=spf1 include:_spf.mail.test -all"',
  ];
  for (let i = 0; i < hosts; i++) {
    lines.push(`${hostLabel(i)} A 198.51.${(i >> 8) & 255}.${i & 255}`);
    lines.push(`${hostLabel(i)} AAAA 2001:db8::${(i >> 16).toString(16)}:${(i & 0xffff).toString(16)}`);
  }
  for (let i = 0; i < aliases; i++) lines.push(`alias${i} CNAME ${hostLabel(i)}`);
  for (let i = 0; i < wildcards; i++) lines.push(`*.wild${i} A 203.0.113.${i & 255}`);

  const question = (random: Random): string => {
    const below = (limit: number) => Math.floor(random() * limit);
    const kind = random() * 100;
    if (kind < 60) return `${hostLabel(below(hosts))}.${apex} A`;
    if (kind < 75) return `${hostLabel(below(hosts))}.${apex} AAAA`;
    if (kind < 80) return `alias${below(aliases)}.${apex} A`;
    if (kind < 85) return `absent${below(ABSENT_NAMES)}.${apex} A`;
    if (kind < 90) return `any${below(ABSENT_NAMES / 10)}.wild${below(Math.min(10, wildcards))}.${apex} A`;
    return `${apex} ${kind < 95 ? 'MX' : 'TXT'}`;
  };
  return {
    set: {
      name: `${label}_${names}`,
      zones: [{ apex: `${apex}.`, text: `${lines.join('\n')}\n` }],
      records: lines.length - 1,
    },
    names,
    questions(count, seed) {
      const random = randomFrom(seed);
      return `${Array.from({ length: count }, () => question(random)).join('\n')}\n`;
    },
    hostName: (index) => `${hostLabel(index)}.${apex}`,
  };
}
