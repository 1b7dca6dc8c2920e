// Loads what operators see of signed zones: how a zone is signed, its keys, when its signatures expire, and the number
// of zones in each phase.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { dnskeyOf } from '../keys/signed-zone.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import type { DenialKind, KeyRole, KeySigns, SigningPhase } from '../postgres/tables/schema.ts';

export interface ShownKey {
  readonly id: number;
  readonly role: KeyRole;
  readonly tag: number;
  readonly dnskey: Uint8Array;
  readonly signs: KeySigns;
  readonly origin: 'ours' | 'foreign';
  readonly madeAt: Date;
  readonly publishedAt: Date | null;
  readonly retiredAt: Date | null;
  readonly isDestroyed: boolean;
}

export interface ShownSigning {
  readonly id: number;
  readonly apex: Name;
  readonly kind: 'operator' | 'domain';
  readonly goal: 'signed' | 'unsigned';
  readonly phase: SigningPhase;
  /** For a domain, the status that its owner sees; for an operator zone, the phase. */
  readonly status: string;
  /** Cause for which the next step of a domain's keys waits. Null if it does not wait or has no machine. */
  readonly waitsFor: string | null;
  readonly denial: DenialKind;
  readonly algorithm: number;
  readonly split: boolean;
  readonly expiresAt: Date | null;
  readonly resignAt: Date | null;
  readonly keys: readonly ShownKey[];
}

interface Row extends Omit<ShownSigning, 'apex' | 'keys'> {
  readonly name: string;
  readonly keys: readonly (Omit<ShownKey, 'dnskey' | 'madeAt' | 'publishedAt' | 'retiredAt'> & {
    readonly flags: number;
    readonly algorithm: number;
    readonly publicKey: string;
    readonly madeAt: string;
    readonly publishedAt: string | null;
    readonly retiredAt: string | null;
  })[];
}

/** Lists all zones that are or were signed, by name, or only `apexes`. */
export async function listSigning(db: Database, apexes?: readonly Name[]): Promise<ShownSigning[]> {
  const names = apexes?.map(encodeNameColumn) ?? null;
  const { rows } = await sql<Row>`
    select s.id, coalesce(s.zone_name, d.name) as name, case when d.id is null then 'operator' else 'domain' end as kind,
      s.goal, s.phase, case when s.machine is null then s.phase else s.status end as status,
      s.machine #>> '{waiting,cause}' as "waitsFor", s.denial, s.algorithm, s.split, s.expires_at as "expiresAt", s.resign_at as "resignAt",
      (select coalesce(jsonb_agg(jsonb_build_object('id', k.id, 'tag', k.key_tag, 'role', k.role, 'flags', k.flags,
          'algorithm', k.algorithm, 'publicKey', encode(k.public_key, 'base64'), 'signs', k.signs,
          'origin', k.origin, 'madeAt', k.made_at, 'publishedAt', k.published_at, 'retiredAt', k.retired_at,
          'isDestroyed', k.sealed is null) order by k.id), '[]')
        from signing_keys k where k.signed_zone_id = s.id) as keys
    from signed_zones s left join domains d on d.id = s.domain_id and d.deleted_at is null
    where not s.verbatim and (d.id is not null or s.zone_name is not null)
      and (${names}::text[] is null or coalesce(s.zone_name, d.name) = any(${names}::text[]))
    order by name, kind`.execute(db);
  return rows.map(({ name, keys, ...zone }) => ({
    ...zone,
    apex: decodeNameColumn(name),
    keys: keys.map(({ flags, algorithm, publicKey, madeAt, publishedAt, retiredAt, ...key }) => {
      const dnskey = dnskeyOf(flags, algorithm, Buffer.from(publicKey, 'base64'));
      const dates = {
        madeAt: new Date(madeAt),
        publishedAt: dateOf(publishedAt),
        retiredAt: dateOf(retiredAt),
      };
      return { ...key, ...dates, dnskey };
    }),
  }));
}

function dateOf(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}

/** Returns the domain or operator zone of the name, or undefined. An unloaded operator zone does not count. */
export async function findSubject(
  db: Database,
  apex: Name,
): Promise<{ readonly zoneName: string } | { readonly domainId: number } | undefined> {
  const name = encodeNameColumn(apex);
  const { rows } = await sql<{ kind: 'operator' | 'domain'; domainId: number | null }>`
    select z.kind, d.id as "domainId" from zones z left join domains d on d.zone_id = z.id and d.deleted_at is null
    where z.name = ${name} and (z.deleted_at is null or d.id is not null)`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  if (row.kind === 'operator') return { zoneName: name };
  return row.domainId === null ? undefined : { domainId: row.domainId };
}

export interface SigningState {
  readonly phases: Readonly<Record<string, number>>;
  /** Seconds until the first signature expires: of zones that the fleet signs, and of those loaded with signatures. */
  readonly left: Readonly<Partial<Record<'ours' | 'verbatim', number>>>;
}

export async function loadSigningState(db: Database): Promise<SigningState> {
  const { rows } = await sql<{ phase: string; verbatim: boolean; count: number; left: number | null }>`
    select phase, verbatim, count(*)::integer as count,
      extract(epoch from min(expires_at) - clock_timestamp())::float8 as left
    from signed_zones group by phase, verbatim`.execute(db);
  const phases: Record<string, number> = {};
  const left: { ours?: number; verbatim?: number } = {};
  for (const row of rows) {
    if (!row.verbatim) phases[row.phase] = row.count;
    if (row.left === null) continue;
    const kind = row.verbatim ? 'verbatim' : 'ours';
    left[kind] = Math.min(left[kind] ?? Number.POSITIVE_INFINITY, row.left);
  }
  return { phases, left };
}
