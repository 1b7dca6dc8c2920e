// Observes a delegation within the slots (docs/rules.md "Fair shares"): a slow check takes a slot for slow checks, or
// ends. Its time is counted for its account.

import type { Evidence } from '../../src/checks/delegation/evidence.ts';
import type { Slots } from '../../src/checks/shares/slots.ts';
import type { Name } from '../../src/dns/name.ts';
import type { ObserveOptions, Resolver } from '../../src/resolver/resolver.ts';

export interface SlotTools {
  readonly resolver: Pick<Resolver, 'observeDelegation'>;
  /** Absent if no check is slow. */
  readonly slots?: Pick<Slots, 'takeSlow' | 'giveBack'>;
  /** Starts counting the time of an account. Call the returned function to stop. */
  readonly shares?: { begin(accountId: number): () => void };
}

export async function observeInSlot(
  { resolver, slots, shares }: SlotTools,
  name: Name,
  accountId: number,
  options: ObserveOptions,
): Promise<Evidence> {
  const end = shares?.begin(accountId);
  let isSlow = false;
  const onSlow = () => {
    isSlow = slots === undefined || slots.takeSlow();
    return isSlow;
  };
  try {
    return await resolver.observeDelegation(name, { ...options, onSlow });
  } finally {
    if (isSlow) slots?.giveBack();
    end?.();
  }
}
