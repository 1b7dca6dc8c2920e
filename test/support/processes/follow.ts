// Following nodes in tests: their log, zones for them, and a comparison of their images with Postgres, name by name.

import { type Name, parseName } from '../../../src/dns/name.ts';
import { followChanges } from '../../../src/nameserver/follow/follow-changes.ts';
import type { Following, FollowOptions } from '../../../src/nameserver/follow/follow-options.ts';
import { createImage, Image } from '../../../src/nameserver/image/image.ts';
import { ImageWriter } from '../../../src/nameserver/image/write-image.ts';
import type { Log } from '../../../src/process/reconnect.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import { buildZone } from '../../../src/zone/build-zone.ts';
import type { Zone, ZoneRecord } from '../../../src/zone/zone.ts';
import { listZones } from '../database/list-zones.ts';
import { until } from '../tests/until.ts';
import { readZone } from '../zone/read-zone.ts';
import { recordsOf } from '../zone/zone-text.ts';

export interface LogLine {
  level: 'debug' | 'info' | 'warn' | 'error';
  fields: object;
  message: string;
}

export function collectingLog(): Log & { lines: LogLine[] } {
  const lines: LogLine[] = [];
  const at = (level: LogLine['level']) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** Returns a small zone. `serial` distinguishes its versions. */
export function smallZone(apex: string, serial: number, extra = ''): { apex: Name; records: ZoneRecord[] } {
  const text = `@ 300 IN SOA ns1.example.net. hostmaster.example.net. ${serial} 3600 600 86400 300
@ 300 IN NS ns1.example.net.
www 300 IN A 192.0.2.${serial % 256}
${extra}`;
  return { apex: parseName(apex), records: recordsOf(text, apex) };
}

export interface FollowingNode extends Following {
  readonly zones: ServedZones;
}

type TestFollowOptions = Partial<FollowOptions> & { databaseUrl: string };

/** Contents of an image, read from it each time. */
class ServedZones {
  readonly #writer: ImageWriter;

  constructor(writer: ImageWriter) {
    this.#writer = writer;
  }

  get size(): number {
    return this.#writer.zones;
  }

  has(apex: Name): boolean {
    return this.#writer.rootOf(apex) !== 0;
  }

  get(apex: Name): Zone | undefined {
    return readZone(this.#writer.image, apex);
  }

  keys(): Name[] {
    return [...this.#writer.entries()].map((entry) => entry.apex);
  }
}

export function newWriter(bytes = IMAGE_BYTES): ImageWriter {
  return new ImageWriter(new Image(createImage(bytes, SEED)));
}

const IMAGE_BYTES = 64 << 20;
const SEED = 0x5eed;

/** Follows into a separate image in this thread. */
export async function follow(options: TestFollowOptions): Promise<FollowingNode> {
  const writer = options.writer ?? newWriter();
  const node = await followChanges({ nodeName: 'node', log: collectingLog(), ...options, writer });
  return { zones: new ServedZones(writer), state: () => node.state(), stop: () => node.stop() };
}

export async function followLoaded(options: TestFollowOptions): Promise<FollowingNode> {
  const node = await follow(options);
  await until(() => node.state().loaded);
  return node;
}

/** Returns all differences between a node and Postgres. Empty if they are equal. */
export async function differences(node: FollowingNode, db: Database): Promise<string[]> {
  const found: string[] = [];
  const listed = await listZones(db);
  const apexes = new Set(listed.map((zone) => zone.apex));
  for (const apex of node.zones.keys())
    if (!apexes.has(apex)) found.push(`${apex}: served, but not in Postgres`);
  for (const { apex } of listed) {
    const stored = await loadZone(db, apex);
    const served = node.zones.get(apex);
    if (stored === undefined || served === undefined) {
      found.push(`${apex}: ${stored === undefined ? 'vanished' : 'not served'}`);
      continue;
    }
    const built = buildZone(apex, stored.records);
    if (built.kind === 'refused') found.push(`${apex}: cannot be built`);
    else found.push(...zoneDifferences(built.zone, served).map((text) => `${apex}: ${text}`));
  }
  return found;
}

function zoneDifferences(wanted: Zone, served: Zone): string[] {
  const found: string[] = [];
  if (wanted.serial !== served.serial) found.push(`serial ${served.serial}, not ${wanted.serial}`);
  if (wanted.records !== served.records) found.push(`${served.records} records, not ${wanted.records}`);
  for (const name of new Set([...wanted.nodes.keys(), ...served.nodes.keys()])) {
    const left = print(wanted, name);
    const right = print(served, name);
    if (left !== right) found.push(`${name}: ${right}, not ${left}`);
  }
  return found;
}

function print(zone: Zone, name: Name): string {
  const node = zone.nodes.get(name);
  if (node === undefined) return 'nothing';
  const sets = [...node.sets.values()].map((set) => {
    const rdata = set.rdata.map((one) => Buffer.from(one).toString('hex')).sort();
    return `${set.type} ${set.ttl} ${rdata.join(' ')}`;
  });
  if (zone.marked.has(name)) sets.push('a mark');
  return sets.sort().join('; ') || 'an empty non-terminal';
}

/** Polls until the node equals Postgres. */
export async function untilEqual(node: FollowingNode, db: Database, timeoutMs = 30_000): Promise<void> {
  let left: string[] = [];
  await until(
    async () => {
      left = await differences(node, db);
      return left.length === 0;
    },
    () => JSON.stringify({ differences: left.length, first: left.slice(0, 5), state: node.state() }),
    timeoutMs,
  );
}
