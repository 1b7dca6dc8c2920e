// Sorts names in canonical order (RFC 4034 §6.1). Computes one key per name instead of comparing labels.

import { type Name, ROOT } from '../name.ts';
import { canonicalKey } from './canonical-key.ts';

export function sortNames(names: Iterable<Name>): Name[] {
  const keyed = Array.from(names, (name) => ({ name, key: canonicalKey(name, ROOT) }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : 1));
  return keyed.map(({ name }) => name);
}
