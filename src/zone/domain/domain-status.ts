// The statuses of a domain and the transitions that people make (docs/rules.md "Statuses"). The checker's transitions
// are events of the same table. `suspended` is a separate flag and changes nothing in DNS.
//
//     managed    pending ⇄ active ⇄ moved ─┐
//     external   unverified → active ──────┴→ disabled → pending | unverified        any ⇄ banned

export const DOMAIN_STATUSES = ['pending', 'unverified', 'active', 'moved', 'disabled', 'banned'] as const;
export type DomainStatus = (typeof DOMAIN_STATUSES)[number];

export const DNS_MODES = ['managed', 'external'] as const;
export type DnsMode = (typeof DNS_MODES)[number];

export interface DomainState {
  readonly status: DomainStatus;
  readonly dnsMode: DnsMode;
}

/** enable, use_managed, use_external: any user with domain.settings. disable, ban, unban: the operator. */
export type StatusEvent = 'enable' | 'disable' | 'ban' | 'unban' | 'use_managed' | 'use_external';

export type RefusalCode = 'wrong_state' | 'domain_disabled' | 'domain_banned';

type Move =
  | { readonly kind: 'move'; readonly to: DomainState }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly message: string };

/** `start`: pending or unverified, depending on the mode. */
type Cell = 'start' | 'disabled' | 'banned' | Extract<Move, { kind: 'refused' }>;

const refuse = (code: RefusalCode, message: string): Cell => ({ kind: 'refused', code, message });
const NOT_DISABLED = refuse('wrong_state', 'the domain is not disabled');
const ALREADY_DISABLED = refuse('wrong_state', 'the domain is already disabled');
const ALREADY_BANNED = refuse('wrong_state', 'the domain is already banned');
const NOT_BANNED = refuse('wrong_state', 'the domain is not banned');
const DISABLED = refuse('domain_disabled', 'the domain is disabled; enable it first');
const BANNED = refuse('domain_banned', 'the domain is banned');

// biome-ignore format: a table
const MOVES: Readonly<Record<StatusEvent, Readonly<Record<DomainStatus, Cell>>>> = {
  enable:       { pending: NOT_DISABLED, unverified: NOT_DISABLED, active: NOT_DISABLED, moved: NOT_DISABLED, disabled: 'start',          banned: BANNED },
  disable:      { pending: 'disabled',   unverified: 'disabled',   active: 'disabled',   moved: 'disabled',   disabled: ALREADY_DISABLED, banned: 'disabled' },
  ban:          { pending: 'banned',     unverified: 'banned',     active: 'banned',     moved: 'banned',     disabled: 'banned',         banned: ALREADY_BANNED },
  unban:        { pending: NOT_BANNED,   unverified: NOT_BANNED,   active: NOT_BANNED,   moved: NOT_BANNED,   disabled: NOT_BANNED,       banned: 'start' },
  // only for a domain in the other mode
  use_managed:  { pending: 'start',      unverified: 'start',      active: 'start',      moved: 'start',      disabled: DISABLED,         banned: BANNED },
  use_external: { pending: 'start',      unverified: 'start',      active: 'start',      moved: 'start',      disabled: DISABLED,         banned: BANNED },
};

/** Returns the state after an event. Saving it is a compare-and-set on `state`. */
export function nextState(state: DomainState, event: StatusEvent): Move {
  const dnsMode = event === 'use_managed' ? 'managed' : event === 'use_external' ? 'external' : state.dnsMode;
  const cell = MOVES[event][state.status];
  if (typeof cell === 'object') return cell;
  const changesMode = event === 'use_managed' || event === 'use_external';
  if (changesMode && dnsMode === state.dnsMode) return { kind: 'unchanged' };
  return { kind: 'move', to: { status: cell === 'start' ? startStatus(dnsMode) : cell, dnsMode } };
}

/** Returns the status of a new or re-enabled domain. */
export function startStatus(dnsMode: DnsMode): DomainStatus {
  return dnsMode === 'managed' ? 'pending' : 'unverified';
}

/** `apex`: only the SOA and NS records of the apex, which registries query before they delegate. */
export const SERVED = ['full', 'apex', 'none'] as const;
export type Served = (typeof SERVED)[number];
