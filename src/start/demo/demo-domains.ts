// The demo's domains: their purpose, records and history, and their initial delegation.

import type { RecordText } from '../../zone/edit/parse-edit.ts';
import { ELSEWHERE_NAMESERVERS, GLUE_HOSTS, OUR_ADDRESSES, OUR_NAMESERVERS } from './demo-net.ts';

interface DemoDomain {
  readonly name: string;
  /** Initial delegation. Undefined if the name is not registered. */
  readonly nameservers?: readonly string[];
  readonly isExternal?: boolean;
  readonly isSigned?: boolean;
  /** Each is one change. */
  readonly edits?: readonly (readonly RecordText[])[];
  /** True if the last edit is reverted. */
  readonly isReverted?: boolean;
}

const MANY_RECORDS = 3000;
const RECORDS_OF_AN_EDIT = 1000;

/** Documentation addresses (RFC 5737). */
const SITE: readonly RecordText[] = [
  { name: '@', type: 'A', destination: '192.0.2.10' },
  { name: 'www', type: 'A', destination: '192.0.2.10', comment: 'the origin' },
];
const MAIL: readonly RecordText[] = [
  { name: 'mail', type: 'A', destination: '192.0.2.25' },
  { name: '@', type: 'MX', destination: 'mail.orchid.test', mx_priority: 10 },
  { name: '@', type: 'TXT', destination: 'v=spf1 mx -all' },
];

export const DEMO_DOMAINS: readonly DemoDomain[] = [
  {
    // Contains the addresses of the second set's nameservers.
    name: 'zonefleet.test',
    nameservers: GLUE_HOSTS,
    edits: [OUR_ADDRESSES.map((address, i) => ({ name: `ns${i + 1}`, type: 'A', destination: address }))],
  },
  {
    // Active, with a history.
    name: 'orchid.test',
    nameservers: OUR_NAMESERVERS,
    edits: [
      SITE,
      MAIL,
      [{ name: '_dmarc', type: 'TXT', destination: 'v=DMARC1; p=none' }],
      [{ name: 'blog', type: 'CNAME', destination: 'www.orchid.test' }],
      [{ name: '_sip._tcp', type: 'SRV', destination: '10 5 5060 mail.orchid.test' }],
      [{ name: '*.shop', type: 'A', destination: '192.0.2.20', ttl: 60, comment: 'tried and reverted' }],
    ],
    isReverted: true,
  },
  // Pending: only one of its nameservers is ours.
  {
    name: 'harbor.test',
    nameservers: [OUR_NAMESERVERS[0] as string, ELSEWHERE_NAMESERVERS[0] as string],
    edits: [SITE],
  },
  // Pending: not delegated at the registrar yet.
  { name: 'meadow.test', nameservers: [], edits: [SITE] },
  // External mode, not verified.
  { name: 'lantern.test', nameservers: ELSEWHERE_NAMESERVERS, isExternal: true },
  // Switches to external mode once it is active, and continues to be served.
  { name: 'willow.test', nameservers: OUR_NAMESERVERS, edits: [SITE] },
  // Is delegated elsewhere once it is active, and becomes `moved`.
  { name: 'cedar.test', nameservers: OUR_NAMESERVERS, edits: [SITE] },
  { name: 'granite.test', nameservers: OUR_NAMESERVERS, isSigned: true, edits: [SITE] },
  { name: 'atlas.test', nameservers: OUR_NAMESERVERS, edits: manyRecords() },
];

export const LEAVING = 'willow.test';
export const MOVING = 'cedar.test';
/** Queries, the most frequent first. All of these exist. Others, below `ABSENT_BELOW`, do not. */
export const QUESTIONS: readonly (readonly [name: string, type: string])[] = [
  ['www.orchid.test.', 'A'],
  ['orchid.test.', 'A'],
  ['www.zonefleet.example.', 'A'],
  ['orchid.test.', 'MX'],
  ['host-0003.atlas.test.', 'A'],
  ['www.granite.test.', 'A'],
  ['mail.orchid.test.', 'A'],
  ['www.orchid.test.', 'AAAA'],
  ['host-0002.atlas.test.', 'AAAA'],
  ['blog.orchid.test.', 'A'],
  ['orchid.test.', 'TXT'],
  ['zonefleet.example.', 'AAAA'],
  [`www.${LEAVING}.`, 'A'],
  ['_dmarc.orchid.test.', 'TXT'],
  ['host-0001.atlas.test.', 'TXT'],
  ['_sip._tcp.orchid.test.', 'SRV'],
  ['granite.test.', 'DNSKEY'],
  ['atlas.test.', 'NS'],
  ['granite.test.', 'SOA'],
];
export const ABSENT_BELOW = 'orchid.test.';

function manyRecords(): RecordText[][] {
  const records = Array.from({ length: MANY_RECORDS }, (_, i): RecordText => {
    const name = `host-${String(i).padStart(4, '0')}`;
    const address = `198.51.100.${i % 256}`;
    if (i % 3 === 1) return { name, type: 'TXT', destination: `rack ${Math.floor(i / 40)} slot ${i % 40}` };
    return i % 3 === 2
      ? { name, type: 'AAAA', destination: `2001:db8::${(i + 1).toString(16)}` }
      : { name, type: 'A', destination: address };
  });
  return Array.from({ length: MANY_RECORDS / RECORDS_OF_AN_EDIT }, (_, i) =>
    records.slice(i * RECORDS_OF_AN_EDIT, (i + 1) * RECORDS_OF_AN_EDIT),
  );
}
