// The parts of the benchmark in the order in which they run. Parts that need the same servers run together.

import { domains } from './api/create-domains.ts';
import { capacity } from './capacity/capacity.ts';
import { cli } from './cli/cli.ts';
import type { Part, PartName } from './part.ts';
import { analytics } from './parts/analytics.ts';
import { answers } from './parts/answers.ts';
import { api } from './parts/api.ts';
import { cache } from './parts/cache.ts';
import { checks, publicChecks } from './parts/checks.ts';
import { console } from './parts/console.ts';
import { dnsCounts } from './parts/dns-counts.ts';
import { edge } from './parts/edge.ts';
import { edits } from './parts/edits.ts';
import { latency } from './parts/latency.ts';
import { logins } from './parts/logins.ts';
import { refresh } from './parts/refresh.ts';
import { regions } from './parts/regions.ts';
import { rrl } from './parts/rrl.ts';
import { scale } from './parts/scale.ts';
import { scan } from './parts/scan.ts';
import { signed } from './parts/signed.ts';
import { signedEdits } from './parts/signed-edits.ts';
import { signedMemory } from './parts/signed-memory.ts';
import { regionSigning, signing } from './parts/signing.ts';
import { soak } from './parts/soak.ts';
import { tcp } from './parts/tcp.ts';
import { tls } from './parts/tls.ts';
import { notify, transfer } from './parts/transfers.ts';
import { update } from './parts/update.ts';
import { xdp } from './xdp/xdp-part.ts';

export interface PartGroup {
  readonly part: Part;
  readonly names: readonly { readonly name: PartName; readonly minutes: number; readonly about: string }[];
}

const single = (part: Part, minutes: number, about: string): PartGroup => ({
  part,
  names: [{ name: part.names[0] as PartName, minutes, about }],
});

export const PARTS: readonly PartGroup[] = [
  single(answers, 6, 'CPU per query from one zone of 10,000 names: plain, EDNS, cookies'),
  single(signed, 5, 'CPU per query with DO from signed zones of 10,000 names, NSEC and NSEC3'),
  single(signedMemory, 30, 'memory and start of a million small signed zones'),
  single(tcp, 2, 'CPU per query over TCP'),
  single(tls, 8, 'DNS over TLS and HTTPS next to BIND, NSD and dnsdist; dnstap; a large catalog'),
  single(rrl, 2, 'CPU per query with response-rate limiting'),
  single(xdp, 12, 'over a pair of virtual interfaces through XDP, next to Knot; 10 million answers compared'),
  single(regions, 4, 'CPU per query with and without regional answers'),
  single(dnsCounts, 4, 'CPU per query with and without counts by domain'),
  single(latency, 3, 'p50, p99 and p99.9 at half load'),
  single(capacity, 3, 'space of records and edits in Postgres, WAL, and what a node receives'),
  single(edits, 3, '1,000 changes per second under load; time until an edit is answered'),
  single(signedEdits, 8, 'time until an edit of a signed domain is answered, compared with unsigned domains'),
  single(refresh, 4, 'renewed signatures per second, for small zones and for a large one'),
  single(notify, 4, 'NOTIFY to secondaries: after a commit, and if 100,000 zones change'),
  single(transfer, 10, 'zone transfers of a million records, out and in, next to NSD, Knot and BIND'),
  single(update, 3, 'dynamic update and the APIs of other systems, compared with PowerDNS'),
  {
    part: scale,
    names: [
      { name: 'million', minutes: 9, about: 'CPU per query from a million zones, by Zipf and evenly' },
      { name: 'memory', minutes: 6, about: 'memory of a million zones (1 min if run with million)' },
      {
        name: 'start',
        minutes: 12,
        about: 'first answer after a start with a million zones, compared with an older commit (--old)',
      },
    ],
  },
  single(checks, 8, 'delegation checks: per second, through the queue, and with a million domains'),
  single(publicChecks, 5, 'checks while a thousand people request checks at /check/NAME'),
  single(cli, 1, 'starts of commands, compared with an empty Node program'),
  single(scan, 15, 'scans of generated zones: found records, queries, seconds; compared with dnsrecon'),
  single(api, 7, 'the HTTP API next to PowerDNS: 20,000 records, concurrent calls; pages of 300,000 domains'),
  single(domains, 4, 'domains created per second, compared with an older commit (--old)'),
  single(logins, 1, 'a thousand concurrent sign-ins: delay of other calls, memory'),
  single(
    edge,
    2,
    'edges that follow an API: snapshot of 100,000 domains, changed rules, edges that were offline',
  ),
  single(cache, 4, 'purges at three edges; pages of a million cached entries'),
  single(
    analytics,
    12,
    'the analytics engine: 20,000 lines per second while it is killed; queries over 50 million lines',
  ),
  single(soak, 12, 'ten minutes of load and edits: memory, lost zones, collections'),
  single(signing, 8, 'signing a zone of 100,000 names, and 10,000 domains, while others edit'),
  single(regionSigning, 3, 'signatures over the sets of regions for 100,000 proxied names'),
  single(
    console,
    5,
    'the console in a browser: first load, scrolling, memory; next to Bull Board and netdata',
  ),
];
