// Decides which edges each region publishes: those that are live, and never nobody. Silence of more than half of them is taken
// for a fault of whoever listens, so nobody leaves for it.

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

export interface EdgeSetsPlan {
  readonly members: Members;
  /** The breaker holds: so many of the edges that are published would leave because they are silent. */
  readonly held: { readonly silent: number; readonly published: number } | undefined;
  /** Regions that publish edges which are not live, since no other is left. */
  readonly stale: readonly string[];
}

/** A report comes every 10 s. */
const SILENT_MS = 60_000;

export function planEdgeSets(edges: readonly RegisteredEdge[], before: Members, nowMs: number): EdgeSetsPlan {
  const published = edges.filter(({ name, region }) => before[region]?.includes(name));
  const isHeard = ({ seenAtMs }: RegisteredEdge) => seenAtMs !== undefined && nowMs - seenAtMs < SILENT_MS;
  // draining is somebody's decision, which no fault makes: it neither trips the breaker nor is held by it
  const serving = published.filter(({ isDrained }) => !isDrained);
  const silent = serving.filter((edge) => !isHeard(edge));
  const isHeld = silent.length * 2 > serving.length;
  const members: Record<string, readonly string[]> = {};
  const stale: string[] = [];
  for (const region of [...new Set(edges.map((edge) => edge.region))].sort()) {
    const here = edges.filter((edge) => edge.region === region);
    const last = here.filter(({ name }) => before[region]?.includes(name));
    const live = here.filter((edge) => !edge.isDrained && (isHeard(edge) || (isHeld && last.includes(edge))));
    const next = live.length > 0 ? live : last;
    if (next.length === 0) continue;
    if (live.length === 0) stale.push(region);
    members[region] = next.map(({ name }) => name).sort();
  }
  const held = isHeld ? { silent: silent.length, published: serving.length } : undefined;
  return { members, held, stale };
}
