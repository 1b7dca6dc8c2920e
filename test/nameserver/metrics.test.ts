import { expect, test } from 'vitest';
import { RCODE } from '../../src/dns/message/rcodes.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { EDNS_BIT, QueryCounters } from '../../src/nameserver/answer/query-counters.ts';
import { createMetrics } from '../../src/nameserver/metrics/metrics.ts';

async function exported(counters: QueryCounters, feedLagSeconds?: number): Promise<string[]> {
  const metrics = createMetrics(() => counters, {
    zones: () => 3,
    records: () => 40,
    regions: () => 2,
    tcpConnections: () => 5,
    feedLagSeconds: () => feedLagSeconds,
    imageBytes: () => 4096,
    imageCapacityBytes: () => 65536,
    refusedZones: () => 3,
    zonesWithoutRoom: () => 7,
    heldZones: () => 120,
    asked: () => ({ reported: 13, dropped: 2 }),
    counted: () => ({ reported: 900, other: 4, dropped: 5 }),
    diskSpace: async () => ({ free: 1000, total: 5000 }),
    writeFailures: () => ({ disk_full: 6, other: 1 }),
    slowPathDropped: () => ({ network: 8, waiting: 9 }),
    observed: () => ({ frames: 41, framesUnread: 42, framesQueued: 43, linesUnwritten: 44 }),
    tls: () => ({
      connections: 31,
      handshakes: { done: 32, failed: 33, timeout: 34, refused: 35 },
      resumed: 36,
      dohStatuses: { 200: 37, 415: 38 },
    }),
    tlsFiles: () => ({ expiresAtMs: Date.now() - 3_600_000, failures: 37 }),
    transfers: () => ({
      transfers: [{ form: 'axfr', outcome: 'sent', count: 21 }],
      notifies: [{ direction: 'out', outcome: 'acknowledged', count: 22 }],
      notifyQueue: [{ peer: 'second', count: 23 }],
      tsigFailures: [{ error: 'BADKEY', count: 24 }],
      historyMisses: [{ why: 'purged', count: 25 }],
      updates: [{ outcome: 'late', count: 27 }],
      updatesWaiting: 28,
      zoneSerials: [{ zone: 'example.test.', serial: 26 }],
    }),
  });
  await metrics.metrics(); // a second scrape returns the same values
  return (await metrics.metrics()).split('\n');
}

test('the metrics equal the counts', async () => {
  const counters = new QueryCounters();
  counters.countAnswer(0, TYPE.A, RCODE.NOERROR, false);
  counters.countAnswer(0, TYPE.A, RCODE.NOERROR, true);
  counters.countAnswer(1, 4711, RCODE.REFUSED, false);
  counters.countTraffic(0, 12, 65_535, EDNS_BIT.EDNS | EDNS_BIT.DO | EDNS_BIT.COOKIE);
  counters.countTraffic(0, 40, 512, EDNS_BIT.EDNS);
  counters.countTraffic(3, 17, 513, 0);
  counters.countSigned(3, false);
  counters.countSigned(1, true);
  counters.observeLatency(0.000_015);
  counters.observeLatency(7);
  Object.assign(counters, { rateDropped: 11, tcpRefused: 12, ignored: 13, octetsDropped: 14 });
  Object.assign(counters, { octetsTruncated: 15, tcpUnread: 16, tcpSlowed: 17 });
  Object.assign(counters, { samplesLimited: 45, samplesLost: 46 });
  const lines = await exported(counters, 0.5);
  const wanted = METRICS.trim().split('\n');
  expect(lines).toEqual(expect.arrayContaining(wanted));
  expect(await exported(new QueryCounters())).toContain('zonefleet_feed_lag_seconds Nan');
});

