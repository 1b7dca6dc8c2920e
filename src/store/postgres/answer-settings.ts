// The settings that answers depend on. They are stored in Postgres, so that all processes of a fleet give the same
// answers. Each change starts a generation. Domains whose published records belong to an older one are republished by
// `republishDomains`, or by the next edit.

import { sql } from 'kysely';
import { type Name, parseName } from '../../dns/name.ts';
import { expandPool, type NameserverPool } from '../../zone/pool/pool.ts';
import type { EdgeAddresses } from '../../zone/records/customer-record.ts';
import type { Database } from './database.ts';
import { encodeNameColumn } from './name-column.ts';
import { sendWithNext } from './pool-driver.ts';

export interface AnswerSettings {
  edgeIpv4: readonly string[];
  edgeIpv6: readonly string[];
  /** Sets of nameserver names. The first one is canonical. */
  nameserverSets: readonly (readonly string[])[];
  /** Patterns of nameserver names in lists, as in NAMESERVER_POOL. Undefined or empty without a pool. */
  nameserverPool?: readonly (readonly string[])[];
  /** The addresses of each list. */
  nameserverAddresses?: readonly (readonly string[])[];
  soaRname: string;
}

/** The settings of a process that migrates. */
export interface GivenAnswerSettings extends AnswerSettings {
  /** Settings that the environment lacks, which have their defaults here. A stored value is kept. */
  readonly unset?: readonly (keyof AnswerSettings)[];
}

const SETTING_NAMES = {
  edgeIpv4: 'EDGE_IPV4',
  edgeIpv6: 'EDGE_IPV6',
  nameserverSets: 'NAMESERVER_SETS',
  nameserverPool: 'NAMESERVER_POOL',
  nameserverAddresses: 'NAMESERVER_ADDRESSES',
  soaRname: 'SOA_RNAME',
} as const satisfies Record<keyof AnswerSettings, string>;

/** The settings that published records depend on. Changes of other settings do not affect published records. */
const APEX_SETTINGS: readonly string[] = [SETTING_NAMES.nameserverSets, SETTING_NAMES.soaRname];
const EDGE_SETTINGS: readonly string[] = [SETTING_NAMES.edgeIpv4, SETTING_NAMES.edgeIpv6];
/** Settings that are not stored if they are empty. */
const OPTIONAL_SETTINGS: readonly string[] = [
  SETTING_NAMES.nameserverPool,
  SETTING_NAMES.nameserverAddresses,
];

/** Returns undefined until `migrate` has stored them. */
export async function loadAnswerSettings(db: Database): Promise<AnswerSettings | undefined> {
  return (await loadAll(db))?.settings;
}

