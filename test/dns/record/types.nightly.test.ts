// Compares the octets of every record type with those of BIND, for the valid text in fixtures/records.

import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { typeMnemonic } from '../../../src/dns/type-codes.ts';
import { validRecords } from '../../support/zone/record-cases.ts';

/** Valid text that BIND 9.18 refuses, and the reason for accepting it. */
const REFUSED_BY_BIND: Readonly<Record<string, string>> = {
  'CAA 0 "issue" "ca.example"': 'quoted tags come from other systems',
  'LOC 0 0 0 s 0 0 0.001 w -100000.00': 'a hemisphere in lower case',
  'HTTPS 1 . ohttp alpn=h2 port=0443': 'BIND does not know RFC 9540 yet',
};
const hasBind = spawnSync('named-rrchecker', ['-h']).error === undefined;

describe.skipIf(!hasBind)(
  `the same octets as BIND${hasBind ? '' : ' (skipped: needs named-rrchecker)'}`,
  () => {
    const inputs = validRecords.flatMap(({ type, text, canonical, wire }) =>
      [text, canonical].map((value) => [`${typeMnemonic(type)} ${value}`, wire] as const),
    );
    const unique = [...new Map(inputs)].filter(([record]) => !(record in REFUSED_BY_BIND));
    it.each(unique)('%s', (record, wire) => {
      const checker = spawnSync('named-rrchecker', ['-u', '-o', 'example.'], {
        input: `IN ${record}\n`,
        timeout: 10_000,
      });
      const hex = /\\#\s+\d+\s*([0-9A-Fa-f\s]*)$/.exec(checker.stdout.toString())?.[1]?.replaceAll(/\s/g, '');
      expect(hex?.toLowerCase(), checker.stderr.toString()).toBe(Buffer.from(wire).toString('hex'));
    });
  },
);
