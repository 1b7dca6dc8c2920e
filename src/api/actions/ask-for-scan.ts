// Having a domain scanned by the workers, and waiting for that: shared by the preview and the import.
//
//     open or join → enqueue → wait          no queue, or no worker: what was opened is withdrawn, 503

import { scanTurn } from '../../checks/shares/turns.ts';
import { openScan, withdrawScan } from '../../store/change/open-scan.ts';
import { countScansInHand } from '../../store/scans/claim-due-scans.ts';
import { type SavedScan, waitForScan } from '../../store/scans/load-scan.ts';
import { type Problem, unavailable } from '../answers/problem.ts';
import { asActor } from '../callers/caller.ts';
import type { CallOf } from '../calls/call.ts';
import { enqueueNow } from './enqueue.ts';
import { jobRequestOf } from './job-request.ts';

/** A scan itself ends within 60 s. */
const WAIT_MS = 55_000;
const RETRY_SECONDS = 10;

export type ScanCall = CallOf<'domain'>;

/** Gives the scan when it is over, or as it is when the waiting time is over. */
export async function askForScan(call: ScanCall, kind: 'manual' | 'preview'): Promise<SavedScan | Problem> {
  const { api, caller, domain, gone, idempotencyKey } = call;
  const opened = await openScan(api.db, {
    domainId: domain.id,
    kind,
    by: asActor(caller),
    narrowing: null, // the guard refuses keys with a narrowing
    ...(idempotencyKey !== undefined && {
      request: jobRequestOf(kind === 'preview' ? 'scan' : 'scan-import', call),
    }),
  });
  if (opened.how === 'barred') return BARRED;
  if (opened.isWaiting) {
    const inHand = await countScansInHand(api.db, domain.accountId);
    const job = { scanId: opened.id, turn: scanTurn({ inHand, isAsked: true }) };
    // A scan that already waits in the background moves ahead.
    if (!(await enqueueNow(api.scans, job, 'scan', call))) {
      await withdrawScan(api.db, opened);
      return NOT_BEGUN;
    }
  }
  const timeoutMs = api.scans.waitMs ?? WAIT_MS;
  const scan = await waitForScan(api.db, opened.id, { timeoutMs, signal: gone });
  if (scan !== undefined && (scan.startedAt ?? scan.finishedAt) !== null) return scan;
  await withdrawScan(api.db, opened); // no worker took it in time
  return NOT_BEGUN;
}

const NOT_BEGUN = unavailable('the scan could not be started; try again', RETRY_SECONDS);

const BARRED = unavailable(
  'a scan for an API key with other restrictions is running; try again',
  RETRY_SECONDS,
);
