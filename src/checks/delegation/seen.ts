// Summary of what a check saw at the parent, regardless of the observer and of whose sets are compared.

import type { Name } from '../../dns/name.ts';

export const SEEN_KINDS = [
  'delegated',
  'not_delegated',
  'unregistered',
  'alias',
  /** No reliable result. */
  'nothing',
  /** Observers that count as one had different results. */
  'split',
] as const;

export interface Seen {
  readonly kind: (typeof SEEN_KINDS)[number];
  /** For `delegated`. */
  readonly ns: readonly Name[];
}

/** Result of one group of observers that counts as one (docs/rules.md "Vantage points"). */
export interface VoiceView extends Seen {
  /** The operator's labels for its networks. */
  readonly label: string;
  /** `agrees` if it saw the state that would have changed the status. */
  readonly word: 'agrees' | 'differs' | 'silent';
}
