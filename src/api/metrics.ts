// The Prometheus metrics of an API process: requests by route, method and status, and how long they took.

import type { FastifyInstance } from 'fastify';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

const LATENCY_BOUNDS_SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

interface ApiMetrics {
  readonly registry: Registry;
  /** Call it before the routes are mounted. */
  watch(app: FastifyInstance): void;
  /** Lines that edges have reported. */
  countLines(outcome: string, lines: number): void;
  /** What waits for the analytics store on this machine. */
  watchSpool(spool: { readonly bytes: number; readonly batches: number }): void;
  countFlushed(lines: number): void;
  countLost(why: string, lines: number): void;
  /** An observer elsewhere has answered. */
  countVantageAnswer(outcome: string): void;
}

export function createApiMetrics(): ApiMetrics {
  const registry = new Registry();
  const requests = new Counter({
    name: 'zonefleet_api_requests_total',
    help: 'Requests answered, by route, method and status.',
    labelNames: ['route', 'method', 'status'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'zonefleet_api_request_seconds',
    help: 'Time from a request to the end of its answer, by route and method.',
    labelNames: ['route', 'method'],
    buckets: LATENCY_BOUNDS_SECONDS,
    registers: [registry],
  });
  const answers = new Counter({
    name: 'zonefleet_vantage_answers_total',
    help: 'Answers of observers elsewhere: taken, or why they were dropped.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const lines = new Counter({
    name: 'zonefleet_edge_lines_total',
    help: 'Lines that edges have reported: accepted, or why they were dropped (line, time, host).',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const flushed = new Counter({
    name: 'zonefleet_spool_flushed_lines_total',
    help: 'Lines that the analytics store has taken.',
    registers: [registry],
  });
  const lost = new Counter({
    name: 'zonefleet_spool_lost_lines_total',
    help: 'Lines that were accepted and lost: the spool was full, or a file of it damaged.',
    labelNames: ['why'],
    registers: [registry],
  });
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory.',
    registers: [registry],
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  return {
    registry,
    countLines: (outcome, count) => lines.inc({ outcome }, count),
    countFlushed: (count) => flushed.inc(count),
    countLost: (why, count) => lost.inc({ why }, count),
    watchSpool(spool) {
      new Gauge({
        name: 'zonefleet_spool_bytes',
        help: 'What waits on this disk for the analytics store.',
        registers: [registry],
        collect() {
          this.set(spool.bytes);
        },
      });
      new Gauge({
        name: 'zonefleet_spool_batches',
        help: 'Batches of edges that wait for the analytics store.',
        registers: [registry],
        collect() {
          this.set(spool.batches);
        },
      });
    },
    countVantageAnswer: (outcome) => answers.inc({ outcome }),
    watch(app) {
      app.addHook('onResponse', async (request, reply) => {
        // Label by route, since there are as many paths as domains; unknown paths and methods share one label.
        const known = !request.is404;
        const route = known
          ? (request.routeOptions.config.route?.path ?? request.routeOptions.url ?? '')
          : 'none';
        const method = known ? request.method : 'none';
        requests.inc({ route, method, status: reply.statusCode });
        seconds.observe({ route, method }, reply.elapsedTime / 1000);
      });
    },
  };
}
