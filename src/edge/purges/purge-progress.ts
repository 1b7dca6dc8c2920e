// How far edges are with a purge.

interface AtEdge {
  /** It is heard: an edge that is silent gets no visitors, and does the purge when it is back. */
  readonly isLive: boolean;
  readonly doneAt: Date | null;
}

interface Progress {
  /** Those that have to do it: they are heard, or have done it. */
  readonly edges: number;
  readonly done: number;
  readonly finished: boolean;
}

/** `replacedBy`: the purge that edges do in its place. */
export function purgeProgress(edges: readonly AtEdge[], replacedBy: number | null): Progress {
  const counted = edges.filter(({ isLive, doneAt }) => isLive || doneAt !== null);
  const done = counted.filter(({ doneAt }) => doneAt !== null).length;
  // Edges that are all silent may serve visitors still.
  const isSilent = counted.length === 0 && edges.length > 0;
  const finished = replacedBy === null && done === counted.length && !isSilent;
  return { edges: counted.length, done, finished };
}
