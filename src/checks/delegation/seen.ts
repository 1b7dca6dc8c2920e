// What a check saw at the parent, in a word: whoever made it, and whosever sets are asked about.

import type { Name } from '../../dns/name.ts';

export const SEEN_KINDS = [
  'delegated',
  'not_delegated',
  'unregistered',
  'alias',
  /** Nothing that can be relied on. */
  'nothing',
  /** Observers that count as one saw different things. */
  'split',
] as const;

export interface Seen {
  readonly kind: (typeof SEEN_KINDS)[number];
  /** For `delegated`. */
  readonly ns: readonly Name[];
}

/** What one voice saw (docs/rules.md "Vantage points"). */
export interface VoiceView extends Seen {
  /** The operator's labels of its networks. */
  readonly label: string;
  /** Whether it saw what would have changed the status here. */
  readonly word: 'agrees' | 'differs' | 'silent';
}
