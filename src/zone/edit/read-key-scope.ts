// Reads the names and types to which a new API key is restricted, as users write them. A key that could not write
// anything is refused.

import { isWithin, type Name } from '../../dns/name.ts';
import { parseDomainName } from '../domain/domain-name.ts';
import { printWithoutDot, readFullName } from '../name-text.ts';
import { readApiType } from '../records/customer-types.ts';

type ScopeField = 'domains' | 'names' | 'types';
type Lists = { readonly [F in ScopeField]?: readonly string[] | undefined };

/** Names as stored with keys: lower-case A-labels without the final dot. Null means unrestricted. */
export type KeyScope = { readonly [F in ScopeField]: string[] | null };

type ReadScope =
  | { readonly kind: 'scope'; readonly scope: KeyScope }
  /** `index`: the invalid item of the list. */
  | {
      readonly kind: 'problem';
      readonly field: ScopeField;
      readonly index: number;
      readonly message: string;
    };

export function readKeyScope({ domains, names, types }: Lists): ReadScope {
  const read: Record<ScopeField, string[] | null> = { domains: null, names: null, types: null };
  const readers = [
    ['domains', domains, readDomain],
    ['names', names, (text: string) => readNameWithin(text, read.domains)],
    ['types', types, readType],
  ] as const;
  for (const [field, items, reader] of readers) {
    if (items === undefined) continue;
    const found: string[] = [];
    for (const [index, item] of items.entries()) {
      const one = reader(item);
      if ('message' in one) return { kind: 'problem', field, index, message: one.message };
      found.push(one.text);
    }
    read[field] = [...new Set(found)];
  }
  return { kind: 'scope', scope: read };
}

type ReadItem = { readonly text: string } | { readonly message: string };

function readDomain(text: string): ReadItem {
  const parsed = parseDomainName(text);
  return parsed.kind === 'problem' ? parsed : { text: printWithoutDot(parsed.name) };
}

function readNameWithin(text: string, domains: readonly string[] | null): ReadItem {
  const read = readFullName(text);
  if (read.kind === 'problem') return read;
  const { name } = read;
  const isInside = domains === null || domains.some((domain) => isWithin(name, nameOf(domain)));
  return isInside
    ? { text: printWithoutDot(name) }
    : { message: `${printWithoutDot(name)} is not in any of the domains` };
}

/** Returns the name of a domain that was validated before. */
function nameOf(domain: string): Name {
  const parsed = parseDomainName(domain);
  if (parsed.kind === 'problem') throw new Error(parsed.message);
  return parsed.name;
}

function readType(text: string): ReadItem {
  const read = readApiType(text);
  return read.kind === 'type' ? { text: read.type } : read;
}
