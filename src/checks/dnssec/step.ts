// A step of the machine, or the reason why none is allowed.

import type { WaitCause } from './machine.ts';
import type { KeyId } from './machine-key.ts';
import type { Serving } from './serving.ts';

export type StepKind =
  | 'sign'
  /** Serves a withdrawn key again, because the parent shows its DS. */
  | 'bring_back'
  /** Adds signatures of another algorithm before its key is published (RFC 6781 §4.1.4). */
  | 'add_signatures'
  | 'publish'
  | 'change_signatures'
  | 'ask'
  | 'ask_none'
  | 'withdraw'
  | 'unsign';

export interface Step {
  readonly kind: StepKind;
  readonly serving: Serving;
  /** Keys whose DS is published after the step. */
  readonly asked: readonly KeyId[];
  /** True if later steps need not wait for earlier answers, because these do not validate with the DS at the parent. */
  readonly isNewStart?: boolean;
}

export type Next =
  | { readonly kind: 'step'; readonly step: Step }
  | {
      readonly kind: 'wait';
      readonly cause: WaitCause;
      readonly keys: readonly KeyId[];
      readonly until?: number;
    }
  /** The goal is reached. */
  | { readonly kind: 'rest' };

/** The servers that the parent lists for the domain, according to conclusive checks. */
export type Delegation =
  | {
      readonly kind: 'ours';
      /** Since when every conclusive check shows exactly our set. */
      readonly since: number;
      /** TTL of the NS set at the parent, in seconds. */
      readonly ttl: number;
      /** True if earlier checks showed no delegation since the domain was added: no resolver queries earlier servers. */
      readonly isFirst: boolean;
    }
  | {
      readonly kind: 'not_ours';
      /** Since when no conclusive check shows any of our servers. Absent if the last one does. */
      readonly elsewhereSince?: number;
    };

export function waitFor(cause: WaitCause, keys: readonly KeyId[] = [], until?: number): Next {
  return { kind: 'wait', cause, keys, ...(until === undefined ? {} : { until }) };
}
