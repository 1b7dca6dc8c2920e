// The questions that our check of a delegated zone and Zonemaster both decide, and what each says. A question is one code of
// ours, or a few, and the messages of one test case that mean the same.

import type { ChildCode } from '../../../src/checks/child/child-codes.ts';
import type { Looked, ZonemasterMessage } from './zonemaster-network.ts';

interface Question {
  readonly test: string;
  readonly codes: readonly ChildCode[];
  /** The messages of which one is there when Zonemaster has found it. */
  readonly found: RegExp;
  /** Those that say that the test case was not decided. */
  readonly undecided?: RegExp;
  /** Our check decides it only with an answer of the zone. */
  readonly needsAnswer?: true;
  /** Our check decides it only with the addresses of all servers. */
  readonly needsAddresses?: true;
}

const NO_SOA = /^NO_RESPONSE_SOA_QUERY$/;

export const QUESTIONS: readonly Question[] = [
  { test: 'delegation01', codes: ['TOO_FEW_NAMES'], found: /^NOT_ENOUGH_NS_(DEL|CHILD)$/, needsAnswer: true },
  { test: 'delegation01', codes: ['IPV4_ONLY'], found: /^NO_IPV6_NS_DEL$/, needsAddresses: true },
  { test: 'delegation01', codes: ['IPV6_ONLY'], found: /^NO_IPV4_NS_DEL$/, needsAddresses: true },
  { test: 'delegation02', codes: ['SAME_ADDRESS'], found: /SAME_IP/ },
  {
    test: 'delegation03',
    codes: ['REFERRAL_OVER_512', 'REFERRAL_OVER_1232'],
    found: /^REFERRAL_SIZE_TOO_LARGE$/,
  },
  { test: 'delegation05', codes: ['NAME_IS_ALIAS'], found: /^NS_IS_CNAME$/ },
  { test: 'delegation07', codes: ['NS_ONLY_AT_PARENT'], found: /^EXTRA_NAME_PARENT$/, needsAnswer: true },
  { test: 'delegation07', codes: ['NS_ONLY_IN_ZONE'], found: /^EXTRA_NAME_CHILD$/, needsAnswer: true },
  { test: 'consistency01', codes: ['SERIALS_DIFFER'], found: /^MULTIPLE_SOA_SERIALS$/, needsAnswer: true },
  { test: 'consistency04', codes: ['NS_SETS_DIFFER'], found: /^MULTIPLE_NS_SET$/, needsAnswer: true },
  {
    test: 'consistency05',
    codes: ['GLUE_DIFFERS', 'GLUE_MISSING'],
    found: /ADDR_MISMATCH$|^EXTRA_ADDRESS_CHILD$/,
    undecided: /^CHILD_ZONE_LAME$/,
    needsAnswer: true,
  },
  { test: 'connectivity01', codes: ['SERVER_SILENT', 'SERVER_LAME'], found: /^CN01_(?!IPV)/ },
  { test: 'connectivity02', codes: ['TCP_REFUSED', 'UDP_TCP_DIFFER'], found: /^CN02_(?!IPV)/ },
  {
    test: 'nameserver02',
    codes: ['EDNS_BROKEN'],
    found: /^(NO_EDNS_SUPPORT|BREAKS_ON_EDNS|EDNS_VERSION_ERROR|EDNS_RESPONSE_WITHOUT_EDNS)$/,
    needsAnswer: true,
  },
  {
    test: 'nameserver06',
    codes: ['NS_WITHOUT_ADDRESS'],
    found: /^(CAN_NOT_BE_RESOLVED|NO_RESOLUTION)$/,
    needsAddresses: true,
  },
  { test: 'address01', codes: ['PRIVATE_ADDRESS'], found: /^NAMESERVER_IP_PRIVATE_NETWORK$/ },
  { test: 'zone02', codes: ['SOA_REFRESH_LOW'], found: /_LOWER$/, undecided: NO_SOA },
  { test: 'zone03', codes: ['SOA_RETRY_NOT_BELOW_REFRESH'], found: /^REFRESH_LOWER/, undecided: NO_SOA },
  { test: 'zone04', codes: ['SOA_RETRY_LOW'], found: /_LOWER$/, undecided: NO_SOA },
  { test: 'zone05', codes: ['SOA_EXPIRE_LOW'], found: /LOWER/, undecided: NO_SOA },
  { test: 'zone06', codes: ['SOA_MINIMUM_OUT_OF_RANGE'], found: /_(HIGHER|LOWER)$/, undecided: NO_SOA },
];

/** The test cases as zonemaster-cli takes them. */
export const TESTS: readonly string[] = [...new Set(QUESTIONS.map(({ test }) => test))].map((test) => {
  const module = test.replace(/\d+$/, '');
  return `${module[0]?.toUpperCase()}${module.slice(1)}/${test}`;
});

export interface Answer {
  readonly test: string;
  readonly codes: readonly ChildCode[];
  readonly ours: boolean;
  readonly theirs: boolean;
}

/** The questions that both decide in one world. */
export function compare(
  { codes, isAnswered, isKnown }: Looked,
  messages: readonly ZonemasterMessage[],
): Answer[] {
  const failing = new Set(serversIn(messages.filter(({ tag }) => tag.startsWith('CN01_'))));
  return QUESTIONS.flatMap((question) => {
    const said = messages.filter(({ test }) => test === question.test);
    const isDecided =
      !said.some(({ tag }) => question.undecided?.test(tag)) &&
      (isAnswered || !question.needsAnswer) &&
      (isKnown || !question.needsAddresses);
    if (!isDecided) return [];
    // Without any address of a server Zonemaster asks nobody.
    const asksNobody = messages.some(({ tag }) => tag === 'NO_RESOLUTION');
    if (question.test === 'connectivity01' && asksNobody) return [];
    // An address that is not public is not asked here, and TCP only where UDP works.
    if (question.test === 'connectivity01' && codes.includes('PRIVATE_ADDRESS')) return [];
    const found = said.filter(({ tag }) => question.found.test(tag));
    const theirs = found.some(
      (message) =>
        question.test !== 'connectivity02' || serversIn([message]).some((server) => !failing.has(server)),
    );
    return [
      {
        test: question.test,
        codes: question.codes,
        ours: question.codes.some((code) => codes.includes(code)),
        theirs,
      },
    ];
  });
}

/** `ns1.example.com/192.0.2.1`, as messages name the server that they are about. */
function serversIn(messages: readonly ZonemasterMessage[]): string[] {
  return messages.flatMap(({ args }) => /\bns=(\S+?)(?:;|$)/.exec(args)?.[1] ?? []);
}
