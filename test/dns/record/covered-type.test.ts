import { expect, it } from 'vitest';
import { coveredType } from '../../../src/dns/record/covered-type.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

it('is the first field of the rdata (RFC 4034 §3.1.1)', () => {
  const covered = (type: string) =>
    recordsOf(`a. 60 RRSIG ${type} 13 1 60 20300101000000 20200101000000 1 b. AAAA`)[0]?.rdata ??
    new Uint8Array();
  expect(coveredType(covered('DNSKEY'))).toBe(TYPE.DNSKEY);
  expect(coveredType(covered('TYPE65280'))).toBe(65_280);
});
