import { expect, it } from 'vitest';
import { typeCode } from '../../../src/dns/type-codes.ts';
import {
  API_TYPES,
  isAddressLike,
  isApiType,
  wireTypeCode,
} from '../../../src/zone/records/customer-types.ts';

it('the customer’s types are the thirteen of the reference and four more', () => {
  const reference = 'A AAAA CNAME ANAME NS TXT MX SRV PTR CAA TLSA SSHFP URI'.split(' ');
  expect([...API_TYPES].sort()).toEqual([...reference, 'HTTPS', 'SVCB', 'DS', 'NAPTR'].sort());
  expect(['A', 'a', 'SOA', 'DNAME', ''].map(isApiType)).toEqual([true, false, false, false, false]);
});

it('all but ANAME are wire types', () => {
  for (const type of API_TYPES) if (type !== 'ANAME') expect(wireTypeCode(type)).toBe(typeCode(type));
});

it('four types may be proxied', () => {
  expect(API_TYPES.filter(isAddressLike)).toEqual(['A', 'AAAA', 'CNAME', 'ANAME']);
});
