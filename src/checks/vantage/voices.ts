// Groups observers that count as one: an attacker who controls a network controls all observers in it (docs/rules.md
// "Vantage points").

import { prefixOf } from '../child/network-prefix.ts';
import type { AsnOf } from '../child/observation.ts';

export interface Vantage {
  readonly name: string;
  /** The operator's label. */
  readonly network: string;
  /** Undefined if unknown. */
  readonly address: string | undefined;
}

/** A vantage point as configured by the operator. */
interface SetUp {
  readonly name: string;
  readonly network: string;
  readonly address: string | null;
  /** When it last requested jobs. Null if never. */
  readonly seenAt: Date | null;
}

/**
 * Returns the vantage points in force, which starts with their first request: one that was only set up blocks nothing. A
 * later outage does not end it, or an attacker who disables observers could end the confirmations.
 */
export function inForce(vantages: readonly SetUp[]): Vantage[] {
  return vantages
    .filter(({ seenAt }) => seenAt !== null)
    .map(({ name, network, address }) => ({ name, network, address: address ?? undefined }));
}

/** Vantage points with the same label, in the same /24 or /48, or in the same autonomous system. */
export interface Voice {
  /** Its labels, joined. */
  readonly label: string;
  readonly vantages: readonly string[];
}

/** Sorted by label. */
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
 * True if changes need confirmation: vantage points in at least two networks are in force. This still applies if they form
 * a single voice, or an attacker could end it by making one observer appear to be in another's network.
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
