// The list of codes: each has a sentence, and the tests of Zonemaster are named as Zonemaster names them.

import { expect, test } from 'vitest';
import {
  CHILD_CODE_LIST,
  CHILD_CODES,
  PLACES,
  SEVERITIES,
  testOf,
} from '../../../src/checks/child/child-codes.ts';
import { CHILD_SENTENCES } from '../../../src/checks/child/child-findings.ts';
import { parseName } from '../../../src/dns/name.ts';

test('every code has a severity, a place, and a sentence that says what to do', () => {
  const names = [parseName('ns1.example.com.'), parseName('ns2.example.com.')];
  for (const code of CHILD_CODE_LIST) {
    expect(SEVERITIES).toContain(CHILD_CODES[code].severity);
    expect(PLACES).toContain(CHILD_CODES[code].place);
    const sentence = CHILD_SENTENCES[code]({ names, detail: '192.0.2.1' });
    expect(sentence, code).toMatch(/^[A-Z].*\.$/);
    expect(sentence, code).not.toMatch(/undefined|\\000/);
    const words = {
      registrar: /registrar|correct|add|remove/i,
      zone: /Ask|nothing to change/,
      operator: /nodes/,
    };
    expect(sentence, code).toMatch(words[CHILD_CODES[code].place]);
  }
});

test('a sentence about one nameserver is in the singular', () => {
  const one = CHILD_SENTENCES.SERVER_SILENT({ names: [parseName('ns1.example.com.')], detail: '192.0.2.1' });
  expect(one).toContain('The nameserver ns1.example.com does not answer at 192.0.2.1.');
});

test('the test cases have the names of Zonemaster', () => {
  for (const code of CHILD_CODE_LIST) {
    expect(testOf(code) ?? 'zone01').toMatch(
      /^(address|connectivity|consistency|delegation|nameserver|zone)\d\d$/,
    );
  }
});
