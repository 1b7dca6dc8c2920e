// Counters of the transfer thread for the metrics.

import type { TransferForm } from '../../store/transfers/report-transfers.ts';
import type { TransferState } from './messages.ts';

/** `ended`: the peer closed the connection before the end. `busy`: no slot was free in time. */
type TransferOutcome = 'sent' | 'ended' | 'busy' | 'failed' | 'refused';

/** `late`: no answer came in time. `busy`: a limit of waiting updates was reached. `off`: this node takes no updates. */
type UpdateOutcome = 'answered' | 'late' | 'busy' | 'unavailable' | 'unsigned' | 'off';

export class TransferCounters {
  readonly #transfers = new Map<string, number>();
  readonly #notifies = new Map<string, number>();
  readonly #tsigFailures = new Map<string, number>();
  readonly #historyMisses = new Map<string, number>();
  readonly #updates = new Map<string, number>();

  countTransfer(form: TransferForm, outcome: TransferOutcome): void {
    increment(this.#transfers, `${form} ${outcome}`);
  }

  /** Counts a received NOTIFY. */
  countNotify(outcome: 'accepted' | 'refused' | 'not_a_secondary'): void {
    increment(this.#notifies, outcome);
  }

  countTsigFailure(error: string): void {
    increment(this.#tsigFailures, error);
  }

  countHistoryMiss(why: string): void {
    increment(this.#historyMisses, why);
  }

  countUpdate(outcome: UpdateOutcome): void {
    increment(this.#updates, outcome);
  }

  state(): Pick<TransferState, 'transfers' | 'notifies' | 'tsigFailures' | 'historyMisses' | 'updates'> {
    return {
      transfers: [...this.#transfers].map(([key, count]) => {
        const [form, outcome] = key.split(' ') as [TransferForm, TransferOutcome];
        return { form, outcome, count };
      }),
      notifies: [...this.#notifies].map(([outcome, count]) => ({ direction: 'in', outcome, count })),
      tsigFailures: [...this.#tsigFailures].map(([error, count]) => ({ error, count })),
      historyMisses: [...this.#historyMisses].map(([why, count]) => ({ why, count })),
      updates: [...this.#updates].map(([outcome, count]) => ({ outcome, count })),
    };
  }
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
