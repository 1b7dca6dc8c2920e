// The Prometheus metrics of a node (docs/operating/monitor.md "Metrics"), computed from its counters at each scrape, so that
// queries do not pay for them.

import { Gauge, Registry } from 'prom-client';
import { rcodeMnemonic } from '../../dns/message/rcodes.ts';
import { readBuild } from '../../process/build.ts';
import { addBuild } from '../../process/metrics/add-build.ts';
import type { TlsFiles } from '../../process/tls-files.ts';
import { LATENCY_BOUNDS_SECONDS, OCTET_BOUNDS, type QueryCounters } from '../answer/query-counters.ts';
import { TRANSPORTS } from '../answer/transports.ts';
import { DELAY_BOUNDS_SECONDS, noPublishDelays, type PublishDelays } from '../follow/publish-delays.ts';
import type { Observed } from '../observe/messages.ts';
import type { TlsState } from '../tls/messages.ts';
import type { TransferState } from '../transfer/messages.ts';
import { addHistogram } from './add-histogram.ts';
import { addCounts, addLabelled, addNumber, type LabelledCount } from './add-metrics.ts';
import { addObserveMetrics } from './observe-metrics.ts';

/** Values read at every scrape. */
interface NodeGauges {
  zones(): number;
  records(): number;
  /** Regions with edge sets of their own. */
  regions(): number;
  /** Bytes of the zone image in use, and reserved. */
  imageBytes(): number;
  imageCapacityBytes(): number;
  tcpConnections(): number;
  /** Seconds behind the change feed; undefined if unknown. */
  feedLagSeconds(): number | undefined;
  /** Zones whose newest content cannot be built. Their last valid content is served. */
  refusedZones(): number;
  /** Zones whose newest content does not fit into the image. */
  zonesWithoutRoom(): number;
  /** Zones whose removal is held until `node confirm`. */
  heldZones(): number;
  /** Reports of unproven zones with queries. */
  asked(): { readonly reported: number; readonly dropped: number };
  /** Answers counted by domain. */
  counted(): { readonly reported: number; readonly other: number; readonly dropped: number };
  /** The space of the file system that holds the snapshot, in bytes; undefined if it cannot be read. */
  diskSpace(): Promise<{ readonly free: number; readonly total: number } | undefined>;
  /** The interfaces at which the node uses XDP. */
  xdp?(): readonly { readonly name: string; readonly mode: string }[] | undefined;
  /** State of the transfer thread. */
  transfers(): TransferState | undefined;
  /** State of the TLS thread. */
  tls(): TlsState | undefined;
  /** The certificate of TLS. */
  tlsFiles(): Pick<TlsFiles, 'expiresAtMs' | 'failures'> | undefined;
  /** Slow-path messages that were dropped, by reason. */
  slowPathDropped(): Readonly<Record<string, number>> | undefined;
  /** The numbers of the observing thread. Undefined if no answers are sampled. */
  observed(): Observed | undefined;
  /** How long changes took to reach the image. Undefined until the node follows the feed. */
  publishDelays?(): PublishDelays | undefined;
  /** Failed writes of the snapshot, by reason. */
  writeFailures(): { readonly disk_full: number; readonly other: number };
}

