import { expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { buffersOf, packOwners, unpackOwners } from '../../../src/store/keys/signing-job.ts';

it('packed rows are transferred to another thread without a copy, and are equal there', () => {
  const record = (name: string, ...rdata: number[]) => ({
    owner: parseName(name),
    type: TYPE.TXT,
    ttl: 300,
    rdata: Uint8Array.from(rdata),
  });
  const rows = [
    { owner: parseName('a.example.'), records: [record('a.example.', 1, 65), record('a.example.', 1, 66)] },
    { owner: parseName('b.example.'), types: [TYPE.A], records: [] },
    { owner: parseName('c.example.'), records: [record('c.example.', 0)] },
  ];
  const packed = packOwners(rows);
  expect(unpackOwners(structuredClone(packed, { transfer: buffersOf(packed.records) }))).toEqual(rows);
  expect(packed.records.octets).toHaveLength(0); // transferred
});
