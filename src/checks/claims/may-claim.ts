// Decides whether an account may claim a name that other accounts hold or wait for (docs/rules.md "Claims"). A waiting claim
// excludes no other.

/** Maximum number of domains that may wait for one name. */
const MOST_CLAIMS = 32;
/** How long a claim keeps its slot. */
const PLACE_MS = 86_400_000;

/** Another domain with the same name. */
export interface Rival {
  readonly id: number;
  readonly accountId: number;
  readonly stage: 'waiting' | 'held' | 'off';
  /** True if an operator banned the domain while it held the name, so the ban applies to the name. */
  readonly isNameBanned: boolean;
  /** In milliseconds since 1970. */
  readonly claimedAt: number;
  /** True if the newest conclusive check showed a name of its sets. */
  readonly isShown: boolean;
}

type MayClaim =
  /** `displaced`: the claim that loses its slot to this one. */
  | { readonly kind: 'yes'; readonly displaced: number | undefined }
  | { readonly kind: 'own' }
  | { readonly kind: 'banned' }
  | { readonly kind: 'held' }
  /** No slot becomes free before this many seconds. */
  | { readonly kind: 'full'; readonly retryAfterSeconds: number };

/** `transfer`: the claim may wait for a held name. `needsPlace`: false for an operator's claim. */
export function mayClaim(
  rivals: readonly Rival[],
  {
    accountId,
    transfer,
    needsPlace,
    at,
  }: {
    readonly accountId: number;
    readonly transfer: boolean;
    readonly needsPlace: boolean;
    readonly at: number;
  },
): MayClaim {
  if (rivals.some((rival) => rival.accountId === accountId)) return { kind: 'own' };
  if (rivals.some(({ isNameBanned }) => isNameBanned)) return { kind: 'banned' };
  if (!transfer && rivals.some(({ stage }) => stage === 'held')) return { kind: 'held' };
  const waiting = rivals
    .filter(({ stage }) => stage === 'waiting')
    .sort((a, b) => a.claimedAt - b.claimedAt || a.id - b.id);
  if (!needsPlace || waiting.length < MOST_CLAIMS) return { kind: 'yes', displaced: undefined };
  const replaceable = waiting.filter(({ isShown }) => !isShown);
  const oldest = replaceable[0] ?? waiting[0];
  if (oldest === undefined) return { kind: 'yes', displaced: undefined };
  if (!oldest.isShown && at - oldest.claimedAt > PLACE_MS) return { kind: 'yes', displaced: oldest.id };
  return {
    kind: 'full',
    retryAfterSeconds: Math.max(1, Math.ceil((oldest.claimedAt + PLACE_MS - at) / 1000)),
  };
}
