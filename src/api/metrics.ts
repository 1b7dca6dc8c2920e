// The Prometheus metrics of an API process: requests by route, method and status, and their duration.

import type { FastifyInstance } from 'fastify';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { readBuild } from '../process/build.ts';
import { addBuild } from '../process/metrics/add-build.ts';

const LATENCY_BOUNDS_SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

interface ApiMetrics {
  readonly registry: Registry;
  /** Must be called before the routes are mounted. */
  watch(app: FastifyInstance): void;
  /** Counts lines that edges reported. */
  countLines(outcome: string, lines: number): void;
  /** Registers gauges for the data on this machine that waits for the analytics store. */
  watchSpool(spool: { readonly bytes: number; readonly batches: number }): void;
  countFlushed(lines: number): void;
  countLost(why: string, lines: number): void;
  /** Counts an answer of an observer. */
  countVantageAnswer(outcome: string): void;
}

export function createApiMetrics(): ApiMetrics {
  const registry = new Registry();
  addBuild(registry, { ...readBuild(), process: 'api' });
  const requests = new Counter({
    name: 'zonefleet_api_requests_total',
    help: 'Requests answered, by route, method and status.',
    labelNames: ['route', 'method', 'status'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'zonefleet_api_request_seconds',
    help: 'Time from a request to the end of its response, by route and method.',
    labelNames: ['route', 'method'],
    buckets: LATENCY_BOUNDS_SECONDS,
    registers: [registry],
  });
  const compat = new Counter({
    name: 'zonefleet_compat_requests_total',
    help: "Requests to other systems' APIs (pdns, httpreq, dyndns2, external-dns), by surface and status.",
    labelNames: ['surface', 'status'],
    registers: [registry],
  });
  const answers = new Counter({
    name: 'zonefleet_vantage_answers_total',
    help: 'Answers of observers: taken, or the reason why they were dropped.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const lines = new Counter({
    name: 'zonefleet_edge_lines_total',
    help: 'Lines that edges reported: accepted, or the reason why they were dropped (line, time, host).',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const flushed = new Counter({
    name: 'zonefleet_spool_flushed_lines_total',
    help: 'Lines written to the analytics store.',
    registers: [registry],
  });
  const lost = new Counter({
    name: 'zonefleet_spool_lost_lines_total',
    help: 'Lines that were accepted but lost, because the spool was full or one of its files was damaged.',
    labelNames: ['why'],
    registers: [registry],
  });
  return {
    registry,
    countLines: (outcome, count) => lines.inc({ outcome }, count),
    countFlushed: (count) => flushed.inc(count),
    countLost: (why, count) => lost.inc({ why }, count),
    watchSpool(spool) {
      new Gauge({
        name: 'zonefleet_spool_bytes',
        help: 'Bytes on this disk that wait for the analytics store.',
        registers: [registry],
        collect() {
          this.set(spool.bytes);
        },
      });
      new Gauge({
        name: 'zonefleet_spool_batches',
        help: 'Batches from edges that wait for the analytics store.',
        registers: [registry],
        collect() {
          this.set(spool.batches);
        },
      });
    },
    countVantageAnswer: (outcome) => answers.inc({ outcome }),
    watch(app) {
      app.addHook('onResponse', async (request, reply) => {
        // Labelled by route, since there are as many paths as domains. Unknown paths and methods share one label.
        const known = !request.is404;
        const route = known
          ? (request.routeOptions.config.route?.path ?? request.routeOptions.url ?? '')
          : 'none';
        const method = known ? request.method : 'none';
        requests.inc({ route, method, status: reply.statusCode });
        seconds.observe({ route, method }, reply.elapsedTime / 1000);
        const surface = request.routeOptions.config.route?.compat?.name;
        if (surface !== undefined) compat.inc({ surface, status: reply.statusCode });
      });
    },
  };
}