/** Returns the settings that apply after a migration with the given ones. */
export async function withStoredSettings(
  db: Database,
  { unset = [], ...given }: GivenAnswerSettings,
): Promise<AnswerSettings> {
  const stored = await loadAnswerSettings(db);
  if (stored === undefined) return given;
  return { ...given, ...Object.fromEntries(unset.map((key) => [key, stored[key]])) };
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

/** The row that is present if proxied names are published with edge marks: permanently, once the first edge exists. */
const REGIONAL = 'EDGE_REGIONS';

/** The row with the generations of the settings. */
const GENERATIONS = 'ANSWER_GENERATIONS';

interface Generations {
  /** The generation in which the edges' addresses last changed. */
  readonly edges: number;
  /** The generation in which nameservers or the SOA's mailbox last changed. */
  readonly apex: number;
  /** No domain's published records belong to an older generation. */
  readonly published: number;
}

const FIRST_GENERATIONS: Generations = { edges: 1, apex: 1, published: 1 };

/** The settings in the form that publishing uses. */
export interface PublishSettings {
  readonly edges: EdgeAddresses;
  readonly nameserverSets: readonly (readonly Name[])[];
  readonly pool: NameserverPool | undefined;
  readonly rname: Name;
  readonly generations: Generations;
  readonly generation: number;
}

const SETTINGS_LOCK = 0x73657473; // 'sets'

/** Locks the settings until the end of the transaction, so that a change of them includes domains created now. */
export async function lockPublishSettings(trx: Database): Promise<PublishSettings> {
  await sendWithNext(trx, sql`select ${SETTINGS_LOCKED}`);
  return await loadPublishSettings(trx);
}

/** Takes the same lock as an expression of a statement. A later statement can select `SETTINGS_TEXT`. */
export const SETTINGS_LOCKED = sql`pg_advisory_xact_lock_shared(${sql.lit(SETTINGS_LOCK)})`;

export async function loadPublishSettings(db: Database): Promise<PublishSettings> {
  const { rows } = await sql<{ text: string | null }>`select ${SETTINGS_TEXT} as text`.execute(db);
  return decodePublishSettings(rows[0]?.text ?? null);
}

let decoded: { readonly text: string; readonly settings: PublishSettings } | undefined;

/** Decodes `SETTINGS_TEXT`. Nearly every statement returns the same settings, so the last ones are cached. */
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

/** Returns every name of the fleet's nameservers: those of the pool and of the sets. */
export function allOurNameservers({ pool, nameserverSets }: PublishSettings): readonly Name[] {
  return [...(pool?.lists.flat() ?? []), ...nameserverSets.flat()];
}

function absoluteName(text: string): Name {
  return parseName(text.endsWith('.') ? text : `${text}.`);
}

/** Returns the same names as `allOurNameservers`, as folded text with the final dot. */
export function nameserversIn({ nameserverPool = [], nameserverSets }: AnswerSettings): string[] {
  const pool = expandPool(nameserverPool, [])?.lists.flat() ?? [];
  return [...pool, ...nameserverSets.flat().map(absoluteName)].map(encodeNameColumn);
}

/** Locks the settings until the end of the transaction, so that no other writer acts on outdated settings. */
export async function lockAnswerSettings(trx: Database): Promise<void> {
  await sql`select pg_advisory_xact_lock(${SETTINGS_LOCK})`.execute(trx);
}

/** Saves the settings. Call it in a transaction: a reader sees all of the new settings or none. */
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

interface SettingChange {
  readonly setting: string;
  /** As in the environment. Empty for a setting that is not stored. */
  readonly from: string;
  readonly to: string;
}

interface SettingChanges {
  readonly changed: readonly SettingChange[];
  /** True if published records depend on a changed setting. */
  readonly republishes: boolean;
}

/** Returns what `saveAnswerSettings` would change, without a lock. */
export async function compareAnswerSettings(db: Database, settings: AnswerSettings): Promise<SettingChanges> {
  const stored = await loadAnswerSettings(db);
  if (stored === undefined) return { changed: [], republishes: false };
  const changed = Object.entries(SETTING_NAMES).flatMap(([key, setting]) => {
    const [from, to] = [stored, settings].map((all) => printValue(all[key as keyof AnswerSettings]));
    return from === to ? [] : [{ setting, from, to } as SettingChange];
  });
  return {
    changed,
    republishes: changed.some(({ setting }) => [...APEX_SETTINGS, ...EDGE_SETTINGS].includes(setting)),
  };
}

/** Returns the value in the form that it has in the environment. */
function printValue(value: AnswerSettings[keyof AnswerSettings] = []): string {
  if (typeof value === 'string') return value;
  const isLists = value.some((each) => typeof each !== 'string');
  return value.map((each) => (typeof each === 'string' ? each : each.join())).join(isLists ? ';' : ',');
}

/** Publishes proxied names with edge marks from now on. Returns true if they were not before; then republish domains. */
export async function startRegionalAnswers(trx: Database): Promise<boolean> {
  if ((await loadAll(trx))?.regional) return false; // without a lock: frequent callers must not block creates
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