const METRICS = `
zonefleet_refused_zones 3
zonefleet_held_zones 120
zonefleet_zones_without_room 7
zonefleet_asked_reports_total{result="reported"} 13
zonefleet_asked_reports_total{result="dropped"} 2
zonefleet_zone_counts_total{result="reported"} 900
zonefleet_zone_counts_total{result="other"} 4
zonefleet_zone_counts_total{result="dropped"} 5
zonefleet_disk_free_bytes 1000
zonefleet_disk_bytes 5000
zonefleet_snapshot_write_failures_total{reason="disk_full"} 6
zonefleet_snapshot_write_failures_total{reason="other"} 1
zonefleet_image_bytes 4096
zonefleet_image_capacity_bytes 65536
zonefleet_queries_total{transport="udp",type="A",rcode="NOERROR"} 2
zonefleet_queries_total{transport="tcp",type="other",rcode="REFUSED"} 1
zonefleet_truncated_total{transport="udp"} 1
zonefleet_edns_total{bit="edns"} 2
zonefleet_edns_total{bit="do"} 1
zonefleet_edns_total{bit="cookie"} 1
zonefleet_edns_total{bit="padding"} 0
# TYPE zonefleet_request_octets histogram
zonefleet_request_octets_bucket{le="16",transport="udp"} 1
zonefleet_request_octets_bucket{le="32",transport="udp"} 1
zonefleet_request_octets_bucket{le="64",transport="udp"} 2
zonefleet_request_octets_bucket{le="+Inf",transport="udp"} 2
zonefleet_request_octets_sum{transport="udp"} 52
zonefleet_request_octets_count{transport="udp"} 2
zonefleet_request_octets_bucket{le="16",transport="https"} 0
zonefleet_request_octets_bucket{le="32",transport="https"} 1
zonefleet_response_octets_bucket{le="256",transport="udp"} 0
zonefleet_response_octets_bucket{le="512",transport="udp"} 1
zonefleet_response_octets_bucket{le="32768",transport="udp"} 1
zonefleet_response_octets_bucket{le="65536",transport="udp"} 2
zonefleet_response_octets_bucket{le="1024",transport="https"} 1
zonefleet_response_octets_sum{transport="https"} 513
zonefleet_response_octets_count{transport="tcp"} 0
zonefleet_truncated_total{transport="tcp"} 0
zonefleet_tls_connections 31
zonefleet_tls_handshakes_total{outcome="done"} 32
zonefleet_tls_handshakes_total{outcome="refused"} 35
zonefleet_tls_resumed_total 36
zonefleet_tls_certificate_expiry_seconds -3600
zonefleet_tls_reload_failures_total 37
zonefleet_signed_answers_total 2
zonefleet_signed_truncated_total 1
zonefleet_proofs_total 4
zonefleet_limited_total{reason="rate_dropped"} 11
zonefleet_limited_total{reason="tcp_refused"} 12
zonefleet_limited_total{reason="octets_dropped"} 14
zonefleet_limited_total{reason="octets_truncated"} 15
zonefleet_limited_total{reason="tcp_unread"} 16
zonefleet_limited_total{reason="tcp_slowed"} 17
zonefleet_unanswered_total{reason="ignored"} 13
zonefleet_failures_total{reason="exception"} 0
# TYPE zonefleet_answer_seconds histogram
zonefleet_answer_seconds_bucket{le="0.00001"} 0
zonefleet_answer_seconds_bucket{le="0.00002"} 1
zonefleet_answer_seconds_bucket{le="0.1"} 1
zonefleet_answer_seconds_bucket{le="+Inf"} 2
zonefleet_answer_seconds_sum 7.000015
zonefleet_answer_seconds_count 2
zonefleet_dnstap_frames_total 41
zonefleet_dnstap_dropped_total{reason="limited"} 90
zonefleet_dnstap_dropped_total{reason="behind"} 92
zonefleet_dnstap_dropped_total{reason="unread"} 42
zonefleet_dnstap_dropped_total{reason="queued"} 43
zonefleet_query_log_dropped_total{reason="limited"} 45
zonefleet_query_log_dropped_total{reason="behind"} 46
zonefleet_query_log_dropped_total{reason="unwritten"} 44
zonefleet_slow_path_dropped_total{reason="network"} 8
zonefleet_slow_path_dropped_total{reason="waiting"} 9
zonefleet_transfers_total{direction="out",form="axfr",outcome="sent"} 21
zonefleet_notifies_total{direction="out",outcome="acknowledged"} 22
zonefleet_notify_queue{peer="second"} 23
zonefleet_tsig_failures_total{error="BADKEY"} 24
zonefleet_history_misses_total{why="purged"} 25
zonefleet_update_messages_total{outcome="late"} 27
zonefleet_updates_waiting 28
zonefleet_zone_serial{zone="example.test."} 26
zonefleet_zones 3
zonefleet_records 40
zonefleet_regions 2
zonefleet_tcp_connections 5
zonefleet_feed_lag_seconds 0.5
`;
