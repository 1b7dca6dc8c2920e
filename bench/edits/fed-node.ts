// A nameserver without Postgres: the zones of a recipe in an image, one UDP thread, and this thread, which writes the
// number of changes per second that its parent requests. It shows the effect of writes on reads, without Postgres.
//   fed-node.ts ADDRESS PORT ZONES

import { parseName, prependLabel } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { parseZoneFile } from '../../src/dns/zone-file/parse-zone-file.ts';
import { QueryCounters } from '../../src/nameserver/answer/query-counters.ts';
import { createImage, Image } from '../../src/nameserver/image/image.ts';
import { ImageWriter } from '../../src/nameserver/image/write-image.ts';
import { DEFAULT_TCP_LIMITS } from '../../src/nameserver/tcp/limited-connections.ts';
import { listenUdp } from '../../src/nameserver/udp/udp.ts';
import { buildZone } from '../../src/zone/build-zone.ts';
import type { ZoneRecord } from '../../src/zone/zone.ts';
import { RECIPE, recipeName } from '../zones/recipe-zones.ts';

/** Octets of the SOA's rdata from its serial on. */
const SOA_NUMBERS = 20;
const TICK_MS = 10;
/** Prime to the number of zones: consecutive changes hit zones far apart. */
const STEP = 7919;
const BYTES_EACH = 4096; // more than a zone takes

const [address = '', port = '', zonesText = ''] = process.argv.slice(2);
const zones = Number(zonesText);
const buffer = createImage(64 * 2 ** 20 + zones * BYTES_EACH, 1);
const writer = new ImageWriter(new Image(buffer));
const apexOf = (index: number) => parseName(`${recipeName(index)}.`);

let soa: ZoneRecord | undefined; // shared by all zones: its rdata does not name the zone
for (let i = 0; i < zones; i++) {
  const apex = apexOf(i);
  const { records } = parseZoneFile(RECIPE, { origin: apex });
  const built = buildZone(apex, records);
  if (built.kind === 'refused') throw new Error(built.problems[0]?.message);
  writer.put(built.zone, { id: i + 1, version: 1, mark: 1 });
  soa = records.find(({ type }) => type === TYPE.SOA);
}
const { ttl: soaTtl, rdata: soaRdata } = soa as ZoneRecord;
const log = { debug() {}, info() {}, warn: console.error, error: console.error };
await listenUdp({
  addresses: [{ address, port: Number(port) }],
  io: 'auto',
  threads: 1,
  parts: () => ({
    image: buffer,
    slot: 1,
    settings: {
      nodeName: 'bench',
      version: 'bench',
      cookieSecrets: [new Uint8Array(16)],
      tcpIdleTimeoutMs: DEFAULT_TCP_LIMITS.idleTimeoutMs,
    },
    counters: new QueryCounters().buffer,
  }),
  log,
  reportFailure: console.error,
});

let written = 1;

function changeOne(): void {
  const n = written++;
  const index = (n * STEP) % zones;
  const apex = apexOf(index);
  const owner = prependLabel('www', apex) ?? apex;
  const rdata = Buffer.from(soaRdata);
  rdata.writeUInt32BE(n, rdata.length - SOA_NUMBERS);
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(n);
  const records = [
    { owner: apex, type: TYPE.SOA, ttl: soaTtl, rdata },
    { owner, type: TYPE.A, ttl: 3600, rdata: octets },
  ];
  const edited = writer.edit(apex, { id: index + 1, version: n + 1, mark: n }, { records, gone: [] });
  if (edited.kind === 'refused') throw new Error(edited.problems[0]?.message);
}

let perSecond = 0;
let startedMs = 0;
let made = 0;
setInterval(() => {
  const due = Math.floor(((performance.now() - startedMs) * perSecond) / 1000);
  for (; made < due; made++) changeOne();
}, TICK_MS);

process.on('message', (wanted: number) => {
  process.send?.(made);
  perSecond = wanted;
  startedMs = performance.now();
  made = 0;
});
process.on('disconnect', () => process.exit(0));
