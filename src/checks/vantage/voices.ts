// Which observers elsewhere count as one: whoever controls one network controls all that stand in it (docs/rules.md "Vantage
// points").

import { prefixOf } from '../child/network-prefix.ts';
import type { AsnOf } from '../child/observation.ts';

export interface Vantage {
  readonly name: string;
  /** The operator's label. */
  readonly network: string;
  /** Undefined: not known. */
  readonly address: string | undefined;
}

/** What the operator has set up. */
interface SetUp {
  readonly name: string;
  readonly network: string;
  readonly address: string | null;
  /** When it last asked for jobs; null: never. */
  readonly seenAt: Date | null;
}

/**
 * A vantage comes into force with its first request: one that is only set up stops nothing. Being away later does not end
 * that: else whoever knocks observers out would end the asking.
 */
export function inForce(vantages: readonly SetUp[]): Vantage[] {
  return vantages
    .filter(({ seenAt }) => seenAt !== null)
    .map(({ name, network, address }) => ({ name, network, address: address ?? undefined }));
}

/** Vantages of one label, in one /24 or /48, or in one autonomous system. */
export interface Voice {
  /** Its labels. */
  readonly label: string;
  readonly vantages: readonly string[];
}

/** In the order of their labels. */
export function voicesOf(vantages: readonly Vantage[], asnOf?: AsnOf): readonly Voice[] {
  let groups: { readonly marks: ReadonlySet<string>; readonly members: readonly Vantage[] }[] = [];
  for (const vantage of vantages) {
    const marks = marksOf(vantage, asnOf);
    const same = groups.filter((group) => marks.some((mark) => group.marks.has(mark)));
    groups = [
      ...groups.filter((group) => !same.includes(group)),
      {
        marks: new Set([...marks, ...same.flatMap((group) => [...group.marks])]),
        members: [...same.flatMap(({ members }) => members), vantage],
      },
    ];
  }
  return groups
    .map(({ members }) => ({
      label: [...new Set(members.map(({ network }) => network))].sort().join('+'),
      vantages: members.map(({ name }) => name).sort(),
    }))
    .sort((a, b) => (a.label < b.label ? -1 : 1));
}

/**
 * Whether changes need their word: vantages of two networks at least are in force. That they turn out to be one voice does not
 * end it: else whoever can make one observer seem to be beside another could.
 */
export function areAsked(vantages: readonly Vantage[]): boolean {
  return new Set(vantages.map(({ network }) => network)).size >= 2;
}

function marksOf({ network, address }: Vantage, asnOf: AsnOf | undefined): string[] {
  const asn = address === undefined ? undefined : asnOf?.(address);
  return [
    `label ${network}`,
    ...(address === undefined ? [] : [`prefix ${prefixOf(address)}`]),
    ...(asn === undefined ? [] : [`AS ${asn}`]),
  ];
}
