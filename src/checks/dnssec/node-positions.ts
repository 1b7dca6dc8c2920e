// Which version of a zone the nodes serve. A node that is cut off from us answers on with what it has, so it blocks steps until
// it is back, gone for good, or silent for longer than any of its signatures lives.

import type { MachineRules } from './rules.ts';

export interface NodePosition {
  readonly id: string;
  /** The newest version of the zone that it serves; null: none of this database, or its image has no room for it. */
  readonly version: number | null;
  /** When it was last heard, in milliseconds since 1970. */
  readonly heardAt: number;
  /** It signed off, or the operator said that it is gone for good. */
  readonly isGone: boolean;
}

/** Whether all nodes have `version`; false where there is none. */
export function isAtEveryNode(
  nodes: readonly NodePosition[],
  version: number,
  at: number,
  rules: Pick<MachineRules, 'silentNodeMs'>,
): boolean {
  const counting = countingNodes(nodes, at, rules);
  return counting.length > 0 && counting.every((node) => node.version !== null && node.version >= version);
}

function countingNodes(
  nodes: readonly NodePosition[],
  at: number,
  { silentNodeMs }: Pick<MachineRules, 'silentNodeMs'>,
): readonly NodePosition[] {
  return nodes.filter(({ isGone, heardAt }) => !isGone && at - heardAt < silentNodeMs);
}
