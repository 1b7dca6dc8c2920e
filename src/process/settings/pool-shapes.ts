// Formats of the nameserver pool settings: lists of names, and the addresses of each list.

import * as z from 'zod/mini';
import { canonicalAddress, findSharedNetwork } from '../../zone/pool/address-lists.ts';
import { expandPattern, MAX_LIST_NAMES } from '../../zone/pool/name-pattern.ts';
import { readHostName } from './address-shapes.ts';
import type { Shape } from './shapes.ts';

const LEAST_LISTS = 2;
const MOST_LISTS = 4;
const MOST_ADDRESSES = 16;

/** Patterns of absolute names. Lists are separated by commas, and their items by `+`. */
export const nameserverPool: Shape<string[][]> = reading((text, fault) => {
  const lists = text.split(',').map((list) => list.split('+').map((item) => item.trim().toLowerCase()));
  const patterns = lists.map((items) => items.map((item) => (item.endsWith('.') ? item : `${item}.`)));
  const names = patterns.map((items) => items.map(expandNames));
  const wrong = findItem(names, (expanded) => expanded === undefined);
  if (wrong !== undefined) {
    const item = lists[wrong.list]?.[wrong.item];
    return fault(
      `lists like ns[01-40].example.net or a.example.net+ns[1-9].example.net (list ${wrong.list + 1} has "${item}")`,
    );
  }
  if (lists.length < LEAST_LISTS || lists.length > MOST_LISTS) {
    return fault(`${LEAST_LISTS} to ${MOST_LISTS} lists separated by commas (there are ${lists.length})`);
  }
  const flat = names.map((items) => items.flat() as string[]);
  const long = flat.findIndex((list) => list.length > MAX_LIST_NAMES);
  if (long !== -1)
    return fault(`at most ${MAX_LIST_NAMES} names in a list (list ${long + 1} has ${flat[long]?.length})`);
  const twice = findTwice(flat);
  if (twice !== undefined) {
    const { value, a, b } = twice;
    const where = a === b ? `twice in list ${a}` : `in lists ${a} and ${b}`;
    return fault(`each name only once in all lists (${value.slice(0, -1)} is ${where})`);
  }
  return patterns;
});

/** Addresses. Lists are separated by `;`, and their items by commas. */
export const nameserverAddresses: Shape<string[][]> = reading((text, fault) => {
  const texts = text.split(';').map((list) => list.split(',').map((item) => item.trim()));
  const lists = texts.map((list) => list.map(canonicalAddress));
  const wrong = findItem(lists, (address) => address === undefined);
  if (wrong !== undefined) {
    const item = texts[wrong.list]?.[wrong.item];
    return fault(`lists of IPv4 and IPv6 addresses separated by ; (list ${wrong.list + 1} has "${item}")`);
  }
  const addresses = lists as string[][];
  const long = addresses.findIndex((list) => list.length > MOST_ADDRESSES);
  if (long !== -1)
    return fault(
      `at most ${MOST_ADDRESSES} addresses in a list (list ${long + 1} has ${addresses[long]?.length})`,
    );
  for (const [i, list] of addresses.entries()) {
    const twice = findTwice([list]);
    if (twice !== undefined)
      return fault(`each address only once in a list (${twice.value} is twice in list ${i + 1})`);
  }
  const shared = findSharedNetwork(addresses);
  if (shared !== undefined) {
    const { network, a, b } = shared;
    return fault(`lists that share no /24 and no /48, but ${network} is in lists ${a} and ${b}`);
  }
  return addresses;
});

/** Returns the position of the first invalid item. */
function findItem<T>(
  lists: readonly (readonly T[])[],
  isWrong: (item: T) => boolean,
): { readonly list: number; readonly item: number } | undefined {
  for (const [list, items] of lists.entries()) {
    const item = items.findIndex(isWrong);
    if (item !== -1) return { list, item };
  }
  return undefined;
}

/** Returns the first duplicate value and its lists. `a` and `b` count from 1. */
function findTwice(
  lists: readonly (readonly string[])[],
): { readonly value: string; readonly a: number; readonly b: number } | undefined {
  const seen = new Map<string, number>();
  for (const [i, list] of lists.entries()) {
    for (const value of list) {
      const a = seen.get(value);
      if (a !== undefined) return { value, a, b: i + 1 };
      seen.set(value, i + 1);
    }
  }
  return undefined;
}

function expandNames(pattern: string): string[] | undefined {
  const names = expandPattern(pattern);
  return names?.every((name) => readHostName(name) !== undefined) ? names : undefined;
}

/** `fault` takes a description of the expected value. */
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
