// The NSEC or NSEC3 records of a zone for tests, and which of them prove what.

import { nsec3Hash } from '../../../src/dns/dnssec/nsec3-hash.ts';
import {
  compareNames,
  isWithin,
  labelCount,
  type Name,
  parentOf,
  prependLabel,
  wildcardBelow,
} from '../../../src/dns/name.ts';
import { printBase32Hex } from '../../../src/dns/record/base-encodings.ts';
import { NSEC } from '../../../src/dns/record/types/nsec.ts';
import { NSEC3 } from '../../../src/dns/record/types/nsec3.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';

export type DenialStyle =
  | { readonly kind: 'nsec' }
  | {
      readonly kind: 'nsec3';
      readonly iterations: number;
      readonly salt: Uint8Array;
      readonly optOut: boolean;
    };

type Sets = ReadonlyMap<Name, ReadonlyMap<number, readonly Uint8Array[]>>;

interface Link {
  readonly owner: Name;
  readonly types: number[];
}

/** Every method gives the owners of the records that prove it. */
export class DenialChain {
  readonly #apex: Name;
  readonly #style: DenialStyle;
  /** In the order of the chain, by its owner. */
  readonly #links: Link[];

  constructor(apex: Name, sets: Sets, style: DenialStyle) {
    this.#apex = apex;
    this.#style = style;
    const isCut = (at: Name) => at !== apex && sets.get(at)?.has(TYPE.NS) === true;
    const isBelowCut = (at: Name) => {
      for (let above = at; above !== apex; ) {
        above = parentOf(above);
        if (isCut(above)) return true;
      }
      return false;
    };
    const kept = new Map<Name, number[]>();
    for (const [at, types] of sets) {
      if (!isWithin(at, apex) || isBelowCut(at)) continue;
      if (style.kind === 'nsec3' && style.optOut && isCut(at) && !types.has(TYPE.DS)) continue;
      const shown = isCut(at)
        ? [...types.keys()].filter((type) => type === TYPE.NS || type === TYPE.DS)
        : [...types.keys()];
      // A marked name has no sets: its NSEC is signed, and its NSEC3 shows nothing.
      const isSigned = style.kind === 'nsec' || (isCut(at) ? types.has(TYPE.DS) : types.size > 0);
      kept.set(at, [
        ...shown,
        ...(isSigned ? [TYPE.RRSIG] : []),
        ...(style.kind === 'nsec' ? [TYPE.NSEC] : []),
      ]);
    }
    if (style.kind === 'nsec3') {
      for (const at of [...kept.keys()])
        for (let above = at; above !== apex; ) {
          above = parentOf(above);
          if (!kept.has(above)) kept.set(above, []);
        }
    }
    this.#links = [...kept].map(([at, types]) => ({
      owner: this.#ownerOf(at),
      types: types.sort((a, b) => a - b),
    }));
    this.#links.sort((a, b) => compareNames(a.owner, b.owner));
  }

  owners(): Name[] {
    return this.#links.map(({ owner }) => owner);
  }

  recordAt(owner: Name): { type: number; rdata: Uint8Array } {
    const index = this.#links.findIndex((link) => link.owner === owner);
    const { types } = this.#links[index] as Link;
    const next = (this.#links[(index + 1) % this.#links.length] as Link).owner;
    if (this.#style.kind === 'nsec')
      return { type: TYPE.NSEC, rdata: Uint8Array.from(NSEC.encode({ nextName: next, types })) };
    const { iterations, salt, optOut } = this.#style;
    const nextHashedName = this.#hashOf(next);
    const rdata = { hashAlgorithm: 1, flags: optOut ? 1 : 0, iterations, salt, nextHashedName, types };
    return { type: TYPE.NSEC3, rdata: Uint8Array.from(NSEC3.encode(rdata)) };
  }

  /** The name is there; or it is left out, and its closest encloser says so. */
  noType(at: Name): Name[] {
    if (this.#has(at)) return [this.#ownerOf(at)];
    if (this.#style.kind === 'nsec') return [this.#covering(at)];
    const encloser = this.#provable(at);
    return [this.#ownerOf(encloser), this.#covering(nextCloser(at, encloser))];
  }

  noName(at: Name, above: Name): Name[] {
    const encloser = this.#style.kind === 'nsec' ? above : this.#provable(at);
    const wildcard = this.#covering(wildcardBelow(encloser) as Name);
    if (this.#style.kind === 'nsec') return [this.#covering(at), wildcard];
    return [this.#ownerOf(encloser), this.#covering(nextCloser(at, encloser)), wildcard];
  }

  noCloser(at: Name, encloser: Name): Name[] {
    return [this.#covering(this.#style.kind === 'nsec' ? at : nextCloser(at, encloser))];
  }

  /** For NODATA of a wildcard: the name above it is there. */
  encloserOf(wildcard: Name): Name[] {
    return this.#style.kind === 'nsec' ? [] : [this.#ownerOf(parentOf(wildcard))];
  }

  #has(at: Name): boolean {
    const owner = this.#ownerOf(at);
    return this.#links.some((link) => link.owner === owner);
  }

  #provable(at: Name): Name {
    let encloser = parentOf(at);
    while (!this.#has(encloser)) encloser = parentOf(encloser);
    return encloser;
  }

  #covering(at: Name): Name {
    const owner = this.#ownerOf(at);
    const before = this.#links.findLast((link) => compareNames(link.owner, owner) < 0);
    return (before ?? (this.#links.at(-1) as Link)).owner;
  }

  #ownerOf(at: Name): Name {
    if (this.#style.kind === 'nsec') return at;
    const { salt, iterations } = this.#style;
    const label = printBase32Hex(nsec3Hash(at, salt, iterations)).toLowerCase();
    return prependLabel(label, this.#apex) as Name;
  }

  #hashOf(owner: Name): Uint8Array {
    const digits = '0123456789abcdefghijklmnopqrstuv';
    const bits = [...owner.slice(1, 33)]
      .map((digit) => digits.indexOf(digit).toString(2).padStart(5, '0'))
      .join('');
    return Uint8Array.from({ length: 20 }, (_, i) => Number.parseInt(bits.slice(8 * i, 8 * i + 8), 2));
  }
}

function nextCloser(at: Name, encloser: Name): Name {
  let closer = at;
  while (labelCount(closer) > labelCount(encloser) + 1) closer = parentOf(closer);
  return closer;
}
