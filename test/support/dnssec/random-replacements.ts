// Random exact replacements of record sets of a domain, of few names, so that cuts, wildcards and empty non-terminals come and
// go: whatever stands there, each is a change that somebody may ask for.

import type { Name } from '../../../src/dns/name.ts';
import type { Edit } from '../../../src/zone/edit/edit.ts';
import { type EditText, parseEdit } from '../../../src/zone/edit/parse-edit.ts';
import type { ApiType } from '../../../src/zone/records/customer-types.ts';
import { pick, type Random } from '../random/random-zones.ts';

const NAMES = ['@', 'a', 'b', 'x.b', 'y.x.b', '*', '*.b', 's', 'ns.s', 'c.b.a', 'q', 'z'];
const TYPES: readonly ApiType[] = ['A', 'A', 'AAAA', 'TXT', 'MX', 'NS', 'CNAME', 'DS', 'ANAME'];

type Replacement = NonNullable<EditText['replace']>[number];

export function randomReplacements(random: Random, apex: Name): Edit {
  const parsed = parseEdit(randomReplacementText(random), apex);
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
  return parsed.edit;
}

/** As in a batch. */
export function randomReplacementText(random: Random): { readonly replace: readonly Replacement[] } {
  const sets = new Map<string, Replacement>();
  for (let left = 1 + Math.floor(random() * 3); left > 0; left--) {
    const [name, type] = [pick(random, NAMES), pick(random, TYPES)];
    sets.set(`${name} ${type}`, { name, type, records: contents(random, type) });
  }
  return { replace: [...sets.values()] };
}

function contents(random: Random, type: ApiType): Replacement['records'] {
  const n = Math.floor(random() * 4);
  if (n === 0) return [];
  switch (type) {
    case 'A':
      return [{ destination: `192.0.2.${n}`, ...(random() < 0.3 && { proxied: true }) }];
    case 'AAAA':
      return [{ destination: `2001:db8::${n}` }];
    case 'TXT':
      return Array.from({ length: n }, (_, i) => ({ destination: `text ${n} ${i}` }));
    case 'MX':
      return [{ destination: `mx${n}.example.net`, mx_priority: n }];
    case 'DS':
      return [{ destination: `${n} 13 2 ${'0'.repeat(64)}` }];
    default:
      return [{ destination: `host${n}.example.net` }];
  }
}