/** @param counters returns the sum of all threads' counters */
export function createMetrics(counters: () => QueryCounters, gauges: NodeGauges): Registry {
  const registry = new Registry();
  addBuild(registry, { ...readBuild(), process: 'nameserver' });
  const gauge = (name: string, help: string, read: () => number | undefined | Promise<number | undefined>) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set((await read()) ?? Number.NaN);
      },
    });
  gauge('zonefleet_zones', 'Zones that this node serves.', gauges.zones);
  gauge('zonefleet_records', 'Records in these zones.', gauges.records);
  gauge('zonefleet_regions', 'Regions with edges of their own, which proxied names publish.', gauges.regions);
  gauge('zonefleet_image_bytes', 'Bytes in use in the zone image.', gauges.imageBytes);
  gauge('zonefleet_image_capacity_bytes', 'Capacity of the zone image in bytes.', gauges.imageCapacityBytes);
  gauge('zonefleet_tcp_connections', 'Open TCP connections.', gauges.tcpConnections);
  gauge(
    'zonefleet_feed_lag_seconds',
    'Delay behind the change feed; NaN while unknown.',
    gauges.feedLagSeconds,
  );
  gauge(
    'zonefleet_refused_zones',
    'Zones served in an older version because the newest cannot be built.',
    gauges.refusedZones,
  );
  gauge(
    'zonefleet_zones_without_room',
    'Zones that do not fit into the image: served in an older version or not at all.',
    gauges.zonesWithoutRoom,
  );
  gauge(
    'zonefleet_held_zones',
    'Zones whose removal is held until `zonefleet node confirm`.',
    gauges.heldZones,
  );
  gauge(
    'zonefleet_disk_free_bytes',
    'Bytes that the node can still write to the disk that holds its snapshot.',
    async () => (await gauges.diskSpace())?.free,
  );
  gauge(
    'zonefleet_disk_bytes',
    'Size in bytes of the disk that holds the snapshot.',
    async () => (await gauges.diskSpace())?.total,
  );
  const results = (
    name: string,
    help: string,
    read: () => Readonly<Record<string, number>> | undefined,
    label = 'result',
  ) => addCounts(registry, { name, help }, label, read);
  results(
    'zonefleet_snapshot_write_failures_total',
    'Failed writes of the snapshot, by reason.',
    gauges.writeFailures,
    'reason',
  );
  results(
    'zonefleet_asked_reports_total',
    'Reports of unproven zones with queries, by result.',
    gauges.asked,
  );
  results(
    'zonefleet_zone_counts_total',
    'Answers counted by domain: reported, among these without a domain (other), and dropped.',
    gauges.counted,
  );
  results(
    'zonefleet_slow_path_dropped_total',
    'Messages for the transfer thread that were dropped, by the limit that they exceeded, or because they were not answered in time (unanswered).',
    gauges.slowPathDropped,
    'reason',
  );
  results(
    'zonefleet_edns_total',
    'Answered queries with an OPT record (edns), with DO, and with each option.',
    () => counters().edns,
    'bit',
  );
  addLabelled(
    registry,
    { name: 'zonefleet_xdp_interface', help: '1 for each interface at which the node uses XDP.' },
    ['interface', 'mode'],
    () => gauges.xdp?.()?.map(({ name, mode }) => ({ interface: name, mode, count: 1 })),
  );
  addTransferMetrics(registry, gauges.transfers);
  addTlsMetrics(registry, gauges);
  addAnswerCounters(registry, counters);
  addSignedCounters(registry, counters);
  addDropCounters(registry, counters);
  addHistograms(registry, counters);
  addPublishDelays(registry, gauges);
  addObserveMetrics(registry, counters, gauges.observed);
  return registry;
}

/** The metrics of the transfer thread. Without it, they have no values. */
function addTransferMetrics(registry: Registry, state: NodeGauges['transfers']): void {
  const add = (
    name: string,
    help: string,
    labelNames: string[],
    read: (state: TransferState) => readonly LabelledCount[],
  ) =>
    addLabelled(registry, { name, help }, labelNames, () => {
      const current = state();
      return current && read(current);
    });
  add(
    'zonefleet_transfers_total',
    'Zone transfers by direction (out), form (axfr, ixfr, or soa without a transfer) and outcome: sent, ended (by the peer), busy (no slot in time), failed, or refused.',
    ['direction', 'form', 'outcome'],
    ({ transfers }) => transfers.map((counted) => ({ direction: 'out', ...counted })),
  );
  add(
    'zonefleet_notifies_total',
    'NOTIFY messages by direction and outcome: out acked, refused, given_up; in accepted, refused, not_a_secondary.',
    ['direction', 'outcome'],
    ({ notifies }) => notifies,
  );
  add(
    'zonefleet_notify_queue',
    'Zones that wait to be notified to each peer.',
    ['peer'],
    ({ notifyQueue }) => notifyQueue,
  );
  add(
    'zonefleet_tsig_failures_total',
    'Messages with a TSIG record that was refused, by its error.',
    ['error'],
    ({ tsigFailures }) => tsigFailures,
  );
  add(
    'zonefleet_history_misses_total',
    'IXFR queries that were answered with the whole zone, by reason.',
    ['why'],
    ({ historyMisses }) => historyMisses,
  );
  add(
    'zonefleet_update_messages_total',
    'Dynamic updates by outcome: answered by the API, late (no answer in time), busy (too many wait), unavailable (no Postgres), unsigned, or off.',
    ['outcome'],
    ({ updates }) => updates,
  );
  add(
    'zonefleet_updates_waiting',
    'Dynamic updates that wait for their answers.',
    [],
    ({ updatesWaiting }) => [{ count: updatesWaiting }],
  );
  add(
    'zonefleet_zone_serial',
    'Serials of zones that peers transfer, at most 1,000.',
    ['zone'],
    ({ zoneSerials }) => zoneSerials.map(({ zone, serial }) => ({ zone, count: serial })),
  );
}

