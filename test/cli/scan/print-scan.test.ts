import { expect, test } from 'vitest';
import { importJson, importLines, printScan, scanJson } from '../../../src/cli/scan/print-scan.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { scanOf } from '../../support/world/made-scans.ts';
import { APEX } from '../../support/zone/customer-records.ts';

const scan = scanOf(['@ 3600 MX 10 mail.example.net', 'www 60 A 192.0.2.1', '@ TXT beep \x1b[31m'], {
  wildcards: [APEX],
  complete: false,
  shortfalls: ['the time was over'],
  startedAt: 0,
  finishedAt: 1500,
});
const [mx, www, txt] = scan.records as [
  (typeof scan.records)[0],
  (typeof scan.records)[0],
  (typeof scan.records)[0],
];
const plan = {
  records: [mx, { ...www, cdn: 'Example CDN' }, txt],
  left: [{ name: APEX, type: TYPE.DNSKEY, reason: 'of DNSSEC' }],
};

test('escapes text from zone owners', () => {
  expect(printScan({ scan, plan })).toBe(
    [
      'example.com  not complete, 3 records (10 names, 12 packets, 1.5 s)',
      '  the time was over',
      '',
      'NAME  TYPE   TTL  CDN          RDATA',
      '@     MX    3600  -            10 mail.example.net.',
      'www   A       60  Example CDN  192.0.2.1',
      '@     TXT    300  -            "beep \\027[31m"',
      '',
      'Names with a wildcard below: @',
      '',
      'Left out',
      'NAME  TYPE    WHY',
      '@     DNSKEY  of DNSSEC',
    ].join('\n'),
  );
});

test('prints JSON with the fields of the API', () => {
  expect(JSON.parse(JSON.stringify(scanJson({ scan, plan })))).toEqual({
    domain: 'example.com',
    complete: false,
    shortfalls: ['the time was over'],
    names: 10,
    queries: 12,
    seconds: 1.5,
    records: [
      { name: '@', type: 'MX', ttl: 3600, destination: 'mail.example.net', mx_priority: 10 },
      { name: 'www', type: 'A', ttl: 60, destination: '192.0.2.1', cdn: 'Example CDN' },
      { name: '@', type: 'TXT', ttl: 300, destination: 'beep \x1b[31m' },
    ],
    wildcards: ['@'],
    left_out: [{ name: '@', type: 'DNSKEY', reason: 'of DNSSEC' }],
  });
});

test('prints the result of an import, or why nothing was imported', () => {
  const failed = [{ name: www.name, type: 'A', error: 'a CNAME is there' }] as const;
  const imported = { kind: 'imported', created: 2, failed, present: 1, changeId: 9 } as const;
  expect(importLines(imported, APEX)).toEqual([
    'Failed\nNAME  TYPE  WHY\nwww   A     a CNAME is there',
    'created 2 failed 1 skipped 1 change 9',
  ]);
  expect(importJson(imported, APEX)).toEqual({
    outcome: 'imported',
    created: 2,
    failed: [{ name: 'www', type: 'A', error: 'a CNAME is there' }],
    skipped: 1,
    change_id: 9,
  });
  const refused = { kind: 'refused', code: 'plan_limit', message: 'too many' } as const;
  expect(importLines(refused, APEX)).toEqual(['nothing imported: too many']);
  expect(importJson(refused, APEX)).toEqual({ outcome: 'refused', code: 'plan_limit', message: 'too many' });
});
