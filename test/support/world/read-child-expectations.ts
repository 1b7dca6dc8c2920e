// Parses the expectations of a world in fixtures/child-worlds. The lines of its expect.txt:
//
//     domain NAME                  the domain that is looked at
//     own NAME…                    our nameservers
//     asn PREFIX NUMBER            a line of the file in ASN_DB
//     findings CODE[@PLACE]…       all of them

import type { Name } from '../../../src/dns/name.ts';
import { nameOf, readWorldFile } from './read-world.ts';

interface ChildExpectations {
  readonly domain: Name;
  readonly own: readonly Name[];
  /** Contents of the file in ASN_DB. */
  readonly asn: string;
  readonly findings: readonly string[];
}

export function readChildExpectations(folder: string): ChildExpectations {
  const lines = readWorldFile(folder, 'expect.txt', 'child-worlds').trim().split('\n');
  const wordsOf = (keyword: string) =>
    lines.filter((line) => line.split(' ')[0] === keyword).map((line) => line.split(' ').slice(1));
  const [[domain] = []] = wordsOf('domain');
  const [findings] = wordsOf('findings');
  if (domain === undefined || findings === undefined)
    throw new Error(`${folder}: domain or findings missing`);
  return {
    domain: nameOf(domain),
    own: (wordsOf('own')[0] ?? []).map(nameOf),
    asn: wordsOf('asn')
      .map((words) => words.join(' '))
      .join('\n'),
    findings,
  };
}
