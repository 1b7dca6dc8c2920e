// The findings about the names of the servers, their glue and their networks.

import { describe, expect, it } from 'vitest';
import { judgeChild } from '../../../src/checks/child/judge-child.ts';
import { readAsnDb } from '../../../src/checks/child/read-asn-db.ts';
import { parseName } from '../../../src/dns/name.ts';
import { madeChild, madeServer, NS1 } from '../../support/world/made-child.ts';

const NONE = new Set<typeof NS1>();
const codes = (evidence = madeChild(), options: Partial<Parameters<typeof judgeChild>[1]> = {}) =>
  judgeChild(evidence, { own: NONE, ...options }).map(({ code }) => code);

describe('glue', () => {
  it('of a server outside the domain may be less than it has, but not other addresses', () => {
    const outside = parseName('ns.example.net.');
    const found = { kind: 'found', addresses: ['5.4.0.1', '2a0b:4::1'] } as const;
    const servers = (glue: string[]) => [
      madeServer(NS1, ['5.3.0.1', '2a0b:3::1']),
      madeServer(outside, [], { glue, found }),
    ];
    expect(codes(madeChild({ servers: servers([]) }))).toEqual([]);
    expect(codes(madeChild({ servers: servers(['5.4.0.1']) }))).toEqual([]);
    expect(codes(madeChild({ servers: servers(['5.9.0.1']) }))).toEqual(['GLUE_DIFFERS']);
  });
});
describe('the autonomous systems', () => {
  it('are judged only with the file', () => {
    const one = readAsnDb('5.0.0.0/8 64500\n2a0b::/16 64500');
    expect(codes(madeChild(), { asnOf: one })).toEqual(['ALL_IN_ONE_AS']);
    expect(codes(madeChild(), { asnOf: readAsnDb('5.0.0.0/8 64500') })).toEqual([]);
    expect(codes()).toEqual([]);
  });
});