/** The metrics of the TLS thread. Without it, they have no values. */
function addTlsMetrics(registry: Registry, { tls, tlsFiles }: Pick<NodeGauges, 'tls' | 'tlsFiles'>): void {
  const add = (name: string, help: string, read: () => number | undefined) =>
    addNumber(registry, { name, help }, read);
  add(
    'zonefleet_tls_connections',
    'Open connections over TLS and HTTPS, including DOH_PLAIN_LISTEN.',
    () => tls()?.connections,
  );
  const handshakes = {
    name: 'zonefleet_tls_handshakes_total',
    help: 'TLS handshakes by outcome: done, failed, timeout, or refused because too many were in progress.',
  };
  addCounts(registry, handshakes, 'outcome', () => ({ ...tls()?.handshakes }));
  const requests = {
    name: 'zonefleet_doh_requests_total',
    help: 'Requests over HTTPS by the status of the response.',
  };
  addCounts(registry, requests, 'status', () => tls()?.dohStatuses);
  add('zonefleet_tls_resumed_total', 'TLS handshakes that resumed a session.', () => tls()?.resumed);
  add(
    'zonefleet_tls_certificate_expiry_seconds',
    'Seconds until the certificate of DNS_TLS_CERT expires.',
    () => {
      const expiresAtMs = tlsFiles()?.expiresAtMs;
      return expiresAtMs && Math.round((expiresAtMs - Date.now()) / 1000);
    },
  );
  add(
    'zonefleet_tls_reload_failures_total',
    'Failed attempts to reload the certificate of DNS_TLS_CERT.',
    () => tlsFiles()?.failures,
  );
}

function addAnswerCounters(registry: Registry, counters: () => QueryCounters): void {
  const queries = {
    name: 'zonefleet_queries_total',
    help: 'Queries answered, by transport, type and rcode.',
  };
  addLabelled(registry, queries, ['transport', 'type', 'rcode'], () =>
    [...counters().answerCounts()].map((counted) => ({ ...counted, rcode: rcodeMnemonic(counted.rcode) })),
  );
  const truncated = { name: 'zonefleet_truncated_total', help: 'Answers sent with TC, by transport.' };
  addLabelled(registry, truncated, ['transport'], () => {
    const counts = counters().truncated;
    return TRANSPORTS.map((transport, i) => ({ transport, count: counts[i] as number }));
  });
}

function addSignedCounters(registry: Registry, counters: () => QueryCounters): void {
  const counter = (name: string, help: string, of: keyof QueryCounters['signed']) =>
    addNumber(registry, { name, help }, () => counters().signed[of]);
  counter('zonefleet_signed_answers_total', 'Signed answers: queries with DO for signed zones.', 'answers');
  counter('zonefleet_signed_truncated_total', 'Signed answers sent with TC.', 'truncated');
  counter('zonefleet_proofs_total', 'NSEC and NSEC3 sets found for signed answers.', 'proofs');
}

function addDropCounters(registry: Registry, counters: () => QueryCounters): void {
  const counter = (name: string, help: string, read: (counted: QueryCounters) => Record<string, number>) =>
    addCounts(registry, { name, help }, 'reason', () => read(counters()));
  counter(
    'zonefleet_limited_total',
    'Answers and connections dropped, truncated or delayed by a limit.',
    (counted) => ({
      rate_dropped: counted.rateDropped,
      rate_truncated: counted.rateTruncated,
      octets_dropped: counted.octetsDropped,
      octets_truncated: counted.octetsTruncated,
      tcp_refused: counted.tcpRefused,
      tcp_expired: counted.tcpExpired,
      tcp_unread: counted.tcpUnread,
      tcp_slowed: counted.tcpSlowed,
    }),
  );
  counter('zonefleet_unanswered_total', 'Packets left unanswered for another reason.', (counted) => ({
    ignored: counted.ignored,
    unsent: counted.unsent,
  }));
  counter('zonefleet_failures_total', 'Queries with an unhandled error, answered SERVFAIL.', (counted) => ({
    exception: counted.failed,
  }));
}

function addPublishDelays(registry: Registry, { publishDelays }: Pick<NodeGauges, 'publishDelays'>): void {
  const seconds = {
    name: 'zonefleet_publish_seconds',
    help: 'Time from the transaction of a change to its answers at this node, for each changed zone. Changes from before the start of the node do not count. Differences between the clocks of Postgres and the node are included.',
    bounds: DELAY_BOUNDS_SECONDS,
  };
  addHistogram(registry, seconds, () => {
    const { buckets, sum } = publishDelays?.() ?? noPublishDelays();
    return [{ labels: {}, buckets, sum }];
  });
}

function addHistograms(registry: Registry, counters: () => QueryCounters): void {
  const seconds = {
    name: 'zonefleet_answer_seconds',
    help: 'Time from receiving a query to writing its answer.',
    bounds: LATENCY_BOUNDS_SECONDS,
  };
  addHistogram(registry, seconds, () => {
    const { latency, latencySumSeconds } = counters();
    return [{ labels: {}, buckets: latency, sum: latencySumSeconds }];
  });
  const addOctets = (name: string, help: string, of: 'queries' | 'answers') =>
    addHistogram(registry, { name, help, bounds: OCTET_BOUNDS }, () =>
      counters()
        .octets(of)
        .map(({ transport, buckets, sum }) => ({ labels: { transport }, buckets, sum })),
    );
  addOctets('zonefleet_request_octets', 'Octets of answered queries, by transport.', 'queries');
  addOctets('zonefleet_response_octets', 'Octets of answers, by transport.', 'answers');
}
