// The settings that answers are made of. They are stored in Postgres, so that all processes of a fleet answer alike.
// Each change of them starts a generation: a domain whose published records belong to an older one is published anew by
// `republishDomains`, or by the next edit.

import { sql } from 'kysely';
import { type Name, parseName } from '../../dns/name.ts';
import type { EdgeAddresses } from '../../zone/records/customer-record.ts';
import type { Database } from './database.ts';

export interface AnswerSettings {
  edgeIpv4: readonly string[];
  edgeIpv6: readonly string[];
  /** Sets of nameserver names; the first one is canonical. */
  nameserverSets: readonly (readonly string[])[];
  soaRname: string;
}

const SETTING_NAMES = {
  edgeIpv4: 'EDGE_IPV4',
  edgeIpv6: 'EDGE_IPV6',
  nameserverSets: 'NAMESERVER_SETS',
  soaRname: 'SOA_RNAME',
} as const satisfies Record<keyof AnswerSettings, string>;

/** Undefined until `migrate` has stored them. */
export async function loadAnswerSettings(db: Database): Promise<AnswerSettings | undefined> {
  return (await loadAll(db))?.settings;
}

interface StoredSettings {
  readonly settings: AnswerSettings;
  readonly generations: Generations;
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
  if (entries.some(([, value]) => value === undefined)) return undefined;
  return {
    settings: Object.fromEntries(entries) as AnswerSettings,
    generations: values[GENERATIONS] ?? FIRST_GENERATIONS,
  };
}

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

function publishSettings({ settings, generations }: StoredSettings): PublishSettings {
  return {
    edges: { v4: settings.edgeIpv4, v6: settings.edgeIpv6 },
    nameserverSets: settings.nameserverSets.map((set) => set.map(absoluteName)),
    rname: absoluteName(settings.soaRname),
    generations,
    generation: Math.max(generations.edges, generations.apex),
  };
}

function absoluteName(text: string): Name {
  return parseName(text.endsWith('.') ? text : `${text}.`);
}

/** Saves the settings inside a transaction: a reader sees all of the new ones or none. */
export async function saveAnswerSettings(trx: Database, settings: AnswerSettings): Promise<string[]> {
  await sql`select pg_advisory_xact_lock(${SETTINGS_LOCK})`.execute(trx);
  const first = (await trx.selectFrom('settings').select('name').limit(1).execute()).length === 0;
  const changed: string[] = [];
  for (const [key, name] of Object.entries(SETTING_NAMES)) {
    if (await saveSetting(trx, name, settings[key as keyof AnswerSettings])) changed.push(name);
  }
  if (first || changed.length === 0) return [];
  const { generations, generation } = await loadPublishSettings(trx);
  const edges = changed.some((name) => name.startsWith('EDGE_')) ? generation + 1 : generations.edges;
  const apex = changed.some((name) => !name.startsWith('EDGE_')) ? generation + 1 : generations.apex;
  await saveSetting(trx, GENERATIONS, { ...generations, edges, apex });
  return changed;
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
