// Creates the NSEC or NSEC3 records of a zone for tests.

import { nsec3Hash } from '../../../src/dns/dnssec/nsec3-hash.ts';
import { compareNames, isWithin, type Name, parentOf, prependLabel } from '../../../src/dns/name.ts';
import { printBase32Hex } from '../../../src/dns/record/base-encodings.ts';
import { NSEC, NSEC3 } from '../../../src/dns/record/types/dnssec.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';

export type DenialStyle =
  | { readonly kind: 'nsec' }
  | {
      readonly kind: 'nsec3';
      readonly iterations: number;
      readonly salt: Uint8Array;
      readonly optOut: boolean;
    };

interface DenialRecord {
  readonly owner: Name;
  readonly type: number;
  readonly rdata: Uint8Array;
}

/** @param sets the types at each name that has records or a mark */
export function denialRecords(
  apex: Name,
  sets: ReadonlyMap<Name, ReadonlyMap<number, unknown>>,
  style: DenialStyle,
): DenialRecord[] {
  const isCut = (at: Name) => at !== apex && sets.get(at)?.has(TYPE.NS) === true;
  const kept = new Map<Name, number[]>();
  for (const [at, types] of sets) {
    if (!isWithin(at, apex) || namesAbove(at, apex).some(isCut)) continue;
    if (style.kind === 'nsec3' && style.optOut && isCut(at) && !types.has(TYPE.DS)) continue;
    const shown = [...types.keys()].filter((type) => !isCut(at) || type === TYPE.NS || type === TYPE.DS);
    // A marked name has no sets: its NSEC is signed, and its NSEC3 lists nothing.
    const isSigned = style.kind === 'nsec' || (isCut(at) ? types.has(TYPE.DS) : types.size > 0);
    if (isSigned) shown.push(TYPE.RRSIG);
    if (style.kind === 'nsec') shown.push(TYPE.NSEC);
    kept.set(at, shown);
  }
  if (style.kind === 'nsec3') {
    for (const at of [...kept.keys()])
      for (const above of namesAbove(at, apex)) if (!kept.has(above)) kept.set(above, []);
  }
  const links = [...kept].map(([at, shown]) => {
    const types = shown.sort((a, b) => a - b);
    if (style.kind === 'nsec') return { owner: at, hash: new Uint8Array(), types };
    const hash = nsec3Hash(at, style.salt, style.iterations);
    return { owner: prependLabel(printBase32Hex(hash).toLowerCase(), apex) as Name, hash, types };
  });
  links.sort((a, b) => compareNames(a.owner, b.owner));
  return links.map(({ owner, types }, i) => {
    const next = links[(i + 1) % links.length] as (typeof links)[number];
    if (style.kind === 'nsec')
      return { owner, type: TYPE.NSEC, rdata: Uint8Array.from(NSEC.encode({ nextName: next.owner, types })) };
    const { iterations, salt, optOut } = style;
    const hashed = { hashAlgorithm: 1, flags: optOut ? 1 : 0, iterations, salt, nextHashedName: next.hash };
    return { owner, type: TYPE.NSEC3, rdata: Uint8Array.from(NSEC3.encode({ ...hashed, types })) };
  });
}

export function namesAbove(name: Name, apex: Name): Name[] {
  const above: Name[] = [];
  for (let at = name; at !== apex; ) {
    at = parentOf(at);
    above.push(at);
  }
  return above;
}
