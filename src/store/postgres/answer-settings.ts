// The settings that answers are made of. They are stored in Postgres, so that all processes of a fleet answer alike.
// Each change of them starts a generation: a domain whose published records belong to an older one is published anew by
// `republishDomains`, or by the next edit.

import { sql } from 'kysely';
import { type Name, parseName } from '../../dns/name.ts';
import { expandPool, type NameserverPool } from '../../zone/pool/pool.ts';
import type { EdgeAddresses } from '../../zone/records/customer-record.ts';
import type { Database } from './database.ts';
import { encodeNameColumn } from './name-column.ts';

export interface AnswerSettings {
  edgeIpv4: readonly string[];
  edgeIpv6: readonly string[];
  /** Sets of nameserver names; the first one is canonical. */
  nameserverSets: readonly (readonly string[])[];
  /** Patterns of nameserver names in lists, as NAMESERVER_POOL has them; none: there is no pool. */
  nameserverPool?: readonly (readonly string[])[];
  /** The addresses of each list. */
  nameserverAddresses?: readonly (readonly string[])[];
  soaRname: string;
}

const SETTING_NAMES = {
  edgeIpv4: 'EDGE_IPV4',
  edgeIpv6: 'EDGE_IPV6',
  nameserverSets: 'NAMESERVER_SETS',
  nameserverPool: 'NAMESERVER_POOL',
  nameserverAddresses: 'NAMESERVER_ADDRESSES',
  soaRname: 'SOA_RNAME',
} as const satisfies Record<keyof AnswerSettings, string>;

/** What published records are made of: a change of any other setting leaves them as they are. */
const APEX_SETTINGS: readonly string[] = [SETTING_NAMES.nameserverSets, SETTING_NAMES.soaRname];
const EDGE_SETTINGS: readonly string[] = [SETTING_NAMES.edgeIpv4, SETTING_NAMES.edgeIpv6];
/** An empty list of these is not stored. */
const OPTIONAL_SETTINGS: readonly string[] = [
  SETTING_NAMES.nameserverPool,
  SETTING_NAMES.nameserverAddresses,
];

/** Undefined until `migrate` has stored them. */
export async function loadAnswerSettings(db: Database): Promise<AnswerSettings | undefined> {
  return (await loadAll(db))?.settings;
}

interface StoredSettings {
  readonly settings: AnswerSettings;
  readonly generations: Generations;
  readonly regional: boolean;
}

/** Selects all settings, for a statement that reads other data too. */
export const SETTINGS_TEXT = sql<
  string | null
>`(select jsonb_object_agg(s.name, s.value)::text from settings s)`;

async function loadAll(db: Database): Promise<StoredSettings | undefined> {
  const { rows } = await sql<{ text: string | null }>`select ${SETTINGS_TEXT} as text`.execute(db);
  return decodeSettings(rows[0]?.text ?? null);
}

function decodeSettings(text: string | null): StoredSettings | undefined {
  const values = JSON.parse(text ?? '{}');
  const entries = Object.entries(SETTING_NAMES).map(([key, name]) => [key, values[name]]);
  const required = Object.values(SETTING_NAMES).filter((name) => !OPTIONAL_SETTINGS.includes(name));
  if (required.some((name) => values[name] === undefined)) return undefined;
  return {
    settings: Object.fromEntries(entries) as AnswerSettings,
    generations: values[GENERATIONS] ?? FIRST_GENERATIONS,
    regional: values[REGIONAL] === true,
  };
}

/** The row that says that proxied names are published with edge marks: from the first edge on, for good. */
const REGIONAL = 'EDGE_REGIONS';

/** The row that says which generation of the settings published records are made of. */
const GENERATIONS = 'ANSWER_GENERATIONS';

interface Generations {
  /** The generation in which the edge's addresses last changed. */
  readonly edges: number;
  /** The generation in which nameservers or the SOA's mailbox last changed. */
  readonly apex: number;
  /** No domain's published records belong to an older generation. */
  readonly published: number;
}

const FIRST_GENERATIONS: Generations = { edges: 1, apex: 1, published: 1 };

/** The settings as publishing takes them. */
export interface PublishSettings {
  readonly edges: EdgeAddresses;
  readonly nameserverSets: readonly (readonly Name[])[];
  readonly pool: NameserverPool | undefined;
  readonly rname: Name;
  readonly generations: Generations;
  readonly generation: number;
}

const SETTINGS_LOCK = 0x73657473; // 'sets'

/** Locks the settings until the transaction's end, so that a domain that is created now is not missed. */
export async function lockPublishSettings(trx: Database): Promise<PublishSettings> {
  await sql`select pg_advisory_xact_lock_shared(${SETTINGS_LOCK})`.execute(trx);
  return await loadPublishSettings(trx);
}

