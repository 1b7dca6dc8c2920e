// `domain check`, for one name: a worker checks its delegation ahead of all others, and the outcome and the status change are
// printed.

import { seenText } from '../../checks/delegation/finding-text.ts';
import type { CheckJob } from '../../jobs/jobs.ts';
import type { SavedRun } from '../../store/checks/check-runs.ts';
import { waitForCheck } from '../../store/checks/check-runs.ts';
import type { Database } from '../../store/postgres/database.ts';
import { whyUnchecked } from '../../zone/domain/why-unchecked.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { WantedDomain } from '../terminal/collect-domain-names.ts';
import { findOneDomain, type Owner } from '../terminal/one-domain.ts';
import type { DomainOutcome } from '../terminal/work-on-domains.ts';
import { askWorker } from './ask-worker.ts';

interface CheckWay extends Owner {
  readonly enqueue: (job: CheckJob & { readonly request: string }) => Promise<void>;
  readonly signal: AbortSignal;
  readonly waitMs?: number;
}

export async function checkDomain(
  db: Database,
  { name }: Pick<WantedDomain, 'name'>,
  { enqueue, accountId, ...bounds }: CheckWay,
): Promise<DomainOutcome> {
  const found = await findOneDomain(db, name, accountId === undefined ? {} : { accountId });
  if (found.kind === 'refused') return found;
  const { domain } = found;
  const message = whyUnchecked(domain);
  if (message !== undefined) return refused('wrong_state', message);
  const answered = await askWorker({
    enqueue: (request) => enqueue({ domainId: domain.id, kind: 'operator', request }),
    wait: (request, waiting) => waitForCheck(db, request, waiting),
    ...bounds,
    undone: 'run the check',
    before: 'the check was run',
  });
  return answered.kind === 'refused' ? answered : toldOf(answered.written);
}

function refused(code: string, message: string): DomainOutcome {
  return { kind: 'refused', code, message };
}

function toldOf(run: SavedRun): DomainOutcome {
  const { id, verdict, findings, statusBefore, statusAfter, currentNs, nextCheckAt, vantages } = run;
  const moved = statusBefore === statusAfter ? statusAfter : `${statusBefore} -> ${statusAfter}`;
  return {
    kind: 'done',
    words: `${verdict} status ${moved} check ${id}`,
    lines: [
      ...findings.map(({ code, message }) => `  ${code}: ${message}`),
      ...(vantages ?? []).map((view) => `  from ${view.label} (${view.word}): ${seenText(view)}`),
    ],
    isNo: verdict !== 'match',
    members: {
      check_id: id,
      verdict,
      status_before: statusBefore,
      status_after: statusAfter,
      findings: findings.map(({ code, message }) => ({ code, message })),
      current_nameservers: currentNs?.map(printWithoutDot) ?? null,
      vantages:
        vantages?.map(({ label, word, kind, ns }) => ({
          network: label,
          word,
          saw: kind,
          nameservers: ns.map(printWithoutDot),
        })) ?? null,
      next_check_at: nextCheckAt?.toISOString() ?? null,
    },
  };
}
