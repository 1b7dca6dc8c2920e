// The metrics of dnstap and the query log.

import { Counter, type Registry } from 'prom-client';
import type { QueryCounters } from '../answer/query-counters.ts';
import { SAMPLE_FRAMES } from './dnstap.ts';
import type { Observed } from './messages.ts';

/** Adds the metrics. They have no values if no answers are sampled. */
export function addObserveMetrics(
  registry: Registry,
  counters: () => QueryCounters,
  observed: () => Observed | undefined,
): void {
  const add = (
    name: string,
    help: string,
    read: (counted: QueryCounters, numbers: Observed) => number | Readonly<Record<string, number>>,
  ) => {
    new Counter({
      name,
      help,
      labelNames: ['reason'],
      registers: [registry],
      collect() {
        this.reset();
        const numbers = observed();
        if (numbers === undefined) return;
        const read_ = read(counters(), numbers);
        if (typeof read_ === 'number') this.inc(read_);
        else for (const [reason, count] of Object.entries(read_)) this.inc({ reason }, count);
      },
    });
  };
  add('zonefleet_dnstap_frames_total', 'dnstap frames passed to the reader.', (_, { frames }) => frames);
  add(
    'zonefleet_dnstap_dropped_total',
    'dnstap frames that were dropped: too many in a thread (limited), no reader (unread), or a slow one (queued); or the thread that writes them was too slow (behind).',
    ({ samplesLimited, samplesLost }, { framesUnread, framesQueued }) => ({
      limited: SAMPLE_FRAMES * samplesLimited,
      behind: SAMPLE_FRAMES * samplesLost,
      unread: framesUnread,
      queued: framesQueued,
    }),
  );
  add(
    'zonefleet_query_log_dropped_total',
    'Lines of the query log that were dropped: too many in a thread (limited), not written to the file (unwritten), or the thread that writes them was too slow (behind).',
    ({ samplesLimited, samplesLost }, { linesUnwritten }) => ({
      limited: samplesLimited,
      behind: samplesLost,
      unwritten: linesUnwritten,
    }),
  );
}
