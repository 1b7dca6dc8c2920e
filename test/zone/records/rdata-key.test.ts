import { expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { rdataKey, targetOf } from '../../../src/zone/records/rdata-key.ts';
import { newRecord } from '../../support/zone/customer-records.ts';

const keyOf = (line: string) => {
  const { type, rdata } = newRecord(`a ${line}`);
  return rdataKey(type, rdata);
};

it.each([
  ['CNAME WWW.example.net', 'CNAME www.Example.net', true],
  ['ANAME WWW.example.net', 'ANAME www.Example.net', true],
  ['NS NS.example.net', 'NS ns.example.net', true],
  ['PTR A.example.net', 'PTR a.example.net', true],
  ['MX 10 MX.example.net', 'MX 10 mx.example.net', true],
  ['MX 10 mx.example.net', 'MX 11 mx.example.net', false],
  ['SRV 0 5 5060 SIP.example.net', 'SRV 0 5 5060 sip.example.net', true],
  ['NAPTR 1 1 "u" "E2U+sip" "" A.example.net.', 'NAPTR 1 1 "u" "E2U+sip" "" a.example.net.', true],
  ['NAPTR 1 1 "u" "E2U+SIP" "" a.example.net.', 'NAPTR 1 1 "u" "E2U+sip" "" a.example.net.', false],
  ['TXT Hello', 'TXT hello', false],
  ['CAA 0 issue "a.example"', 'CAA 0 issue "A.example"', false],
])('%s and %s are the same record: %s', (a, b, same) => {
  expect(keyOf(a) === keyOf(b)).toBe(same);
});

it('a target is folded, and addresses have none', () => {
  const target = (line: string) => {
    const { type, rdata } = newRecord(`a ${line}`);
    return targetOf(type, rdata);
  };
  expect(target('ANAME WEB.example.net')).toBe(parseName('web.example.net.'));
  expect(target('MX 0 MX.example.net')).toBe(parseName('mx.example.net.'));
  expect(target('A 192.0.2.1')).toBeUndefined();
});
