// Tracks which version of a zone each node serves. A disconnected node continues to answer with its data, so it blocks
// steps until it returns, is removed permanently, or has been silent for longer than the lifetime of its signatures.

import type { MachineRules } from './rules.ts';

export interface NodePosition {
  readonly id: string;
  /**
   * Newest version of the zone that it serves. Null if it serves none of this database, or its image has no room for the
   * zone.
   */
  readonly version: number | null;
  /** When the node last reported, in milliseconds since 1970. */
  readonly heardAt: number;
  /** True if it signed off, or if the operator removed it permanently. */
  readonly isGone: boolean;
}

/** True if all nodes have `version`. False if there are no nodes. */
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
