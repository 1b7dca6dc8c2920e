// The Prometheus metrics of a node (spec §11), read from its counters when they are asked for: a query pays nothing.

import { Counter, Gauge, Registry } from 'prom-client';
import { rcodeMnemonic } from '../dns/rcodes.ts';
import { LATENCY_BOUNDS_SECONDS, type QueryCounters } from './query-counters.ts';

/** What is true now, asked for at every scrape. */
export interface NodeGauges {
  zones(): number;
  records(): number;
  tcpConnections(): number;
  /** How far the node is behind the change feed; undefined while unknown. */
  feedLagSeconds(): number | undefined;
  /** Zones whose newest content cannot be built: their last good one is served. */
  refusedZones(): number;
  /** Zones whose removal is held back until `node confirm`. */
  heldZones(): number;
}

export function createMetrics(counters: QueryCounters, gauges: NodeGauges): Registry {
  const registry = new Registry();
  const gauge = (name: string, help: string, read: () => number | undefined) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read() ?? Number.NaN);
      },
    });
  gauge('zonefleet_zones', 'Zones that this node serves.', gauges.zones);
  gauge('zonefleet_records', 'Records in these zones.', gauges.records);
  gauge('zonefleet_tcp_connections', 'Open TCP connections.', gauges.tcpConnections);
  gauge(
    'zonefleet_feed_lag_seconds',
    'Delay behind the change feed; NaN while unknown.',
    gauges.feedLagSeconds,
  );
  gauge(
    'zonefleet_refused_zones',
    'Zones served in an older version: the newest is faulty.',
    gauges.refusedZones,
  );
  gauge('zonefleet_held_zones', 'Zones whose removal waits for node confirm.', gauges.heldZones);
  gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  addAnswerCounter(registry, counters);
  addDropCounters(registry, counters);
  addLatencyHistogram(registry, counters);
  return registry;
}

function addAnswerCounter(registry: Registry, counters: QueryCounters): void {
  new Counter({
    name: 'zonefleet_queries_total',
    help: 'Queries answered, by transport, type and rcode.',
    labelNames: ['transport', 'type', 'rcode'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { transport, type, rcode, count } of counters.answerCounts()) {
        this.inc({ transport, type, rcode: rcodeMnemonic(rcode) }, count);
      }
    },
  });
  new Counter({
    name: 'zonefleet_truncated_total',
    help: 'Answers sent with TC, by transport.',
    labelNames: ['transport'],
    registers: [registry],
    collect() {
      this.reset();
      this.inc({ transport: 'udp' }, counters.truncated[0]);
      this.inc({ transport: 'tcp' }, counters.truncated[1]);
    },
  });
}

function addDropCounters(registry: Registry, counters: QueryCounters): void {
  const counter = (name: string, help: string, read: () => Record<string, number>) =>
    new Counter({
      name,
      help,
      labelNames: ['reason'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [reason, count] of Object.entries(read())) this.inc({ reason }, count);
      },
    });
  counter('zonefleet_limited_total', 'Answers and connections withheld by a limit.', () => ({
    rate_dropped: counters.rateDropped,
    rate_truncated: counters.rateTruncated,
    tcp_refused: counters.tcpRefused,
    tcp_expired: counters.tcpExpired,
  }));
  counter('zonefleet_unanswered_total', 'Packets without an answer for another reason.', () => ({
    ignored: counters.ignored,
    unsent: counters.unsent,
  }));
  counter('zonefleet_failures_total', 'Queries that met a bug and got SERVFAIL.', () => ({
    exception: counters.failed,
  }));
}

/** prom-client's own histogram costs more than an answer; this one is read from the counters. */
function addLatencyHistogram(registry: Registry, counters: QueryCounters): void {
  const name = 'zonefleet_answer_seconds';
  const histogram = {
    name,
    help: 'Time from a received query to its written answer.',
    aggregator: 'sum',
    type: 'histogram',
    reset() {},
    async get() {
      let count = 0;
      const values = [...LATENCY_BOUNDS_SECONDS, '+Inf'].map((le, bucket) => {
        count += counters.latency[bucket] as number;
        return { metricName: `${name}_bucket`, labels: { le }, value: count };
      });
      return {
        name,
        help: this.help,
        type: this.type,
        aggregator: this.aggregator,
        values: [
          ...values,
          { metricName: `${name}_sum`, labels: {}, value: counters.latencySumSeconds },
          { metricName: `${name}_count`, labels: {}, value: count },
        ],
      };
    },
  };
  registry.registerMetric(histogram as unknown as Counter);
}
