// Puts the job of a call into its queue.

import type { Call, JobPort } from '../calls/call.ts';

type AnyCall = Call;

/** Whether the job is in the queue. If not, the log tells the operator why, and the caller is told to try again. */
export async function enqueueNow<J>(
  queue: JobPort<J>,
  job: J,
  kind: 'check' | 'verification' | 'scan',
  { domain, log }: Pick<AnyCall, 'log'> & { readonly domain: { readonly id: number } },
): Promise<boolean> {
  try {
    await queue.enqueueNow(job);
    return true;
  } catch (error) {
    log.warn({ err: error, kind, domain_id: domain.id }, 'a job could not be put into its queue');
    return false;
  }
}
