// What one name is judged by: its own sets, and of other names only whether those above have a DNAME. The rules one by one
// are in build-zone.test.ts.

import { describe, expect, it } from 'vitest';
import { type Name, parseName, printName } from '../../src/dns/name.ts';
import { checkApex, checkNode } from '../../src/zone/check-node.ts';
import type { ZoneNode } from '../../src/zone/zone.ts';
import { ProblemList } from '../../src/zone/zone-problem.ts';
import { zoneOf } from '../support/zone/zone-text.ts';

const APEX = parseName('example.');
const ZONE = zoneOf('example.', '@ 60 SOA a b 1 2 3 4 5\n@ 60 NS a\na.b.c 60 A 10.0.0.1\nd 60 DNAME e');

function nodeOf(text: string): ZoneNode {
  return ZONE.nodes.get(parseName(text)) as ZoneNode;
}

describe('a name of a zone', () => {
  it('asks about the names above it, up to the apex', () => {
    const asked: string[] = [];
    const hasDname = (name: Name): boolean => {
      asked.push(printName(name));
      return false;
    };
    const problems = new ProblemList();
    checkNode(APEX, nodeOf('a.b.c.example.'), hasDname, problems);
    expect(asked).toEqual(['b.c.example.', 'c.example.', 'example.']);
    asked.length = 0;
    checkNode(APEX, nodeOf('example.'), hasDname, problems);
    expect(asked).toEqual([]);
    expect(problems.list).toEqual([]);
  });

  it('does not lie below a DNAME, but may have one', () => {
    const problems = new ProblemList();
    checkNode(APEX, nodeOf('a.b.c.example.'), (name) => name === parseName('c.example.'), problems);
    checkNode(APEX, nodeOf('d.example.'), () => false, problems);
    expect(problems.list.map(({ code }) => code)).toEqual(['BELOW_DNAME']);
  });
});

describe('an apex', () => {
  it('needs SOA and NS', () => {
    const problems = new ProblemList();
    checkApex(APEX, nodeOf('example.').sets, problems);
    expect(problems.list).toEqual([]);
    checkApex(APEX, undefined, problems);
    expect(problems.list.map(({ code }) => code)).toEqual(['NO_SOA', 'NO_APEX_NS']);
  });
});
