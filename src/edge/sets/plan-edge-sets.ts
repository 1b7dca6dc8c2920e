// Decides which edges each region publishes: the live ones, but never an empty list. If more than half of them fall silent,
// the cause is assumed to be the receiver: no edge is removed then, nor while they return.

/** A registered edge node. Revoked ones are not included. */
export interface RegisteredEdge {
  readonly name: string;
  readonly region: string;
  readonly v4: readonly string[];
  readonly v6: readonly string[];
  readonly isDrained: boolean;
  /** When it last reported, in milliseconds. Undefined if never. */
  readonly seenAtMs: number | undefined;
}

/** Names of the edges that each region published last. */
export type Members = Readonly<Record<string, readonly string[]>>;

/** The previous decision. */
export interface DecidedBefore {
  readonly members: Members;
  readonly held?: EdgeSetsPlan['held'] | null;
}

export interface EdgeSetsPlan {
  readonly members: Members;
  /** The breaker holds: this many of the published edges are silent. `atMs`: when more than half were last late. */
  readonly held: { readonly silent: number; readonly published: number; readonly atMs: number } | undefined;
  /** Regions that publish edges that are not live, because no other is left. */
  readonly stale: readonly string[];
}

/** Edges report every 10 s. An edge that has been silent for this long is no longer published. */
export const SILENT_MS = 60_000;
/** If all reports stop at once, all edges are late before the first is silent, although they report at different times. */
const LATE_MS = 30_000;
/** After an outage, edges return one by one with different delays. */
const RETURN_MS = 60_000;

export function planEdgeSets(
  edges: readonly RegisteredEdge[],
  before: DecidedBefore,
  nowMs: number,
): EdgeSetsPlan {
  const wasPublished = ({ name, region }: RegisteredEdge) =>
    Object.hasOwn(before.members, region) && before.members[region]?.includes(name) === true;
  const isQuiet = ({ seenAtMs }: RegisteredEdge, ms: number) =>
    seenAtMs === undefined || nowMs - seenAtMs >= ms;
  // draining is an operator's decision, not a fault: it neither trips the breaker nor is held by it
  const serving = edges.filter((edge) => wasPublished(edge) && !edge.isDrained);
  const silent = serving.filter((edge) => isQuiet(edge, SILENT_MS)).length;
  const late = serving.filter((edge) => isQuiet(edge, LATE_MS)).length;
  const heldAtMs = late * 2 > serving.length ? nowMs : before.held?.atMs;
  const isHeld = silent > 0 && heldAtMs !== undefined && nowMs - heldAtMs < RETURN_MS;
  const members: Record<string, readonly string[]> = {};
  const stale: string[] = [];
  for (const region of [...new Set(edges.map((edge) => edge.region))].sort()) {
    const here = edges.filter((edge) => edge.region === region);
    const last = here.filter(wasPublished);
    const live = here.filter(
      (edge) => !edge.isDrained && (!isQuiet(edge, SILENT_MS) || (isHeld && last.includes(edge))),
    );
    const next = live.length > 0 ? live : last;
    if (next.length === 0) continue;
    if (live.length === 0) stale.push(region);
    members[region] = next.map(({ name }) => name).sort();
  }
  const held = isHeld ? { silent, published: serving.length, atMs: heldAtMs } : undefined;
  return { members, held, stale };
}