export async function loadPublishSettings(db: Database): Promise<PublishSettings> {
  const { rows } = await sql<{ text: string | null }>`select ${SETTINGS_TEXT} as text`.execute(db);
  return decodePublishSettings(rows[0]?.text ?? null);
}

let decoded: { readonly text: string; readonly settings: PublishSettings } | undefined;

/** Decodes `SETTINGS_TEXT`. Nearly every statement gives the same settings, so the last ones are cached. */
export function decodePublishSettings(text: string | null): PublishSettings {
  if (decoded === undefined || decoded.text !== text) {
    const all = decodeSettings(text);
    if (all === undefined || text === null) {
      throw new Error('the database has no settings yet: run `zonefleet migrate`');
    }
    decoded = { text, settings: publishSettings(all) };
  }
  return decoded.settings;
}

function publishSettings({ settings, generations, regional }: StoredSettings): PublishSettings {
  return {
    edges: { v4: settings.edgeIpv4, v6: settings.edgeIpv6, ...(regional && { regional }) },
    nameserverSets: settings.nameserverSets.map((set) => set.map(absoluteName)),
    pool: expandPool(settings.nameserverPool ?? [], settings.nameserverAddresses ?? []),
    rname: absoluteName(settings.soaRname),
    generations,
    generation: Math.max(generations.edges, generations.apex),
  };
}

/** Every name under which our nameservers are known: those of the pool and of the sets. */
export function allOurNameservers({ pool, nameserverSets }: PublishSettings): readonly Name[] {
  return [...(pool?.lists.flat() ?? []), ...nameserverSets.flat()];
}

function absoluteName(text: string): Name {
  return parseName(text.endsWith('.') ? text : `${text}.`);
}

/** The same as `allOurNameservers`, as folded text with the final dot. */
export function nameserversIn({ nameserverPool = [], nameserverSets }: AnswerSettings): string[] {
  const pool = expandPool(nameserverPool, [])?.lists.flat() ?? [];
  return [...pool, ...nameserverSets.flat().map(absoluteName)].map(encodeNameColumn);
}

/** Locks the settings until the transaction's end, so that nobody reads them who will work by them. */
export async function lockAnswerSettings(trx: Database): Promise<void> {
  await sql`select pg_advisory_xact_lock(${SETTINGS_LOCK})`.execute(trx);
}

/** Saves the settings inside a transaction: a reader sees all of the new ones or none. */
export async function saveAnswerSettings(trx: Database, settings: AnswerSettings): Promise<string[]> {
  await lockAnswerSettings(trx);
  const first = (await trx.selectFrom('settings').select('name').limit(1).execute()).length === 0;
  const changed: string[] = [];
  for (const [key, name] of Object.entries(SETTING_NAMES)) {
    const value = settings[key as keyof AnswerSettings] ?? [];
    const isNone = OPTIONAL_SETTINGS.includes(name) && value.length === 0;
    if (await (isNone ? deleteSetting(trx, name) : saveSetting(trx, name, value))) changed.push(name);
  }
  if (first || changed.length === 0) return [];
  const { generations, generation } = await loadPublishSettings(trx);
  const edges = changed.some((name) => EDGE_SETTINGS.includes(name)) ? generation + 1 : generations.edges;
  const apex = changed.some((name) => APEX_SETTINGS.includes(name)) ? generation + 1 : generations.apex;
  await saveSetting(trx, GENERATIONS, { ...generations, edges, apex });
  return changed;
}

/** From now on proxied names are published with edge marks. True: they were not before, and domains are to be published anew. */
export async function startRegionalAnswers(trx: Database): Promise<boolean> {
  if ((await loadAll(trx))?.regional) return false; // who asks every few seconds keeps nobody from creating a domain
  await lockAnswerSettings(trx);
  if (!(await saveSetting(trx, REGIONAL, true))) return false;
  const { generations, generation } = await loadPublishSettings(trx);
  await saveSetting(trx, GENERATIONS, { ...generations, edges: generation + 1 });
  return true;
}

/** Records that every domain is published with the settings of this generation. */
export async function saveGenerationPublished(trx: Database, published: number): Promise<void> {
  const { generations } = await loadPublishSettings(trx);
  await saveSetting(trx, GENERATIONS, { ...generations, published });
}

async function saveSetting(trx: Database, name: string, value: unknown): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into settings as s (name, value) values (${name}, ${JSON.stringify(value)}::jsonb)
    on conflict (name) do update set value = excluded.value where s.value <> excluded.value`.execute(trx);
  return numAffectedRows === 1n;
}

async function deleteSetting(trx: Database, name: string): Promise<boolean> {
  const { numAffectedRows } = await sql`delete from settings where name = ${name}`.execute(trx);
  return numAffectedRows === 1n;
}
