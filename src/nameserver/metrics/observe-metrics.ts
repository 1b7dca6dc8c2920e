// The metrics of dnstap and the query log.

import type { Registry } from 'prom-client';
import type { QueryCounters } from '../answer/query-counters.ts';
import { SAMPLE_FRAMES } from '../observe/dnstap.ts';
import type { Observed } from '../observe/messages.ts';
import { addCounts, addNumber } from './add-metrics.ts';

/** Adds the metrics. They have no values if no answers are sampled. */
export function addObserveMetrics(
  registry: Registry,
  counters: () => QueryCounters,
  observed: () => Observed | undefined,
): void {
  const addDropped = (
    name: string,
    help: string,
    read: (counted: QueryCounters, numbers: Observed) => Readonly<Record<string, number>>,
  ) =>
    addCounts(registry, { name, help }, 'reason', () => {
      const numbers = observed();
      return numbers && read(counters(), numbers);
    });
  const frames = { name: 'zonefleet_dnstap_frames_total', help: 'dnstap frames passed to the reader.' };
  addNumber(registry, frames, () => observed()?.frames);
  addDropped(
    'zonefleet_dnstap_dropped_total',
    'dnstap frames that were dropped, by reason: limited (too many in a thread), unread (no reader), queued (the reader is too slow), or behind (the thread that writes them is too slow).',
    ({ samplesLimited, samplesLost }, { framesUnread, framesQueued }) => ({
      limited: SAMPLE_FRAMES * samplesLimited,
      behind: SAMPLE_FRAMES * samplesLost,
      unread: framesUnread,
      queued: framesQueued,
    }),
  );
  addDropped(
    'zonefleet_query_log_dropped_total',
    'Lines of the query log that were dropped, by reason: limited (too many in a thread), unwritten (the file cannot be written), or behind (the thread that writes them is too slow).',
    ({ samplesLimited, samplesLost }, { linesUnwritten }) => ({
      limited: samplesLimited,
      behind: samplesLost,
      unwritten: linesUnwritten,
    }),
  );
}
