// `zone load`: validates the files, then saves the valid zones, many per transaction; while one batch is saved, the next is read.
// A refused file does not keep others from loading. An interrupt takes effect between batches: exactly the zones that were
// printed as loaded are committed.

import { setImmediate } from 'node:timers/promises';
import { type Name, printName } from '../../dns/name.ts';
import type { Database } from '../../store/postgres/database.ts';
import {
  RefusedZonesError,
  type SavedZone,
  type SerialRule,
  saveZones,
} from '../../store/zones/save-zones.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { Audited } from '../terminal/cli.ts';
import { explainFailure, isAboutTheRows } from '../terminal/failure.ts';
import { INTERRUPTED, type Item, Listing, type Output } from '../terminal/output.ts';
import { collectZones, goodItem, type RefusedFile, refusedItem, type WaitingZone } from './collect-zones.ts';
import { type FileProblem, judgeZoneFile } from './judge-zone-file.ts';

interface LoadOrder {
  readonly paths: readonly string[];
  readonly origin: Name | undefined;
  readonly serialRule: SerialRule;
  readonly at: number;
  readonly actor: string;
  readonly signal: AbortSignal;
  /** Saves the batch with an audit log entry. */
  readonly audited: (db: Database, save: Audited<SavedZone[]>) => Promise<SavedZone[]>;
}

interface ReadyZone {
  readonly file: string;
  readonly apex: Name;
  readonly records: readonly ZoneRecord[];
  readonly warnings: readonly FileProblem[];
}

const KEEP_RECORDS = 250_000;
const BATCH_ZONES = 500;
const BATCH_RECORDS = 20_000;

export async function loadZoneFiles(db: Database, order: LoadOrder, output: Output): Promise<number> {
  const load = new Load(db, order, new Listing(output, 'files'));
  let complete = false;
  try {
    await load.run();
    complete = !order.signal.aborted;
  } finally {
    await load.summarize(complete);
  }
  if (!complete) return INTERRUPTED;
  return load.counts.refused > 0 ? 1 : 0;
}

class Load {
  readonly counts = { files: 0, created: 0, replaced: 0, unchanged: 0, refused: 0, records: 0 };
  readonly #db: Database;
  readonly #order: LoadOrder;
  readonly #listing: Listing;

  constructor(db: Database, order: LoadOrder, listing: Listing) {
    this.#db = db;
    this.#order = order;
    this.#listing = listing;
  }

  async run(): Promise<void> {
    const { zones, files } = await collectZones(this.#order.paths, {
      origin: this.#order.origin,
      at: this.#order.at,
      keepRecords: KEEP_RECORDS,
      signal: this.#order.signal,
      refuse: (refused) => this.#refuse(refused),
    });
    this.counts.files = files;
    let saving = Promise.resolve();
    let batch: ReadyZone[] = [];
    let weight = 0;
    for (const zone of zones) {
      if (this.#order.signal.aborted) break;
      const ready = await this.#ready(zone);
      if (ready === undefined) continue;
      batch.push(ready);
      weight += ready.records.length;
      if (batch.length < BATCH_ZONES && weight < BATCH_RECORDS) {
        await setImmediate(); // lets the save of the previous batch continue
        continue;
      }
      await saving;
      saving = this.#save(batch);
      saving.catch(() => {}); // awaited above or below
      batch = [];
      weight = 0;
    }
    await saving;
    if (batch.length > 0 && !this.#order.signal.aborted) await this.#save(batch);
  }

  async summarize(complete: boolean): Promise<void> {
    const { files, created, replaced, unchanged, refused, records } = this.counts;
    const loaded = created + replaced + unchanged;
    const outcomes = `created ${created} replaced ${replaced} unchanged ${unchanged} refused ${refused}`;
    const stopped = complete ? '' : ' (stopped before the end)';
    const line = `files ${files} zones ${loaded} records ${records} ${outcomes}${stopped}`;
    await this.#listing.end({ summary: { ...this.counts, complete } }, line);
  }

  /** Returns the zone with its records, reading the file again if they were released. Returns undefined if that fails. */
  async #ready(zone: WaitingZone): Promise<ReadyZone | undefined> {
    const { apex, records, warnings } = zone;
    const file = zone.file.name;
    zone.records = undefined; // from here on only the batch holds the records
    if (records !== undefined) return { file, apex, records, warnings };
    const again = judgeZoneFile(zone.file, { origin: this.#order.origin, at: undefined });
    if (again.kind === 'good' && again.apex === apex) return { file, apex, records: again.records, warnings };
    const message = 'changed while it was being loaded';
    await this.#refuse({
      file,
      apex,
      problems: again.kind === 'good' ? [{ file, message }] : again.problems,
    });
    return undefined;
  }

  async #save(batch: readonly ReadyZone[]): Promise<void> {
    let saved: SavedZone[];
    try {
      saved = await this.#order.audited(this.#db, async (trx, tell) => {
        const { actor, serialRule } = this.#order;
        const zones = await saveZones(trx, batch, { source: 'cli', actor }, serialRule);
        const names = zones.flatMap(({ apex, outcome }) => (outcome === 'unchanged' ? [] : printName(apex)));
        if (names.length > 0) tell({ target: { name: names[0] }, after: { zones: names.length, names } });
        return zones;
      });
    } catch (error) {
      if (error instanceof RefusedZonesError) await this.#saveWithout(error, batch);
      else if (isAboutTheRows(error)) await this.#saveApart(batch, error);
      else throw error;
      return;
    }
    const ready = new Map(batch.map((zone) => [zone.apex, zone]));
    for (const zone of saved) {
      this.counts[zone.outcome]++;
      this.counts.records += zone.records;
      await this.#listing.add(loadedItem(ready.get(zone.apex)!, zone));
    }
  }

  async #saveWithout({ apexes, why }: RefusedZonesError, batch: readonly ReadyZone[]): Promise<void> {
    for (const { file, apex } of batch.filter(({ apex }) => apexes.includes(apex))) {
      const message = `${printName(apex)} ${why}`;
      await this.#refuse({ file, apex, problems: [{ file, message }] });
    }
    const others = batch.filter(({ apex }) => !apexes.includes(apex));
    if (others.length > 0) await this.#save(others);
  }

  // A constraint of the database refused a row: save the zones one by one, so that one does not block the others.
  async #saveApart(batch: readonly ReadyZone[], error: unknown): Promise<void> {
    const [first] = batch;
    if (batch.length > 1) for (const zone of batch) await this.#save([zone]);
    else if (first !== undefined) {
      const { file, apex } = first;
      await this.#refuse({ file, apex, problems: [{ file, message: explainFailure(error).message }] });
    }
  }

  async #refuse(refused: RefusedFile): Promise<void> {
    this.counts.refused++;
    await this.#listing.add(refusedItem(refused));
  }
}

export function loadedItem({ file, warnings }: Pick<ReadyZone, 'file' | 'warnings'>, saved: SavedZone): Item {
  const zone = printName(saved.apex);
  const { outcome, version, records } = saved;
  const line = `loaded ${zone} version ${version} records ${records} (${outcome})`;
  return goodItem({ json: { file, outcome, zone, version, records }, line }, warnings);
}
