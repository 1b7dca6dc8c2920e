// Selects many records as a few values with a column each: for Postgres and for this process, a row or a JSON array per record
// is several times as expensive. Long lists are printed directly from the columns (`RecordReader`).

import { type RawBuilder, sql } from 'kysely';
import { SETTING_NAMES } from '../../zone/records/customer-record.ts';
import {
  DEFAULTS,
  HAS_MORE_SETTINGS,
  HAS_SETTINGS,
  type RecordJson,
  SETTINGS_ARRAY,
  type SettingsJson,
} from './record-row.ts';

/** Settings and other values that most records do not have. `r` is the table of records. */
const RARE = sql`json_build_array(r.id, case when ${HAS_SETTINGS} then ${SETTINGS_ARRAY} end,
  case when r.updated_at <> r.created_at then r.updated_at at time zone 'UTC' end, r.managed)`;
const HAS_RARE = sql`r.updated_at <> r.created_at or r.managed or ${HAS_MORE_SETTINGS}`;

/** Values that cannot contain the separator are joined as texts, which are cheaper than JSON. Times are binary. */
const COLUMNS = sql`count(*)::integer as count, string_agg(r.id::text, ' ') as ids, string_agg(r.name, ' ') as names,
  string_agg(r.type, ' ') as types, string_agg(encode(r.rdata, 'hex'), ' ') as rdata,
  string_agg(r.ttl::text, ' ') as ttls, string_agg(coalesce(r.dest_country, ''), ' ') as countries,
  string_agg(timestamptz_send(r.created_at), '') as created, json_agg(r.destination)::text as destinations,
  json_agg(${RARE}) filter (where ${HAS_RARE}) as rare`;

/** Every text is null if there are no records. */
export interface RecordColumns {
  readonly count: number;
  readonly ids: string;
  readonly names: string;
  readonly types: string;
  readonly rdata: string;
  readonly ttls: string;
  readonly countries: string;
  readonly created: Buffer;
  /** A JSON array of strings. */
  readonly destinations: string;
  readonly rare: readonly Rare[] | null;
}

type Rare = readonly [id: number, settings: RecordJson[5], updatedAt: RecordJson[7], managed: boolean];

/** Selects rows of the table of records, in their order. */
export function selectColumns(records: RawBuilder<unknown>): RawBuilder<RecordColumns> {
  return sql<RecordColumns>`select ${COLUMNS} from (${records}) r`;
}

/** Returns a row for each record. */
export function rowsOf(columns: RecordColumns): RecordJson[] {
  const { count } = columns;
  if (count === 0) return [];
  const names = columns.names.split(' ');
  const types = columns.types.split(' ') as RecordJson[2][];
  const rdata = columns.rdata.split(' ');
  const ttls = columns.ttls.split(' ');
  const countries = columns.countries.split(' ');
  const destinations = JSON.parse(columns.destinations) as string[];
  const rare = columns.rare ?? [];
  const momentAt = momentsOf(columns.created);
  let next = 0; // `rare` has the same order
  return columns.ids.split(' ', count).map((text, i): RecordJson => {
    const id = Number(text);
    const [, settings, updatedAt, managed] = rare[next]?.[0] === id ? (rare[next++] as Rare) : USUAL;
    return [
      id,
      names[i] as string,
      types[i] as RecordJson[2],
      rdata[i] as string,
      Number(ttls[i]),
      settings ?? settingsWith(countries[i] as string),
      momentAt(i),
      updatedAt,
      managed,
      destinations[i] as string,
    ];
  });
}

/** The values of a record that has none of them. */
export const USUAL: Rare = [0, null, null, false];

/** The settings of records without others than the country. */
const ofCountries = new Map<string, SettingsJson>();
const DEST_COUNTRY = SETTING_NAMES.indexOf('destCountry');

/** Returns null if the country is the default too. */
export function settingsWith(country: string): SettingsJson | null {
  if (country === '') return null;
  const known = ofCountries.get(country);
  if (known !== undefined) return known;
  const settings = DEFAULTS.with(DEST_COUNTRY, country) as unknown as SettingsJson;
  ofCountries.set(country, settings); // at most 676: two letters
  return settings;
}

/** Postgres counts microseconds from this time. */
const EPOCH_MS = Date.UTC(2000, 0, 1);
const MOMENT_OCTETS = 8;

/** Returns a function that reads a time as in `RecordJson`. It keeps the last text: records of one import have the same time. */
export function momentsOf(octets: Buffer): (index: number) => string {
  let [high, low, text] = [-1, -1, ''];
  return (index) => {
    const [nextHigh, nextLow] = [
      octets.readInt32BE(index * MOMENT_OCTETS),
      octets.readUInt32BE(index * MOMENT_OCTETS + 4),
    ];
    if (nextHigh !== high || nextLow !== low) {
      [high, low] = [nextHigh, nextLow];
      const microseconds = high * 2 ** 32 + low;
      const ms = Math.floor(microseconds / 1000);
      const rest = String(microseconds - ms * 1000).padStart(3, '0');
      text = new Date(EPOCH_MS + ms).toISOString().slice(0, -1) + rest;
    }
    return text;
  };
}
