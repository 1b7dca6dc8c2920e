// Decides which edges each region publishes: those that are live, and never nobody. When more than half of them fall silent, it is
// taken for a fault of whoever listens: nobody leaves for it, nor while they return.

/** An edge node as it is registered. Revoked ones are none. */
export interface RegisteredEdge {
  readonly name: string;
  readonly region: string;
  readonly v4: readonly string[];
  readonly v6: readonly string[];
  readonly isDrained: boolean;
  /** When it was last heard, in milliseconds; undefined: never. */
  readonly seenAtMs: number | undefined;
}

/** The names of the edges that each region published last. */
export type Members = Readonly<Record<string, readonly string[]>>;

/** What was decided last. */
export interface DecidedBefore {
  readonly members: Members;
  readonly held?: EdgeSetsPlan['held'] | null;
}

export interface EdgeSetsPlan {
  readonly members: Members;
  /** The breaker holds: so many of the edges that are published are silent; `atMs`: when more than half were late the last time. */
  readonly held: { readonly silent: number; readonly published: number; readonly atMs: number } | undefined;
  /** Regions that publish edges which are not live, since no other is left. */
  readonly stale: readonly string[];
}

/** A report comes every 10 s. Who was not heard for so long is published no more. */
export const SILENT_MS = 60_000;
/** When all reports cease at once, all edges are late before the first is silent, though each reports at another moment. */
const LATE_MS = 30_000;
/** After such a time edges return one by one, each with a pause of its own. */
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
  // draining is somebody's decision, which no fault makes: it neither trips the breaker nor is held by it
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
