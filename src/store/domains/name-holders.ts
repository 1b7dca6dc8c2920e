// Remembers which account had a name active here last. For 90 days that account may bring the name back and is exempt
// from the rule on preset delegations (docs/rules.md "Preset delegation").

import { sql } from 'kysely';
import type { DnsMode, PresetKind } from '../../zone/domain/domain-status.ts';
import type { PublishSettings } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import type { DomainRow } from './domain.ts';

const HELD_DAYS = 90;

/**
 * Call it before a domain leaves its status for any reason. It does nothing when the domain was not delegated to us.
 */
export async function saveNameHolder(
  trx: Database,
  { name, accountId, dnsMode, status, movedSince }: DomainRow,
  now: Date,
): Promise<void> {
  if (dnsMode !== 'managed' || (status !== 'active' && status !== 'moved')) return;
  const activeAt = movedSince ?? now;
  await sql`
    insert into name_holders (name, account_id, active_at) values (${name}, ${accountId}, ${activeAt})
    on conflict (name) do update set account_id = excluded.account_id, active_at = excluded.active_at`.execute(
    trx,
  );
}

interface Entry {
  readonly nameText: string;
  readonly dnsMode: DnsMode;
  readonly accountId: number;
  /** True for the CLI and global admins. */
  readonly exempt: boolean;
  readonly settings: PublishSettings;
}

/**
 * The preset state with which a domain begins. With only one set, a preset delegation could not be told from one that
 * the owner made.
 */
export async function presetAtEntry(
  trx: Database,
  { nameText, dnsMode, accountId, exempt, settings }: Entry,
): Promise<PresetKind> {
  if (dnsMode === 'external' || exempt || settings.nameserverSets.length === 1) return 'clear';
  const { rows } = await sql<{ held: boolean }>`
    select exists (select from name_holders where name = ${nameText} and account_id = ${accountId}
      and active_at > clock_timestamp() - make_interval(days => ${HELD_DAYS}::integer)) as held`.execute(trx);
  return rows[0]?.held ? 'clear' : 'undecided';
}

export async function purgeNameHolders(db: Database): Promise<void> {
  await sql`
    delete from name_holders
    where active_at <= clock_timestamp() - make_interval(days => ${HELD_DAYS}::integer)`.execute(db);
}
