// The rules one by one are in build-zone.test.ts.

import { expect, it } from 'vitest';
import { type Name, parseName, printName } from '../../src/dns/name.ts';
import { checkNode } from '../../src/zone/check-node.ts';
import { ProblemList } from '../../src/zone/zone-problem.ts';
import { zoneOf } from '../support/zone/zone-text.ts';

it('the check of a name looks for a DNAME only at the names above it, up to the apex', () => {
  const { apex, nodes } = zoneOf('example.', '@ 60 SOA a b 1 2 3 4 5\n@ 60 NS a\na.b.c 60 A 10.0.0.1');
  const askedBy = (text: string) => {
    const asked: string[] = [];
    const problems = new ProblemList();
    const hasDname = (name: Name) => asked.push(printName(name)) < 0;
    checkNode(apex, nodes.get(parseName(text)) ?? expect.unreachable(), hasDname, problems);
    expect(problems.list).toEqual([]);
    return asked;
  };
  expect(askedBy('a.b.c.example.')).toEqual(['b.c.example.', 'c.example.', 'example.']);
  expect(askedBy('example.')).toEqual([]);
});
