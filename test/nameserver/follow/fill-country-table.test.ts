import { beforeAll, expect, it } from 'vitest';
import { fillCountryTable } from '../../../src/nameserver/follow/fill-country-table.ts';
import { openCountryDb } from '../../../src/process/country-db.ts';
import {
  COUNTRY_TABLE_BYTES,
  CountryTable,
  countryNumber,
} from '../../../src/zone/image/find/country-table.ts';
import type { CountryOf } from '../../../src/zone/records/country.ts';
import { randomFrom } from '../../support/random/random-zones.ts';

const table = new CountryTable(new SharedArrayBuffer(COUNTRY_TABLE_BYTES));
let countryOf: CountryOf;

beforeAll(async () => {
  countryOf = (await openCountryDb('shipped')) as CountryOf;
  expect(table.isReady).toBe(false);
  expect(fillCountryTable(table)).toBe(true);
  expect(table.isReady).toBe(true);
});

const random = randomFrom(1);
const randomWord = () => Math.floor((random() - 0.5) * 2 ** 32);
const numberOf = (address: string) => countryNumber(countryOf(address) ?? '');

it('has the country that the database has, for any IPv4 address', () => {
  const wrong = [0, -1, ...Array.from({ length: 3000 }, randomWord)].filter((address) => {
    table.find4(address);
    return table.country !== numberOf([24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.'));
  });
  expect(wrong).toEqual([]);
});

it('has the country that the database has, for any IPv6 address in use', () => {
  const wrong = Array.from({ length: 3000 }, () => {
    const [high, low] = [0x20000000 | (randomWord() >>> 3), randomWord()];
    const groups = [high >>> 16, high & 0xffff, low >>> 16, low & 0xffff];
    table.find6(high, low);
    const address = `${groups.map((group) => group.toString(16)).join(':')}::`;
    return table.country === numberOf(address) ? undefined : address;
  });
  expect(wrong.filter((address) => address !== undefined)).toEqual([]);
});

it('has a prefix in which every address has the same country', () => {
  for (let i = 0; i < 1000; i++) {
    const address = randomWord();
    table.find4(address);
    const { country, bits } = table;
    const mask = bits === 0 ? 0 : -1 << (32 - bits);
    for (const end of [address & mask, address | ~mask]) {
      table.find4(end);
      if (table.country !== country || table.bits !== bits) expect.unreachable(`${address}`);
    }
  }
});
