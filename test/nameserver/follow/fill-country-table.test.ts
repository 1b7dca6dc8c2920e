import { beforeAll, describe, expect, it } from 'vitest';
import { fillCountryTable } from '../../../src/nameserver/follow/fill-country-table.ts';
import { openCountryDb } from '../../../src/process/country-db.ts';
import {
  COUNTRY_TABLE_BYTES,
  CountryTable,
  countryNumber,
} from '../../../src/zone/image/find/country-table.ts';
import type { CountryOf } from '../../../src/zone/records/country.ts';

const table = new CountryTable(new SharedArrayBuffer(COUNTRY_TABLE_BYTES));
let countryOf: CountryOf;

beforeAll(async () => {
  countryOf = (await openCountryDb('shipped')) as CountryOf;
  expect(table.isReady).toBe(false);
  expect(fillCountryTable(table)).toBe(true);
  expect(table.isReady).toBe(true);
});

/** The same numbers in every run. */
function* randomWords(): Generator<number> {
  for (let state = 1; ; ) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    yield state ^ (state >>> 13);
  }
}

describe('the table of countries', () => {
  it('gives what the database gives for any IPv4 address', () => {
    const words = randomWords();
    for (let i = 0; i < 3000; i++) {
      const address = i === 0 ? 0 : i === 1 ? -1 : (words.next().value as number);
      const text = [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.');
      table.find4(address);
      expect(table.country, text).toBe(countryNumber(countryOf(text) ?? ''));
    }
  });

  it('gives what the database gives for any IPv6 address in use', () => {
    const words = randomWords();
    for (let i = 0; i < 3000; i++) {
      const high = 0x20000000 | ((words.next().value as number) >>> 3);
      const low = words.next().value as number;
      const groups = [high >>> 16, high & 0xffff, low >>> 16, low & 0xffff].map((group) =>
        group.toString(16),
      );
      table.find6(high, low);
      expect(table.country, groups.join(':')).toBe(countryNumber(countryOf(`${groups.join(':')}::`) ?? ''));
    }
  });

  it('tells a prefix in which every address has that country', () => {
    const words = randomWords();
    for (let i = 0; i < 1000; i++) {
      const address = words.next().value as number;
      table.find4(address);
      const { country, bits } = table;
      const mask = bits === 0 ? 0 : -1 << (32 - bits);
      for (const end of [address & mask, address | ~mask]) {
        table.find4(end);
        expect([table.country, table.bits]).toEqual([country, bits]);
      }
    }
  });
});
