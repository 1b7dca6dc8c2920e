// The forms of the settings of a nameserver pool: lists of names, and the addresses of each list.

import * as z from 'zod/mini';
import { canonicalAddress, findSharedNetwork } from '../../zone/pool/address-lists.ts';
import { expandPattern, MAX_LIST_NAMES } from '../../zone/pool/name-pattern.ts';
import { readHostName } from './address-shapes.ts';
import type { Shape } from './shapes.ts';

const LEAST_LISTS = 2;
const MOST_LISTS = 4;
const MOST_ADDRESSES = 16;

/** Patterns of absolute names, in lists: commas between the lists, `+` within. */
export const nameserverPool: Shape<string[][]> = reading((text, fault) => {
  const lists = text.split(',').map((list) => list.split('+').map((item) => item.trim().toLowerCase()));
  const patterns = lists.map((items) => items.map((item) => (item.endsWith('.') ? item : `${item}.`)));
  const names = patterns.map((items) => items.map(expandNames));
  if (!names.flat().every((item) => item !== undefined)) {
    return fault('lists like ns[01-40].example.net or a.example.net+ns[1-9].example.net');
  }
  if (lists.length < LEAST_LISTS || lists.length > MOST_LISTS) {
    return fault(`${LEAST_LISTS} to ${MOST_LISTS} lists with commas between them`);
  }
  const flat = names.map((items) => items.flat());
  if (flat.some((list) => list.length > MAX_LIST_NAMES))
    return fault(`at most ${MAX_LIST_NAMES} names in a list`);
  const all = flat.flat();
  if (new Set(all).size !== all.length) return fault('each name once in all lists');
  return patterns;
});

/** Addresses in lists: `;` between the lists, commas within. */
export const nameserverAddresses: Shape<string[][]> = reading((text, fault) => {
  const lists = text.split(';').map((list) => list.split(',').map((item) => canonicalAddress(item.trim())));
  if (!isComplete(lists)) return fault('lists of IPv4 and IPv6 addresses with ; between them');
  if (lists.some((list) => list.length > MOST_ADDRESSES))
    return fault(`at most ${MOST_ADDRESSES} addresses in a list`);
  if (lists.some((list) => new Set(list).size !== list.length)) return fault('each address once in a list');
  const shared = findSharedNetwork(lists);
  if (shared !== undefined) {
    const { network, a, b } = shared;
    return fault(`lists that share no /24 and no /48, while ${network} is in lists ${a} and ${b}`);
  }
  return lists;
});

function isComplete(lists: (string | undefined)[][]): lists is string[][] {
  return lists.flat().every((address) => address !== undefined);
}

function expandNames(pattern: string): string[] | undefined {
  const names = expandPattern(pattern);
  return names?.every((name) => readHostName(name) !== undefined) ? names : undefined;
}

/** `fault` says what is expected instead. */
function reading<T>(read: (text: string, fault: (expected: string) => undefined) => T | undefined): Shape<T> {
  const transform = z.transform((text: string, context): T => {
    const value = read(text, (message) => {
      context.issues.push({ code: 'custom', message, input: text });
      return undefined;
    });
    return value === undefined ? z.NEVER : value;
  });
  return z.pipe(z.string(), transform);
}
